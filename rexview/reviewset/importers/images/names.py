r"""Names of image files as sources write them: ``../x.png``, ``/p10/s5/x.jpg``, ``C:\s\x.png``.

What is kept is a path relative to the images folder that cannot leave it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rexview.reviewset.pictures import FORMATS_BY_SUFFIX

RASTER_SUFFIXES: Final = tuple(
    suffix for suffix, kind in FORMATS_BY_SUFFIX.items() if kind != "DICOM"
)
"""Ends of names (lower case) of pictures that are no DICOM."""
_DRIVE: Final = re.compile(r"^[A-Za-z]:")
_MAX_PARTS: Final = 40


def safe_path(written: str) -> str | None:
    r"""Return a path as written in a source as a relative one that stays in its folder.

    Leading ``../``, ``/`` and drive letters are dropped, backslashes become slashes. None for a
    web address, an empty path, one that climbs out from within, or one far too deep.

    >>> safe_path("../images/a/0.png"), safe_path("C:\\x\\y.png"), safe_path("a/../../b.png")
    ('images/a/0.png', 'x/y.png', None)
    """
    text = written.strip().strip('"').replace("\\", "/")
    if not text or "://" in text or any(ord(letter) < 32 for letter in text) or len(text) > 1000:
        return None
    text = _DRIVE.sub("", text)
    kept: list[str] = []
    for part in text.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if kept:
                return None
            continue
        kept.append(part)
    if not kept or len(kept) > _MAX_PARTS or kept[0].startswith("~"):
        return None
    path = "/".join(kept)
    return None if _DRIVE.match(path) else path


def unique_ids(images: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the images of a case, which have a ``path``; an ``id`` that one has stays.

    They are named by their file names, or by number where those are not unique.
    """
    given = [image.get("id") for image in images]
    stems = [str(image["path"]).rpartition("/")[2].rsplit(".", 1)[0] for image in images]
    taken = {str(one) for one in given if one is not None}
    if not taken and not (all(stems) and len(set(stems)) == len(stems)):
        return [str(place) for place in range(1, len(images) + 1)]
    found = []
    for one, stem in zip(given, stems, strict=True):
        number, name = len(images), str(one) if one is not None else stem
        while one is None and (name in taken or not name):
            name, number = str(number), number + 1
        taken.add(name)
        found.append(name)
    return found

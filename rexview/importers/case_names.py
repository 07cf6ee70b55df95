"""Find the case or image that a name means: the id of the case or study, or an image's name.

Names are compared in Unicode's composed form, as macOS writes decomposed ones, and without case.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final
from unicodedata import normalize

from rexview.reviewset.picture_decoding import FORMATS_BY_SUFFIX

RASTER_SUFFIXES: Final = tuple(
    suffix for suffix, kind in FORMATS_BY_SUFFIX.items() if kind != "DICOM"
)
"""Endings (lower case) of pictures that are not DICOM."""
_DRIVE: Final = re.compile(r"^[A-Za-z]:")
_MAX_PARTS: Final = 40


def safe_path(written: str) -> str | None:
    r"""Return a path written in a source as a relative path that stays in its folder.

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
    """Return an id for each image of a case; an existing ``id`` is kept.

    Each image has a ``path``. The ids are file names, or numbers if those are not unique.
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


UNIQUE_STEM_LENGTH: Final = 6
"""A file name with at least this number of letters is taken to mean one image only."""
CaseMatches = list[tuple[str, str | None]]
"""Ids of cases, each with the path of the image if one is meant."""


def fold_case_name(name: str) -> str:
    """Return a name in the form used for comparison."""
    return normalize("NFC", name).strip().casefold()


class CaseNames:
    """All names of the cases and images of an import."""

    def __init__(self) -> None:
        self._cases: dict[str, str] = {}
        self._folded: dict[str, dict[str, None]] = {}
        self._studies: dict[str, dict[str, None]] = {}
        self._written: dict[str, str] = {}
        self._images: dict[str, dict[tuple[str, str], None]] = {}
        self._moved: dict[tuple[str, str], tuple[str, str]] = {}

    def add(self, case: Mapping[str, Any]) -> None:
        """Add a case: its own id, its study's id, and the paths of its images."""
        case_id = case["id"]
        self._cases[case_id] = case_id
        self._folded.setdefault(fold_case_name(case_id), {})[case_id] = None
        if case.get("study_id") is not None:
            form = fold_case_name(str(case["study_id"]))
            self._studies.setdefault(form, {})[case_id] = None
            self._written.setdefault(form, str(case["study_id"]))
        for image in case.get("images") or []:
            self.add_image(case_id, image["path"])

    def ids(
        self, without: Collection[str] = (), made: Collection[str] = ()
    ) -> dict[str, tuple[int, str]]:
        """Return, by folded id of a case or study, how many cases have it and how it is written.

        Cases in ``without`` are left out. Of the cases in ``made`` only the study ids count, since
        no source contains their case ids.
        """
        found = {}
        for forms, left_out in ((self._studies, {*without}), (self._folded, {*without, *made})):
            for form, names in forms.items():
                if not left_out.issuperset(names):
                    written = next(iter(names)) if form in self._folded else self._written[form]
                    found[form] = len(names), written
        return found

    def add_image(self, case_id: str, path: str) -> None:
        """Add an image by its path, its file name, and its file name without the ending."""
        whole = PurePosixPath(path)
        for name in {path, whole.name, whole.stem}:
            self._images.setdefault(fold_case_name(name), {})[case_id, path] = None

    def move_image(self, case_id: str, path: str, to: str) -> None:
        """Record an image's new path; it is still found by its old names."""
        if path != to:
            self._moved[case_id, path] = case_id, to
            self.add_image(case_id, to)

    def find(
        self,
        *,
        case: str | None,
        study: str | None,
        image: str | None,
        files: Mapping[str, Path],
    ) -> CaseMatches:
        """Return what the names can mean: nothing, one, or several.

        The first of ``case``, ``study`` and ``image`` that finds anything decides on the case; an
        image name given as well selects one of its images. ``files`` are the image files, by path.
        """
        cases: list[str] = []
        if case is not None:
            exact, form = self._cases.get(case.strip()), fold_case_name(case)
            others = self._folded.get(form, ()) or self._studies.get(form, ())
            cases = list(others) if exact is None else [exact]
        if not cases and study is not None:
            cases = list(self._studies.get(fold_case_name(study), ()))
        images = self.images_of(image, files) if image is not None else []
        if cases:
            of_case = [one for one in images if one[0] in cases]
            return [*of_case] if of_case else [(one, None) for one in cases]
        if not images and case is not None:
            images = self.images_of(case, files)
        return [*images]

    def images_of(
        self, written: str, files: Mapping[str, Path], *, only_files: bool = False
    ) -> list[tuple[str, str]]:
        """Return case and path of the images that a written path can mean.

        ``files``, by path, give the folders of the images; with ``only_files`` other images are
        ignored.
        """
        path = safe_path(written)
        if path is None or (only_files and not files):
            return []
        whole = PurePosixPath(path)
        any_folder = len(whole.parts) == 1 or len(whole.stem) >= UNIQUE_STEM_LENGTH
        for name in dict.fromkeys((path, whole.name, whole.stem)):
            found = self._images.get(fold_case_name(name), {})
            meant: dict[tuple[str, str], None] = {}
            for one in found:
                case, there = self._moved.get(one, one)
                if only_files and there not in files:
                    continue
                # Every study has a 0.png. In a folder of another name it belongs to another
                # patient. The first such image ends the search, since there may be as many as
                # studies.
                if name != path and not any_folder:
                    place = PurePosixPath(files.get(there, there))
                    if fold_case_name(place.parent.name) != fold_case_name(whole.parent.name):
                        meant = {}
                        break
                meant[case, there] = None
            if meant:
                return list(meant)
        return []

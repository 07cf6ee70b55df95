"""Picture files of a set or a source looked at: all decoded, and what a person should know of them.

Whoever runs long work may ask to be told how far it is (:func:`progress_told`); the work itself
knows nothing of command lines and pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from rexview.errors import ImageError
from rexview.reviewset.images import DICOM_SUFFIXES
from rexview.settings import load_settings

if TYPE_CHECKING:
    from rexview.imaging import ImageFacts
    from rexview.imaging.decode_all import Decoded, Told

FORMATS_BY_SUFFIX: Final = {
    ".png": "PNG",
    **dict.fromkeys((".jpg", ".jpeg"), "JPEG"),
    ".webp": "WebP",
    **dict.fromkeys((".tif", ".tiff"), "TIFF"),
    ".bmp": "BMP",
    ".gif": "GIF",
    **dict.fromkeys(DICOM_SUFFIXES, "DICOM"),
}
"""What the end of a name (lower case) says about a picture file; its bytes decide."""
_headers_only: ContextVar[bool] = ContextVar("headers_only", default=False)
_told: ContextVar[Told | None] = ContextVar("told", default=None)


class Remark(NamedTuple):
    """What is worth knowing of a picture that can be shown: its kind, the sentence, the remedy."""

    kind: str
    message: str
    remedy: str


@contextmanager
def progress_told(told: Told) -> Iterator[None]:
    """Tell of pictures that are decoded while the block runs: how many are done, of how many."""
    token = _told.set(told)
    try:
        yield
    finally:
        _told.reset(token)


@contextmanager
def headers_only() -> Iterator[None]:
    """Read headers only while the block runs: far faster, but damage to pixels stays unseen."""
    token = _headers_only.set(True)
    try:
        yield
    finally:
        _headers_only.reset(token)


def look_at(paths: Sequence[Path]) -> dict[Path, Decoded]:
    """Decode picture files; give what each says, or why it cannot be shown."""
    from rexview.imaging.decode_all import decode_all  # the decoders take their time to import

    if _headers_only.get():
        return {path: _header(path) for path in paths}
    max_pixels = load_settings().max_megapixels * 1_000_000
    return decode_all(paths, _told.get(), max_pixels=max_pixels)


def _header(path: Path) -> Decoded:
    from rexview.imaging import read_facts

    try:
        return read_facts(path)
    except ImageError as error:
        return error


def remarks(path: str, facts: ImageFacts) -> Iterator[Remark]:
    """Yield what is unusual about a picture that can be shown."""
    named = FORMATS_BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
    if named and facts.format not in ("", named):
        message = f"The file is named as {named} and is {facts.format}; it is read as what it is."
        yield Remark("format", message, f"Nothing, or give it the ending of {facts.format}.")
    if facts.turned:
        yield Remark(
            "turned",
            "The file asks to be shown turned or mirrored (EXIF), and is. Width, height and boxes "
            "count on the picture as it is shown.",
            "Look at one with its boxes. If they were drawn on the picture before it is turned, "
            "take the EXIF orientation out of the file.",
        )
    if facts.frames > 1:
        message = f"The file has {facts.frames:,} frames or pages; the first is shown."
        yield Remark("frames", message, "Make a file of each that is to be seen.")

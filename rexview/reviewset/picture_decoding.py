"""Decode the picture files of a set or a source, and report what is unusual about them.

A caller that runs long work may receive its progress (:func:`report_progress`); this module knows
nothing of command lines and pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from rexview.addresses import is_address
from rexview.errors import ImageError, PathEscape
from rexview.reviewset.image_paths import DICOM_SUFFIXES, images_folder, join_inside
from rexview.reviewset.problems import quote_value
from rexview.reviewset.set_files import INFO_FILE
from rexview.reviewset.tables.source import TableSource
from rexview.schema import SetInfo
from rexview.settings import load_settings

if TYPE_CHECKING:
    from rexview.imaging import ImageFacts
    from rexview.imaging.decode_all import DecodeCallback, DecodeResult


FORMATS_BY_SUFFIX: Final = {
    ".png": "PNG",
    **dict.fromkeys((".jpg", ".jpeg"), "JPEG"),
    ".webp": "WebP",
    **dict.fromkeys((".tif", ".tiff"), "TIFF"),
    ".bmp": "BMP",
    ".gif": "GIF",
    **dict.fromkeys(DICOM_SUFFIXES, "DICOM"),
}
"""The format of a picture file by its ending (lower case); its bytes decide."""
_headers_only: ContextVar[bool] = ContextVar("headers_only", default=False)
_progress_callback: ContextVar[DecodeCallback | None] = ContextVar("told", default=None)


class PictureRemark(NamedTuple):
    """An unusual property of a picture that can be shown: its kind, the sentence, the remedy."""

    kind: str
    message: str
    remedy: str


@contextmanager
def report_progress(told: DecodeCallback) -> Iterator[None]:
    """Report progress while the block runs: the number of pictures decoded, and of all."""
    token = _progress_callback.set(told)
    try:
        yield
    finally:
        _progress_callback.reset(token)


@contextmanager
def read_headers_only() -> Iterator[None]:
    """Read only headers while the block runs: far faster, but damaged pixels stay unnoticed."""
    token = _headers_only.set(True)
    try:
        yield
    finally:
        _headers_only.reset(token)


def decode_pictures(paths: Sequence[Path]) -> dict[Path, DecodeResult]:
    """Decode picture files; return the facts of each, or why it cannot be shown."""
    from rexview.imaging.decode_all import decode_all  # importing the decoders takes time

    if _headers_only.get():
        return {path: _header(path) for path in paths}
    max_pixels = load_settings().max_megapixels * 1_000_000
    return decode_all(paths, _progress_callback.get(), max_pixels=max_pixels)


def _header(path: Path) -> DecodeResult:
    from rexview.imaging import read_facts

    try:
        return read_facts(path)
    except ImageError as error:
        return error


def picture_remarks(path: str, facts: ImageFacts) -> Iterator[PictureRemark]:
    """Yield the unusual properties of a picture that can be shown."""
    named = FORMATS_BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
    if named and facts.format not in ("", named):
        message = f"The file is named as {named} and is {facts.format}; it is read as what it is."
        yield PictureRemark("format", message, f"Nothing, or give it the ending of {facts.format}.")
    if facts.turned:
        yield PictureRemark(
            "turned",
            "The file asks to be shown turned or mirrored (EXIF), and is. Width, height and boxes "
            "count on the picture as it is shown.",
            "Look at one with its boxes. If they were drawn on the picture before it is turned, "
            "take the EXIF orientation out of the file.",
        )
    if facts.frames > 1:
        message = f"The file has {facts.frames:,} frames or pages; the first is shown."
        yield PictureRemark("frames", message, "Make a file of each that is to be seen.")


# Decode every picture of a set on request, and report those that are broken or unusual.


def check_pixels(
    folder: Path, info: SetInfo, of_tables: Iterable[tuple[pl.DataFrame, TableSource]]
) -> None:
    """Warn of pictures that cannot be decoded, are unusual, or differ from their given size.

    ``of_tables`` has the result of :func:`rexview.reviewset.image_checks.check_paths` for each
    table, with ``width`` and ``height`` if given. Missing files and pictures at an address are not
    checked here.
    """
    tables = list(of_tables)
    if is_address(info.images):
        for _, source in tables[:1]:
            message = "The images lie at an address; their pixels were not looked at."
            remedy = "Copy them into a folder to have them checked."
            source.problems.add("warning", INFO_FILE, message, remedy, field="images")
        return
    base = images_folder(folder, info.images)
    files = {path: file for paths, _ in tables for path, file in _files(base, paths["plain"])}
    looked = decode_pictures(list(files.values()))
    for paths, source in tables:
        _report(paths, source, {path: looked[file] for path, file in files.items()})


def _files(base: Path, paths: pl.Series) -> Iterable[tuple[str, Path]]:
    for path in paths.unique(maintain_order=True).to_list():
        try:
            file = join_inside(base, path)
            if file.is_file():
                yield path, file
        except (PathEscape, OSError, ValueError):
            continue


def _report(paths: pl.DataFrame, source: TableSource, looked: dict[str, object]) -> None:
    from rexview.imaging import ImageFacts

    broken = {path: str(one) for path, one in looked.items() if isinstance(one, ImageError)}
    facts = {path: one for path, one in looked.items() if isinstance(one, ImageFacts)}
    source.report_rows(
        "warning",
        paths.filter(pl.col("plain").is_in(list(broken))),
        lambda row: f"{quote_value(row['path'])} cannot be shown: {broken[row['plain']]}",
        "Replace the file by an intact one, or one of another kind.",
        lambda row: str(row["field"]),
    )
    sizes = {path: (one.width, one.height) for path, one in facts.items()}
    given = paths.filter(pl.col("plain").is_in(list(sizes)))
    differ = [
        bool(width and height and (width, height) != sizes[path])
        for path, width, height in given.select("plain", "width", "height").iter_rows()
    ]
    source.report_rows(
        "warning",
        given.filter(pl.Series(differ, dtype=pl.Boolean)),
        lambda row: (
            f"{quote_value(row['path'])} has {_size(sizes[row['plain']])} pixels; width and "
            "height say "
            f"{_size((row['width'], row['height']))}."
        ),
        "Correct width and height. If its boxes were drawn on a picture of that size, they lie "
        "elsewhere: correct them, too.",
        lambda row: f"{row['field'].removesuffix('.path')}.width",
    )
    unusual: dict[str, dict[str, tuple[str, str]]] = {}
    for path, one in facts.items():
        for kind, message, remedy in picture_remarks(path, one):
            unusual.setdefault(kind, {})[path] = (message, remedy)
    for of_paths in unusual.values():
        said = pl.DataFrame(
            [(path, message) for path, (message, _) in of_paths.items()],
            schema={"plain": pl.String, "said": pl.String},
            orient="row",
        )
        source.report_rows(
            "warning",
            paths.join(said, on="plain", how="inner", maintain_order="left"),
            lambda row: f"{quote_value(row['path'])}: {row['said']}",
            next(iter(of_paths.values()))[1],
            lambda row: str(row["field"]),
        )


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]}"

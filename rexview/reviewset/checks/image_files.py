"""The image files behind the tables: paths that lead out, missing files, sizes not given."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from rexview import frames
from rexview.errors import ImageError, PathEscape
from rexview.reviewset.checks.normalise import with_views
from rexview.reviewset.images import (
    DICOM_SUFFIXES,
    NOT_PLAIN,
    contained,
    images_folder,
    is_url,
    relative_path,
)
from rexview.reviewset.problems import quoted
from rexview.reviewset.sources import INFO_FILE
from rexview.reviewset.tables.nested import Flat, items_of
from rexview.reviewset.tables.source import TableSource
from rexview.schema import SetInfo

if TYPE_CHECKING:
    from rexview.imaging import ImageFacts

MOST_LOOKED_FOR: Final = 100_000
"""Image files that are looked for when a set opens; the page shows what else is missing."""
MOST_HEADERS: Final = 2_000
"""Image files whose header is read when a set opens, for sizes that the tables do not give."""


def read_header(path: Path) -> ImageFacts | None:
    """Read the header of an image file; None when it cannot be read as one.

    Asking again is free as long as the file does not change.
    """
    try:
        found = path.stat()
    except OSError:
        return None
    return _header(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=20_000)
def _header(path: Path, modified: int, size: int) -> ImageFacts | None:
    from rexview.imaging import read_facts  # the decoders are only needed where sizes are not given

    try:
        return read_facts(path)
    except ImageError:
        return None


def paths_of_cases(cases: pl.DataFrame) -> pl.DataFrame:
    """One row an image of a case: ``_row``, ``field``, ``path``."""
    field = pl.format("images[{}].path", "index").alias("field")
    return items_of(cases, "images", "_row").select("_row", field, "path").drop_nulls("path")


def paths_of_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """One row a picture that a model returned: ``_row``, ``field``, ``path``."""
    field, path = pl.format("images[{}]", "index").alias("field"), pl.col("images").alias("path")
    return items_of(answers, "images", "_row").select("_row", field, path).drop_nulls("path")


def check_paths(paths: pl.DataFrame, source: TableSource) -> pl.DataFrame:
    """Report paths that lead out of the images folder; return the others, in their plain form."""
    plain: dict[str, str] = {}
    reasons: dict[str, str] = {}
    odd = paths["path"].str.contains(NOT_PLAIN)
    for path in paths["path"].filter(odd).unique().to_list():
        try:
            plain[path] = relative_path(path)
        except PathEscape as error:
            reasons[path] = str(error)
    if not odd.any():
        return paths.with_columns(pl.col("path").alias("plain"))
    source.report_rows(
        "error",
        paths.filter(pl.col("path").is_in(list(reasons))),
        lambda row: f"{quoted(row['path'])}: {reasons[row['path']]}",
        "Give the path from the images folder on, and name that folder in reviewset.yaml.",
        lambda row: str(row["field"]),
    )
    found = pl.col("path").replace_strict(plain, default=None, return_dtype=pl.String)
    return paths.with_columns(pl.when(odd).then(found).otherwise("path").alias("plain")).drop_nulls(
        "plain"
    )


def check_files(
    folder: Path, info: SetInfo, of_tables: Iterable[tuple[pl.DataFrame, TableSource]]
) -> None:
    """Report images that are missing (a warning) or lie elsewhere through a link (an error).

    Images at an address are not looked for. ``of_tables`` has what :func:`check_paths` returned for
    each table.
    """
    tables = [(paths, source) for paths, source in of_tables if paths.height]
    if is_url(info.images) or not tables:
        return
    base = images_folder(folder, info.images)
    if not base.is_dir():
        message = f"There is no images folder {quoted(info.images)}, so no image can be shown."
        remedy = "Put the images there, or name their folder in images."
        tables[0][1].problems.add("warning", INFO_FILE, message, remedy, field="images")
        return
    states: dict[str, str | None] = {}
    folders: dict[str, str | None] = {}
    for paths, source in tables:
        different = [
            path for path in paths["plain"].unique(maintain_order=True) if path not in states
        ]
        for path in different[: max(0, MOST_LOOKED_FOR - len(states))]:
            states[path] = _state(base, path, folders)
        source.report_rows(
            "warning",
            paths.filter(pl.col("plain").is_in(_in_state("missing", states))),
            lambda row: f"There is no image file {quoted(row['path'])}.",
            "Put it into the images folder, or correct the path.",
            lambda row: str(row["field"]),
        )
        source.report_rows(
            "error",
            paths.filter(pl.col("plain").is_in(_in_state("outside", states))),
            lambda row: f"{quoted(row['path'])} is a link that leads out of the images folder.",
            "Put the file itself there, or name the folder that it is in as images.",
            lambda row: str(row["field"]),
        )


def _in_state(wanted: str, states: dict[str, str | None]) -> list[str]:
    return [path for path, state in states.items() if state == wanted]


def _state(base: Path, path: str, folders: dict[str, str | None]) -> str | None:
    """``missing``, ``outside`` or None; ``folders`` remembers the real folders met so far."""
    head, name = os.path.split(path)
    try:
        if head not in folders:
            folders[head] = None
            folders[head] = os.fspath(contained(base, head))
        real = folders[head]
        if real is None:
            return "outside"
        found = (Path(real) / name).lstat()
        if stat.S_ISLNK(found.st_mode):
            found = contained(base, path).stat()
        return None if stat.S_ISREG(found.st_mode) else "missing"
    except PathEscape:
        return "outside"
    except (OSError, ValueError):
        return "missing"


def with_headers(
    cases: pl.DataFrame, boxed: pl.DataFrame, folder: Path, info: SetInfo, source: TableSource
) -> pl.DataFrame:
    """Fill in sizes, orientations and views of images from their files, where not given.

    At most :data:`MOST_HEADERS` files are read, those with boxes first, so that a set of any size
    opens quickly; a warning says how many with boxes were left. ``boxed`` has ``case`` and
    ``image`` of the images that have boxes.
    """
    base = images_folder(folder, info.images)
    if is_url(info.images) or not base.is_dir():
        return cases
    flat = Flat.of_series(cases["images"])
    images = flat.fields.with_columns(cases["id"].gather(pl.Series(flat.owner)).alias("case"))
    wanted, unread = _wanted(images), 0
    if wanted.height > MOST_HEADERS:
        wanted, with_boxes = _boxed_first(wanted, boxed)
        unread = max(0, with_boxes - MOST_HEADERS)
    headers: dict[int, ImageFacts] = {}
    for at, path in wanted.head(MOST_HEADERS).select("at", "path").iter_rows():
        try:
            header = read_header(contained(base, relative_path(path)))
        except PathEscape:
            continue
        if header:
            headers[at] = header
    if unread:
        message = (
            f"The size or orientation of {unread:,} images with boxes is not given, and was not "
            f"read from their files as there are more than {MOST_HEADERS:,}."
        )
        remedy = "Give width, height and patient_orientation in cases."
        source.warning(message, remedy, field="images[].width")
    return _filled(cases, flat, images, headers) if headers else cases


def _wanted(images: pl.DataFrame) -> pl.DataFrame:
    """Pick images with gaps that their file may fill: ``at``, ``case``, ``id``, ``path``."""
    ending = pl.col("path").str.to_lowercase().str.extract(r"(\.[^./\\]*)$").fill_null("")
    unsized = pl.col("width").is_null() | pl.col("height").is_null()
    dicom = ending.is_in(["", *DICOM_SUFFIXES])
    bare = pl.col("patient_orientation").is_null() | pl.col("view_raw").is_null()
    return (
        images.with_row_index("at")
        .filter((unsized | (dicom & bare)) & pl.col("path").is_not_null())
        .select("at", "case", "id", "path")
    )


def _boxed_first(wanted: pl.DataFrame, boxed: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Put images with boxes first; say how many they are."""
    has_box = boxed.rename({"image": "id"})
    first = wanted.join(has_box, on=["case", "id"], how="semi", maintain_order="left")
    others = wanted.join(has_box, on=["case", "id"], how="anti", maintain_order="left")
    return pl.concat([first, others]), first.height


def _filled(
    cases: pl.DataFrame, flat: Flat, images: pl.DataFrame, headers: dict[int, ImageFacts]
) -> pl.DataFrame:
    read = pl.DataFrame(
        [
            (at, one.width, one.height, one.patient_orientation, one.view)
            for at, one in headers.items()
        ],
        schema={
            "at": pl.UInt32,
            "w": pl.Int64,
            "h": pl.Int64,
            "o": pl.List(pl.String),
            "v": pl.String,
        },
        orient="row",
    )
    filled = (
        images.with_row_index("at")
        .join(read, on="at", how="left", maintain_order="left")
        .with_columns(
            pl.col("width").fill_null(pl.col("w")),
            pl.col("height").fill_null(pl.col("h")),
            pl.coalesce("patient_orientation", "o").alias("patient_orientation"),
            pl.col("view_raw").fill_null(pl.col("v")),
        )
        .select([name for name, _ in frames.IMAGE])
    )
    refolded = cases.with_columns(flat.lists(filled.to_struct("images")).alias("images"))
    return with_views(refolded, "view_raw")

"""Write a review set in any of the formats, with the same content, all or nothing."""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from rexview.addresses import is_address
from rexview.columns import TABLES, DeclaredColumn, DeclaredTable
from rexview.errors import Problem, ReviewSetError
from rexview.frames import given_choice_expr
from rexview.reviewset.image_paths import find_image_file, images_folder, relative_path
from rexview.reviewset.json_text import dump_json
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.set_files import INFO_FILE, UNFINISHED_FILE, find_tables, fingerprint
from rexview.reviewset.set_info import BUILT_IN_RUBRIC, dump_info
from rexview.reviewset.tables.source import TableFormat
from rexview.schema import ReviewSet

_TOKENS: Final = ("input_tokens", "output_tokens", "max_output_tokens")


def save_review_set(
    review_set: ReviewSet,
    folder: Path,
    *,
    table_format: TableFormat = "jsonl",
    images: Literal["refer", "copy"] | Path = "refer",
) -> None:
    """Write a review set to a folder that does not exist yet, or is empty.

    Everything is first written to a temporary folder in the same place and then renamed, so that
    the folder appears complete or not at all. Reading it again gives the same tables, including
    unknown fields.

    Empty tables are left out, except cases. With ``refer`` the new set names the same images
    folder. With ``copy`` the existing images are copied into it. A folder of images is moved into
    it.

    Raises
    ------
    ReviewSetError
        The folder contains something already.
    PathEscape
        An image to copy is outside the images folder.
    """
    folder = Path(folder).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = "There is something in this folder already."
        remedy = "Choose a folder that is new or empty."
        problem = Problem("error", folder.name, None, None, message, remedy)
        raise ReviewSetError(f"“{folder.name}” is not empty; nothing was written.", [problem])
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=f".{folder.name}-", ignore_cleanup_errors=True
    ) as beside:
        work = Path(beside) / "set"
        work.mkdir()
        base = "images/"
        if images == "refer":
            base = _images_base(review_set, folder)
        elif isinstance(images, Path):
            images.rename(work / "images")
        else:
            _copy_images(review_set, work)
        copy_own_files(review_set, work)
        write_tables(review_set, work, table_format, base)
        if folder.exists():
            folder.rmdir()
        work.rename(folder)


def write_tables(
    review_set: ReviewSet, folder: Path, table_format: TableFormat, images: str
) -> None:
    """Write the tables and ``reviewset.yaml``, with the given images base, to a folder.

    Empty tables are left out, except cases.
    """
    for name, table in TABLES.items():
        frame = _table_with_stale(review_set, name)
        if frame.height or table.required:
            _WRITERS[table_format](_file_frame(name, frame), table, folder)
    text = dump_info(review_set.info, images=images)
    (folder / INFO_FILE).write_text(text, encoding="utf-8", newline="\n")


def table_json_rows(review_set: ReviewSet, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as the JSON objects of its file, in their order."""
    yield from _json_rows(_file_frame(name, _table_with_stale(review_set, name)), TABLES[name])


def write_csv(review_set: ReviewSet, names: Sequence[str], folder: Path) -> list[Path]:
    """Write some tables of a review set as CSV files into a folder; return the files.

    Raises
    ------
    ReviewSetError
        One of the files exists: it is left unchanged, and nothing is written.
    """
    folder = Path(folder)
    files = [folder / f"{name}.csv" for name in names]
    for file in files:
        if file.exists():
            raise ReviewSetError(f"There is a file {file.name} already; nothing was written.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        _write_csv(_file_frame(name, _table_with_stale(review_set, name)), TABLES[name], folder)
    return files


def _table_with_stale(review_set: ReviewSet, name: str) -> pl.DataFrame:
    """Return a table with its stale rows, in the order of the rows."""
    frame: pl.DataFrame = getattr(review_set, name)
    stale: pl.DataFrame = getattr(review_set, f"stale_{name}", frame.clear())
    return frame if stale.is_empty() else pl.concat([frame, stale]).sort("_row")


def _images_base(review_set: ReviewSet, folder: Path) -> str:
    """Return the images base as the new set has to name it."""
    base = review_set.info.images
    if is_address(base):
        return base
    real = images_folder(review_set.folder, base)
    return base if images_folder(folder, base) == real else str(real)


def _copy_images(review_set: ReviewSet, work: Path) -> None:
    paths = review_set.cases["images"].explode().struct.field("path").drop_nulls()
    returned = review_set.answers["images"].explode().drop_nulls()
    for path in pl.concat([paths, returned]).unique(maintain_order=True).to_list():
        if is_address(path):
            continue  # it stays in its place
        source = find_image_file(review_set, path)
        if source.is_file():
            target = work / "images" / relative_path(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def copy_own_files(review_set: ReviewSet, work: Path) -> None:
    """Copy the set's own rubric and table of harm, if it has them."""
    for name in (review_set.info.rubric, review_set.info.harm):
        source = review_set.folder / name
        if name not in ("", BUILT_IN_RUBRIC) and source.is_file():
            target = work / relative_path(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _write_jsonl(frame: pl.DataFrame, table: DeclaredTable, folder: Path) -> None:
    path = folder / f"{table.name}.jsonl"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in _json_rows(frame, table):
            file.write(dump_json(row) + "\n")


def _file_frame(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Convert a table of an open set to the declared columns of its file.

    Raw spellings are back in their columns, token counts are in ``usage``, and columns added by
    loading are gone. Unknown fields are still in ``extra``.
    """
    if name == "cases":
        frame = frame.with_columns(_given_images())
    if name == "answers":
        reason = pl.col("finish_reason")
        counts = pl.struct(_TOKENS)
        frame = frame.with_columns(
            given_choice_expr(),
            pl.coalesce("finish_reason_raw", pl.when(reason != "unknown").then(reason)).alias(
                "finish_reason"
            ),
            pl.when(pl.any_horizontal(pl.col(_TOKENS).is_not_null())).then(counts).alias("usage"),
        ).with_columns(pl.lit(None, pl.Int64).alias(token) for token in _TOKENS)
    table = TABLES[name]
    columns = [pl.col(column.name).cast(column.dtype) for column in table.columns]
    filled = frame.select(columns)
    return filled.select(
        column.name
        for column in table.columns
        if column.required or not _is_empty(filled[column.name])
    )


def _given_images() -> pl.Expr:
    image = pl.element().struct
    view = image.field("view")
    given = pl.coalesce(image.field("view_raw"), pl.when(view != "UNKNOWN").then(view))
    marks = [pl.when(image.field(name)).then(True).alias(name) for name in ("key", "prior")]
    others = ("width", "height", "patient_orientation", "laterality_flip", "pixel_mm")
    fields = [image.field("id"), image.field("path"), given.alias("view"), *marks]
    return pl.col("images").list.eval(pl.struct(*fields, *(image.field(name) for name in others)))


def _is_empty(series: pl.Series) -> bool:
    if isinstance(series.dtype, pl.List):
        return not series.list.len().sum()
    return series.null_count() == len(series)


def _json_rows(frame: pl.DataFrame, table: DeclaredTable) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file frame as JSON objects; unknown fields are back in their places."""
    for row in frame.iter_rows(named=True):
        extra = json.loads(row.pop("extra", None) or "{}")
        written = {name: _json_value(value, table.by_name[name]) for name, value in row.items()}
        kept = {name: value for name, value in written.items() if value not in (None, [], {})}
        yield _with_extra(kept, extra, table)


def _json_value(value: Any, column: DeclaredColumn) -> Any:
    """Make the JSON value of one declared field; nested nulls are left out."""
    if value is None:
        return None
    if column.kind == "date":
        return value.isoformat().replace("+00:00", "Z")
    if column.kind == "tags":
        return {tag["name"]: tag["values"] for tag in value}
    if column.kind == "record":
        return _json_record(value, column)
    if column.kind == "records":
        return [_json_record(item, column) for item in value]
    return value


def _json_record(value: dict[str, Any], column: DeclaredColumn) -> dict[str, Any]:
    given = {part.name: _json_value(value[part.name], part) for part in column.fields}
    return {name: part for name, part in given.items() if part not in (None, [], {}, "")}


def _with_extra(row: dict[str, Any], extra: dict[str, Any], table: DeclaredTable) -> dict[str, Any]:
    rest = {}
    for name, value in extra.items():
        column = table.by_name.get(name)
        if column is None:
            row[name] = value
        elif not _merge(row, column, value):
            rest[name] = value
    return row | {"extra": rest} if rest else row


def _merge(row: dict[str, Any], column: DeclaredColumn, value: Any) -> bool:
    """Put the unknown fields of a nested column back into it, if they come from there."""
    if column.kind == "record" and isinstance(value, dict):
        row[column.name] = row.get(column.name, {}) | value
        return True
    given = row.get(column.name)
    if column.kind != "records" or not isinstance(value, list) or not isinstance(given, list):
        return False
    if len(value) != len(given) or not all(isinstance(part, dict) for part in value):
        return False
    row[column.name] = [old | new for old, new in zip(given, value, strict=True)]
    return True


def _with_own_columns(frame: pl.DataFrame, table: DeclaredTable) -> pl.DataFrame:
    """Give unknown fields that are plain text in every row a column each, for a clear header."""
    if "extra" not in frame.columns:
        return frame
    rows = [json.loads(text) if text else {} for text in frame["extra"].to_list()]
    names = [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if name not in table.by_name
        and name == name.strip() != ""
        and all(_is_plain_text(row.get(name, "-")) for row in rows)
    ]
    columns = [pl.Series(name, [row.get(name) for row in rows], pl.String) for name in names]
    remaining = [{name: value for name, value in row.items() if name not in names} for row in rows]
    rest = pl.Series(
        "extra", [dump_json(row) if row else None for row in remaining], dtype=pl.String
    )
    frame = frame.drop("extra").with_columns(columns)
    return frame if rest.null_count() == len(rest) else frame.with_columns(rest)


def _is_plain_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _write_csv(frame: pl.DataFrame, table: DeclaredTable, folder: Path) -> None:
    frame = _with_own_columns(frame, table)
    path = folder / f"{table.name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)  # \r\n, so that a lone \r in a text is quoted
        writer.writerow(frame.columns)
        for row in frame.iter_rows(named=True):
            writer.writerow(_cells(row, table))


def _cells(row: dict[str, Any], table: DeclaredTable) -> Iterator[Any]:
    for name, value in row.items():
        column = table.by_name.get(name)
        if column is None or column.kind == "object":
            yield value
            continue
        plain = _json_value(value, column)
        if column.kind == "yes_no":
            yield None if plain is None else str(plain).lower()
        elif column.is_scalar:
            yield plain
        else:
            yield None if plain in (None, [], {}) else dump_json(plain)


def _write_parquet(frame: pl.DataFrame, table: DeclaredTable, folder: Path) -> None:
    _with_own_columns(frame, table).write_parquet(folder / f"{table.name}.parquet")


_WRITERS = {"jsonl": _write_jsonl, "csv": _write_csv, "parquet": _write_parquet}


# Write a review set again in its place: its tables are exchanged as a whole or not at all.
#
# Everything else in the folder stays: images, the reviews database, other files. The previous
# tables are kept in a dated folder next to the set.

_PREVIOUS_FOLDER: Final = "old"
_NEW: Final = "new"


def rewrite_review_set(
    review_set: ReviewSet,
    *,
    base: str,
    state: str,
    table_format: TableFormat | None = None,
    images: Path | None = None,
) -> Path:
    """Write a review set over the one in its folder; return the folder with the previous tables.

    ``base`` is the images base for ``reviewset.yaml``. The files of a folder ``images`` are moved
    into ``images/`` of the set, where they must not exist yet. Without ``table_format`` the set
    keeps the format of its cases. ``state`` is the fingerprint of the files that the set was made
    from. A table with parts becomes one file.

    Raises
    ------
    ReviewSetError
        A file exists where an image would go, a run is writing to the set, or its files have
        changed since they were read. Nothing was changed.
    OSError
        Something cannot be written. The set is unchanged.
    """
    folder = review_set.folder.resolve()
    _check_runs(folder)
    tables = find_tables(folder, ProblemList())
    usual = tables["cases"].parts[0].format if "cases" in tables else "jsonl"
    parts = [part for source in tables.values() for part in source.parts]
    names = [INFO_FILE, *dict.fromkeys(part.path.relative_to(folder).parts[0] for part in parts)]
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=f".{folder.name}-", ignore_cleanup_errors=True
    ) as beside:
        new, old = Path(beside) / _NEW, Path(beside) / _PREVIOUS_FOLDER
        new.mkdir()
        old.mkdir()
        write_tables(review_set, new, table_format or usual, base)
        moved = _image_targets(images, folder / "images")
        if fingerprint(folder) != state:
            raise ReviewSetError(
                "The set was changed meanwhile, by a run or by hand; nothing was written. "
                "Wait until that is done, then import again."
            )
        backup = _copy_tables(folder, names)
        (folder / UNFINISHED_FILE).write_text(f"{backup.name}\n", encoding="utf-8")
        done: list[tuple[Path, Path]] = []
        try:
            for source, target in (
                *((folder / name, old / name) for name in names),
                *((path, folder / path.name) for path in sorted(new.iterdir())),
                *moved,
            ):
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
                done.append((source, target))
        except BaseException:
            for source, target in reversed(done):
                target.rename(source)
            (folder / UNFINISHED_FILE).unlink()
            raise
        (folder / UNFINISHED_FILE).unlink()
    return backup


def _check_runs(folder: Path) -> None:
    """Refuse while a run may write to a part that would be moved away: its lock is not empty."""
    for lock in folder.glob("runs/*/lock"):
        if lock.stat().st_size:
            run = lock.parent.name
            raise ReviewSetError(
                f"The run {run} is at work in this set, or was stopped hard; nothing was changed. "
                f"Wait for it or cancel it; if it does not run any more, remove runs/{run}/lock."
            )


def _image_targets(images: Path | None, folder: Path) -> list[tuple[Path, Path]]:
    """Return each new image and its target, none of which exists."""
    files = sorted(path for path in images.rglob("*") if path.is_file()) if images else []
    places = [(path, folder / path.relative_to(images)) for path in files if images]
    taken = [target.relative_to(folder).as_posix() for _, target in places if target.exists()]
    if taken:
        message = "There is another image of that name in the set; nothing was changed."
        remedy = "Rename the new one."
        problems = [Problem("error", name, None, "images", message, remedy) for name in taken]
        raise ReviewSetError("The images cannot be added.", problems)
    return places


def _copy_tables(folder: Path, names: list[str]) -> Path:
    """Copy the present tables into a dated folder next to the set."""
    date = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    backup, number = folder.with_name(f"{folder.name}-before-{date}"), 2
    while backup.exists():
        backup = folder.with_name(f"{folder.name}-before-{date}-{number}")
        number += 1
    backup.mkdir()
    for name in names:
        if (folder / name).is_dir():
            shutil.copytree(folder / name, backup / name)
        else:
            shutil.copy2(folder / name, backup / name)
    return backup

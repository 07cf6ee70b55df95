"""From the tables of an open set back to the columns of files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from rexview.reviewset.tables.column import Column, Table

_TOKENS: Final = ("input_tokens", "output_tokens", "max_output_tokens")


def file_frame(name: str, frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    """Turn a table of an open set into the declared columns of its file.

    Raw spellings stand where they were, token counts are in ``usage``, and what loading added is
    gone. Unknown fields are still in ``extra``.
    """
    if name == "cases":
        frame = frame.with_columns(_given_images())
    if name == "answers":
        reason = pl.col("finish_reason")
        counts = pl.struct(_TOKENS)
        frame = frame.with_columns(
            pl.coalesce("finish_reason_raw", pl.when(reason != "unknown").then(reason)).alias(
                "finish_reason"
            ),
            pl.when(pl.any_horizontal(pl.col(_TOKENS).is_not_null())).then(counts).alias("usage"),
        ).with_columns(pl.lit(None, pl.Int64).alias(token) for token in _TOKENS)
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
    others = ("width", "height", "patient_orientation", "laterality_flip")
    fields = [image.field("id"), image.field("path"), given.alias("view"), *marks]
    return pl.col("images").list.eval(pl.struct(*fields, *(image.field(name) for name in others)))


def _is_empty(series: pl.Series) -> bool:
    if isinstance(series.dtype, pl.List):
        return not series.list.len().sum()
    return series.null_count() == len(series)


def json_rows(frame: pl.DataFrame, table: Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file frame as JSON objects; unknown fields are back in their places."""
    for row in frame.iter_rows(named=True):
        extra = json.loads(row.pop("extra", None) or "{}")
        written = {name: json_value(value, table.by_name[name]) for name, value in row.items()}
        kept = {name: value for name, value in written.items() if value not in (None, [], {})}
        yield _with_extra(kept, extra, table)


def json_value(value: Any, column: Column) -> Any:
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


def _json_record(value: dict[str, Any], column: Column) -> dict[str, Any]:
    given = {part.name: json_value(value[part.name], part) for part in column.fields}
    return {name: part for name, part in given.items() if part not in (None, [], {}, "")}


def _with_extra(row: dict[str, Any], extra: dict[str, Any], table: Table) -> dict[str, Any]:
    rest = {}
    for name, value in extra.items():
        column = table.by_name.get(name)
        if column is None:
            row[name] = value
        elif not _merge(row, column, value):
            rest[name] = value
    return row | {"extra": rest} if rest else row


def _merge(row: dict[str, Any], column: Column, value: Any) -> bool:
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


def own_columns(extra: pl.Series, table: Table) -> tuple[dict[str, list[str | None]], pl.Series]:
    """Split unknown fields for a format with a header.

    Returns
    -------
    dict of str to list
        Fields that are plain text in every row: each can be a column of its own.
    pl.Series
        What is left in ``extra``.
    """
    rows = [json.loads(text) if text else {} for text in extra.to_list()]
    names = dict.fromkeys(name for row in rows for name in row)
    plain = [
        name
        for name in names
        if name not in table.by_name
        and name == name.strip() != ""
        and all(_plain_text(row.get(name, "-")) for row in rows)
    ]
    columns = {name: [row.get(name) for row in rows] for name in plain}
    left = [{name: value for name, value in row.items() if name not in columns} for row in rows]
    texts = [
        json.dumps(row, ensure_ascii=False, separators=(",", ":")) if row else None for row in left
    ]
    return columns, pl.Series("extra", texts, dtype=pl.String)


def _plain_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""

"""Read one table into its declared columns, whatever its format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np
import polars as pl

from rexview.columns import Column, Table
from rexview.reviewset.json_text import dump, is_missing
from rexview.reviewset.problems import quoted
from rexview.reviewset.tables import nested
from rexview.reviewset.tables.files import Chunk, OpenPart, open_parts
from rexview.reviewset.tables.source import Location, TableSource


def read_table(
    source: TableSource,
    table: Table,
    move_texts: Callable[[str, list[pl.DataFrame]], None] = lambda name, parts: None,
) -> pl.DataFrame:
    """Read a table.

    Parameters
    ----------
    source, table
    move_texts : callable
        Is given the table's name and its parts so far, each time that one was read, and may put
        other frames of the same content in their place.

    Returns
    -------
    pl.DataFrame
        All declared columns with their declared types, ``extra`` (unknown fields as one JSON
        object, null where there are none) and ``_row`` (UInt32, from 1). Values that do not fit
        have been reported and are null. A column of which nothing is given is one value, which
        takes no memory until it is asked for as a series.
    """
    parts: list[pl.DataFrame] = []
    told: set[str] = set()
    for part in open_parts(source):
        unknown: set[str] = set()
        missing: set[str] = set()
        for chunk in part.chunks(table):
            unknown |= chunk.columns.keys() - table.by_name.keys()
            if chunk.header:
                missing |= table.by_name.keys() - chunk.columns.keys()
            parts.append(_frame(chunk, table, source))
            del chunk
            move_texts(table.name, parts)
        _report_missing(table, unknown, missing, part)
        if not source.is_import:  # which says itself what it kept as it is
            _report_unknown(table, unknown - told, missing, part)
        told |= unknown
    return _together(parts, table)


def _together(parts: list[pl.DataFrame], table: Table) -> pl.DataFrame:
    """Join parts, each of which may lack columns."""
    whole = empty_table(table)
    if not parts:
        return whole
    given = {name for part in parts for name in part.columns}
    columns = [column for column in _declared(table) if column.name in given]
    filled = [
        part.with_columns(
            one.absent_everywhere() for one in columns if one.name not in part.columns
        )
        for part in parts
    ]
    order = [name for name in whole.columns if name in given]
    return (
        pl.concat(part.select(order) for part in filled)
        .with_columns(one.absent_everywhere() for one in _declared(table) if one.name not in given)
        .select(whole.columns)
    )


def _declared(table: Table) -> Iterator[Column]:
    """Yield the columns of a table; its ``extra`` is text by now."""
    for column in table.columns:
        yield Column("extra", "text", column.meaning) if column.name == "extra" else column


def empty_table(table: Table) -> pl.DataFrame:
    """Return the table without rows."""
    return table.empty


def _frame(chunk: Chunk, table: Table, source: TableSource) -> pl.DataFrame:
    height = len(chunk.rows)
    columns: dict[str, pl.Series] = {}
    leftovers: dict[int, dict[str, Any]] = {}
    for column in table.columns:
        if column.name not in chunk.columns:
            continue
        location = Location(source, column.name, chunk.rows, required=column.required)
        values = chunk.columns.pop(column.name)
        columns[column.name], inner = nested.conform(values, column, location)
        for position, rest in inner.items():
            into = leftovers.setdefault(position, {})
            into |= rest if column.kind == "object" else {column.name: rest}
    for row, unfit in source.unfit.items():
        position = int(np.searchsorted(chunk.rows, row))
        if position < height and chunk.rows[position] == row:
            leftovers.setdefault(position, {}).update(unfit)
    columns.pop("extra", None)  # what is in it went to the leftovers
    if (extra := _extra(chunk, leftovers, height)).null_count() < height:
        columns["extra"] = extra
    columns["_row"] = pl.Series(chunk.rows).cast(pl.UInt32)
    return pl.DataFrame(columns)


def _extra(chunk: Chunk, leftovers: dict[int, dict[str, Any]], height: int) -> pl.Series:
    """Gather what is left in the chunk, and in nested columns, as JSON with sorted names."""
    typed = {
        name: values for name, values in chunk.columns.items() if isinstance(values, pl.Series)
    }
    extra = _typed_extra(typed, height)
    given = {name: values for name, values in chunk.columns.items() if isinstance(values, list)}
    found: dict[int, dict[str, Any]] = {}
    for name, values in given.items():
        for position, value in enumerate(values):
            if not is_missing(value):
                found.setdefault(position, {})[name] = value
    for position, rest in leftovers.items():
        found.setdefault(position, {}).update(rest)
    if not found:
        return extra
    positions = sorted(found)
    texts = []
    for position in positions:
        before = extra[position]
        rest = (json.loads(before) if before else {}) | found[position]
        texts.append(dump(dict(sorted(rest.items()))))
    return extra.scatter(np.array(positions), pl.Series(texts, dtype=pl.String))


def _typed_extra(columns: dict[str, pl.Series], height: int) -> pl.Series:
    parts = []
    for name in sorted(columns):
        series = columns[name]
        if isinstance(series.dtype, pl.Categorical | pl.Enum) or series.dtype.is_temporal():
            series = series.cast(pl.String)
        elif series.dtype == pl.Binary:
            series = series.bin.encode("base64")
        elif series.dtype.is_float():
            series = series.fill_nan(None)
        entry = pl.DataFrame({name: series}).to_struct().struct.json_encode().str.slice(1)
        parts.append(
            pl.select(pl.when(series.is_not_null()).then(entry.str.head(-1)))
            .to_series()
            .alias(name)
        )
    if not parts:
        return pl.Series("extra", [None], dtype=pl.String).new_from_index(0, height)
    joined = pl.DataFrame(parts).select(
        pl.concat_str(pl.all(), separator=",", ignore_nulls=True).alias("extra")
    )
    return joined.select(
        pl.when(pl.col("extra") != "").then("{" + pl.col("extra") + "}").alias("extra")
    ).to_series()


def _report_missing(table: Table, unknown: set[str], missing: set[str], part: OpenPart) -> None:
    for column in table.columns:
        if column.required and column.name in missing:
            near = get_close_matches(
                column.name, {name.lower() for name in unknown}, n=1, cutoff=0.8
            )
            hint = f" There is {quoted(near[0])}." if near else ""
            remedy = f"Add the column {column.name}, or rename the one that holds it."
            message = f"There is no column {column.name}.{hint}"
            part.error(message, remedy, field=column.name)


def _report_unknown(table: Table, unknown: set[str], missing: set[str], part: OpenPart) -> None:
    """Report fields that are not known and are spelled nearly like one that is."""
    for name in sorted(unknown):
        near = get_close_matches(name.strip().lower(), table.by_name, n=1, cutoff=0.85)
        if near and not (table.by_name[near[0]].required and near[0] in missing):
            message = f"The field {quoted(name)} is not known and is kept as it is."
            part.warning(message, f"Rename it if {near[0]} is meant.", field=name)

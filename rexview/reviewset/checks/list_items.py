"""The items of a list column, such as the images of cases, as rows of a table."""

from __future__ import annotations

import polars as pl


def items_of(frame: pl.DataFrame, column: str, *keep: str | pl.Expr) -> pl.DataFrame:
    """Return one row an item: the kept columns, ``index`` in its list from 0, and the item.

    An object gives a column for each of its fields, a plain item the column itself.
    """
    filled = frame.filter(pl.col(column).list.len() > 0)
    items = filled.select(*keep, column, pl.int_ranges(pl.col(column).list.len()).alias("index"))
    rows = items.explode(column, "index")
    return rows.unnest(column) if isinstance(rows.schema[column], pl.Struct) else rows

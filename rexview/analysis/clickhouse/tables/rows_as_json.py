"""Rows of the tables of a review set as JSON, and back, every value as it was.

ClickHouse has no lists or records that may be missing; what is shown of a case has to be exactly
what its file says.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl


def encoded(rows: pl.DataFrame) -> pl.Series:
    """Return each row as JSON."""
    plain = (pl.col(name).cast(_plain(kind)) for name, kind in rows.schema.items())
    as_record = rows.select(pl.struct(plain).alias("record"))
    return as_record.select(pl.col("record").struct.json_encode()).to_series()


def decoded(texts: Iterable[str], schema: pl.Schema) -> pl.DataFrame:
    """Return the rows that :func:`encoded` made texts of; ``schema`` is that of their table."""
    column = pl.Series("record", list(texts), dtype=pl.String)
    if column.is_empty():
        return schema.to_frame()
    kinds = pl.Struct({name: _plain(kind) for name, kind in schema.items()})
    return column.str.json_decode(kinds).struct.unnest().cast(schema)


def _plain(kind: pl.DataType) -> pl.DataType:
    """Return the type that stands for another in JSON."""
    if isinstance(kind, pl.List):
        return pl.List(_plain(kind.inner))  # type: ignore[arg-type]
    if isinstance(kind, pl.Struct):
        return pl.Struct({one.name: _plain(one.dtype) for one in kind.fields})  # type: ignore[arg-type]
    if isinstance(kind, pl.Enum | pl.Categorical):
        return pl.String()
    return pl.Int64() if isinstance(kind, pl.Datetime) else kind

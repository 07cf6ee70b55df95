"""Nested columns as given, turned into the declared type.

A list of objects becomes one flat table of its objects, its fields go the way of plain columns, and
the lists are put together again. So JSON, JSON inside CSV cells and typed Parquet columns are read
by the same code, and millions of boxes are read column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from rexview.columns import Column
from rexview.reviewset.json_text import MISSING, JsonError, is_missing, parse
from rexview.reviewset.tables import scalars
from rexview.reviewset.tables.source import Location, Positions, Values

Leftovers = dict[int, Any]
"""Unknown fields inside a nested column, by position: an object, or a list with one object (of the
unknown fields only, maybe empty) for each object of the column's list."""
_LABELS: Final = {dict: "an object", list: "a list", str: "text", bool: "true or false"}

_MANY_LISTS: Final = 100_000
"""From so many lists on, pyarrow makes them, several times as fast."""


@dataclass(frozen=True)
class Flat:
    """The items of a list column.

    ``owner`` has the position in the column and ``index`` the place in its list, for each item;
    ``lengths`` has the number of items for each position of the column.
    """

    items: Values
    owner: Positions
    index: Positions
    lengths: Positions

    @classmethod
    def of_lengths(cls, items: Values, lengths: Positions) -> Flat:
        """Number the items of lists that have those lengths."""
        owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        starts = np.cumsum(lengths) - lengths
        return cls(items, owner, np.arange(len(owner), dtype=np.int64) - starts[owner], lengths)

    @classmethod
    def of_series(cls, lists: pl.Series) -> Flat:
        """Lay a list column flat; a null is an empty list."""
        lengths = lists.list.len().fill_null(0).cast(pl.Int64)
        items = lists.explode(empty_as_null=False, keep_nulls=False)
        return cls.of_lengths(items, lengths.to_numpy())

    @property
    def fields(self) -> pl.DataFrame:
        """The items of a typed column of objects, a column for each of their fields."""
        assert isinstance(self.items, pl.Series)
        return self.items.struct.unnest()

    def lists(self, items: pl.Series) -> pl.Series:
        """Put items, one for each of these, together into lists again."""
        if len(self.lengths) < _MANY_LISTS:
            return self._grouped(items)
        import pyarrow as pa

        offsets = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        # pa.array() would import pandas, which takes longer than opening a small set
        starts = pa.Array.from_buffers(pa.int64(), len(offsets), [None, pa.py_buffer(offsets)])
        array = pa.LargeListArray.from_arrays(starts, items.rechunk().to_arrow())
        lists = pl.from_arrow(array)
        assert isinstance(lists, pl.Series)
        return lists.alias(items.name).cast(pl.List(items.dtype))

    def _grouped(self, items: pl.Series) -> pl.Series:
        """Do so with polars alone: slower for each list, but pyarrow takes 30 MB and 0.1 s."""
        item = items.rename("item")
        filled = pl.DataFrame({"row": self.owner, "item": item})
        found = filled.group_by("row", maintain_order=True).agg("item")
        rows = pl.DataFrame({"row": np.arange(len(self.lengths), dtype=np.int64)})
        lists = rows.join(found, on="row", how="left", maintain_order="left")["item"]
        empty = pl.Series([[]], dtype=pl.List(items.dtype))
        whole = pl.select(pl.when(lists.is_null()).then(pl.lit(empty).first()).otherwise(lists))
        return whole.to_series().alias(items.name)


def items_of(frame: pl.DataFrame, column: str, *keep: str | pl.Expr) -> pl.DataFrame:
    """Return one row an item: the kept columns, ``index`` in its list from 0, and the item.

    An object gives a column for each of its fields, a plain item the column itself.
    """
    filled = frame.filter(pl.col(column).list.len() > 0)
    items = filled.select(*keep, column, pl.int_ranges(pl.col(column).list.len()).alias("index"))
    rows = items.explode(column, "index")
    return rows.unnest(column) if isinstance(rows.schema[column], pl.Struct) else rows


def conform(values: Values, column: Column, location: Location) -> tuple[pl.Series, Leftovers]:
    """Turn a column of any kind into ``column.dtype``.

    Returns
    -------
    pl.Series
        Lists are never null, objects without any content are.
    Leftovers
        What nested objects hold besides the declared fields.
    """
    if column.is_scalar:
        return scalars.conform(values, column, location), {}
    if isinstance(values, pl.Series):
        values = _plain_or_python(values, column)
    if isinstance(values, list) and column.kind != "box":
        values = _parsed(values, location)
    series, leftovers = _CONVERTERS[column.kind](values, column, location)
    return series.alias(column.name), leftovers


def _plain_or_python(series: pl.Series, column: Column) -> Values:
    """Keep a Parquet column typed where its shape is the declared one."""
    dtype = series.dtype
    if isinstance(dtype, pl.Array):
        series, dtype = series.arr.to_list(), pl.List(dtype.inner)
    if isinstance(dtype, pl.List):
        is_struct = isinstance(dtype.inner, pl.Struct)
        if (column.kind == "records") == is_struct and column.kind in ("records", "texts", "box"):
            return series
    if isinstance(dtype, pl.Struct) and column.kind == "record":
        return series
    if column.kind == "tags" and dtype == column.dtype and _names_are_unique(series):
        return series
    return series.to_list()


def _parsed(values: list[Any], location: Location) -> list[Any]:
    """Parse the values that are JSON text, as in CSV cells."""
    if str not in set(map(type, values)):
        return values
    parsed: list[Any] = []
    wrong: dict[int, str] = {}
    for position, value in enumerate(values):
        found = value
        if isinstance(value, str):
            found = None
            if value.strip().lower() not in MISSING:
                try:
                    found = parse(value)
                except JsonError as error:
                    wrong[position] = str(error)
        parsed.append(found)
    location.report(
        "error",
        np.array(list(wrong), dtype=np.int64),
        lambda position: f"This is not JSON: {wrong[position]}.",
        "Write lists and objects as JSON, such as [] or {}.",
    )
    return parsed


def _of_type(values: list[Any], kind: type, location: Location, remedy: str) -> list[Any]:
    """Keep the values of one type; report the others and take them as missing."""
    if set(map(type, values)) <= {kind, type(None)}:
        return values
    wrong = [
        i for i, value in enumerate(values) if not (isinstance(value, kind) or is_missing(value))
    ]
    location.report(
        "error",
        np.array(wrong, dtype=np.int64),
        lambda i: (
            f"This is {_LABELS.get(type(values[i]), 'a number')}, {_LABELS[kind]} is expected."
        ),
        remedy,
    )
    return [value if isinstance(value, kind) else None for value in values]


def _flat_lists(values: Values, location: Location, remedy: str) -> Flat:
    if isinstance(values, pl.Series):
        return Flat.of_series(values)
    lists = _of_type(values, list, location, remedy)
    lengths_ = np.array([len(value) if value else 0 for value in lists], dtype=np.int64)
    return Flat.of_lengths([item for value in lists if value for item in value], lengths_)


def _texts(values: Values, column: Column, location: Location) -> tuple[pl.Series, Leftovers]:
    flat = _flat_lists(values, location, 'Write a list, such as ["a", "b"].')
    inside = location.inside("", flat.owner, flat.index)
    texts = scalars.natural(flat.items, Column(column.name, "text", ""), inside)
    if texts.dtype != pl.String:
        texts = scalars.conform(texts, Column(column.name, "text", ""), inside)
    return flat.lists(texts.fill_null("")), {}


def _box(values: Values, column: Column, location: Location) -> tuple[pl.Series, Leftovers]:
    """Keep boxes whatever they hold: what cannot be drawn is found and listed when checking."""
    if isinstance(values, pl.Series):
        flat = _flat_lists(values, location, "")
    else:
        lists = [value if isinstance(value, list) else [] for value in values]
        lengths = np.array([len(value) for value in lists], dtype=np.int64)
        given = [item for value in lists for item in value]
        if not set(map(type, given)) <= {float, int}:
            given = [_coordinate(item) for item in given]
        flat = Flat.of_lengths(pl.Series(given, dtype=pl.Float64, strict=False), lengths)
    items = flat.items if isinstance(flat.items, pl.Series) else pl.Series(flat.items)
    return flat.lists(items.cast(pl.Float64, strict=False).fill_null(float("nan"))), {}


def _coordinate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return float("nan")
    try:
        return float(value)
    except (ValueError, OverflowError):
        return float("nan")


def _names_are_unique(tags: pl.Series) -> bool:
    """Whether every tag of every row has a name, and no other of its row the same."""
    flat = Flat.of_series(tags)
    names = flat.fields["name"]
    if names.has_nulls():
        return False
    return not pl.DataFrame({"owner": flat.owner, "name": names}).is_duplicated().any()


def _tags(values: Values, column: Column, location: Location) -> tuple[pl.Series, Leftovers]:
    if isinstance(values, pl.Series):
        flat = Flat.of_series(values)
        inside = location.inside("", flat.owner, flat.index)
        texts, _ = _texts(flat.fields["values"], column, inside)
        return flat.lists(
            pl.DataFrame({"name": flat.fields["name"], "values": texts}).to_struct()
        ), {}
    objects = [_named_lists(value) for value in values]
    objects = _of_type(
        objects, dict, location, 'Write an object, such as {"region": ["left base"]}.'
    )
    lengths = np.array([len(value) if value else 0 for value in objects], dtype=np.int64)
    pairs = [pair for value in objects if value for pair in value.items()]
    flat = Flat.of_lengths(pairs, lengths)
    lists = [
        [] if value is None else value if isinstance(value, list) else [value] for _, value in pairs
    ]
    inside = location.inside("", flat.owner, flat.index)
    texts, _ = _texts(lists, column, inside)
    names = pl.Series([name for name, _ in pairs], dtype=pl.String)
    return flat.lists(pl.DataFrame({"name": names, "values": texts}).to_struct()), {}


def _named_lists(value: Any) -> Any:
    """Tags as an object; a Parquet map and our own list of name and values are objects too."""
    if isinstance(value, dict):
        return {str(name): part for name, part in value.items() if part is not None}
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        for name, content in (("name", "values"), ("key", "value")):
            if all(part.keys() == {name, content} for part in value):
                return {str(part[name]): part[content] for part in value}
    return value


def _fields(
    items: Values,
    column: Column,
    location: Location,
    owner: Positions,
    index: Positions | None,
) -> tuple[pl.Series, dict[int, dict[str, Any]]]:
    """Convert the declared fields of objects; return them as structs, and the unknown fields."""
    known = [part.name for part in column.fields]
    given: dict[str, Values]
    if isinstance(items, pl.Series):
        frame = items.struct.unnest()
        given = {name: frame[name] for name in known if name in frame.columns}
        unknown = _unknown_typed(frame.drop(known, strict=False))
    else:
        given = {name: [item.get(name) if item else None for item in items] for name in known}
        unknown = _unknown(items, set(known))
    height = len(items)
    columns: dict[str, pl.Series] = {}
    for part in column.fields:
        values = given.get(part.name)
        if values is None and not part.required:
            columns[part.name] = part.absent(height)
            continue
        if values is None:
            values = pl.Series([None], dtype=pl.Null).new_from_index(0, height)
        columns[part.name], inner = conform(
            values, part, location.inside(part.name, owner, index, required=part.required)
        )
        assert not inner, "objects inside objects are not declared"
    return pl.DataFrame(columns).to_struct(column.name), unknown


def _unknown(items: Sequence[Any], known: set[str]) -> dict[int, dict[str, Any]]:
    if set().union(*(item.keys() for item in items if item)) <= known:
        return {}
    found = {}
    for position, item in enumerate(items):
        rest = {
            name: value
            for name, value in (item or {}).items()
            if name not in known and not is_missing(value)
        }
        if rest:
            found[position] = rest
    return found


def _unknown_typed(frame: pl.DataFrame) -> dict[int, dict[str, Any]]:
    if not frame.width:
        return {}
    used = frame.with_row_index("_at").filter(pl.any_horizontal(pl.exclude("_at").is_not_null()))
    return {
        row.pop("_at"): {name: value for name, value in row.items() if not is_missing(value)}
        for row in used.iter_rows(named=True)
    }


def _record(values: Values, column: Column, location: Location) -> tuple[pl.Series, Leftovers]:
    if isinstance(values, list):
        example = column.fields[0].name
        values = _of_type(values, dict, location, f'Write an object, such as {{"{example}": …}}.')
    everyone = np.arange(len(values), dtype=np.int64)
    structs, unknown = _fields(values, column, location, everyone, None)
    frame = structs.struct.unnest()
    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    return pl.select(pl.when(~empty).then(structs)).to_series(), dict(unknown)


def _records(values: Values, column: Column, location: Location) -> tuple[pl.Series, Leftovers]:
    flat = _flat_lists(values, location, "Write a list of objects, such as [{…}, {…}].")
    items = flat.items
    inside = location.inside("", flat.owner, flat.index)
    if isinstance(items, list):
        items = _of_type(items, dict, inside, "Write an object in curly brackets.")
    structs, unknown = _fields(items, column, location, flat.owner, flat.index)
    leftovers: Leftovers = {}
    for position, rest in unknown.items():
        owner = int(flat.owner[position])
        parts = leftovers.setdefault(owner, [{} for _ in range(int(flat.lengths[owner]))])
        parts[int(flat.index[position])] = rest
    return flat.lists(structs), leftovers


def _object(values: Values, column: Column, location: Location) -> tuple[pl.Series, Leftovers]:
    assert isinstance(values, list)
    objects = _of_type(values, dict, location, "Write an object in curly brackets.")
    leftovers = {}
    for position, value in enumerate(objects):
        kept = {name: part for name, part in (value or {}).items() if not is_missing(part)}
        if kept:
            leftovers[position] = kept
    return pl.Series(values=[None] * len(objects), dtype=pl.String), leftovers


_CONVERTERS: Final[dict[str, Callable[[Values, Column, Location], tuple[pl.Series, Leftovers]]]] = {
    "texts": _texts,
    "box": _box,
    "tags": _tags,
    "record": _record,
    "records": _records,
    "object": _object,
}

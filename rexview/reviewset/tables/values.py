"""Convert given plain columns to the declared type, and report every invalid value.

All of it works on whole columns. Text, numbers and words come from JSON, CSV and Parquet alike. A
number in a text column is taken as text, ``"5"`` in a number column as 5. What pandas or a
spreadsheet writes for a missing value (``NaN``, ``NA``, an empty cell) is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import numpy as np
import polars as pl

from rexview.columns import DeclaredColumn
from rexview.reviewset.json_text import MISSING_WORDS, JsonError, is_missing, parse_json
from rexview.reviewset.problems import join_alternatives
from rexview.reviewset.tables.source import ColumnLocation, Positions, Values
from rexview.vocab import LONGEST_ID

YES_WORDS: Final = ("true", "yes", "y", "1", "1.0", "t")
NO_WORDS: Final = ("false", "no", "n", "0", "0.0", "f")
_DATE_FORMATS: Final = (
    ("%Y-%m-%dT%H:%M:%S%.f%#z", True),
    ("%Y-%m-%d %H:%M:%S%.f%#z", True),
    ("%Y-%m-%dT%H:%M:%S%.f", False),
    ("%Y-%m-%d %H:%M:%S%.f", False),
)
_EPOCH_SECONDS: Final = (100_000_000, 20_000_000_000)
"""Numbers taken as seconds since 1970 if a date is expected: 1973 to 2603."""


def conform_plain_column(
    values: Values, column: DeclaredColumn, location: ColumnLocation
) -> pl.Series:
    """Convert a column of plain values to ``column.dtype``.

    Invalid values are reported and become null: missing values in a required column, words that are
    not in ``column.vocabulary``, and numbers outside its range.
    """
    if not column.required and isinstance(values, list) and not _has_values(values):
        return column.absent(len(values))
    series = to_plain_series(values, column, location)
    converted = _CONVERTERS[column.kind](series, column, location)
    if column.required and converted.null_count():
        message = "Nothing is given."
        remedy = f"Give the {column.name} in every row."
        location.report("error", ~_is_given(series, column), message, remedy)
    return converted.alias(column.name)


def _has_values(values: list[Any]) -> bool:
    return any(value is not None for value in values)


def to_plain_series(values: Values, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    """Make a series of one plain type; mixed values become text."""
    if isinstance(values, pl.Series):
        if isinstance(values.dtype, pl.Categorical | pl.Enum):
            return values.cast(pl.String)
        if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary):
            _not_plain(values.is_not_null(), column, location)
            return pl.Series(values.name, [None] * len(values), dtype=pl.String)
        return values
    kinds = set(map(type, values)) - {type(None)}
    if kinds & {list, dict}:
        _not_plain(
            pl.Series([isinstance(value, list | dict) for value in values]), column, location
        )
        values = [None if isinstance(value, list | dict) else value for value in values]
        kinds -= {list, dict}
    if kinds <= {str}:
        return pl.Series(values, dtype=pl.String)
    if kinds == {bool}:
        return pl.Series(values, dtype=pl.Boolean)
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(values, dtype=pl.Int64)
    if kinds == {float}:
        return pl.Series(values, dtype=pl.Float64)
    texts = [None if is_missing(value) else _as_text(value) for value in values]
    return pl.Series(texts, dtype=pl.String)


def _not_plain(wrong: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> None:
    kind = column.kind_name
    message = f"A list, an object or binary data stands where a {kind} is expected."
    remedy = f"Write one {kind}."
    location.report("error", wrong, message, remedy)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _is_given(series: pl.Series, column: DeclaredColumn) -> pl.Series:
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        nothing = [""] if column.kind in ("id", "text") else MISSING_WORDS
        return ~text.str.to_lowercase().is_in(nothing).fill_null(True)
    return series.is_not_nan().fill_null(False) if series.dtype.is_float() else series.is_not_null()


def _text(series: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    if series.dtype.is_float():
        whole = (series == series.floor()) & (series.abs() < 2**53)
        text = pl.select(
            pl.when(series.is_nan() | series.is_null())
            .then(None)
            .when(whole)
            .then(series.cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(series.cast(pl.String))
        ).to_series()
    elif series.dtype != pl.String:
        text = series.cast(pl.String)
    else:
        text = series
    empty = text == ""  # seldom so, and quick to ask
    return text.set(empty, None) if empty.any() else text


def _id(series: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    given = series if series.dtype == pl.String else _text(series, column, location)
    text = _text(given.str.strip_chars(), column, location)
    too_long = text.str.len_chars() > LONGEST_ID
    if too_long.any():  # URLs and entries of the reviews database contain it
        message = f"{{value}} is longer than {LONGEST_ID} characters."
        remedy = "Use a shorter one in all tables."
        location.report("error", too_long.fill_null(False), message, remedy, text)
    return text


def _word(series: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    text = _id(series, column, location)
    different = text.unique().drop_nulls()
    if _unchanged_words(column.vocabulary).issuperset(different.to_list()):
        return text
    folded = different.str.to_lowercase().str.replace_all(r"[\s\-]+", "_")
    known = folded.is_in(list(column.vocabulary))
    words = pl.Series([_none_if_missing(word) for word in folded.to_list()], dtype=pl.String)
    kept = pl.select(pl.when(known).then(folded).otherwise(different)).to_series()
    unknown = different.filter(~known & words.is_not_null())
    if len(unknown):
        choices = (
            join_alternatives(column.vocabulary)
            if len(column.vocabulary) < 10
            else "those listed in FORMAT.md"
        )
        remedy = f"Use {choices}."
        wrong = text.is_in(unknown.implode()).fill_null(False)
        if column.open_vocabulary:
            location.report("warning", wrong, "The word {value} is not a known one.", remedy, text)
        else:
            location.report("error", wrong, "The word {value} cannot be used here.", remedy, text)
            kept = kept.set(~known, None)
    kept = kept.set(words.is_null(), None)
    return text.replace_strict(different, kept, default=None, return_dtype=pl.String)


@cache
def _unchanged_words(vocabulary: tuple[str, ...]) -> frozenset[str]:
    """Return the words that are left unchanged when words are normalised."""
    return frozenset(
        word
        for word in vocabulary
        if re.fullmatch("[a-z0-9_]+", word) and word not in MISSING_WORDS
    )


def _none_if_missing(word: str) -> str | None:
    return None if word in MISSING_WORDS else word


def _numbers(series: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    """Return Float64 values of any plain series; invalid numbers are reported, NaN becomes null."""
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        numbers = text.cast(pl.Float64, strict=False)
        missing = text.str.to_lowercase().is_in(MISSING_WORDS)
        wrong = numbers.is_null() & text.is_not_null() & ~missing
        _no_number(wrong, series, column, location)
    elif series.dtype.is_numeric() or series.dtype == pl.Null:
        numbers = series.cast(pl.Float64)
    else:
        numbers = pl.Series([None] * len(series), dtype=pl.Float64)
        _no_number(series.is_not_null(), series, column, location)
    return numbers.fill_nan(None)


def _no_number(
    wrong: pl.Series, series: pl.Series, column: DeclaredColumn, location: ColumnLocation
) -> None:
    kind = column.kind_name
    location.report(
        "error", wrong, f"{{value}} is not a {kind}.", f"Write a {kind}{_range(column)}.", series
    )


def _range(column: DeclaredColumn) -> str:
    if column.low is not None and column.high is not None:
        return f" from {column.low:g} to {column.high:g}, or leave it empty"
    return f", {column.low:g} or more" if column.low is not None else ""


def _in_range(numbers: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    wrong = pl.Series([False]).new_from_index(0, len(numbers))
    if column.low is not None:
        wrong |= (numbers < column.low).fill_null(False)
    if column.high is not None:
        wrong |= (numbers > column.high).fill_null(False)
    remedy = f"Write a {column.kind_name}{_range(column)}."
    location.report("error", wrong, "{value} is out of range.", remedy, numbers)
    return numbers.set(wrong, None)


def _integer(series: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    if series.dtype.is_integer():
        whole = series.cast(pl.Int64, strict=False)
        too_large = whole.is_null() & series.is_not_null()
    else:
        exact = series.str.strip_chars() if series.dtype == pl.String else series
        numbers = _numbers(series, column, location)
        fits = (numbers == numbers.floor()) & (numbers.abs() < 2**63)
        whole = numbers.cast(pl.Int64, strict=False)
        if exact.dtype == pl.String:  # beyond 2**53 the digits, not the float
            whole = exact.cast(pl.Int64, strict=False).fill_null(whole)
        whole = whole.set(~fits.fill_null(True), None)
        too_large = (~fits).fill_null(False)
    remedy = f"Write a whole number{_range(column)}."
    location.report("error", too_large, "{value} is not a whole number.", remedy, series)
    return _in_range(whole, column, location)


def _number(series: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    numbers = _numbers(series, column, location)
    infinite = numbers.is_infinite().fill_null(False)
    message = "An infinite number is taken as not given."
    remedy = "Leave it empty where there is no number."
    location.report("warning", infinite, message, remedy)
    return _in_range(numbers.set(infinite, None), column, location)


def _yes_no(series: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    if series.dtype == pl.Boolean:
        return series
    text = _id(series, column, location).str.to_lowercase()
    known = text.is_in(YES_WORDS) | text.is_in(NO_WORDS) | text.is_in(MISSING_WORDS)
    message = "{value} is not true or false."
    remedy = "Write true or false."
    location.report("error", (~known).fill_null(False), message, remedy, series)
    answer = text.is_in(YES_WORDS)
    return answer.set(~(answer | text.is_in(NO_WORDS)), None)


def _date(series: pl.Series, column: DeclaredColumn, location: ColumnLocation) -> pl.Series:
    """Return times in UTC, from ISO 8601 in its usual spellings or from seconds since 1970."""
    if series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime):
        if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone:
            return series.dt.convert_time_zone("UTC").cast(column.dtype)
        return series.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    if series.dtype.is_numeric():
        return _seconds(series.cast(pl.Float64), series, location)
    if series.dtype != pl.String:
        _no_date(series.is_not_null(), series, location)
        return pl.Series([None] * len(series), dtype=column.dtype)
    text = series.str.strip_chars()
    found = pl.Series([None], dtype=column.dtype).new_from_index(0, len(text))
    for pattern, zoned in _DATE_FORMATS:
        if not (found.is_null() & text.is_not_null()).any():
            break
        parsed = text.str.to_datetime(pattern, time_unit="us", strict=False)
        found = found.fill_null(parsed if zoned else parsed.dt.replace_time_zone("UTC"))
    unread = found.is_null() & text.is_not_null() & ~text.str.to_lowercase().is_in(MISSING_WORDS)
    if unread.any():
        dates = {
            value: moment.astimezone(UTC)
            for value in text.filter(unread).unique().to_list()
            for moment in [parse_date(value)]
            if moment
        }
        others = [dates.get(value) for value in text.to_list()]
        found = found.fill_null(pl.Series(others, dtype=column.dtype))
        _no_date(unread & found.is_null(), series, location)
    return found


def parse_date(text: str) -> datetime | None:
    """Read a date in any supported spelling, UTC unless it has a zone; None for other texts."""
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)  # the first and last possible days may have none in UTC
    except (ValueError, OverflowError):
        pass
    else:
        return moment
    try:
        seconds = float(text)
    except ValueError:
        return None
    low, high = _EPOCH_SECONDS
    return datetime.fromtimestamp(seconds, UTC) if low <= seconds <= high else None


def _seconds(numbers: pl.Series, series: pl.Series, location: ColumnLocation) -> pl.Series:
    numbers = numbers.fill_nan(None)
    usable = numbers.is_between(*_EPOCH_SECONDS)
    _no_date((~usable).fill_null(False), series, location)
    microseconds = (numbers.set(~usable, None) * 1e6).round().cast(pl.Int64, strict=False)
    return microseconds.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")


def _no_date(wrong: pl.Series, series: pl.Series, location: ColumnLocation) -> None:
    message = "{value} is not a date that can be understood."
    remedy = "Write it as 2025-01-31T14:05:00Z."
    location.report("error", wrong, message, remedy, series)


_CONVERTERS: Final[dict[str, Callable[[pl.Series, DeclaredColumn, ColumnLocation], pl.Series]]] = {
    "id": _id,
    "text": _text,
    "word": _word,
    "integer": _integer,
    "number": _number,
    "yes_no": _yes_no,
    "date": _date,
}


# Convert given nested columns to the declared type.
#
# A list of objects becomes one flat table of its objects, whose fields are converted like plain
# columns, and the lists are put together again. So JSON, JSON inside CSV cells and typed Parquet
# columns are read by the same code, and millions of boxes are read column by column.

Leftovers = dict[int, Any]
"""Unknown fields inside a nested column, by position: an object, or a list with one object (of the
unknown fields only, perhaps empty) for each object of the column's list."""
_LABELS: Final = {dict: "an object", list: "a list", str: "text", bool: "true or false"}

_MANY_LISTS: Final = 100_000
"""From this number of lists on, pyarrow makes them, several times as fast."""


@dataclass(frozen=True)
class FlatList:
    """The items of a list column.

    ``owner`` has the position in the column and ``index`` the place in its list, for each item;
    ``lengths`` has the number of items for each position of the column.
    """

    items: Values
    owner: Positions
    index: Positions
    lengths: Positions

    @classmethod
    def of_lengths(cls, items: Values, lengths: Positions) -> FlatList:
        """Number the items of lists with the given lengths."""
        owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        starts = np.cumsum(lengths) - lengths
        return cls(items, owner, np.arange(len(owner), dtype=np.int64) - starts[owner], lengths)

    @classmethod
    def of_series(cls, lists: pl.Series) -> FlatList:
        """Flatten a list column; a null is an empty list."""
        lengths = lists.list.len().fill_null(0).cast(pl.Int64)
        items = lists.explode(empty_as_null=False, keep_nulls=False)
        return cls.of_lengths(items, lengths.to_numpy())

    @property
    def fields(self) -> pl.DataFrame:
        """The items of a typed column of objects, as a frame with a column for each field."""
        assert isinstance(self.items, pl.Series)
        return self.items.struct.unnest()

    def lists(self, items: pl.Series) -> pl.Series:
        """Regroup items, one for each item of this column, into lists."""
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
        """Regroup with polars alone: slower for each list, but pyarrow takes 30 MB and 0.1 s."""
        filled = pl.LazyFrame({"row": self.owner, "item": items.rename("item")})
        found = filled.group_by("row", maintain_order=True).agg("item")
        rows = pl.LazyFrame({"row": np.arange(len(self.lengths), dtype=np.int64)})
        lists = rows.join(found, on="row", how="left", maintain_order="left")
        empty = pl.lit(pl.Series([[]], dtype=pl.List(items.dtype))).first()
        item = pl.col("item")
        whole = lists.select(pl.when(item.is_null()).then(empty).otherwise(item).alias("item"))
        return whole.collect()["item"].alias(items.name)


def explode_items(frame: pl.DataFrame, column: str, *keep: str | pl.Expr) -> pl.DataFrame:
    """Return one row an item: the kept columns, ``index`` in its list from 0, and the item.

    An object gives a column for each of its fields, a plain item the column itself.
    """
    filled = frame.lazy().filter(pl.col(column).list.len() > 0)
    items = filled.select(*keep, column, pl.int_ranges(pl.col(column).list.len()).alias("index"))
    rows = items.explode(column, "index").collect()
    return rows.unnest(column) if isinstance(rows.schema[column], pl.Struct) else rows


def conform_column(
    values: Values, column: DeclaredColumn, location: ColumnLocation
) -> tuple[pl.Series, Leftovers]:
    """Convert a column of any kind to ``column.dtype``.

    Returns
    -------
    pl.Series
        Lists are never null; empty objects are.
    Leftovers
        Fields of nested objects that are not declared.
    """
    if column.is_scalar:
        return conform_plain_column(values, column, location), {}
    if isinstance(values, pl.Series):
        values = _plain_or_python(values, column)
    if isinstance(values, list) and column.kind != "box":
        values = _parsed(values, location)
    series, leftovers = _NESTED_CONVERTERS[column.kind](values, column, location)
    return series.alias(column.name), leftovers


def _plain_or_python(series: pl.Series, column: DeclaredColumn) -> Values:
    """Keep a Parquet column typed if it has the declared shape."""
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


def _parsed(values: list[Any], location: ColumnLocation) -> list[Any]:
    """Parse values that are JSON text, as in CSV cells."""
    if str not in set(map(type, values)):
        return values
    parsed: list[Any] = []
    wrong: dict[int, str] = {}
    for position, value in enumerate(values):
        found = value
        if isinstance(value, str):
            found = None
            if value.strip().lower() not in MISSING_WORDS:
                try:
                    found = parse_json(value)
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


def _of_type(values: list[Any], kind: type, location: ColumnLocation, remedy: str) -> list[Any]:
    """Keep the values of one type; report the others and treat them as missing."""
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


def _flat_lists(values: Values, location: ColumnLocation, remedy: str) -> FlatList:
    if isinstance(values, pl.Series):
        return FlatList.of_series(values)
    lists = _of_type(values, list, location, remedy)
    lengths_ = np.array([len(value) if value else 0 for value in lists], dtype=np.int64)
    return FlatList.of_lengths([item for value in lists if value for item in value], lengths_)


def _texts(
    values: Values, column: DeclaredColumn, location: ColumnLocation
) -> tuple[pl.Series, Leftovers]:
    flat = _flat_lists(values, location, 'Write a list, such as ["a", "b"].')
    inside = location.inside("", flat.owner, flat.index)
    texts = to_plain_series(flat.items, DeclaredColumn(column.name, "text", ""), inside)
    if texts.dtype != pl.String:
        texts = conform_plain_column(texts, DeclaredColumn(column.name, "text", ""), inside)
    return flat.lists(texts.fill_null("")), {}


def _box(
    values: Values, column: DeclaredColumn, location: ColumnLocation
) -> tuple[pl.Series, Leftovers]:
    """Keep all boxes; the check reports those that cannot be drawn."""
    if isinstance(values, pl.Series):
        flat = _flat_lists(values, location, "")
    else:
        lists = [value if isinstance(value, list) else [] for value in values]
        lengths = np.array([len(value) for value in lists], dtype=np.int64)
        given = [item for value in lists for item in value]
        if not set(map(type, given)) <= {float, int}:
            given = [_coordinate(item) for item in given]
        flat = FlatList.of_lengths(pl.Series(given, dtype=pl.Float64, strict=False), lengths)
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
    """True if every tag of a row has a name, and no two have the same."""
    flat = FlatList.of_series(tags)
    names = flat.fields["name"]
    if names.has_nulls():
        return False
    return not pl.DataFrame({"owner": flat.owner, "name": names}).is_duplicated().any()


def _tags(
    values: Values, column: DeclaredColumn, location: ColumnLocation
) -> tuple[pl.Series, Leftovers]:
    if isinstance(values, pl.Series):
        flat = FlatList.of_series(values)
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
    flat = FlatList.of_lengths(pairs, lengths)
    lists = [
        [] if value is None else value if isinstance(value, list) else [value] for _, value in pairs
    ]
    inside = location.inside("", flat.owner, flat.index)
    texts, _ = _texts(lists, column, inside)
    names = pl.Series([name for name, _ in pairs], dtype=pl.String)
    return flat.lists(pl.DataFrame({"name": names, "values": texts}).to_struct()), {}


def _named_lists(value: Any) -> Any:
    """Return tags as an object: Parquet maps and our lists of name and values, too."""
    if isinstance(value, dict):
        return {str(name): part for name, part in value.items() if part is not None}
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        for name, content in (("name", "values"), ("key", "value")):
            if all(part.keys() == {name, content} for part in value):
                return {str(part[name]): part[content] for part in value}
    return value


def _fields(
    items: Values,
    column: DeclaredColumn,
    location: ColumnLocation,
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
        columns[part.name], inner = conform_column(
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


def _record(
    values: Values, column: DeclaredColumn, location: ColumnLocation
) -> tuple[pl.Series, Leftovers]:
    if isinstance(values, list):
        example = column.fields[0].name
        values = _of_type(values, dict, location, f'Write an object, such as {{"{example}": …}}.')
    everyone = np.arange(len(values), dtype=np.int64)
    structs, unknown = _fields(values, column, location, everyone, None)
    frame = structs.struct.unnest()
    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    return pl.select(pl.when(~empty).then(structs)).to_series(), dict(unknown)


def _records(
    values: Values, column: DeclaredColumn, location: ColumnLocation
) -> tuple[pl.Series, Leftovers]:
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


def _object(
    values: Values, column: DeclaredColumn, location: ColumnLocation
) -> tuple[pl.Series, Leftovers]:
    assert isinstance(values, list)
    objects = _of_type(values, dict, location, "Write an object in curly brackets.")
    leftovers = {}
    for position, value in enumerate(objects):
        kept = {name: part for name, part in (value or {}).items() if not is_missing(part)}
        if kept:
            leftovers[position] = kept
    return pl.Series(values=[None] * len(objects), dtype=pl.String), leftovers


_NESTED_CONVERTERS: Final[
    dict[str, Callable[[Values, DeclaredColumn, ColumnLocation], tuple[pl.Series, Leftovers]]]
] = {
    "texts": _texts,
    "box": _box,
    "tags": _tags,
    "record": _record,
    "records": _records,
    "object": _object,
}

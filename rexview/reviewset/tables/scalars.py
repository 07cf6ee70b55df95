"""Plain columns as given, turned into the declared type, with every value that does not fit.

All of it works on whole columns. Text, numbers and words come from JSON, CSV and Parquet alike: a
number in a text column is taken as text, ``"5"`` in a number column as 5, and what pandas or a
spreadsheet writes for nothing (``NaN``, ``NA``, an empty cell) as nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import polars as pl

from rexview.columns import Column
from rexview.reviewset.json_text import MISSING, is_missing
from rexview.reviewset.problems import listed
from rexview.reviewset.tables.source import Location, Values
from rexview.vocab import LONGEST_ID

YES: Final = ("true", "yes", "y", "1", "1.0", "t")
NO: Final = ("false", "no", "n", "0", "0.0", "f")
_DATE_FORMATS: Final = (
    ("%Y-%m-%dT%H:%M:%S%.f%#z", True),
    ("%Y-%m-%d %H:%M:%S%.f%#z", True),
    ("%Y-%m-%dT%H:%M:%S%.f", False),
    ("%Y-%m-%d %H:%M:%S%.f", False),
)
_EPOCH_SECONDS: Final = (100_000_000, 20_000_000_000)
"""Numbers taken as seconds since 1970 when a date is expected: 1973 to 2603."""


def conform(values: Values, column: Column, location: Location) -> pl.Series:
    """Turn a column of plain values into ``column.dtype``.

    What does not fit is reported where it stands and becomes null; so does nothing where something
    is required, words that are not among ``column.vocabulary``, and numbers outside its range.
    """
    if not column.required and isinstance(values, list) and not _any_given(values):
        return column.absent(len(values))
    series = natural(values, column, location)
    converted = _CONVERTERS[column.kind](series, column, location)
    if column.required and converted.null_count():
        message = "Nothing is given."
        remedy = f"Give the {column.name} in every row."
        location.report("error", ~_is_given(series, column), message, remedy)
    return converted.alias(column.name)


def _any_given(values: list[Any]) -> bool:
    return any(value is not None for value in values)


def natural(values: Values, column: Column, location: Location) -> pl.Series:
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


def _not_plain(wrong: pl.Series, column: Column, location: Location) -> None:
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


def _is_given(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        nothing = [""] if column.kind in ("id", "text") else MISSING
        return ~text.str.to_lowercase().is_in(nothing).fill_null(True)
    return series.is_not_nan().fill_null(False) if series.dtype.is_float() else series.is_not_null()


def _text(series: pl.Series, column: Column, location: Location) -> pl.Series:
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
    return text.set(text.str.len_bytes() == 0, None)


def _id(series: pl.Series, column: Column, location: Location) -> pl.Series:
    given = series if series.dtype == pl.String else _text(series, column, location)
    text = _text(given.str.strip_chars(), column, location)
    too_long = text.str.len_chars() > LONGEST_ID
    if too_long.any():  # links and entries of the reviews database name it
        message = f"{{value}} is longer than {LONGEST_ID} characters."
        remedy = "Use a shorter one in all tables."
        location.report("error", too_long.fill_null(False), message, remedy, text)
    return text


def _word(series: pl.Series, column: Column, location: Location) -> pl.Series:
    text = _id(series, column, location)
    different = text.unique().drop_nulls()
    if _as_they_are(column.vocabulary).issuperset(different.to_list()):
        return text
    folded = different.str.to_lowercase().str.replace_all(r"[\s\-]+", "_")
    known = folded.is_in(list(column.vocabulary))
    words = pl.Series([_none_if_missing(word) for word in folded.to_list()], dtype=pl.String)
    kept = pl.select(pl.when(known).then(folded).otherwise(different)).to_series()
    unknown = different.filter(~known & words.is_not_null())
    if len(unknown):
        choices = (
            listed(column.vocabulary)
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
def _as_they_are(vocabulary: tuple[str, ...]) -> frozenset[str]:
    """Return the words that stay as they are however words are folded."""
    return frozenset(
        word for word in vocabulary if re.fullmatch("[a-z0-9_]+", word) and word not in MISSING
    )


def _none_if_missing(word: str) -> str | None:
    return None if word in MISSING else word


def _numbers(series: pl.Series, column: Column, location: Location) -> pl.Series:
    """Float64 values of any plain series; what is no number is reported, NaN becomes null."""
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        numbers = text.cast(pl.Float64, strict=False)
        missing = text.str.to_lowercase().is_in(MISSING)
        wrong = numbers.is_null() & text.is_not_null() & ~missing
        _no_number(wrong, series, column, location)
    elif series.dtype.is_numeric() or series.dtype == pl.Null:
        numbers = series.cast(pl.Float64)
    else:
        numbers = pl.Series([None] * len(series), dtype=pl.Float64)
        _no_number(series.is_not_null(), series, column, location)
    return numbers.fill_nan(None)


def _no_number(wrong: pl.Series, series: pl.Series, column: Column, location: Location) -> None:
    kind = column.kind_name
    location.report(
        "error", wrong, f"{{value}} is not a {kind}.", f"Write a {kind}{_range(column)}.", series
    )


def _range(column: Column) -> str:
    if column.low is not None and column.high is not None:
        return f" from {column.low:g} to {column.high:g}, or leave it empty"
    return f", {column.low:g} or more" if column.low is not None else ""


def _in_range(numbers: pl.Series, column: Column, location: Location) -> pl.Series:
    wrong = pl.Series([False]).new_from_index(0, len(numbers))
    if column.low is not None:
        wrong |= (numbers < column.low).fill_null(False)
    if column.high is not None:
        wrong |= (numbers > column.high).fill_null(False)
    remedy = f"Write a {column.kind_name}{_range(column)}."
    location.report("error", wrong, "{value} is out of range.", remedy, numbers)
    return numbers.set(wrong, None)


def _integer(series: pl.Series, column: Column, location: Location) -> pl.Series:
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


def _number(series: pl.Series, column: Column, location: Location) -> pl.Series:
    numbers = _numbers(series, column, location)
    infinite = numbers.is_infinite().fill_null(False)
    message = "An infinite number is taken as not given."
    remedy = "Leave it empty where there is no number."
    location.report("warning", infinite, message, remedy)
    return _in_range(numbers.set(infinite, None), column, location)


def _yes_no(series: pl.Series, column: Column, location: Location) -> pl.Series:
    if series.dtype == pl.Boolean:
        return series
    text = _id(series, column, location).str.to_lowercase()
    known = text.is_in(YES) | text.is_in(NO) | text.is_in(MISSING)
    message = "{value} is not true or false."
    remedy = "Write true or false."
    location.report("error", (~known).fill_null(False), message, remedy, series)
    answer = text.is_in(YES)
    return answer.set(~(answer | text.is_in(NO)), None)


def _date(series: pl.Series, column: Column, location: Location) -> pl.Series:
    """Moments in UTC, from ISO 8601 in its usual spellings or from seconds since 1970."""
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
    unread = found.is_null() & text.is_not_null() & ~text.str.to_lowercase().is_in(MISSING)
    if unread.any():
        dates = {
            value: moment.astimezone(UTC)
            for value in text.filter(unread).unique().to_list()
            for moment in [read_date(value)]
            if moment
        }
        others = [dates.get(value) for value in text.to_list()]
        found = found.fill_null(pl.Series(others, dtype=column.dtype))
        _no_date(unread & found.is_null(), series, location)
    return found


def read_date(text: str) -> datetime | None:
    """Read a date of any spelling that is understood, UTC unless it says otherwise; else None."""
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)  # the first and last days that there are may have none in UTC
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


def _seconds(numbers: pl.Series, series: pl.Series, location: Location) -> pl.Series:
    numbers = numbers.fill_nan(None)
    usable = numbers.is_between(*_EPOCH_SECONDS)
    _no_date((~usable).fill_null(False), series, location)
    microseconds = (numbers.set(~usable, None) * 1e6).round().cast(pl.Int64, strict=False)
    return microseconds.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")


def _no_date(wrong: pl.Series, series: pl.Series, location: Location) -> None:
    message = "{value} is not a date that can be understood."
    remedy = "Write it as 2025-01-31T14:05:00Z."
    location.report("error", wrong, message, remedy, series)


_CONVERTERS: Final[dict[str, Callable[[pl.Series, Column, Location], pl.Series]]] = {
    "id": _id,
    "text": _text,
    "word": _word,
    "integer": _integer,
    "number": _number,
    "yes_no": _yes_no,
    "date": _date,
}

"""Dates as given: ISO 8601 in its usual spellings, or seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import polars as pl

from rexview.reviewset.json_text import MISSING
from rexview.reviewset.tables.column import Column
from rexview.reviewset.tables.source_location import Place

_DATE_FORMATS: Final = (
    ("%Y-%m-%dT%H:%M:%S%.f%#z", True),
    ("%Y-%m-%d %H:%M:%S%.f%#z", True),
    ("%Y-%m-%dT%H:%M:%S%.f", False),
    ("%Y-%m-%d %H:%M:%S%.f", False),
)
_EPOCH_SECONDS: Final = (100_000_000, 20_000_000_000)
"""Numbers taken as seconds since 1970 when a date is expected: 1973 to 2603."""


def conform(series: pl.Series, column: Column, place: Place) -> pl.Series:
    """Turn a plain column into moments in UTC; report what is no date."""
    if series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime):
        if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone:
            return series.dt.convert_time_zone("UTC").cast(column.dtype)
        return series.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    if series.dtype.is_numeric():
        return _seconds(series.cast(pl.Float64), series, place)
    if series.dtype != pl.String:
        _no_date(series.is_not_null(), series, place)
        return pl.Series([None] * len(series), dtype=column.dtype)
    text = series.str.strip_chars()
    found = pl.Series([None], dtype=column.dtype).new_from_index(0, len(text))
    for pattern, zoned in _DATE_FORMATS:
        if not (found.is_null() & text.is_not_null()).any():
            break
        parsed = text.str.to_datetime(pattern, time_unit="us", strict=False)
        found = found.fill_null(parsed if zoned else parsed.dt.replace_time_zone("UTC"))
    left = found.is_null() & text.is_not_null() & ~text.str.to_lowercase().is_in(MISSING)
    if left.any():
        dates = {value: _one_date(value) for value in text.filter(left).unique().to_list()}
        others = [dates.get(value) for value in text.to_list()]
        found = found.fill_null(pl.Series(others, dtype=column.dtype))
        _no_date(left & found.is_null(), series, place)
    return found


def _one_date(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        pass
    try:
        seconds = float(text)
    except ValueError:
        return None
    low, high = _EPOCH_SECONDS
    return datetime.fromtimestamp(seconds, UTC) if low <= seconds <= high else None


def _seconds(numbers: pl.Series, series: pl.Series, place: Place) -> pl.Series:
    numbers = numbers.fill_nan(None)
    usable = numbers.is_between(*_EPOCH_SECONDS)
    _no_date((~usable).fill_null(False), series, place)
    microseconds = (numbers.set(~usable, None) * 1e6).round().cast(pl.Int64, strict=False)
    return microseconds.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")


def _no_date(wrong: pl.Series, series: pl.Series, place: Place) -> None:
    place.report(
        "error",
        wrong,
        "{value} is not a date that can be understood.",
        "Write it as 2025-01-31T14:05:00Z.",
        series,
    )

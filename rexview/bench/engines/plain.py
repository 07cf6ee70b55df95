"""Answers of engines as plain values, and the first place where two of them differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from rexview.stats.failure_rates import PatientTally
from rexview.stats.generated_reports.metric_means import PatientSums

_DIGITS: Final = 9
"""Sums of the same numbers in another order differ beyond."""


def plain(value: Any) -> Any:
    """Return dicts, lists and scalars: what is in no order is sorted, records have their names."""
    if isinstance(value, pl.DataFrame):
        return {"columns": value.columns, "rows": _sorted(map(list, value.iter_rows()))}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, PatientSums):  # patients stand in no order
        return _sorted(
            [*sums, *counts]
            for sums, counts in zip(value.sums.tolist(), value.counts.tolist(), strict=True)
        )
    if isinstance(value, PatientTally):
        columns = (value.points, value.answers, value.patients)
        return _sorted(map(list, zip(*(column.tolist() for column in columns), strict=True)))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, Set):
        return _sorted(map(plain, value))
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def _sorted(rows: Any) -> list[Any]:
    return sorted(rows, key=lambda row: repr(_rounded(row)))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS) + 0.0
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def difference(one: Any, other: Any, place: str = "") -> str | None:
    """Say where two plain values first differ, and how; None when they are the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            if key not in one or key not in other:
                return f"{place}.{key} is in {'the second' if key in other else 'the first'} only"
            if found := difference(one[key], other[key], f"{place}.{key}"):
                return found
        return None
    if isinstance(one, list) and isinstance(other, list):
        for at, (first, second) in enumerate(zip(one, other, strict=False)):
            if found := difference(first, second, f"{place}[{at}]"):
                return found
        return None if len(one) == len(other) else f"{place} has {len(one)} and {len(other)} items"
    if isinstance(one, float) and isinstance(other, int | float):
        near = math.isclose(one, other, rel_tol=10**-_DIGITS, abs_tol=10**-_DIGITS)
        same = near or (math.isnan(one) and math.isnan(other))
    else:
        same = type(one) is type(other) and one == other
    return None if same else f"{place} is {one!r} and {other!r}"

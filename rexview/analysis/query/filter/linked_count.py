"""Counts with the filter that opens their cases, alone and in groups of cases or failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from rexview.analysis.query.engine import CaseProperty, PropertyCounts, SetFacts
from rexview.analysis.query.filter.case_filter import CaseFilter, NumberRange
from rexview.analysis.query.filter.conditions import join_outcomes
from rexview.analysis.query.filter.filter_text import name_value


@dataclass(frozen=True)
class LinkedCount:
    """A number and the filter that opens its cases; ``of`` is the denominator."""

    value: int
    opens: CaseFilter
    of: int | None = None

    @property
    def share(self) -> float | None:
        """The number as a share of ``of``, 0 to 1; None without one."""
        return self.value / self.of if self.of else None


LOW_SCORE_RANGE: Final = NumberRange(None, 2.999)
"""A final score below 3. Ranges have three decimals; no mean of scores is in between."""
PERFECT_SCORE_RANGE: Final = NumberRange(5, 5)
ANY_NUMBER: Final = NumberRange()
"""Any number; an answer without one does not match."""


def refine_filter(
    base: CaseFilter, **conditions: str | Sequence[str] | NumberRange
) -> CaseFilter | None:
    """Return a filter with added conditions; None when they exclude each other.

    Conditions are ranges or values of a list, by name of the filter's field. If the list already
    limits, only the common values are kept. ``tags`` with the same name before the colon are
    replaced, which is right for answers that match ``base``. ``outcomes`` are joined by
    :func:`.join_outcomes`.
    """
    changes: dict[str, Any] = {}
    for field, wanted in conditions.items():
        current = getattr(base, field)
        if isinstance(wanted, NumberRange):
            joined = _intersect_ranges(current or ANY_NUMBER, wanted)
            if joined is None:
                return None
            changes[field] = joined
            continue
        words = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        if field == "tags":
            names = {word.partition(":")[0] for word in words}
            others = tuple(word for word in current if word.partition(":")[0] not in names)
            changes[field] = (*others, *words)
            continue
        if field == "outcomes":
            changes[field] = join_outcomes(current, words)
        else:
            changes[field] = tuple(word for word in words if not current or word in current)
        if not changes[field]:
            return None
    return replace(base, **changes)


def make_linked_count(
    base: CaseFilter,
    value: int,
    of: int | None = None,
    **conditions: str | Sequence[str] | NumberRange,
) -> LinkedCount:
    """Return a number with the filter of its cases: ``base`` if the conditions exclude each other.

    ``conditions`` are as for :func:`refine_filter`.
    """
    return LinkedCount(value, refine_filter(base, **conditions) or base, of)


def add_required_values(base: CaseFilter, field: str, *words: str) -> CaseFilter:
    """Add values to a list of which all have to hold, such as ``reader_scores``."""
    changes: dict[str, Any] = {field: (*getattr(base, field), *words)}
    return replace(base, **changes)


def _intersect_ranges(one: NumberRange, other: NumberRange) -> NumberRange | None:
    lows = [limits.low for limits in (one, other) if limits.low is not None]
    highs = [limits.high for limits in (one, other) if limits.high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and low > high:
        return None
    return NumberRange(low, high)


# Counts in groups of cases or failures: by a property, a finding or a region.

Cell = TypeVar("Cell")


@dataclass(frozen=True)
class CountGroup(Generic[Cell]):
    """One property value, finding or region, with its ``count`` and a cell for each model."""

    value: str
    name: str
    count: LinkedCount
    cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False)
class CountGroups(Generic[Cell]):
    """The groups to show; ``left_out`` smaller groups are not among them."""

    by: CaseProperty
    models: Mapping[str, str]
    groups: tuple[CountGroup[Cell], ...]
    left_out: int


def list_property_values(
    counts: PropertyCounts, facts: SetFacts, base: CaseFilter, by: CaseProperty
) -> Iterator[tuple[str, str, LinkedCount]]:
    """Yield the values of a property that cases have: value, name, and linked count of cases."""
    for value, n in counts.by_value.items():
        if n:
            opens = refine_filter(base, **{by.field: value}) or base
            yield value, name_value(facts, by.field, value), LinkedCount(n, opens)

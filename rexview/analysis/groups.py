"""Numbers laid out in groups of cases or failures: by a property, a finding, a region."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from rexview.analysis.engine import CaseProperty, PropertyCounts, SetFacts
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count, refined
from rexview.analysis.filter.wording import value_name

Cell = TypeVar("Cell")


@dataclass(frozen=True)
class Group(Generic[Cell]):
    """One value of the property, finding or region: what ``count`` counts, and each model."""

    value: str
    name: str
    count: Count
    cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False)
class Groups(Generic[Cell]):
    """The groups that are laid out; ``left_out`` smaller ones are not."""

    by: CaseProperty
    models: Mapping[str, str]
    groups: tuple[Group[Cell], ...]
    left_out: int


def property_values(
    counts: PropertyCounts, facts: SetFacts, base: CaseFilter, by: CaseProperty
) -> Iterator[tuple[str, str, Count]]:
    """Yield the values of a property that cases have: value, name, and the cases."""
    for value, n in counts.by_value.items():
        if n:
            opens = refined(base, **{by.field: value}) or base
            yield value, value_name(facts, by.field, value), Count(n, opens)

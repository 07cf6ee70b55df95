"""The numbers of a failure in words: what judges found and people marked, by model.

Each has what opens its cases. What people marked stands beside, and is part of no share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.filter.written_conditions import WrittenCondition
from rexview.analysis.written.marks import MarkedRow
from rexview.analysis.written.results import FoundIn
from rexview.judge.written.validating import Share
from rexview.judge.written.words import name_of

SAID: Final = ("yes", "no", "unsure", "unread")
"""What is counted, in the order of the table."""


@dataclass(frozen=True)
class FoundRow:
    """One model: how often the failure was found, not found, unsure, and not readable."""

    model: str
    counts: Mapping[str, Count]

    @property
    def judged(self) -> int:
        """Of how many answers something can be read."""
        return sum(self.counts[said].value for said in SAID if said != "unread")


@dataclass(frozen=True)
class ByModelRow:
    """One model: what a judge found, None where it was not asked; how many answers were marked."""

    model: str
    found: FoundRow | None
    marked: Count | None


@dataclass(frozen=True)
class ByModel:
    """One failure, and what one judge found of it: a row a model, precision of what was read.

    ``judge`` is None where no judge looked for it, ``precision`` before anybody has read a sample.
    """

    title: str
    judge: str | None
    rows: Sequence[ByModelRow]
    precision: Share | None = None


def joined_rows(
    found: Sequence[FoundRow], marked: Sequence[MarkedRow], models: Iterable[str]
) -> list[ByModelRow]:
    """Set what people marked beside what a judge found; models without either are left out."""
    by_judge = {row.model: row for row in found}
    by_people = {row.model: row.answers for row in marked}
    return [
        ByModelRow(model, by_judge.get(model), by_people.get(model))
        for model in models
        if model in by_judge or model in by_people
    ]


def condition(found: FoundIn, said: str) -> str:
    """Return the word of the filter for what this judge said."""
    return str(WrittenCondition(said, name_of(found.prompt), found.version, found.judge))


def found_rows(found: FoundIn, models: Mapping[str, str]) -> list[FoundRow]:
    """Return a row a model that was judged, in the order of the set; over all cases."""
    by_model: dict[str, dict[str, int]] = {}
    for said in SAID:
        for _, model in found.answers(said):
            counts = by_model.setdefault(model, dict.fromkeys(SAID, 0))
            counts[said] += 1
    return [
        FoundRow(
            model,
            {
                said: Count(n, CaseFilter(models=(model,), written=(condition(found, said),)))
                for said, n in by_model[model].items()
            },
        )
        for model in models
        if model in by_model
    ]

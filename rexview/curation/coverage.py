"""Count the categories and tags that the chosen questions cover, and those missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rexview.curation.candidates import CandidateSummary, open_candidates
from rexview.schema import ReviewSet
from rexview.vocab import CATEGORIES, QUESTION_TAGS

CATEGORY: Final = "category"
_Counts = Counter[str | None]
Targets = Mapping[str, Mapping[str, int]]
"""Wanted numbers of questions, by :data:`CATEGORY` or the name of a tag, then by value."""


@dataclass(frozen=True)
class CoverageCount:
    """Counts of a category, or of a value of a tag (None: not given).

    ``chosen`` and ``offered`` are the numbers of chosen questions and of all candidates with it.
    """

    value: str | None
    chosen: int
    offered: int
    target: int | None = None

    @property
    def missing(self) -> int:
        """Number wanted beyond those chosen; without a target one for each value offered."""
        wanted = self.target if self.target is not None else int(self.value is not None)
        return max(0, wanted - self.chosen)


@dataclass(frozen=True)
class Coverage:
    """Coverage of a set by its chosen questions.

    ``chosen``, ``offered`` and ``studies`` are the numbers of chosen questions, candidates, and
    studies with a chosen question. ``parts`` has the values by :data:`CATEGORY` and by tag, the
    most frequently chosen first. A question counts for each of its values of a tag, so these may
    add up to more.
    """

    chosen: int
    offered: int
    studies: int
    parts: Mapping[str, tuple[CoverageCount, ...]]


def count_coverage(
    candidates: Iterable[CandidateSummary], targets: Targets | None = None
) -> Coverage:
    """Count what the chosen ones among open candidates cover; see :class:`Coverage`."""
    chosen: dict[str, _Counts] = {name: Counter() for name in (CATEGORY, *QUESTION_TAGS)}
    offered: dict[str, _Counts] = {name: Counter() for name in chosen}
    counts: Counter[bool] = Counter()
    studies = set()
    for one in candidates:
        is_chosen = one.decision == "chosen"
        counts[is_chosen] += 1
        if is_chosen:
            studies.add(one.case)
        for name in offered:
            values = (one.category,) if name == CATEGORY else one.tags.get(name) or (None,)
            for value in dict.fromkeys(values):
                offered[name][value] += 1
                chosen[name][value] += is_chosen
    parts = {
        name: _covered(chosen[name], offered[name], (targets or {}).get(name, {}), name)
        for name in offered
    }
    return Coverage(counts[True], counts.total(), len(studies), parts)


def _covered(
    chosen: _Counts,
    offered: _Counts,
    targets: Mapping[str, int],
    name: str,
) -> tuple[CoverageCount, ...]:
    known = CATEGORIES["open"] if name == CATEGORY else ()
    values = dict.fromkeys([*known, *targets, *offered])
    rows = (
        CoverageCount(value, chosen[value], offered[value], targets.get(value)) for value in values
    )
    return tuple(sorted(rows, key=_most_chosen))


def _most_chosen(row: CoverageCount) -> tuple[bool, int, int]:
    return row.value is None, -row.chosen, -row.offered


def coverage_rows(review_set: ReviewSet) -> list[dict[str, Any]]:
    """Return the coverage of a set's chosen questions as plain rows; none without candidates."""
    found = count_coverage(open_candidates(review_set))
    return [
        {
            "part": part,
            "value": row.value,
            "chosen": row.chosen,
            "offered": row.offered,
            "questions": found.chosen,
        }
        for part, rows in found.parts.items()
        for row in rows
        if found.offered
    ]

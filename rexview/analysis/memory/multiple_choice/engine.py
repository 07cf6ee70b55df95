"""What the memory engine answers about choices (:mod:`rexview.analysis.multiple_choice.engine`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.memory.coded_column import Codes
from rexview.analysis.memory.selection import CASE_FACETS, Selection
from rexview.analysis.memory.table import AnswerTable
from rexview.analysis.multiple_choice.engine import ChoiceCounts, ChoiceGroup
from rexview.stats.bootstrap import Counts
from rexview.stats.failure_rates import PairTally
from rexview.stats.multiple_choice.accuracy import Pair, pair_of
from rexview.stats.multiple_choice.chosen import (
    ChoiceTally,
    Chosen,
    Mask,
    Numbers,
    Rater,
    choice_tally,
)
from rexview.stats.multiple_choice.kappa import option_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rexview.analysis.engine import CaseProperty

_TAG: Final = "tag:"
_KEPT: Final = 4


class ChoiceTallies:
    """Counts choices of what a filter leaves; part of the engine, which selects."""

    table: AnswerTable

    def selection(self, case_filter: CaseFilter) -> Selection:
        """Return what a filter leaves."""
        raise NotImplementedError

    def choices_left(self, case_filter: CaseFilter) -> Chosen:
        """Return the choices that a filter leaves."""
        return self._left(case_filter)

    @cached_property
    def _left(self) -> Callable[[CaseFilter], Chosen]:
        def left(case_filter: CaseFilter) -> Chosen:
            found = self.selection(case_filter)
            answers = None if found.rows_met is None else found.answer_mask
            return self.table.chosen.left(answers, found.case_mask)

        return lru_cache(_KEPT)(left)

    def read_by_people(self, left: Chosen) -> Mask:
        """Say which questions a reader answered, also one whose answers a filter leaves out."""
        whole = self.table.chosen
        return np.isin(left.case_row, whole.case_row[whole.read_by_people])

    @property
    def raters(self) -> tuple[Rater, ...]:
        """Who chose anything in the set."""
        return self.table.chosen.raters

    def choice_counts(self, case_filter: CaseFilter) -> ChoiceCounts:
        """Count the questions."""
        left = self._left(case_filter)
        patients = np.count_nonzero(np.bincount(left.patient)) if len(left) else 0
        return ChoiceCounts(
            questions=len(left),
            unmarked=len(left.unmarked),
            patients=int(patients),
            read_by_people=int(np.count_nonzero(self.read_by_people(left))),
        )

    def choice_tallies(
        self, case_filter: CaseFilter, *, read_by_people: bool = False
    ) -> tuple[ChoiceTally, ...]:
        """Count the choices of each rater."""
        left = self._left(case_filter)
        return _tallies(left.of(self.read_by_people(left)) if read_by_people else left)

    def choice_groups(
        self, case_filter: CaseFilter, by: CaseProperty, most: int
    ) -> tuple[tuple[ChoiceGroup, ...], int]:
        """Count choices by a property of the cases."""
        left = self._left(case_filter)
        found = list(self.choice_values(left, by, case_filter))
        largest = sorted(range(len(found)), key=lambda place: -len(found[place][1]))[:most]
        groups = (found[place] for place in sorted(largest))
        return tuple(
            ChoiceGroup(value, len(questions), _tallies(left.of(questions)))
            for value, questions in groups
        ), len(found) - len(largest)

    def choice_values(
        self, left: Chosen, by: CaseProperty, case_filter: CaseFilter
    ) -> Iterator[tuple[str, Numbers]]:
        """Yield each value that questions have, and which questions have it."""
        columns = self.table.columns
        if by.field != "tags":
            coded = columns.case_codes[CASE_FACETS[by.field]]
            yield from _by_code(coded.codes[left.case_row], np.arange(len(left)), coded.values)
            return
        tag = by.key.removeprefix(_TAG)
        if tag not in columns.tag_codes:
            return
        rows, coded = columns.tag_codes[tag]
        place = np.full(columns.n_cases, -1)
        place[left.case_row] = np.arange(len(left))
        named = [value for value in case_filter.tags if value.partition(":")[0] == tag]
        there = (place[rows] >= 0) & coded.among(named or coded.values)
        yield from _by_code(coded.codes[there], place[rows][there], coded.values)

    def choice_pairs(self, case_filter: CaseFilter) -> dict[Pair, PairTally]:
        """Count the questions that every two raters answered."""
        left = self._left(case_filter)
        return {(None, a, b): pair_of(left, a, b) for a, b in _pairs(left)}

    def choice_agreement(self, case_filter: CaseFilter) -> dict[Pair, Counts]:
        """Count the questions by the options of every two raters."""
        left = self._left(case_filter)
        tasks = self.table.columns.case_codes["category"]
        parts = _by_code(tasks.codes[left.case_row], np.arange(len(left)), tasks.values)
        of_task = [(None, left), *((task, left.of(questions)) for task, questions in parts)]
        return {
            (task, a, b): option_table(part, a, b)
            for task, part in of_task
            for a, b in _pairs(part)
        }


def _tallies(chosen: Chosen) -> tuple[ChoiceTally, ...]:
    return tuple(choice_tally(chosen, place) for place in range(len(chosen.raters)))


def _pairs(chosen: Chosen) -> Iterator[tuple[int, int]]:
    return combinations(range(len(chosen.raters)), 2)


def _by_code(
    codes: Codes, questions: Numbers, values: tuple[str, ...]
) -> Iterator[tuple[str, Numbers]]:
    """Yield the questions of each code that is met, in the order of the values."""
    order = np.argsort(codes, kind="stable")
    limits = np.searchsorted(codes[order], np.arange(len(values) + 1))
    for value, first, last in zip(values, limits, limits[1:], strict=False):
        if last > first:
            yield value, questions[order[first:last]]

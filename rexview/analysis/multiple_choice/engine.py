"""What is asked of choices: part of :class:`rexview.analysis.engine.Engine`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.stats.bootstrap import Counts
from rexview.stats.failure_rates import PairTally
from rexview.stats.multiple_choice.accuracy import Pair
from rexview.stats.multiple_choice.chosen import ChoiceTally, Rater

if TYPE_CHECKING:
    from rexview.analysis.engine import CaseProperty


@dataclass(frozen=True)
class ChoiceCounts:
    """How much a filter leaves that was answered by anybody.

    ``questions`` have a right option and an answer, ``unmarked`` ones have no right option and are
    in no number. ``patients`` are those of the questions (else studies, else cases); readers
    answered ``read_by_people`` of the questions.
    """

    questions: int
    unmarked: int
    patients: int
    read_by_people: int


@dataclass(frozen=True, eq=False)
class ChoiceGroup:
    """The ``questions`` with one value of a property, and what each rater chose, in their order."""

    value: str
    questions: int
    tallies: tuple[ChoiceTally, ...]


class ChoiceQuestions(Protocol):
    """The questions; each takes the filter whose answers it is about.

    A filter's conditions on answers are about models': of the cases that are left, all choices of
    people count.
    """

    @property
    def raters(self) -> tuple[Rater, ...]:
        """Who chose anything in the set: models in its order, then people; a place stands for each.

        Tallies below are by these places.
        """

    def choice_counts(self, case_filter: CaseFilter) -> ChoiceCounts:
        """Count the questions."""

    def choice_tallies(
        self, case_filter: CaseFilter, *, read_by_people: bool = False
    ) -> tuple[ChoiceTally, ...]:
        """Count the choices of each rater; on request only of questions that readers answered."""

    def choice_groups(
        self, case_filter: CaseFilter, by: CaseProperty, most: int
    ) -> tuple[tuple[ChoiceGroup, ...], int]:
        """Count choices by a property of the cases, in the order of its values.

        Of more than ``most`` values those with most questions; the second number says how many are
        left out. Of a tag that the filter names only the named values.
        """

    def choice_pairs(self, case_filter: CaseFilter) -> Mapping[Pair, PairTally]:
        """Count the questions that every two raters answered, by who was right."""

    def choice_agreement(self, case_filter: CaseFilter) -> Mapping[Pair, Counts]:
        """Count the questions by the options of every two raters, over all and by task.

        See :func:`rexview.stats.multiple_choice.kappa.option_table`.
        """

"""The sampled questions that an expert goes through, as they stand now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import polars as pl

from rexview.analysis.engine import Position
from rexview.curation.choice.sample import SampleResult, sample_result
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store.current_state import CurrentState
from rexview.store.merged_set import EXPERT
from rexview.ui.server import review_sets


@dataclass(frozen=True)
class SampleRound:
    """Who reads the sample: ``result`` has the questions and what experts said of them so far."""

    review_set: ReviewSet
    person: Person
    state: CurrentState
    result: SampleResult

    @cached_property
    def questions(self) -> Mapping[str, Sequence[str]]:
        """The candidates of the sample by case, the cases in the order they are read in."""
        found: dict[str, list[str]] = {}
        for case, candidate in self.result.sample:
            found.setdefault(case, []).append(candidate)
        return found

    @cached_property
    def listed(self) -> Sequence[str]:
        """The cases that are gone through."""
        return list(self.questions)

    @cached_property
    def told(self) -> frozenset[tuple[str, str]]:
        """The questions that the person has said something of: case and candidate."""
        own = (pl.col("check") == EXPERT) & (pl.col("by") == self.person.id)
        rows = self.review_set.validations.filter(own).select("case", "candidate")
        return frozenset((case, candidate) for case, candidate in rows.iter_rows())

    def is_done(self, case: str) -> bool:
        """Whether the person has said something of each sampled question of a case."""
        return all((case, one) in self.told for one in self.questions[case])

    def position(self, case: str) -> Position:
        """Return where a case stands among them."""
        total = len(self.listed)
        if case not in self.questions:
            return Position(None, total, None, None)
        place = self.listed.index(case)
        before = self.listed[place - 1] if place else None
        after = self.listed[place + 1] if place + 1 < total else None
        return Position(place + 1, total, before, after)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return the cases from a place on, from 0."""
        return self.listed[start : start + size]

    def case_of(self, wanted: str | None) -> str | None:
        """Return a wanted case, else the first that is not done, else the first."""
        if wanted in self.questions:
            return wanted
        still_open = (case for case in self.listed if not self.is_done(case))
        return next(still_open, self.listed[0] if self.listed else None)

    def rows(self, case: str) -> list[dict[str, Any]]:
        """Return the sampled questions of a case as rows of ``candidates``, in their order."""
        of_case = self.review_set.candidates.filter(pl.col("case") == case)
        by_id = {row["candidate"]: row for row in of_case.iter_rows(named=True)}
        return [by_id[one] for one in self.questions.get(case, ())]

    def checks(self, case: str, candidate: str) -> list[dict[str, Any]]:
        """Return what was checked of a question by rules and models, and the person's own word."""
        of_question = (pl.col("case") == case) & (pl.col("candidate") == candidate)
        others = (pl.col("check") == EXPERT) & (pl.col("by") != self.person.id)
        return self.review_set.validations.filter(of_question & ~others).to_dicts()


def sample_round(review_set: ReviewSet, person: Person) -> SampleRound:
    """Return the sample as it stands now.

    Raises
    ------
    StoreError
        What was written cannot be read.
    """
    written = review_sets.newest(review_set)
    state = review_sets.reviews(review_set).current_state()
    return SampleRound(written, person, state, _result(written))


@lru_cache(maxsize=4)
def _result(review_set: ReviewSet) -> SampleResult:
    return sample_result(review_set)

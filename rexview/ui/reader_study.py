"""A reader in a study: their worklist, how far they are, and which letter stands for which model.

Both the Score page and the route that takes scores ask here, so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rexview.analysis.worklist import (
    CaseState,
    Item,
    Progress,
    boxes_expected,
    case_states,
    items_of,
    progress_of,
    required_scores,
    resume_at,
    rubric_of,
    slots_of,
    worklist_cases,
)
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Reviews
from rexview.ui import resources
from rexview.ui.own_words import OwnWords, own_words


@dataclass(frozen=True)
class Study:
    """One reader's view of a study at one moment."""

    review_set: ReviewSet
    person: Person
    reviews: Reviews
    words: OwnWords
    worklist: tuple[str, ...]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Place of each case in the worklist, from 0."""
        return {case: place for place, case in enumerate(self.worklist)}

    @cached_property
    def states(self) -> dict[str, CaseState]:
        """How far the reader is with each case."""
        required = required_scores(self.review_set)
        given = self.words.score_frame()
        return case_states(self.worklist, required, given, self.words.skipped())

    @property
    def progress(self) -> Progress:
        """How far the reader is in all."""
        return progress_of(self.states)

    def slots(self, case_id: str) -> Mapping[str, str]:
        """Return the model behind each letter of a case."""
        return _slots(self.review_set, case_id, self.person.id)

    def resume(self) -> str | None:
        """Return the case to go on with, None when all are scored or skipped."""
        return resume_at(self.worklist, self.states, self.words.last_case)

    def now(self) -> Study:
        """Return the same study as it stands in the database now."""
        words = own_words(self.reviews, self.person)
        return Study(self.review_set, self.person, self.reviews, words, self.worklist)

    def may_name_models(self, case_id: str | None) -> bool:
        """Whether the rules let the reader see the models of a case now; None: of all cases."""
        rule = self.review_set.info.protocol.reveal
        if case_id is None:
            return rule == "at_end" and self.progress.left == 0
        return rule == "per_case" and self.states.get(case_id) in ("done", "skipped")


def study_of(review_set: ReviewSet, person: Person) -> Study:
    """Return the study as it stands for a reader now.

    Raises
    ------
    StoreBusy, StoreUnreachable
    """
    reviews = resources.reviews(review_set)
    every = reviews.assignments()
    own = frozenset(one.case for one in every if one.reader == person.id)
    assigned = own if every else None  # who is assigned nothing while others are, has nothing
    worklist = _worklist(review_set, assigned, person.id)
    return Study(review_set, person, reviews, own_words(reviews, person), worklist)


@lru_cache(maxsize=256)
def _worklist(
    review_set: ReviewSet, assigned: frozenset[str] | None, reader: str
) -> tuple[str, ...]:
    return worklist_cases(review_set, assigned, reader=reader)


@lru_cache(maxsize=4096)
def _slots(review_set: ReviewSet, case_id: str, reader: str) -> Mapping[str, str]:
    models = [answer.model for answer in review_set.answers_of(case_id)]
    return slots_of(case_id, models, reader=reader, seed=review_set.info.protocol.seed)


@lru_cache(maxsize=4096)
def items_to_score(review_set: ReviewSet, case_id: str) -> Mapping[str, tuple[Item, ...]]:
    """Return what can be scored on each answer of a case, by model."""
    dimensions = tuple(rubric_of(review_set))
    expected = boxes_expected(review_set, review_set.case(case_id))
    return {
        answer.model: items_of(answer, dimensions, lacks_boxes=answer.model in expected)
        for answer in review_set.answers_of(case_id)
    }

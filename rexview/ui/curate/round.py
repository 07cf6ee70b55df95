"""The studies that somebody goes through on the Curate page, as they stand now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

from rexview.analysis.curation import CandidateView, Curation, CurationStudy, curation_of
from rexview.analysis.engine import Position
from rexview.curation.coverage import Coverage, coverage
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Reviews
from rexview.store.current_state import CurrentState
from rexview.ui.server import review_sets
from rexview.words import tr

Show = Literal["all", "open", "done", "blocked"]
SHOWN: Final[dict[Show, str]] = {
    "all": tr("All studies"),
    "open": tr("Open"),
    "done": tr("Done"),
    "blocked": tr("Blocked"),
}


@dataclass(frozen=True)
class Round:
    """Who curates which studies.

    ``show`` and ``category`` say which studies are gone through; with ``score_first`` the model's
    scores of a candidate stay hidden until the person has given their own.
    """

    review_set: ReviewSet
    person: Person
    reviews: Reviews
    state: CurrentState
    curation: Curation
    show: Show = "all"
    category: str | None = None
    score_first: bool = True

    @cached_property
    def listed(self) -> Sequence[str]:
        """The cases of the studies that are gone through, in the order of the set."""
        return [study.case for study in self.curation.studies if self._is_listed(study)]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case: place for place, case in enumerate(self.listed)}

    def _is_listed(self, study: CurationStudy) -> bool:
        views = study.candidates
        if self.category and all(view.candidate.category != self.category for view in views):
            return False
        if self.show == "blocked":
            return study.blocked > 0
        return self.show == "all" or study.state == self.show

    @property
    def is_whole(self) -> bool:
        """Whether all studies of the set are gone through."""
        return self.show == "all" and self.category is None

    def position(self, case: str) -> Position:
        """Return where a study stands among them; one that is not listed lies between two."""
        number, total = self._places.get(case), len(self.listed)
        if number is not None:
            before = self.listed[number - 1] if number else None
            after = self.listed[number + 1] if number + 1 < total else None
            return Position(number + 1, total, before, after)
        places = self.curation.places
        here = places.get(case, -1)
        before = next((one for one in reversed(self.listed) if places[one] < here), None)
        after = next((one for one in self.listed if places[one] > here), None)
        return Position(None, total, before, after)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return the studies from a place on, from 0."""
        return self.listed[start : start + size]

    def case_of(self, wanted: str | None) -> str | None:
        """Return the case that stands for the study of a wanted one; else the one to go on with."""
        if wanted is not None:
            if self.curation.study(wanted):
                return wanted
            case = self.review_set.case(wanted)
            of = case.study_id if case else None
            found = (
                one.case
                for one in self.curation.studies
                if of and one.study_id == of and self._patient(one.case) == self._patient(wanted)
            )
            if same := next(found, None):
                return same
        return min(self.listed, key=self._order_to_go_on, default=None)

    def _order_to_go_on(self, case: str) -> int:
        """Order studies to go on with: where questions wait for a decision before those without."""
        study = self._study(case)
        waits = any(view.candidate.decision is None for view in study.candidates)
        if waits:
            return 0 if study.state == "open" else 1
        return 2 if study.state == "open" else 3

    def _patient(self, case_id: str) -> str | None:
        case = self.review_set.case(case_id)
        return case.patient_id if case else None

    @property
    def done(self) -> int:
        """How many of those that are gone through are done."""
        return sum(self._study(case).state == "done" for case in self.listed)

    @cached_property
    def covered(self) -> Coverage:
        """What the chosen questions of all studies cover."""
        return coverage(
            view.candidate for study in self.curation.studies for view in study.candidates
        )

    def _study(self, case: str) -> CurationStudy:
        return self.curation.studies[self.curation.places[case]]

    def in_order(self, study: CurationStudy) -> Sequence[CandidateView]:
        """Return its candidates by the model's sum; as they were proposed while that is hidden."""
        if not self.score_first:
            return study.candidates
        return sorted(study.candidates, key=lambda view: view.candidate.place)

    def reader_name(self, reader: str) -> str:
        """Return the name of somebody who wrote or is named in the set."""
        people = self.state.people
        named = people[reader].name if reader in people else reader
        return self.review_set.reader_names.get(reader, named)


def round_of(
    review_set: ReviewSet, person: Person, show: Show, category: str | None, score_first: bool
) -> Round:
    """Return the round of a person on an open set, as it stands now.

    Raises
    ------
    StoreError
        What was written cannot be read.
    """
    written = review_sets.newest(review_set)
    reviews = review_sets.reviews(review_set)
    return Round(
        written,
        person,
        reviews,
        reviews.current_state(),
        curation_now(written),
        show,
        category,
        score_first,
    )


@lru_cache(maxsize=4)
def curation_now(review_set: ReviewSet) -> Curation:
    """Return the studies of a set with what people wrote, made once for each state of it."""
    return curation_of(review_set)

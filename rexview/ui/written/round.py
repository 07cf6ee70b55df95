"""The sample of answers that a clinician reads for a failure in words, as it stands now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rexview.analysis.engine import Position
from rexview.analysis.written_results import (
    SIZES,
    VALIDATION_KIND,
    FoundIn,
    parse_result_name,
    sample_subject,
    to_read,
    told_by,
)
from rexview.judge.subjects import JudgeSubject
from rexview.judge.written import Candidate
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Reviews
from rexview.store.current_state import CurrentState


@dataclass(frozen=True)
class WrittenRound:
    """Who reads the sample of one judge's findings in one version of the words.

    An item's name tells neither the answer nor what the judge said of it.
    """

    review_set: ReviewSet
    person: Person
    state: CurrentState
    found: FoundIn
    size: int

    @cached_property
    def items(self) -> Mapping[str, Candidate]:
        """The answers of the sample by item, in the order in which they are read."""
        return dict(to_read(self.found, self.size))

    @cached_property
    def listed(self) -> Sequence[str]:
        """The items in their order."""
        return list(self.items)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item: place for place, item in enumerate(self.listed)}

    @cached_property
    def _told(self) -> Mapping[tuple[str, str], Any]:
        rows = self.state.of(VALIDATION_KIND, self.person.id).values()
        return told_by(self.found, rows).get(self.person.id, {})

    def subject(self, item: str) -> JudgeSubject:
        """Return an answer of the sample as the judge was given it."""
        return self.found.subject[self.items[item].about]

    def said(self, item: str) -> str | None:
        """Return what the person said of an item; None for nothing."""
        about = self.items[item].about
        row = self._told.get((about.case, about.model))
        return None if row is None else str(row.value["said"])

    @cached_property
    def done(self) -> int:
        """Of how many items the person has said something."""
        return sum(self.said(item) is not None for item in self.listed)

    def position(self, item: str) -> Position:
        """Return where an item stands."""
        place, total = self._places.get(item), len(self.listed)
        if place is None:
            return Position(None, total, None, None)
        before = self.listed[place - 1] if place else None
        after = self.listed[place + 1] if place + 1 < total else None
        return Position(place + 1, total, before, after)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return the items from a place on, from 0."""
        return self.listed[start : start + size]

    def item_of(self, wanted: str | None) -> str | None:
        """Return a wanted item, else the first of which nothing is said, else the first."""
        if wanted in self.items:
            return wanted
        still_open = (item for item in self.listed if self.said(item) is None)
        return next(still_open, self.listed[0] if self.listed else None)

    @property
    def history_subject(self) -> str:
        """What names the sample in the history."""
        return sample_subject(self.found)


def written_round(
    review_set: ReviewSet,
    reviews: Reviews,
    person: Person,
    about: tuple[str, str, str],
    size: int = SIZES[-1],
) -> WrittenRound | None:
    """Return the round that a failure, the beginning of its version and a judge name.

    None where that judge was not asked in such words.

    Raises
    ------
    StoreError
        What was written cannot be read.
    """
    found = parse_result_name(review_set, *about)
    if found is None:
        return None
    return WrittenRound(review_set, person, reviews.current_state(), found, size)


def own_json(now: WrittenRound, item: str) -> dict[str, Any]:
    """Return what the person said of an item, for their browser; nothing of the judge."""
    return {
        "shown": now.items[item].about.answer_digest,
        "report": True,
        "unblinded": False,
        "revision": now.state.revision,
        "said": now.said(item),
    }


def progress_json(now: WrittenRound) -> dict[str, int]:
    """Return how far the person is."""
    return {"done": now.done, "skipped": 0, "total": len(now.listed)}

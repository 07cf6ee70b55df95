"""Entries that say which cases somebody who scores has opened where their models are named.

One row in the history for each person and case, whoever tells of it and however often.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from rexview.analysis.reader_exposure import UNBLINDED
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, may
from rexview.ui.saving.entries import CASE_PAGE
from rexview.ui.saving.reader_study import ReaderState
from rexview.ui.server import review_sets

SEEN: Final = "seen"
"""The kind of what a browser sends of them (:file:`case_turning.js`)."""


def seen_entries(
    review_set: ReviewSet,
    reviews: Reviews,
    person: Person,
    cases: Iterable[str],
    *,
    via: str = CASE_PAGE,
) -> list[Entry]:
    """Make entries of the cases that a study asks something of and that are not known as seen.

    None for who never scores.

    Raises
    ------
    StoreError
        What the person was shown before cannot be read.
    """
    if not may(person, "score"):
        return []
    waiting = list(dict.fromkeys(cases))
    given = ReaderState(person.id, reviews.current_state())
    engine = review_sets.study_engine(review_set)
    scored = {case for task in engine.tasks for case in engine.of_task(task, waiting)}
    return [
        Entry(
            "reveal",
            case,
            value={"what": UNBLINDED},
            # The same from every session, so that two that look at once write one row.
            token=str(uuid5(NAMESPACE_URL, f"{reviews.key}\n{person.id}\n{case}\n{UNBLINDED}")),
            via=via,
        )
        for case in waiting
        if case in scored and not given.was_shown(case, UNBLINDED)
    ]

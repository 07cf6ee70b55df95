"""Entries that record which cases a reader has opened with their models named.

The history has one row for each person and case, however often it is reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import NAMESPACE_URL, uuid5

import streamlit as st

from rexview.analysis.reader_exposure import UNBLINDED_EXPOSURE
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, may_write_kind
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.saving.entries import CASE_PAGE
from rexview.ui.web.saving.reader_study import ReaderState
from rexview.ui.web.server import review_sets

SEEN: Final = "seen"
"""The entry kind that a browser sends for them (:file:`case_turning.js`)."""


def seen_entries(
    review_set: ReviewSet,
    reviews: Reviews,
    person: Person,
    cases: Iterable[str],
    *,
    via: str = CASE_PAGE,
) -> list[Entry]:
    """Make entries for cases with a task in the study that are not recorded as seen.

    Return none for people who never score.

    Raises
    ------
    StoreError
        The earlier entries of the person cannot be read.
    """
    if not may_write_kind(person, "score"):
        return []
    waiting = list(dict.fromkeys(cases))
    given = ReaderState(person.id, reviews.current_state())
    engine = review_sets.study_engine(review_set)
    scored = {case for task in engine.tasks for case in engine.of_task(task, waiting)}
    return [
        Entry(
            "reveal",
            case,
            value={"what": UNBLINDED_EXPOSURE},
            # The same in every session, so that two concurrent sessions write one row.
            token=str(
                uuid5(NAMESPACE_URL, f"{reviews.key}\n{person.id}\n{case}\n{UNBLINDED_EXPOSURE}")
            ),
            via=via,
        )
        for case in waiting
        if case in scored and not given.was_shown(case, UNBLINDED_EXPOSURE)
    ]


# Records that a reader has opened a case where its models are named.
#
# The entries are those of :func:`seen_entries`. Without sign-in, a record waits in the session
# until a name is given.


def remember_seen_cases(review_set: ReviewSet, cases: Iterable[str]) -> None:
    """Remember cases that the browser showed ahead of the page (:func:`record_seen_case`)."""
    name = review_sets.set_id(review_set.folder)
    noted: dict[tuple[str, str], bool] = st.session_state.setdefault(link_keys.SESSION_SEEN, {})
    for case in cases:
        noted.setdefault((name, case), False)


def record_seen_case(review_set: ReviewSet, case_id: str) -> None:
    """Record that the user has opened a case with its models named, unless it is recorded.

    Only cases that are scored are recorded. If the database cannot be written to, the next case
    tries again: nothing on the page depends on it.
    """
    remember_seen_cases(review_set, [case_id])
    name = review_sets.set_id(review_set.folder)
    noted: dict[tuple[str, str], bool] = st.session_state[link_keys.SESSION_SEEN]
    waiting = [case for (of_set, case), done in noted.items() if of_set == name and not done]
    person = permissions.current_person()
    if not waiting or person is None or not may_write_kind(person, "score"):
        return
    try:
        reviews = review_sets.reviews(review_set)
        entries = seen_entries(review_set, reviews, person, waiting)
        if entries:
            reviews.record(entries, person)
    except StoreError:
        return
    noted.update({(name, case): True for case in waiting})

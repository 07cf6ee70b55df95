"""Entries that say which cases somebody who scores has opened where their models are named.

One row in the history for each person and case, whoever tells of it and however often.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import NAMESPACE_URL, uuid5

import streamlit as st

from rexview.analysis.reader_exposure import UNBLINDED
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, may
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.saving.entries import CASE_PAGE
from rexview.ui.web.saving.reader_study import ReaderState
from rexview.ui.web.server import review_sets

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


# Records that somebody who scores has opened a case where its models are named.
#
# What is recorded: :mod:`rexview.ui.web.saving.seen_cases`. Alone, before a name is given, it waits
# in the session for the name.


def note_passed(review_set: ReviewSet, cases: Iterable[str]) -> None:
    """Keep which cases the browser has shown before the page followed, for :func:`note_case`."""
    name = review_sets.set_id(review_set.folder)
    noted: dict[tuple[str, str], bool] = st.session_state.setdefault(link_keys.SESSION_SEEN, {})
    for case in cases:
        noted.setdefault((name, case), False)


def note_case(review_set: ReviewSet, case_id: str) -> None:
    """Record that whoever looks has opened a case with its models named, unless it is known.

    Only for cases that are scored. Where the database cannot be written to it is tried again with
    the next case: nothing on the page depends on it.
    """
    note_passed(review_set, [case_id])
    name = review_sets.set_id(review_set.folder)
    noted: dict[tuple[str, str], bool] = st.session_state[link_keys.SESSION_SEEN]
    waiting = [case for (of_set, case), done in noted.items() if of_set == name and not done]
    person = permissions.current()
    if not waiting or person is None or not may(person, "score"):
        return
    try:
        reviews = review_sets.reviews(review_set)
        entries = seen_entries(review_set, reviews, person, waiting)
        if entries:
            reviews.record(entries, person)
    except StoreError:
        return
    noted.update({(name, case): True for case in waiting})

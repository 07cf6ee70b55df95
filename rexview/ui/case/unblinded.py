"""Records that somebody who scores has opened a case where its models are named.

What is recorded: :mod:`rexview.ui.saving.seen_cases`. Alone, before a name is given, it waits in
the session for the name.
"""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from rexview.errors import StoreError
from rexview.schema import ReviewSet
from rexview.store import may
from rexview.ui.access import permissions
from rexview.ui.link import keys as link_keys
from rexview.ui.saving.seen_cases import seen_entries
from rexview.ui.server import review_sets


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

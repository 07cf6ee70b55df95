"""The meetings of a set, which of them is shown, and which cases are pinned to."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from rexview.analysis.meetings import Meeting, meetings
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Reviews, may
from rexview.ui.access import permissions
from rexview.ui.link import keys as link_keys
from rexview.ui.server import review_sets


def all_meetings(review_set: ReviewSet) -> tuple[Meeting, ...]:
    """Return the meetings of a set as they stand, the newest first.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    reviews = review_sets.reviews(review_set)
    return _meetings(reviews, reviews.revision())


@lru_cache(maxsize=8)
def _meetings(reviews: Reviews, revision: int) -> tuple[Meeting, ...]:
    """Read them anew only when anything was written."""
    return meetings(reviews)


def may_lead() -> bool:
    """Whether whoever looks may prepare and lead meetings."""
    role = permissions.role()
    return role is not None and may(Person("", "", role), "meeting")


def shown_meeting(review_set: ReviewSet) -> Meeting | None:
    """Return the meeting that the page is about: that of the link, else that of the session.

    One that is open is from then on the one that cases are pinned to. None where there is no
    meeting, or none of the link's id.
    """
    every = all_meetings(review_set)
    named = link_keys.query_value(link_keys.QUERY_MEETING)
    if named is None:
        return pinned_to(review_set) or next(iter(every), None)
    found = next((one for one in every if one.id == named), None)
    if found is not None and not found.closed:
        pin_to(review_set, found.id)
    return found


def pinned_to(review_set: ReviewSet) -> Meeting | None:
    """Return the meeting that cases are pinned to: the session's, else the newest open one."""
    still_open = [one for one in all_meetings(review_set) if not one.closed]
    kept = _kept().get(review_sets.set_id(review_set.folder))
    return next((one for one in still_open if one.id == kept), next(iter(still_open), None))


def pin_to(review_set: ReviewSet, meeting_id: str) -> None:
    """Let cases be pinned to a meeting from now on, in this session."""
    known = _kept()
    st.session_state[link_keys.SESSION_MEETING] = {
        **known,
        review_sets.set_id(review_set.folder): meeting_id,
    }


def _kept() -> dict[str, str]:
    kept: dict[str, str] = st.session_state.get(link_keys.SESSION_MEETING, {})
    return kept

"""The presenting view: it fills the screen, and is led from here or followed."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import streamlit as st

from rexview.analysis.meetings import Meeting, read_presenter_notes
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.ui.meeting.decision_form import STYLE, form_json
from rexview.ui.meeting.headlines import worst_failures
from rexview.ui.meeting.live.admission import room_json
from rexview.ui.meeting.live.rooms import ROOMS
from rexview.ui.meeting.meetings import AGENDA, may_lead, view_link
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import page_header, show_nothing_yet
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_BROWSE, PAGE_MEETING
from rexview.ui.web.saving.entries import MEETING_PAGE
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.server import review_sets
from rexview.vocab import MEETING_STEPS
from rexview.words import tr

PURPOSE: Final = "# Meeting\n\nShow the cases of a meeting to everybody, step by step."
_KEY: Final = "presenting"
_ASSETS: Final = "meeting/presenting/assets"
_VIEWER_STYLE: Final = Path(__file__).parents[2] / "viewer/assets/viewer.css"


def show_presenting(review_set: ReviewSet, held: Meeting | None, *, leads: bool) -> None:
    """Show a meeting on the whole screen; ``leads`` from here, else follow its presenter.

    Raises
    ------
    StoreError
        The meeting's entries cannot be read.
    """
    if held is None:
        page_header(tr("Meeting"))
        show_nothing_yet(
            tr("This meeting does not exist. Choose one on the agenda."),
            (PAGE_MEETING, tr("All meetings")),
        )
        return
    if not leads:
        _put(review_set, held, None)
    elif not may_lead():
        page_header(tr("Meeting"))
        st.info(tr("Your role does not lead meetings. Follow this one instead."))
    elif not held.agenda:
        page_header(held.name)
        show_nothing_yet(
            tr("No case is on the agenda of this meeting yet. Pin cases on Browse or Case."),
            (PAGE_BROWSE, tr("Browse cases")),
        )
        # a page link to the same page would keep the address, and so the view
        st.button(
            tr("Back to the agenda"),
            key="presenting_back",
            on_click=link_keys.set_query,
            args=({link_keys.QUERY_VIEW: None},),
        )
    else:
        _put(review_set, held, permissions.require_name(PURPOSE))


@st.fragment
def _put(review_set: ReviewSet, held: Meeting, leader: Person | None) -> None:
    """Mount the component; in a fragment, so that a new ticket does not rebuild the page."""
    permissions.guard(PAGE_MEETING)
    presenting = component(
        "rexview_presenting",
        f"{_ASSETS}/presenting.js",
        style=(f"{_ASSETS}/presenting.css", f"{_ASSETS}/texts.css", STYLE),
        title=tr("The meeting"),
    )
    presents = leader or _taken_over(review_set, held)
    harm = review_sets.engine(review_set).facts.harm
    form = partial(form_json, review_set, held.decisions, with_people=presents is not None)
    data: dict[str, Any] = {
        "meeting": {
            "id": held.id,
            "name": held.name,
            "closed": held.closed,
            "steps": [[step, MEETING_STEPS[step]] for step in held.steps],
        },
        "leads": leader is not None,
        "decisions": form() if may_lead() else None,
        "harm": [[level, harm.name_of(level), harm.levels[level]] for level in sorted(harm.levels)],
        "room": room_json(review_set, held.id),
        "agenda": _agenda(review_set, held, presents),
        "start": link_keys.query_value(link_keys.QUERY_CASE) if leader else None,
        "outbox": outbox_json(review_set, MEETING_PAGE, permissions.current_person()),
        "viewerStyle": _viewer_style(),
        "exit": view_link(AGENDA, held.id),
    }
    presenting(
        key=_KEY,
        data=data,
        on_refresh_change=lambda: None,
        on_leads_change=_remember_window,
        on_headlines_change=partial(_ask_for_headlines, held.id),
    )


def _ask_for_headlines(meeting_id: str) -> None:
    st.session_state[link_keys.SESSION_HEADLINES] = meeting_id


def _remember_window() -> None:
    st.session_state[link_keys.SESSION_PRESENTING] = st.session_state[_KEY].get("leads")


def _taken_over(review_set: ReviewSet, held: Meeting) -> Person | None:
    """Return the user, if the window that followed here has taken over the meeting."""
    window = st.session_state.get(link_keys.SESSION_PRESENTING)
    person = permissions.current_person()
    if person is None or not isinstance(window, str):
        return None
    set_id = review_sets.set_id(review_set.folder)
    return person if ROOMS.is_led_by(set_id, held.id, person, window) else None


def _agenda(review_set: ReviewSet, held: Meeting, leader: Person | None) -> list[dict[str, Any]]:
    """Return the coming cases for the presenter, without their content.

    Their failures are sent only on request, because a room may see this screen.
    """
    if leader is None:
        return []
    notes = read_presenter_notes(review_sets.reviews(review_set), held.id, leader.id)
    asked = st.session_state.get(link_keys.SESSION_HEADLINES) == held.id and may_lead()
    failed = worst_failures(review_set, held.cases, with_models=False) if asked else None
    return [
        {
            "case": item.case,
            "section": item.section,
            "minutes": item.minutes,
            "seconds": held.seconds.get(item.case, 0.0),
            "note": notes.get(item.case, ""),
            **({} if failed is None else {"headline": failed.get(item.case)}),
        }
        for item in held.agenda
    ]


@cache
def _viewer_style() -> str:
    """Return the viewer's styles, for its own root within ours."""
    return _VIEWER_STYLE.read_text(encoding="utf-8")

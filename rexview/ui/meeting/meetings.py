"""The meetings of a set: the one that each view shows, and how pages change them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Any, Final

import streamlit as st

from rexview.analysis.meetings import (
    AgendaItem,
    Meeting,
    find_meeting,
    list_meetings,
    make_agenda_items,
)
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, may_write_kind
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link import link_choices
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.pages import PAGE_MEETING
from rexview.ui.web.saving.entries import MEETING_PAGE
from rexview.ui.web.saving.meeting_entries import MOST_CASES, new_meeting_id
from rexview.ui.web.server import review_sets
from rexview.ui.web.streamlit_adapter.script_run import finish_draft, form_save_button, typed_fields
from rexview.words import counted, tr


def all_meetings(review_set: ReviewSet) -> tuple[Meeting, ...]:
    """Return the current meetings of a set, newest first.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    reviews = review_sets.reviews(review_set)
    return _meetings(reviews, reviews.revision())


@lru_cache(maxsize=8)
def _meetings(reviews: Reviews, revision: int) -> tuple[Meeting, ...]:
    """Read the meetings again only after new entries."""
    return list_meetings(reviews)


def may_lead() -> bool:
    """Return whether the user may prepare and lead meetings."""
    role = permissions.current_role()
    return role is not None and may_write_kind(Person("", "", role), "meeting")


def current_meeting(review_set: ReviewSet) -> Meeting | None:
    """Return the meeting of the page: that of the link, else that of the session.

    If it is open, cases are pinned to it from then on. None if there is no meeting, or none with
    the link's id.
    """
    every = all_meetings(review_set)
    named = link_keys.query_value(link_keys.QUERY_MEETING)
    if named is None:
        return pin_target(review_set) or next(iter(every), None)
    found = next((one for one in every if one.id == named), None)
    if found is not None and not found.closed:
        set_pin_target(review_set, found.id)
    return found


def pin_target(review_set: ReviewSet) -> Meeting | None:
    """Return the meeting that cases are pinned to: the session's, else the newest open one."""
    still_open = [one for one in all_meetings(review_set) if not one.closed]
    kept = _kept().get(review_sets.set_id(review_set.folder))
    return next((one for one in still_open if one.id == kept), next(iter(still_open), None))


def set_pin_target(review_set: ReviewSet, meeting_id: str) -> None:
    """Pin cases to this meeting from now on, in this session."""
    known = _kept()
    st.session_state[link_keys.SESSION_MEETING] = {
        **known,
        review_sets.set_id(review_set.folder): meeting_id,
    }


def _kept() -> dict[str, str]:
    kept: dict[str, str] = st.session_state.get(link_keys.SESSION_MEETING, {})
    return kept


# Changes to meetings and their agendas by a page's script: buttons, forms, many cases at once.
#
# What is typed or dragged is sent by the outbox (:mod:`rexview.ui.web.saving.meeting_entries`).

LONGEST_NAME: Final = 120
USUAL_MINUTES: Final = 60


def show_new_meeting_form(
    review_set: ReviewSet, key: str, *, on_begun: Callable[[str], None] = lambda _: None
) -> None:
    """Show a form for a new meeting, to which cases are then pinned.

    ``key`` distinguishes several such forms on one page; ``on_begun`` is called with the id.
    """
    if permissions.ask_name(f"{key}_who") is None:
        return

    def begin() -> None:
        given = {part: st.session_state[f"{key}_{part}"] for part in ("name", "held", "minutes")}
        if not given["name"].strip():
            st.session_state[f"{key}_nameless"] = True
            return
        begun = start_meeting(review_set, given["name"], given["held"], given["minutes"])
        if begun is not None:
            st.session_state[f"{key}_name"] = ""
            finish_draft(key)
            on_begun(begun)

    with typed_fields(key), st.form(f"{key}_form", border=False):
        st.text_input(tr("Name"), key=f"{key}_name", max_chars=LONGEST_NAME)
        with st.container(horizontal=True):
            st.date_input(tr("Day"), value=None, key=f"{key}_held", format="YYYY-MM-DD", width=150)
            st.number_input(
                tr("Length in minutes"),
                0,
                10_000,
                USUAL_MINUTES,
                5,
                key=f"{key}_minutes",
                width=150,
            )
        form_save_button(tr("Begin"), type="primary", key=f"{key}_begin", on_click=begin)
    if st.session_state.pop(f"{key}_nameless", False):
        st.error(tr("Give the meeting a name."))


def start_meeting(
    review_set: ReviewSet, name: str, held: date | None = None, minutes: int | None = None
) -> str | None:
    """Start a meeting, to which cases are then pinned; return its id, None if not saved."""
    meeting_id = new_meeting_id()
    value = {
        "name": " ".join(name.split()),
        "held": held.isoformat() if held else None,
        "minutes": minutes or None,
    }
    if not _write(review_set, [Entry("meeting", subject=meeting_id, value=value)]):
        return None
    set_pin_target(review_set, meeting_id)
    return meeting_id


def change_meeting(review_set: ReviewSet, changed: Meeting, **fields: Any) -> bool:
    """Change some fields of a meeting (:data:`.ENTRY_KINDS`) and leave the others.

    Others' changes since the page was shown are not undone.
    """
    row = review_sets.reviews(review_set).current_state().of("meeting", "")
    value = row[None, None, changed.id, None].value
    entry = Entry("meeting", subject=changed.id, value={**(value or {}), **fields}, over=(value,))
    return _write(review_set, [entry])


def remove_meeting(review_set: ReviewSet, removed: Meeting) -> bool:
    """Remove a meeting from all lists; the history keeps its entries."""
    return _write(review_set, [Entry("meeting", subject=removed.id, value=None)])


def pin_cases(
    review_set: ReviewSet,
    meeting_id: str,
    cases: Sequence[str],
    *,
    section: str = "",
    found_by: str = "",
) -> tuple[str, ...] | None:
    """Add cases at the end of an agenda, all or none.

    Return those that were new; None if nothing could be written: the page then shows why.
    """
    now = find_meeting(review_sets.reviews(review_set), meeting_id)
    if now is None or now.closed:
        st.error(tr("This meeting is closed or removed. Choose another one."))
        return None
    items = make_agenda_items(now, cases, section=section, found_by=found_by)
    if len(now.agenda) + len(items) > MOST_CASES:
        have, more = counted(len(now.agenda), "case"), counted(len(items), "case")
        said = tr(
            "An agenda has at most {most:,} cases: {name} has {have}, and "
            "{more} would be added. Narrow the filter, or begin another meeting."
        ).format(most=MOST_CASES, name=now.name, have=have, more=more)
        st.error(as_markdown(said))
        return None
    entries = [Entry("agenda", one.case, subject=now.id, value=item_json(one)) for one in items]
    return tuple(one.case for one in items) if _write(review_set, entries) else None


def remove_cases(review_set: ReviewSet, meeting_id: str, cases: Iterable[str]) -> bool:
    """Remove cases from an agenda, all or none."""
    entries = [Entry("agenda", case, subject=meeting_id, value=None) for case in cases]
    return _write(review_set, entries)


def item_json(item: AgendaItem) -> dict[str, Any]:
    """Return a case's place on an agenda as it is stored, and as :file:`standing.js` has it."""
    return {
        "place": item.place,
        "section": item.section or None,
        "minutes": item.minutes,
        "found_by": item.found_by or None,
    }


def _write(review_set: ReviewSet, entries: Collection[Entry]) -> bool:
    """Write entries, all or none; show the reason if they cannot be written."""
    person = permissions.current_person()
    if person is None:
        return False
    given = [replace(one, via=MEETING_PAGE) for one in entries]
    try:
        review_sets.reviews(review_set).record(given, person)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return False
    return True


# The views of the Meeting page, and the open one, which the link names.

AGENDA: Final = "agenda"
DECISIONS: Final = "decisions"
PRESENT: Final = "present"
FOLLOW: Final = "follow"
VIEWS: Final = {
    AGENDA: tr("Agenda"),
    DECISIONS: tr("Decisions"),
    PRESENT: tr("Present"),
    FOLLOW: tr("Follow"),
}
"""All views in order, with their names; links name no other."""
_WHOLE_SCREEN: Final = (PRESENT, FOLLOW)
"""Views that fill the page, without its title and choices."""


def open_view() -> str:
    """Return the view that the link names."""
    return link_choices.open_view(VIEWS, AGENDA)


def choose_view() -> None:
    """Show a choice of the views inside the page; the link keeps it."""
    offered = {one: name for one, name in VIEWS.items() if one not in _WHOLE_SCREEN}
    link_choices.choose_view("meeting", offered, AGENDA)


def view_link(view: str, meeting_id: str, case: str | None = None) -> str:
    """Return the address of a view of a meeting, at a case, relative to the app; not escaped."""
    query = link_keys.link_query(case=case) | {link_keys.QUERY_MEETING: meeting_id}
    return href(PAGE_MEETING, query if view == AGENDA else query | {link_keys.QUERY_VIEW: view})

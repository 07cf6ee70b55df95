"""Meetings and their agendas written by a page's script: buttons, forms, many cases at once.

What is typed or dragged goes by the outbox (:mod:`rexview.ui.saving.meeting_entries`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

import streamlit as st

from rexview.analysis.meetings import AgendaItem, Meeting, add_cases, meeting
from rexview.errors import StoreError
from rexview.schema import ReviewSet
from rexview.store import Entry
from rexview.ui.access import permissions
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.meeting.chosen import pin_to
from rexview.ui.saving.entries import MEETING_PAGE
from rexview.ui.saving.meeting_entries import MOST_CASES, new_meeting_id
from rexview.ui.server import review_sets
from rexview.ui.streamlit_adapter.pressed import form_save_button, typed_fields, words_taken
from rexview.words import counted, tr

LONGEST_NAME: Final = 120
USUAL_MINUTES: Final = 60


def begin_form(
    review_set: ReviewSet, key: str, *, on_begun: Callable[[str], None] = lambda _: None
) -> None:
    """Ask for what a new meeting needs; cases are pinned to it from then on.

    ``key`` tells apart several such forms on one page, ``on_begun`` is called with the id.
    """
    if permissions.ask_name(f"{key}_who") is None:
        return

    def begin() -> None:
        given = {part: st.session_state[f"{key}_{part}"] for part in ("name", "held", "minutes")}
        if not given["name"].strip():
            st.session_state[f"{key}_nameless"] = True
            return
        begun = begin_meeting(review_set, given["name"], given["held"], given["minutes"])
        if begun is not None:
            st.session_state[f"{key}_name"] = ""
            words_taken(key)
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


def begin_meeting(
    review_set: ReviewSet, name: str, held: date | None = None, minutes: int | None = None
) -> str | None:
    """Begin a meeting, which cases are pinned to from then on; return its id, None if not kept."""
    meeting_id = new_meeting_id()
    value = {
        "name": " ".join(name.split()),
        "held": held.isoformat() if held else None,
        "minutes": minutes or None,
    }
    if not _write(review_set, [Entry("meeting", subject=meeting_id, value=value)]):
        return None
    pin_to(review_set, meeting_id)
    return meeting_id


def change_meeting(review_set: ReviewSet, changed: Meeting, **fields: Any) -> bool:
    """Change some fields of a meeting (:data:`rexview.store.kinds.KINDS`) and leave the others.

    What somebody else changed since the page was shown is not undone.
    """
    row = review_sets.reviews(review_set).current_state().of("meeting", "")
    value = row[None, None, changed.id, None].value
    entry = Entry("meeting", subject=changed.id, value={**(value or {}), **fields}, over=(value,))
    return _write(review_set, [entry])


def remove_meeting(review_set: ReviewSet, removed: Meeting) -> bool:
    """Remove a meeting: it is listed nowhere any more; the history keeps what was written of it."""
    return _write(review_set, [Entry("meeting", subject=removed.id, value=None)])


def pin_cases(
    review_set: ReviewSet,
    meeting_id: str,
    cases: Sequence[str],
    *,
    section: str = "",
    found_by: str = "",
) -> tuple[str, ...] | None:
    """Put cases at the end of an agenda, all or none.

    Returns those that were not on it before; None where nothing could be written: it is said why.
    """
    now = meeting(review_sets.reviews(review_set), meeting_id)
    if now is None or now.closed:
        st.error(tr("This meeting is closed or removed. Choose another one."))
        return None
    items = add_cases(now, cases, section=section, found_by=found_by)
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


def take_off(review_set: ReviewSet, meeting_id: str, cases: Iterable[str]) -> bool:
    """Take cases off an agenda, all or none."""
    entries = [Entry("agenda", case, subject=meeting_id, value=None) for case in cases]
    return _write(review_set, entries)


def item_json(item: AgendaItem) -> dict[str, Any]:
    """Return a case's place on an agenda as it is kept, and as :file:`standing.js` has it."""
    return {
        "place": item.place,
        "section": item.section or None,
        "minutes": item.minutes,
        "found_by": item.found_by or None,
    }


def _write(review_set: ReviewSet, entries: Collection[Entry]) -> bool:
    """Write entries, all or none; say why where they cannot be written."""
    person = permissions.current()
    if person is None:
        return False
    given = [replace(one, via=MEETING_PAGE) for one in entries]
    try:
        review_sets.reviews(review_set).record(given, person)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return False
    return True

"""Pinning cases to a meeting: one by one in the browser, or many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from rexview.analysis import CaseFilter, Engine
from rexview.analysis.meetings import Meeting
from rexview.errors import StoreError
from rexview.schema import ReviewSet
from rexview.ui.meeting.meetings import (
    all_meetings,
    item_json,
    may_lead,
    pin_cases,
    pin_target,
    remove_cases,
    set_pin_target,
    show_new_meeting_form,
)
from rexview.ui.safe_text import as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_MEETING
from rexview.ui.web.saving.meeting_entries import MOST_CASES
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.server import review_sets
from rexview.ui.web.streamlit_adapter.script_run import save_button
from rexview.words import tr, trn

KEYS: Final = ((tr("Shift+M"), tr("pin the case for a meeting")),)
"""Keys of :file:`pins.js` and their actions, for the list of keys."""
_ASSETS: Final = "meeting/pins/assets/pins"
_DONE: Final = "pins_done"


@dataclass(frozen=True)
class PinnableCases:
    """Cases that can be pinned at once: their button's label, their number, and their ids."""

    label: str
    total: int
    cases: Callable[[], Sequence[str]]


@dataclass(frozen=True)
class _LastPinned:
    """The last cases pinned at once, for undoing it."""

    meeting_id: str
    name: str
    cases: tuple[str, ...]
    there: int


def pin_filter(
    review_set: ReviewSet,
    engine: Engine,
    case_filter: CaseFilter,
    total: int,
    on_page: Sequence[str] = (),
) -> None:
    """Show buttons that pin the ``total`` cases of a filter, and those that the page shows."""
    many = []
    if on_page:
        label = tr("Pin the {n:,} on this page").format(n=len(on_page))
        many.append(PinnableCases(label, len(on_page), lambda: on_page))
    if total > len(on_page):
        every = partial(engine.page, case_filter, 0, total)
        label = tr("Pin all {n:,} of this filter").format(n=total)
        many.append(PinnableCases(label, total, every))
    show_pins(review_set, case_filter, many=many)


def show_pins(
    review_set: ReviewSet,
    case_filter: CaseFilter,
    *,
    page: str = "",
    case: str | None = None,
    many: Sequence[PinnableCases] = (),
) -> None:
    """Show the meeting that cases are pinned to, and pin them; nothing for users who may not.

    Parameters
    ----------
    case_filter : CaseFilter
        The filter that found the cases; it is stored with them.
    page : str
        The page's name in the entries that it sends, see :mod:`rexview.ui.web.saving.entries`;
        empty for a page without entries.
    case : str, optional
        The case that the page shows, which gets a button and a key; None on a page of many cases.
    many : sequence of PinnableCases
        The cases that can be pinned at once.
    """
    if not may_lead():
        return
    found_by = urlencode(case_filter.to_query(), doseq=True)
    try:
        revision = review_sets.reviews(review_set).revision()
        to = pin_target(review_set)
        still_open = [one for one in all_meetings(review_set) if not one.closed]
    except StoreError:
        return  # the page shows that people's entries are unavailable
    items = to.agenda if to else ()
    data = {
        "outbox": outbox_json(review_set, page, permissions.current_person()),
        "meeting": {"id": to.id, "name": to.name} if to else None,
        "pinned": {one.case: item_json(one) for one in items},
        "last": max((one.place for one in items), default=0.0),
        "revision": revision,
        "foundBy": found_by or None,
        "case": case,
    }
    show = component("rexview_pins", f"{_ASSETS}.js", style=f"{_ASSETS}.css", title=tr("Pinning"))
    show(key="rx_pins", width="content", data=data, on_refresh_change=lambda: None)
    box = st.popover(
        as_markdown(_shortened(to.name, 14 if case else 24)) if to else tr("Meeting…"),
        icon=None if case else ":material/keep:",
        key="pins_box",
        on_change="rerun",
    )
    if box.open:
        with box:
            _show_choices(review_set, to, still_open, many, found_by)


def _shortened(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"


def _show_choices(
    review_set: ReviewSet,
    to: Meeting | None,
    still_open: Sequence[Meeting],
    many: Sequence[PinnableCases],
    found_by: str,
) -> None:
    if to is not None:
        names = {one.id: one.name for one in still_open}
        st.session_state["pins_to"] = to.id
        st.selectbox(
            tr("Cases are pinned to"),
            list(names),
            format_func=lambda one: names.get(one, one),
            key="pins_to",
            on_change=lambda: set_pin_target(review_set, st.session_state["pins_to"]),
        )
        _show_done(review_set)
        if permissions.ask_name("pins_who") is not None:
            for number, one in enumerate(many):
                _offer(review_set, to, one, found_by, key=f"pins_many_{number}")
        agenda = trn("Agenda: {n:,} case", "Agenda: {n:,} cases", len(to.agenda))
        st.page_link(
            PAGE_MEETING,
            label=as_markdown(agenda.format(n=len(to.agenda))),
            icon=":material/list_alt:",
            query_params=link_keys.link_query() | {link_keys.QUERY_MEETING: to.id},
        )
        st.divider()
    st.markdown(f"**{tr('New meeting')}**")
    show_new_meeting_form(review_set, "pins_new")


def _offer(
    review_set: ReviewSet, to: Meeting, many: PinnableCases, found_by: str, *, key: str
) -> None:
    """Show a button that pins some cases at once."""

    def pin() -> None:
        cases = many.cases()
        pinned = pin_cases(review_set, to.id, cases, found_by=found_by)
        if pinned is not None:
            st.session_state[_DONE] = _LastPinned(
                to.id, to.name, pinned, len(set(cases)) - len(pinned)
            )

    too_many = many.total > MOST_CASES
    narrow = tr("At most {n:,} at once: narrow the filter.").format(n=MOST_CASES)
    save_button(
        as_markdown(many.label),
        icon=":material/keep:",
        key=key,
        disabled=too_many or not many.total,
        help=narrow if too_many else None,
        on_click=pin,
        width="stretch",
    )


def _show_done(review_set: ReviewSet) -> None:
    """Show which cases were last pinned at once, with a button to undo it."""
    if _DONE not in st.session_state:
        return
    done: _LastPinned = st.session_state.pop(_DONE)
    n = len(done.cases)
    said = trn("{n:,} case pinned to {name}.", "{n:,} cases pinned to {name}.", n)
    words = said.format(n=n, name=done.name)
    if done.there:
        words += f" {tr('{n:,} already on it.').format(n=done.there)}"
    st.success(as_markdown(words))

    def undo() -> None:
        remove_cases(review_set, done.meeting_id, done.cases)

    if done.cases:
        save_button(tr("Undo"), icon=":material/undo:", key="pins_undo", on_click=undo)

"""The decisions of all meetings: open, late and done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import Final

import streamlit as st

from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import decision_frame
from rexview.analysis.meetings import (
    Decision,
    describe_decision,
    filter_open_decisions,
    list_decisions,
)
from rexview.schema import ReviewSet
from rexview.ui.meeting.decision_form import STYLE, form_json
from rexview.ui.meeting.meetings import all_meetings
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.data_table import show_downloads
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.link_choices import bind_option_to_link, bind_to_link, choose_page
from rexview.ui.web.link.pages import PAGE_CASE, PAGE_MEETING
from rexview.ui.web.saving.entries import MEETING_PAGE
from rexview.ui.web.saving.meeting_entries import decisions_json
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.server import review_sets
from rexview.words import tr, trc, trn

PAGE_SIZE: Final = 50
_STATES: Final = {
    "open": trc("decisions", "Open"),
    "late": tr("Overdue"),
    "done": tr("Done"),
    "all": tr("All"),
}
_ANY: Final = ""


def show_decisions(review_set: ReviewSet) -> None:
    """Show the decisions of all meetings of a set, by default the open ones.

    Raises
    ------
    StoreError
    """
    _list(review_set)


@st.fragment
def _list(review_set: ReviewSet) -> None:
    permissions.guard(PAGE_MEETING)
    written = review_sets.with_current_reviews(review_set)
    every = list_decisions(written)
    if not every:
        show_nothing_yet(
            tr(
                "No meeting has decided anything yet. Decisions are recorded next to a "
                "case, in a meeting or on its page."
            ),
            (PAGE_CASE, tr("Open a case")),
        )
        return
    today = datetime.now(UTC).date()
    found = _chosen(every, today)
    left = filter_open_decisions(every)
    late = sum(one.is_overdue(today) for one in left)
    numbers = trn(
        "{n:,} decision shown; {open:,} open, {late:,} overdue.",
        "{n:,} decisions shown; {open:,} open, {late:,} overdue.",
        len(found),
    )
    st.caption(as_markdown(numbers.format(n=len(found), open=len(left), late=late)))
    if not found:
        return
    start = link_keys.page_number(len(found), PAGE_SIZE) * PAGE_SIZE
    _show_rows(review_set, written, found[start : start + PAGE_SIZE], today)
    choose_page(len(found), PAGE_SIZE, "decisions_page")
    file = TableFile(
        "Decisions of meetings",
        partial(decision_frame, found, written.model_names),
        "What meetings decided about cases and answers, as listed on the page.",
    )
    show_downloads(file, key="decisions_file")


def _chosen(every: Sequence[Decision], today: date) -> tuple[Decision, ...]:
    """Show choices that filter the listed decisions; the link keeps them."""
    keys = link_keys.QUERY_DECISIONS
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        state = st.segmented_control(
            tr("Decisions"),
            list(_STATES),
            format_func=lambda one: _STATES[one],
            required=True,
            **bind_option_to_link("decisions_state", keys["state"], _STATES, "open"),
        )
        names = {one.meeting: one.meeting_name for one in every}
        meeting = _choice(tr("Meeting"), "meeting", list(names), lambda one: names.get(one, one))
        owners = sorted({one.owner for one in every if one.owner})
        owner = _choice(tr("Owner"), "owner", owners, str)
        words = list(dict.fromkeys(one.decision for one in every if one.decision))
        decision = _choice(tr("Decision"), "decision", words, describe_decision)
    is_wanted: dict[str, Callable[[Decision], bool]] = {
        "open": lambda one: one.is_open,
        "late": lambda one: one.is_overdue(today),
        "done": lambda one: one.done,
        "all": lambda one: True,
    }
    found = [
        one
        for one in every
        if is_wanted[state or "open"](one)
        and meeting in (_ANY, one.meeting)
        and owner in (_ANY, one.owner)
        and decision in (_ANY, one.decision)
    ]
    return filter_open_decisions(found) if state in ("open", "late") else tuple(found)


def _choice(label: str, name: str, options: list[str], words: Callable[[str], str]) -> str:
    query = link_keys.QUERY_DECISIONS[name]
    asked = link_keys.query_value(query)
    shown = asked if asked in options else _ANY
    kept = bind_to_link(
        f"decisions_{name}", query, shown, lambda chosen: chosen or None, lists=True
    )
    chosen: str = st.selectbox(
        as_markdown(label),
        [_ANY, *options],
        format_func=lambda one: words(one) if one else tr("Any"),
        width=200,
        **kept,
    )
    return chosen


def _show_rows(
    review_set: ReviewSet, written: ReviewSet, shown: Sequence[Decision], today: date
) -> None:
    reviews = review_sets.reviews(review_set)
    told = decisions_json(written, reviews, shown)
    for one, row in zip(shown, told, strict=True):
        case = written.case(one.case)
        row["question"] = case.question if case else ""
        row["overdue"] = one.is_overdue(today)
        row["href"] = href(PAGE_CASE, link_keys.link_query(case=one.case))
    data = {
        **form_json(review_set),
        "outbox": outbox_json(review_set, MEETING_PAGE, permissions.current_person()),
        "revision": reviews.revision(),
        "rows": told,
        "words": {
            one.id: [[word, word] for word in one.decisions] for one in all_meetings(review_set)
        },
    }
    rows = component(
        "rexview_decision_list",
        "meeting/decisions/assets/decision_list.js",
        style=STYLE,
        title=tr("The decisions"),
    )
    rows(key="rx_decision_list", data=data, on_refresh_change=lambda: None)

"""What changes a meeting and adds cases to its agenda, beside the agenda itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st

from rexview.analysis.meetings import FIRST_STEP, MOST_TEXT, Meeting, minutes, read_ids
from rexview.schema import ReviewSet
from rexview.ui.filters.saved import saved_filters
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_BROWSE
from rexview.ui.meeting.chosen import all_meetings
from rexview.ui.meeting.writing import LONGEST_NAME, change_meeting, pin_cases, remove_meeting
from rexview.ui.server import query_cache, review_sets
from rexview.ui.streamlit_adapter.pressed import (
    form_save_button,
    save_button,
    typed_fields,
    words_taken,
)
from rexview.vocab import MEETING_STEPS
from rexview.words import tr, trn

_IDS: Final = "agenda_ids"
_SAID: Final = "agenda_said"
_NAMED: Final = 30
"""So many ids that are not in the set are named."""


def show_adding(review_set: ReviewSet, meeting: Meeting) -> None:
    """Add cases by their ids, from a saved filter, or by what Browse finds."""
    box = st.popover(tr("Add cases"), icon=":material/add:", key="agenda_add", on_change="rerun")
    if not box.open:
        return
    with box:
        said: dict[str, str] = st.session_state.pop(_SAID, {})
        if "done" in said:
            st.success(as_markdown(said["done"]))
        if "problem" in said:
            st.warning(as_markdown(said["problem"]))
        with typed_fields(f"{_IDS} {meeting.id}"):
            st.text_area(
                tr("Case ids"),
                key=_IDS,
                height=110,
                max_chars=MOST_TEXT,
                placeholder=tr("c01, c02 or one a line, as in a table"),
            )
        save_button(tr("Add"), key="agenda_add_ids", on_click=_add_ids, args=(review_set, meeting))
        _offer_saved(review_set, meeting)
        _offer_postponed(review_set, meeting)
        st.page_link(
            PAGE_BROWSE,
            label=tr("Find cases and pin them"),
            icon=":material/search:",
            query_params=link_keys.link_query(),
        )


def _add_ids(review_set: ReviewSet, meeting: Meeting) -> None:
    """Add what was typed; what names no case stays in the field."""
    ids = read_ids(st.session_state[_IDS], review_set, meeting.cases)
    added = pin_cases(review_set, meeting.id, ids.new)
    said = _added_words(added, len(ids.there)) if added is not None else {}
    if ids.unknown:
        named = ", ".join(one[:60] for one in ids.unknown[:_NAMED])
        more = len(ids.unknown) - _NAMED
        if more > 0:
            named = tr("{named} and {n:,} more").format(named=named, n=more)
        said["problem"] = tr("Not in this review set: {named}.").format(named=named)
    st.session_state[_SAID] = said
    if added is not None:
        st.session_state[_IDS] = "\n".join(ids.unknown)
        if not ids.unknown:
            words_taken(f"{_IDS} {meeting.id}")


def _added_words(added: Sequence[str], there: int) -> dict[str, str]:
    """Say how many cases were added, and how many were on the agenda before; both may be none."""
    n = len(added)
    parts = [trn("{n:,} case added.", "{n:,} cases added.", n).format(n=n)] if added else []
    if there:
        before = trn("{n:,} case on it before.", "{n:,} cases on it before.", there)
        parts.append(before.format(n=there))
    return {"done": " ".join(parts)} if parts else {}


def _offer_saved(review_set: ReviewSet, meeting: Meeting) -> None:
    """Offer the filters that were saved on Browse."""
    saved = saved_filters(review_sets.set_id(review_set.folder))
    if not saved:
        return
    chosen = st.selectbox(
        tr("Saved filter"),
        list(saved),
        index=None,
        key="agenda_saved",
        placeholder=tr("Choose"),
    )
    if chosen is None:
        return
    case_filter, engine = saved[chosen], review_sets.engine(review_set)
    total = query_cache.counts(engine, case_filter).total

    def add() -> None:
        cases = engine.page(case_filter, 0, total)
        found_by = urlencode(case_filter.to_query(), doseq=True)
        added = pin_cases(review_set, meeting.id, cases, found_by=found_by)
        if added is not None:
            st.session_state[_SAID] = _added_words(added, total - len(added))

    label = trn("Add {n:,} case of this filter", "Add {n:,} cases of this filter", total)
    label = label.format(n=total)
    save_button(as_markdown(label), key="agenda_add_saved", disabled=not total, on_click=add)


def _offer_postponed(review_set: ReviewSet, meeting: Meeting) -> None:
    """Offer the cases that another meeting did not come to."""
    names = {one.id: one.name for one in all_meetings(review_set) if one.id != meeting.id}
    if not names:
        return
    chosen = st.selectbox(
        tr("Left over from"),
        list(names),
        index=None,
        key="agenda_from",
        format_func=lambda one: names.get(one, one),
        placeholder=tr("Choose a meeting"),
    )
    reviews = review_sets.reviews(review_set)
    held = minutes(review_sets.newest(review_set), reviews, chosen) if chosen else None
    if held is None:
        return
    left = [item.case for item in held.postponed]

    def add() -> None:
        added = pin_cases(review_set, meeting.id, left)
        if added is not None:
            st.session_state[_SAID] = _added_words(added, len(left) - len(added))

    label = trn(
        "Add {n:,} case that it did not come to",
        "Add {n:,} cases that it did not come to",
        len(left),
    ).format(n=len(left))
    save_button(as_markdown(label), key="agenda_add_left", disabled=not left, on_click=add)


def show_changing(review_set: ReviewSet, meeting: Meeting) -> None:
    """Rename a meeting, change its day, minutes and steps; close, open or remove it."""
    box = st.popover(tr("Change"), icon=":material/edit:", key="agenda_change", on_change="rerun")
    if not box.open:
        return
    stands = {
        "name": meeting.name,
        "held": meeting.held,
        "minutes": meeting.minutes or 0,
        "steps": list(meeting.steps[1:]),
    }
    # fields begin anew with another meeting, and when somebody else has changed this one
    key = f"agenda_change_{meeting.id}_{hash(str(stands))}"

    def save() -> None:
        given: dict[str, Any] = {name: st.session_state[f"{key}_{name}"] for name in stands}
        given["name"] = " ".join(given["name"].split()) or meeting.name
        changed = {name: value for name, value in given.items() if value != stands[name]}
        if "held" in changed:
            changed["held"] = given["held"].isoformat() if given["held"] else None
        if "minutes" in changed:
            changed["minutes"] = given["minutes"] or None
        if "steps" in changed:
            changed["steps"] = [FIRST_STEP, *given["steps"]]
        if not changed or change_meeting(review_set, meeting, **changed):
            words_taken(f"meeting {meeting.id}")

    def set_closed() -> None:
        change_meeting(review_set, meeting, closed=not meeting.closed)

    def remove() -> None:
        if remove_meeting(review_set, meeting):
            link_keys.set_query({link_keys.QUERY_MEETING: None})

    with box:
        with typed_fields(f"meeting {meeting.id}"), st.form(f"{key}_form", border=False):
            st.text_input(tr("Name"), meeting.name, key=f"{key}_name", max_chars=LONGEST_NAME)
            with st.container(horizontal=True):
                st.date_input(
                    tr("Day"), meeting.held, key=f"{key}_held", format="YYYY-MM-DD", width=150
                )
                st.number_input(
                    tr("Length in minutes"),
                    0,
                    10_000,
                    meeting.minutes or 0,
                    5,
                    key=f"{key}_minutes",
                    width=150,
                )
            st.multiselect(
                tr("Shown of a case after image and question, in this order"),
                [step for step in MEETING_STEPS if step != FIRST_STEP],
                default=stands["steps"],
                format_func=lambda step: MEETING_STEPS[step],
                key=f"{key}_steps",
            )
            form_save_button(tr("Save"), type="primary", key=f"{key}_save", on_click=save)
        st.divider()
        with st.container(horizontal=True, vertical_alignment="center"):
            label = tr("Open again") if meeting.closed else tr("Close the meeting")
            why = (
                None if meeting.closed else tr("Its agenda stays as it is; decisions can be done.")
            )
            save_button(label, key="agenda_close", help=why, on_click=set_closed)
            sure = st.checkbox(
                tr("Remove it and what it decided from all lists"), key=f"agenda_sure_{meeting.id}"
            )
            save_button(tr("Remove"), key="agenda_remove", disabled=not sure, on_click=remove)

"""The agenda on the Meeting page: its cases in order, and the forms that change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

import streamlit as st

from rexview.analysis import CaseFilter
from rexview.analysis.meetings import (
    FIRST_STEP,
    MAX_IDS_TEXT,
    Agenda,
    Decision,
    Meeting,
    PlannedCase,
    build_agenda,
    build_minutes,
    find_meeting,
    list_decisions,
    list_meetings,
    parse_ids,
    read_presenter_notes,
)
from rexview.analysis.query.filter.filter_text import describe_filter
from rexview.errors import RexviewError, StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Reviews
from rexview.ui.comments.case_comments import REFRESH_S
from rexview.ui.filter_panel import saved_filters
from rexview.ui.meeting import meetings as views
from rexview.ui.meeting.headlines import worst_failures
from rexview.ui.meeting.meetings import (
    LONGEST_NAME,
    all_meetings,
    change_meeting,
    item_json,
    may_lead,
    pin_cases,
    remove_meeting,
    show_new_meeting_form,
)
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.access.image_links import thumbnail_url
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.link_choices import bind_to_link
from rexview.ui.web.link.pages import PAGE_BROWSE, PAGE_CASE, PAGE_MEETING
from rexview.ui.web.saving.entries import MEETING_PAGE
from rexview.ui.web.saving.outbox import outbox_json
from rexview.ui.web.server import query_cache, review_sets
from rexview.ui.web.streamlit_adapter.script_run import (
    finish_draft,
    form_save_button,
    save_button,
    typed_fields,
)
from rexview.vocab import MEETING_STEPS, date_text, duration_text
from rexview.words import counted, tr, trn

# Data of an agenda for the browser: each case's place, and notes on the case.

_NAMED: Final = 4
"""Most cases or meetings named in one line."""


def agenda_json(review_set: ReviewSet, meeting_id: str, person: Person | None) -> dict[str, Any]:
    """Return the data of a meeting for :file:`agenda.js`; notes are the person's own.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    reviews = review_sets.reviews(review_set)
    revision = reviews.revision()
    written = review_sets.with_current_reviews(review_set)
    planned, decided = _agenda(written, reviews, revision, meeting_id)
    of = planned.meeting if planned else None
    rows = planned.cases if planned else ()
    may = person is not None and may_lead()
    notes = read_presenter_notes(reviews, meeting_id, person.id) if person and may else {}
    failed = worst_failures(review_set, [row.case.id for row in rows]) if may else {}
    return {
        "outbox": outbox_json(review_set, MEETING_PAGE, person),
        "meeting": meeting_id,
        "revision": revision,
        "minutes": of.minutes if of else None,
        "mayEdit": may and of is not None and not of.closed,
        "mayNote": may,
        "items": {row.case.id: item_json(row.item) for row in rows},
        "notes": {case: {"text": text} for case, text in notes.items()},
        "cases": {
            row.case.id: {
                **_case_json(review_set, row, decided.get(row.case.id, ())),
                "headline": failed.get(row.case.id),
            }
            for row in rows
        },
    }


@lru_cache(maxsize=8)
def _agenda(
    written: ReviewSet, reviews: Reviews, revision: int, meeting_id: str
) -> tuple[Agenda | None, Mapping[str, Sequence[Decision]]]:
    """Return an agenda and its cases' decisions, read again only after new entries."""
    found: Meeting | None = find_meeting(reviews, meeting_id)
    if found is None:
        return None, {}
    decided: dict[str, list[Decision]] = {}
    for one in list_decisions(written):
        if one.meeting == meeting_id:
            decided.setdefault(one.case, []).append(one)
    return build_agenda(written, found, list_meetings(reviews)), decided


def _case_json(
    review_set: ReviewSet, row: PlannedCase, decided: Sequence[Decision]
) -> dict[str, Any]:
    case, image = row.case, row.case.key_image
    try:
        picture = thumbnail_url(review_set, image.path) if image else None
    except RexviewError:
        picture = None
    return {
        "asked": case.question,
        "picture": picture,
        "href": href(PAGE_CASE, link_keys.link_query(case=case.id)),
        "known": [
            *({"words": _decided(review_set, one), "warns": False} for one in decided),
            *({"words": words, "warns": warns} for words, warns in _known(row)),
        ],
        "found": _found(review_set, row.item.found_by),
    }


def _decided(review_set: ReviewSet, one: Decision) -> str:
    """Return a decision as a line: ``Decided: Retrain · Laterality error · harm 3 · Model A``."""
    parts = [
        one.decision_words,
        one.failure_words,
        "" if one.severity is None else tr("harm {n}").format(n=one.severity),
        review_set.model_names.get(one.model, one.model) if one.model else "",
        tr("done") if one.done else "",
    ]
    return tr("Decided: {words}").format(words=" · ".join(filter(None, parts)) or tr("see Case"))


def _known(row: PlannedCase) -> list[tuple[str, bool]]:
    """Return the notes on a case, each with True if it argues against showing the case."""
    lines = [
        (tr("Same study as {others}"), row.same_study, True),
        (tr("Same patient as {others}"), row.same_patient, False),
        (tr("Discussed before in {others}"), row.discussed_in, True),
        (tr("Also planned for {others}"), row.planned_for, False),
    ]
    found = [(words.format(others=_named(names)), warns) for words, names, warns in lines if names]
    if row.seconds is not None:
        shown_for = tr("Shown for {duration}").format(duration=duration_text(row.seconds))
        found.insert(0, (shown_for, False))
    return found


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    named = ", ".join(names[:_NAMED])
    return tr("{named} and {n:,} more").format(named=named, n=more) if more > 0 else named


def _found(review_set: ReviewSet, found_by: str) -> dict[str, str] | None:
    """Return the filter that found a case, as words and as a link."""
    case_filter, _ = CaseFilter.read(parse_qs(found_by))
    if not case_filter.active:
        return None
    words = describe_filter(review_sets.engine(review_set).facts, case_filter)
    return {"words": words, "href": href(PAGE_BROWSE, link_keys.link_query(case_filter))}


# Forms that change a meeting and add cases to its agenda.

_IDS: Final = "agenda_ids"
_SAID: Final = "agenda_said"
_FORMS_NAMED: Final = 30
"""Most ids named that are not in the set."""


def show_add_forms(review_set: ReviewSet, meeting: Meeting) -> None:
    """Show forms that add cases by id, from a saved filter, or by a search on Browse."""
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
                max_chars=MAX_IDS_TEXT,
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
    """Add the typed ids; those that name no case stay in the field."""
    ids = parse_ids(st.session_state[_IDS], review_set, meeting.cases)
    added = pin_cases(review_set, meeting.id, ids.new)
    said = _added_words(added, len(ids.there)) if added is not None else {}
    if ids.unknown:
        named = ", ".join(one[:60] for one in ids.unknown[:_FORMS_NAMED])
        more = len(ids.unknown) - _FORMS_NAMED
        if more > 0:
            named = tr("{named} and {n:,} more").format(named=named, n=more)
        said["problem"] = tr("Not in this review set: {named}.").format(named=named)
    st.session_state[_SAID] = said
    if added is not None:
        st.session_state[_IDS] = "\n".join(ids.unknown)
        if not ids.unknown:
            finish_draft(f"{_IDS} {meeting.id}")


def _added_words(added: Sequence[str], there: int) -> dict[str, str]:
    """Return the numbers of cases added and of cases already on the agenda; both may be zero."""
    n = len(added)
    parts = [trn("{n:,} case added.", "{n:,} cases added.", n).format(n=n)] if added else []
    if there:
        before = trn("{n:,} case was already on it.", "{n:,} cases were already on it.", there)
        parts.append(before.format(n=there))
    return {"done": " ".join(parts)} if parts else {}


def _offer_saved(review_set: ReviewSet, meeting: Meeting) -> None:
    """Offer the filters saved on Browse."""
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
    """Offer the cases that another meeting postponed."""
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
    held = (
        build_minutes(review_sets.with_current_reviews(review_set), reviews, chosen)
        if chosen
        else None
    )
    if held is None:
        return
    left = [item.case for item in held.postponed]

    def add() -> None:
        added = pin_cases(review_set, meeting.id, left)
        if added is not None:
            st.session_state[_SAID] = _added_words(added, len(left) - len(added))

    label = trn(
        "Add {n:,} case that was not reached",
        "Add {n:,} cases that were not reached",
        len(left),
    ).format(n=len(left))
    save_button(as_markdown(label), key="agenda_add_left", disabled=not left, on_click=add)


def show_change_forms(review_set: ReviewSet, meeting: Meeting) -> None:
    """Show forms that change a meeting's name, day, minutes and steps, or close or remove it."""
    box = st.popover(tr("Change"), icon=":material/edit:", key="agenda_change", on_change="rerun")
    if not box.open:
        return
    stands = {
        "name": meeting.name,
        "held": meeting.held,
        "minutes": meeting.minutes or 0,
        "steps": list(meeting.steps[1:]),
    }
    # fields are reset for another meeting, and after somebody else's change
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
            finish_draft(f"meeting {meeting.id}")

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
                tr("Shown for each case after image and question, in this order"),
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
                None
                if meeting.closed
                else tr("Its agenda stays unchanged; decisions can still be marked done.")
            )
            save_button(label, key="agenda_close", help=why, on_click=set_closed)
            sure = st.checkbox(
                tr("Remove it and its decisions from all lists"), key=f"agenda_sure_{meeting.id}"
            )
            save_button(tr("Remove"), key="agenda_remove", disabled=not sure, on_click=remove)


_ASSETS: Final = "meeting/agenda/assets/agenda"
_GONE_NAMED: Final = 20
_BEGUN: Final = "agenda_begun"


def show_agenda(review_set: ReviewSet, meeting: Meeting | None) -> None:
    """Show the agenda of a meeting; a leader can change it or start another meeting."""
    every = all_meetings(review_set)
    leads = may_lead()
    if leads and every and permissions.ask_name("agenda_who") is None:
        leads = False  # nothing can be saved without a name; the agenda can be viewed
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if every:
            _choose_meeting(every, meeting)
        if leads:
            begun = st.session_state.get(_BEGUN, "")  # new popover, closed
            with st.popover(tr("New meeting…"), icon=":material/event:", key=f"agenda_new{begun}"):
                show_new_meeting_form(review_set, "meeting_new", on_begun=_show_begun)
        if meeting is not None:
            if leads:
                show_change_forms(review_set, meeting)
                if not meeting.closed:
                    show_add_forms(review_set, meeting)
            _link_to_other_views(meeting)
    if meeting is None:
        if link_keys.query_value(link_keys.QUERY_MEETING) is not None:
            st.warning(tr("This meeting no longer exists."), icon=":material/link_off:")
        elif not every:
            show_nothing_yet(
                tr("No meeting has been planned in this review set.")
                + " "
                + (
                    tr(
                        "Begin one here. Then put cases on its agenda: from Browse, from Case, or "
                        "all cases of a filter."
                    )
                    if leads
                    else tr("The review lead starts one.")
                ),
                (PAGE_BROWSE, tr("Browse cases")),
            )
        return
    if meeting.closed:
        st.caption(tr("This meeting is closed: its agenda stays unchanged."))
    _show_gone(meeting)
    if not meeting.agenda:
        show_nothing_yet(
            tr("No case is on this agenda yet.")
            + (f" {tr('Pin cases on Browse or Case, or add them here.')}" if leads else ""),
            (PAGE_BROWSE, tr("Browse cases")),
        )
    _live(review_set, meeting.id)


@st.fragment(run_every=REFRESH_S)
def _live(review_set: ReviewSet, meeting_id: str) -> None:
    """Show the cases in order; others' changes are shown within seconds."""
    permissions.guard(PAGE_MEETING)
    try:
        data = agenda_json(review_set, meeting_id, permissions.current_person())
    except StoreError as error:
        st.warning(lines_as_markdown(error), icon=":material/cloud_off:")
        return
    show_list = component(
        "rexview_agenda", f"{_ASSETS}.js", style=f"{_ASSETS}.css", title=tr("The agenda")
    )
    show_list(key="rx_agenda", data=data, on_refresh_change=lambda: None)


def meeting_label(meeting: Meeting) -> str:
    """Return a meeting's name for a choice, with its day, number of cases, and state if closed."""
    parts = [meeting.name]
    if meeting.held is not None:
        parts.append(date_text(meeting.held))
    parts.append(counted(len(meeting.agenda), "case"))
    if meeting.closed:
        parts.append(tr("closed"))
    return " · ".join(parts)


def _choose_meeting(every: tuple[Meeting, ...], shown: Meeting | None) -> None:
    names = {one.id: meeting_label(one) for one in every}
    kept = bind_to_link(
        "meeting_shown", link_keys.QUERY_MEETING, shown.id if shown else None, lambda chosen: chosen
    )
    st.selectbox(
        tr("Meeting"),
        list(names),
        format_func=lambda one: names.get(one, one),
        label_visibility="collapsed",
        width=420,
        **kept,
    )


def _link_to_other_views(meeting: Meeting) -> None:
    """Show links to the presenting and following views, to those who may open them."""
    ways = [
        (views.PRESENT, ":material/slideshow:", may_lead()),
        (views.FOLLOW, ":material/cast:", True),
    ]
    for view, icon, may in ways:
        if view in views.VIEWS and may:
            # A page link would open them, too, but leave the address unchanged, because it is the
            # same
            # page: a reload would return to the agenda.
            st.button(
                as_markdown(views.VIEWS[view]),
                icon=icon,
                disabled=view == views.PRESENT and not meeting.agenda,
                help=None if meeting.agenda else tr("No case is on this agenda yet."),
                key=f"agenda_to_{view}",
                on_click=link_keys.set_query,
                args=({link_keys.QUERY_MEETING: meeting.id, link_keys.QUERY_VIEW: view},),
            )


def _show_gone(meeting: Meeting) -> None:
    """Show which cases of the agenda are no longer in the set."""
    if not meeting.gone:
        return
    named = ", ".join(meeting.gone[:_GONE_NAMED])
    more = len(meeting.gone) - _GONE_NAMED
    if more > 0:
        named = tr("{named} and {n:,} more").format(named=named, n=more)
    n = len(meeting.gone)
    said = trn(
        "{n:,} case on this agenda is no longer in the review set: {named}. It comes back "
        "with the set's files.",
        "{n:,} cases on this agenda are no longer in the review set: {named}. They come "
        "back with the set's files.",
        n,
    )
    st.warning(as_markdown(said.format(n=n, named=named)), icon=":material/link_off:")


def _show_begun(meeting_id: str) -> None:
    st.session_state[_BEGUN] = int(st.session_state.get(_BEGUN, 0)) + 1
    link_keys.set_query({link_keys.QUERY_MEETING: meeting_id})

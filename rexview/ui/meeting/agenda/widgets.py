"""The agenda on the Meeting page: which meeting, and its cases in order."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.analysis.meetings import Meeting
from rexview.errors import StoreError
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.app.nothing_yet import show_nothing_yet
from rexview.ui.comments.panel import REFRESH_S
from rexview.ui.components import component
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link
from rexview.ui.link.pages import PAGE_BROWSE, PAGE_MEETING
from rexview.ui.meeting import views
from rexview.ui.meeting.agenda.agenda_data import agenda_json
from rexview.ui.meeting.agenda.forms import show_adding, show_changing
from rexview.ui.meeting.chosen import all_meetings, may_lead
from rexview.ui.meeting.writing import begin_form
from rexview.vocab import day
from rexview.words import counted, tr, trn

_ASSETS: Final = "meeting/agenda/assets/agenda"
_GONE_NAMED: Final = 20
_BEGUN: Final = "agenda_begun"


def show(review_set: ReviewSet, meeting: Meeting | None) -> None:
    """Show the agenda of a meeting, and let whoever leads change it or begin another one."""
    every = all_meetings(review_set)
    leads = may_lead()
    if leads and every and permissions.ask_name("agenda_who") is None:
        leads = False  # nothing can be kept before; what there is can be looked at
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if every:
            _choose_meeting(every, meeting)
        if leads:
            begun = st.session_state.get(_BEGUN, "")  # another popover, which is closed, after each
            with st.popover(tr("New meeting…"), icon=":material/event:", key=f"agenda_new{begun}"):
                begin_form(review_set, "meeting_new", on_begun=_show_begun)
        if meeting is not None:
            if leads:
                show_changing(review_set, meeting)
                if not meeting.closed:
                    show_adding(review_set, meeting)
            _link_to_other_views(meeting)
    if meeting is None:
        if link_keys.query_value(link_keys.QUERY_MEETING) is not None:
            st.warning(
                tr("There is no meeting under this link any more."), icon=":material/link_off:"
            )
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
                    else tr("Whoever leads the review begins one.")
                ),
                (PAGE_BROWSE, tr("Browse cases")),
            )
        return
    if meeting.closed:
        st.caption(tr("This meeting is closed: its agenda stays as it is."))
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
    """Show the cases in order; what others change shows within seconds."""
    permissions.guard(PAGE_MEETING)
    try:
        data = agenda_json(review_set, meeting_id, permissions.current())
    except StoreError as error:
        st.warning(lines_as_markdown(error), icon=":material/cloud_off:")
        return
    show_list = component(
        "rexview_agenda", f"{_ASSETS}.js", style=f"{_ASSETS}.css", title=tr("The agenda")
    )
    show_list(key="rx_agenda", data=data, on_refresh_change=lambda: None)


def meeting_name(meeting: Meeting) -> str:
    """Name a meeting where one is chosen: with its day, how many cases, and that it is closed."""
    parts = [meeting.name]
    if meeting.held is not None:
        parts.append(day(meeting.held))
    parts.append(counted(len(meeting.agenda), "case"))
    if meeting.closed:
        parts.append(tr("closed"))
    return " · ".join(parts)


def _choose_meeting(every: tuple[Meeting, ...], shown: Meeting | None) -> None:
    names = {one.id: meeting_name(one) for one in every}
    kept = kept_in_link(
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
    """Lead to where the meeting is presented and followed, to those who may."""
    ways = [
        (views.PRESENT, ":material/slideshow:", may_lead()),
        (views.FOLLOW, ":material/cast:", True),
    ]
    for view, icon, may in ways:
        if view in views.VIEWS and may:
            # a page link would lead there, too, but leave the address as it is: it leads to the
            # same page, and whoever loads that anew would be back on the agenda
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
    """Name the cases of the agenda that are not in the set any more."""
    if not meeting.gone:
        return
    named = ", ".join(meeting.gone[:_GONE_NAMED])
    more = len(meeting.gone) - _GONE_NAMED
    if more > 0:
        named = tr("{named} and {n:,} more").format(named=named, n=more)
    n = len(meeting.gone)
    said = trn(
        "{n:,} case of this agenda is not in the review set any more: {named}. With the set's "
        "files they come back.",
        "{n:,} cases of this agenda are not in the review set any more: {named}. With the set's "
        "files they come back.",
        n,
    )
    st.warning(as_markdown(said.format(n=n, named=named)), icon=":material/link_off:")


def _show_begun(meeting_id: str) -> None:
    st.session_state[_BEGUN] = int(st.session_state.get(_BEGUN, 0)) + 1
    link_keys.set_query({link_keys.QUERY_MEETING: meeting_id})

"""Meeting: a review conference from agenda to minutes."""

import streamlit as st

from rexview.ui.export import show_meeting_export
from rexview.ui.meeting import agenda_editor as agenda
from rexview.ui.meeting import decision_list as decisions
from rexview.ui.meeting import meetings
from rexview.ui.meeting.meetings import current_meeting
from rexview.ui.meeting.presenting import presenting_view as presenting
from rexview.ui.reviews import showing_store_errors
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import open_review_set, page_header
from rexview.ui.web.link.pages import PAGE_MEETING
from rexview.words import tr

permissions.guard(PAGE_MEETING)
on_screen = meetings.open_view() in (meetings.PRESENT, meetings.FOLLOW)
review_set = open_review_set(unnamed=on_screen)  # before the models may be named, nothing names one
with showing_store_errors():
    meeting = current_meeting(review_set)
    if on_screen:
        presenting.show_presenting(
            review_set, meeting, leads=meetings.open_view() == meetings.PRESENT
        )
    else:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            page_header(tr("Meeting"))
            meetings.choose_view()
            if meeting is not None:
                show_meeting_export(review_set, meeting)
        if meetings.open_view() == meetings.DECISIONS:
            decisions.show_decisions(review_set)
        else:
            agenda.show_agenda(review_set, meeting)

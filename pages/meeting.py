"""Meeting: a review conference from agenda to minutes."""

import streamlit as st

from rexview.ui.access import permissions
from rexview.ui.app.shell import open_review_set, page_header
from rexview.ui.export.widgets import offer_meeting
from rexview.ui.link.pages import PAGE_MEETING
from rexview.ui.meeting import views
from rexview.ui.meeting.agenda import widgets as agenda
from rexview.ui.meeting.chosen import shown_meeting
from rexview.ui.meeting.decisions import widgets as decisions
from rexview.ui.meeting.presenting import widgets as presenting
from rexview.ui.reviews.notice import store_errors_shown
from rexview.words import tr

permissions.guard(PAGE_MEETING)
on_screen = views.open_view() in (views.PRESENT, views.FOLLOW)
review_set = open_review_set(unnamed=on_screen)  # before the models are named, nothing names one
with store_errors_shown():
    meeting = shown_meeting(review_set)
    if on_screen:
        presenting.show(review_set, meeting, leads=views.open_view() == views.PRESENT)
    else:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            page_header(tr("Meeting"))
            views.choose_view()
            if meeting is not None:
                offer_meeting(review_set, meeting)
        if views.open_view() == views.DECISIONS:
            decisions.show(review_set)
        else:
            agenda.show(review_set, meeting)

"""Adjudicate: the cases on which readers differ, worst first, and the consensus on them."""

import streamlit as st

from rexview.ui.adjudicate import adjudication as adjudicate_widgets
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import open_review_set
from rexview.ui.web.link.pages import PAGE_ADJUDICATE

permissions.guard(PAGE_ADJUDICATE)
review_set = open_review_set(blinded=True)


@st.fragment
def show_case() -> None:
    """Show one case; in a fragment, so that the next case does not rebuild the page."""
    permissions.guard(PAGE_ADJUDICATE)
    now = adjudicate_widgets.current_round(review_set)
    page = now.page(now.shown.case) if now else None
    if now is None or page is None:
        return
    adjudicate_widgets.show_header(now)
    left, right = st.columns([11, 12], gap="medium")
    with right:
        adjudicate_widgets.show_question(now, page)
        adjudicate_widgets.show_answers(now, page)
    with left:
        adjudicate_widgets.show_picture(now, page)


show_case()

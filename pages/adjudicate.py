"""Adjudicate: the cases on which readers differ, worst first, and the consensus on them."""

import streamlit as st

from rexview.ui import adjudicate_page, people, state
from rexview.ui.shell import open_review_set

people.guard(state.PAGE_ADJUDICATE)
review_set = open_review_set(blinded=True)


@st.fragment
def show_case() -> None:
    """Show one case; in a fragment, so that the next case does not build the page anew."""
    people.guard(state.PAGE_ADJUDICATE)
    now = adjudicate_page.current_round(review_set)
    page = now.page(now.shown.case) if now else None
    if now is None or page is None:
        return
    adjudicate_page.show_header(now)
    left, right = st.columns([11, 12], gap="medium")
    with right:
        adjudicate_page.show_question(now, page)
        adjudicate_page.show_answers(now, page)
    with left:
        adjudicate_page.show_picture(now, page)


show_case()

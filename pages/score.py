"""Score: a reader's worklist, one case at a time, without knowing whose answers they are."""

import streamlit as st

from rexview.ui import comment_panel, people, score_page, score_reveal, state
from rexview.ui.shell import open_review_set

people.guard(state.PAGE_SCORE)
review_set = open_review_set(blinded=True)


@st.fragment
def show_case() -> None:
    """Show one case; in a fragment, so that the next case does not build the page anew."""
    people.guard(state.PAGE_SCORE)
    person = score_page.reader()
    study = score_page.study_now(review_set, person)
    case_id = score_page.case_to_show(study)
    left, right = st.columns([10, 11], gap="small")
    with right:
        score_page.show_pad(study, case_id)
    with left:
        score_page.show_picture(study, case_id)
    score_reveal.show_reveal(study)
    comment_panel.show_comments(review_set, comment_panel.score_places(study, case_id))


show_case()

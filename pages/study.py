"""Study: who reads which cases, how far everybody is, and what is to be adjudicated."""

import streamlit as st

from rexview.ui import exposure_panel, people, reviews_panel, state, study_panels
from rexview.ui.shell import open_review_set, page_header

people.guard(state.PAGE_STUDY)
review_set = open_review_set(blinded=True)
page_header("Study")
with study_panels.trouble_told():
    st.markdown("## Progress")
    study_panels.show_progress(review_set)
    if study_panels.may_assign():
        exposure_panel.show_exposures(review_set)
    reviews_panel.show_place(review_set)
    st.markdown("## Adjudication")
    study_panels.show_to_adjudicate(review_set)
    if study_panels.may_assign():
        st.markdown("## Assign cases")
        study_panels.show_assigning(review_set)
        study_panels.show_withdrawing(review_set)

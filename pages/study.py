"""Study: assigned cases and progress of each reader, and the cases to adjudicate."""

import streamlit as st

from rexview.ui import reviews
from rexview.ui import study_page as study_widgets
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import open_review_set, page_header
from rexview.ui.web.link.pages import PAGE_STUDY
from rexview.words import tr

permissions.guard(PAGE_STUDY)
review_set = open_review_set(blinded=True)
page_header(tr("Study"))
with reviews.showing_store_errors():
    st.markdown(f"## {tr('Progress')}")
    study_widgets.show_progress(review_set)
    if study_widgets.may_assign():
        study_widgets.show_exposures(review_set)
    reviews.show_storage_place(review_set)
    st.markdown(f"## {tr('Adjudication')}")
    study_widgets.show_to_adjudicate(review_set)
    if study_widgets.may_assign():
        st.markdown(f"## {tr('Assign cases')}")
        study_widgets.show_assigning(review_set)
        study_widgets.show_withdrawing(review_set)

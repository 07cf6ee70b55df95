"""Curate: a radiologist reviews studies and makes the set's questions."""

import streamlit as st

from rexview.ui.asking.run_forms import show_question_forms
from rexview.ui.curate import page_parts
from rexview.ui.curate import question_sample as sample_widgets
from rexview.ui.curate import study_desk as curate_widgets
from rexview.ui.curate.curated_set import show_curated
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import open_review_set
from rexview.ui.web.link.pages import PAGE_CURATE

permissions.guard(PAGE_CURATE)
review_set = open_review_set()
if page_parts.open_view() != page_parts.ASK:
    curate_widgets.require_curator()  # before anything else is shown
with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
    view = page_parts.choose_view()
    choices = (
        curate_widgets.choose_studies()
        if view == page_parts.QUESTIONS
        else curate_widgets.StudySelection()
    )


@st.fragment
def show_study(choices: curate_widgets.StudySelection) -> None:
    """Show one study; in a fragment, so that the next study does not rebuild the page."""
    permissions.guard(PAGE_CURATE)
    person = curate_widgets.require_curator()
    now = curate_widgets.current_round(review_set, person, choices)
    curate_widgets.show_candidate_help(now)
    curate_widgets.show_study(now, choices)


@st.fragment
def show_sample() -> None:
    """Show the sampled multiple choice questions of one study, in its own fragment."""
    permissions.guard(PAGE_CURATE)
    sample_widgets.show_sample(review_set, curate_widgets.require_curator())


if view == page_parts.ASK:
    show_question_forms(review_set)
elif view == page_parts.CURATED:
    person = curate_widgets.require_curator()
    show_curated(curate_widgets.current_round(review_set, person, choices))
elif view == page_parts.SAMPLE:
    show_sample()
else:
    show_study(choices)

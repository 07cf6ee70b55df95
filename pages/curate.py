"""Curate: a radiologist reviews studies and makes the set's questions."""

import streamlit as st

from rexview.ui.asking.run_forms import ask_for_questions
from rexview.ui.curate import question_sample as sample_widgets
from rexview.ui.curate import study_desk as curate_widgets
from rexview.ui.curate import views
from rexview.ui.curate.curated import show_curated
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import open_review_set
from rexview.ui.web.link.pages import PAGE_CURATE

permissions.guard(PAGE_CURATE)
review_set = open_review_set()
if views.open_view() != views.ASK:
    curate_widgets.who_curates()  # before anything else is shown
with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
    view = views.choose_view()
    choices = curate_widgets.choose() if view == views.QUESTIONS else curate_widgets.Choices()


@st.fragment
def show_study(choices: curate_widgets.Choices) -> None:
    """Show one study; in a fragment, so that the next study does not rebuild the page."""
    permissions.guard(PAGE_CURATE)
    person = curate_widgets.who_curates()
    now = curate_widgets.current_round(review_set, person, choices)
    curate_widgets.show_begin(now)
    curate_widgets.show_study(now, choices)


@st.fragment
def show_sample() -> None:
    """Show the sampled multiple choice questions of one study, in its own fragment."""
    permissions.guard(PAGE_CURATE)
    sample_widgets.show_sample(review_set, curate_widgets.who_curates())


if view == views.ASK:
    ask_for_questions(review_set)
elif view == views.CURATED:
    person = curate_widgets.who_curates()
    show_curated(curate_widgets.current_round(review_set, person, choices))
elif view == views.SAMPLE:
    show_sample()
else:
    show_study(choices)

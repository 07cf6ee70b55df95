"""Score: a reader's worklist, one case at a time, without knowing whose answers they are."""

import streamlit as st

from rexview.analysis.query.study_tasks import Task
from rexview.ui.comments import case_comments as comments_panel
from rexview.ui.comments.case_comments import score_targets
from rexview.ui.score_cases import reader_pads as tasks_widgets
from rexview.ui.score_cases import scored_case as score_cases_widgets
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import open_review_set
from rexview.ui.web.link.pages import PAGE_SCORE

permissions.guard(PAGE_SCORE)
review_set = open_review_set(blinded=True)
task = tasks_widgets.choose_task(review_set)


@st.fragment
def show_case(task: Task) -> None:
    """Show one case; in a fragment, so that the next case does not rebuild the page."""
    permissions.guard(PAGE_SCORE)
    person = score_cases_widgets.require_reader(task)
    study = score_cases_widgets.load_study(review_set, person)
    if task != "score":
        tasks_widgets.show_task(study, task)
        return
    score_cases_widgets.check_worklist(study)
    case_id = score_cases_widgets.case_to_show(study)
    study = study.holding([case_id])
    left, right = st.columns([10, 11], gap="small")
    with right:
        score_cases_widgets.show_pad(study, case_id)
    with left:
        score_cases_widgets.show_picture(study, case_id)
    score_cases_widgets.show_reveal(study)
    comments_panel.show_comments(study.review_set, score_targets(study, case_id))


show_case(task)

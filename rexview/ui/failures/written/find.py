"""How a language model is asked for a failure in words, and its runs on the set."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.analysis.written_failures import FailureWords
from rexview.models.running.folder import JUDGING
from rexview.ui.access import permissions
from rexview.ui.asking.answers import begin_judge, choose_cases, choose_models
from rexview.ui.asking.choices import Chosen, choose_model
from rexview.ui.asking.runs import show_runs
from rexview.ui.filters.page import FilteredSet
from rexview.ui.link.pages import PAGE_RUN_MODELS
from rexview.words import tr

_SENT: Final = (
    tr("These words, questions, answers, reports and images of up to {cases}"),
    tr("These words, questions, answers, and reports of up to {cases}"),
)


def show_find(filtered: FilteredSet, words: FailureWords) -> None:
    """Show who is asked, about what, what that takes, the start, and the runs."""
    if not permissions.may_see(PAGE_RUN_MODELS):
        st.caption(tr("Your role does not run models: ask whoever leads the study to look for it."))
        return
    review_set = filtered.review_set
    st.markdown(f"### {tr('Find it')}")
    judge = choose_model(review_set)
    if judge is not None:
        _ask(filtered, words, judge)
    st.markdown(f"### {tr('Runs of judges')}")
    show_runs(review_set, (JUDGING,))


def _ask(filtered: FilteredSet, words: FailureWords, judge: Chosen) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        models = choose_models(filtered)
    with right:
        cases, total = choose_cases(filtered)
    own = [f"--written={words.failure}@{words.version}", *models, *cases]
    begin_judge(filtered, judge, own, total, _SENT)

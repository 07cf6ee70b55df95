"""A second opinion on answers: which model gives it, on what, and its start."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.ui.asking.answers import begin_judge, choose_cases, choose_models
from rexview.ui.asking.choices import choice, choose_model
from rexview.ui.filters.page import FilteredSet
from rexview.ui.link import keys as link_keys
from rexview.words import tr

_WHAT: Final = {
    "both": tr("Failures and scores"),
    "failures": tr("Failures"),
    "scores": tr("Scores"),
}
_SENT: Final = (
    tr("Questions, answers, reports and images of up to {cases}"),
    tr("Questions, answers, and reports of up to {cases}"),
)


def choose_judge(filtered: FilteredSet) -> None:
    """Show what a judge can be asked, what that takes, and the start."""
    st.caption(
        tr(
            "A language model's opinion on the models' answers. It stands apart from "
            "what readers and rules say, and pages show it only when asked to. "
            "Blinded readers never see it."
        )
    )
    judge = choose_model(filtered.review_set)
    if judge is None:
        return
    left, middle, right = st.columns([7, 4, 5], gap="medium")
    with left:
        what = choice(tr("Opinion on"), link_keys.QUERY_JUDGED["what"], _WHAT, "both")
    with middle:
        models = choose_models(filtered)
    with right:
        cases, total = choose_cases(filtered)
    own = [*([f"--{what}"] if what != "both" else []), *models, *cases]
    begin_judge(filtered, judge, own, total, _SENT, heading=f"## {tr('Estimate and start')}")

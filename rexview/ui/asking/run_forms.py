"""Forms that query a model: to judge answers, or to propose questions about studies.

The link keeps the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from rexview.models.running.run_folder import CURATING_FOLDER
from rexview.schema import ReviewSet
from rexview.ui.asking.model_choice import (
    ModelChoice,
    choose_limits,
    choose_model,
    choose_option,
    show_number_field,
    show_text_field,
)
from rexview.ui.asking.run_list import show_runs, show_start_form
from rexview.ui.filter_panel import FilteredSet
from rexview.ui.safe_text import as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_to_link
from rexview.ui.web.link.pages import PAGE_RUN_MODELS
from rexview.words import counted, tr


def choose_cases(filtered: FilteredSet) -> tuple[list[str], int]:
    """Offer the filter's cases, or all; return the choice as arguments, and the number of cases."""
    case_filter, total = filtered.case_filter, filtered.counts.total
    ways = {"all": tr("All")}
    if case_filter.active:
        ways = {"filter": tr("In the filter ({n:,})").format(n=total), **ways}
    way = choose_option(tr("Cases"), link_keys.QUERY_JUDGED["cases"], ways, next(iter(ways)))
    if way != "filter":
        return [], filtered.review_set.cases.height
    return [f"--filter={urlencode(case_filter.to_query(), doseq=True)}"], total


def choose_models(filtered: FilteredSet) -> list[str]:
    """Offer the models whose answers are judged; return them as arguments, empty for all."""
    names = {model.id: model.name for model in filtered.review_set.models}
    query = link_keys.QUERY_JUDGED["models"]
    asked = [one for one in st.query_params.get_all(query) if one in names]
    kept = bind_to_link("judged_models", query, asked, lambda chosen: list(chosen) or None)
    chosen = st.multiselect(
        tr("Answers by"),
        list(names),
        format_func=lambda one: as_markdown(names[one]),
        placeholder=tr("All models"),
        **kept,
    )
    return [f"--model={model}" for model in chosen]


def show_judge_start(
    filtered: FilteredSet,
    judge: ModelChoice,
    own: Sequence[str],
    cases: int,
    sent: tuple[str, str],
    *,
    heading: str = "",
) -> None:
    """Show the limits, a judge's input and cost, and the start button.

    ``own`` are arguments of the command. ``sent`` describes the input of a judge that takes images,
    and of one that does not: ``Answers of {cases}``.
    """
    more = choose_limits()
    if not judge.complete:
        return
    if heading:
        st.markdown(heading)
    what = sent[0 if judge.card.images else 1].format(cases=counted(cases, "case"))
    show_start_form(filtered.review_set, judge.wanted(**more), "judge", own, what)


# A model proposes questions about the studies of a set: the steps, and the start.

_QUERY: Final = link_keys.QUERY_GENERATED_QUESTIONS
_WHAT: Final = {"open": tr("Open questions"), "choice": tr("Multiple choice")}
_STEPS: Final = {"propose": tr("Propose"), "rate": tr("Score"), "tag": tr("Tag")}
_TOLD: Final = {
    "either": tr("Findings or indication"),
    "findings": tr("Findings"),
    "indication": tr("Indication"),
}
_MOST_EACH: Final = 20
_USUAL_EACH: Final = 5


def show_question_forms(review_set: ReviewSet) -> None:
    """Show forms for a model to propose, score, tag or check questions, and the runs.

    Nothing is shown to people who may not start runs.
    """
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    _form(review_set)
    st.markdown(f"## {tr('Runs')}")
    show_runs(review_set, (CURATING_FOLDER,))


def _form(review_set: ReviewSet) -> None:
    what = choose_option(tr("Make"), _QUERY["what"], _WHAT, "open")
    chosen = choose_model(review_set)
    if chosen is None:
        return
    own = _open() if what == "open" else _multiple_choice()
    more = choose_limits()
    if own is None or not chosen.complete:
        return
    what = tr("Reports or indications of the set's studies")
    show_start_form(review_set, chosen.wanted(**more), "curate", own, what)


def _open() -> list[str] | None:
    left, middle, right = st.columns([3, 5, 3], gap="medium")
    with left:
        usual = list(_STEPS)
        asked = [one for one in st.query_params.get_all(_QUERY["steps"]) if one in _STEPS]
        kept = bind_to_link(
            "asked_steps",
            _QUERY["steps"],
            asked or usual,
            lambda steps: None if set(steps) == set(usual) else list(steps),
        )
        steps = st.pills(
            tr("Steps"), usual, selection_mode="multi", format_func=_STEPS.__getitem__, **kept
        )
    with middle:
        told = choose_option(tr("Input to the model"), _QUERY["told"], _TOLD, "either")
    with right:
        each = show_number_field(
            tr("Questions per study"),
            _QUERY["each"],
            _USUAL_EACH,
            _MOST_EACH,
            tr("How many are proposed."),
        )
    if not steps:
        st.info(tr("Choose a step."))
        return None
    own = [f"--step={','.join(one for one in usual if one in steps)}"]
    own += [f"--from={told}"] if told != "either" else []
    return [*own, f"--candidates={each}"] if each != _USUAL_EACH else own


def _multiple_choice() -> list[str]:
    validator = show_text_field(
        tr("Checked by"),
        _QUERY["validator"],
        placeholder=tr("a model; only rules if empty"),
        help=tr("Its name on the same server. Rules always check every question."),
    )
    return ["--choice", *([f"--validator={validator}"] if validator else [])]


# A second opinion on answers: its model, its subject, and its start.

_JUDGING_WHAT: Final = {
    "both": tr("Failures and scores"),
    "failures": tr("Failures"),
    "scores": tr("Scores"),
}
_SENT: Final = (
    tr("Questions, answers, reports and images of up to {cases}"),
    tr("Questions, answers, and reports of up to {cases}"),
)


def choose_judge(filtered: FilteredSet) -> None:
    """Show the form for a judge's opinion, its cost, and the start button."""
    st.caption(
        tr(
            "A language model's opinion on the models' answers. It is separate from what "
            "readers and rules report, and pages show it only on request. Blinded readers "
            "never see it."
        )
    )
    judge = choose_model(filtered.review_set)
    if judge is None:
        return
    left, middle, right = st.columns([7, 4, 5], gap="medium")
    with left:
        what = choose_option(
            tr("Opinion on"), link_keys.QUERY_JUDGED["what"], _JUDGING_WHAT, "both"
        )
    with middle:
        models = choose_models(filtered)
    with right:
        cases, total = choose_cases(filtered)
    own = [*([f"--{what}"] if what != "both" else []), *models, *cases]
    show_judge_start(filtered, judge, own, total, _SENT, heading=f"## {tr('Estimate and start')}")

"""A model is asked for questions about the studies of a set: what for, and the start."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.models.running.folder import CURATING
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.asking.choices import choice, choose_model, limits, number, text
from rexview.ui.asking.jobs import begin_form
from rexview.ui.asking.runs import show_runs
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link
from rexview.ui.link.pages import PAGE_RUN_MODELS
from rexview.words import tr

_QUERY: Final = link_keys.QUERY_ASKED_FOR
_WHAT: Final = {"open": tr("Open questions"), "choice": tr("Multiple choice")}
_STEPS: Final = {"propose": tr("Propose"), "rate": tr("Score"), "tag": tr("Tag")}
_TOLD: Final = {
    "either": tr("Findings or indication"),
    "findings": tr("Findings"),
    "indication": tr("Indication"),
}
_MOST_EACH: Final = 20
_USUAL_EACH: Final = 5


def ask_for_questions(review_set: ReviewSet) -> None:
    """Show what a model can be asked to propose, score, tag or check, and the runs that do.

    Nothing is shown to people who may not begin runs.
    """
    if not permissions.may_see(PAGE_RUN_MODELS):
        return
    _form(review_set)
    st.markdown(f"## {tr('Runs')}")
    show_runs(review_set, (CURATING,))


def _form(review_set: ReviewSet) -> None:
    what = choice(tr("Make"), _QUERY["what"], _WHAT, "open")
    chosen = choose_model(review_set)
    if chosen is None:
        return
    own = _open() if what == "open" else _multiple_choice()
    more = limits()
    if own is None or not chosen.complete:
        return
    what = tr("Reports or indications of the set's studies")
    begin_form(review_set, chosen.wanted(**more), "curate", own, what)


def _open() -> list[str] | None:
    left, middle, right = st.columns([3, 5, 3], gap="medium")
    with left:
        usual = list(_STEPS)
        asked = [one for one in st.query_params.get_all(_QUERY["steps"]) if one in _STEPS]
        kept = kept_in_link(
            "asked_steps",
            _QUERY["steps"],
            asked or usual,
            lambda steps: None if set(steps) == set(usual) else list(steps),
        )
        steps = st.pills(
            tr("Steps"), usual, selection_mode="multi", format_func=_STEPS.__getitem__, **kept
        )
    with middle:
        told = choice(tr("The model is told"), _QUERY["told"], _TOLD, "either")
    with right:
        each = number(
            tr("Questions a study"),
            _QUERY["each"],
            _USUAL_EACH,
            _MOST_EACH,
            tr("So many are proposed."),
        )
    if not steps:
        st.info(tr("Choose a step."))
        return None
    own = [f"--step={','.join(one for one in usual if one in steps)}"]
    own += [f"--from={told}"] if told != "either" else []
    return [*own, f"--candidates={each}"] if each != _USUAL_EACH else own


def _multiple_choice() -> list[str]:
    validator = text(
        tr("Checked by"),
        _QUERY["validator"],
        placeholder=tr("a model; by rules alone if empty"),
        help=tr("Its name on the same server. Rules check every question in any case."),
    )
    return ["--choice", *([f"--validator={validator}"] if validator else [])]

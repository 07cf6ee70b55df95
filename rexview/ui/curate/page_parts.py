"""The parts of the Curate page, the open one, and their shared viewer."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.analysis.case.case_page import CasePage
from rexview.schema import ReviewSet
from rexview.ui.web.access import permissions
from rexview.ui.web.link import link_choices
from rexview.ui.web.link.pages import PAGE_RUN_MODELS
from rexview.words import tr

QUESTIONS: Final = "questions"
SAMPLE: Final = "choice"
CURATED: Final = "set"
ASK: Final = "ask"
VIEWS: Final = {
    QUESTIONS: tr("Open questions"),
    SAMPLE: tr("Multiple choice"),
    CURATED: tr("The curated set"),
    ASK: tr("Ask a model"),
}


def show_model_help(command: str) -> None:
    """Show how to query a model: on this page for users who may, and by a command."""
    if permissions.may_see(PAGE_RUN_MODELS):
        st.caption(tr("Start above, under “{view}”, or with this command:").format(view=VIEWS[ASK]))
    st.code(command, language="sh")


def open_view() -> str:
    """Return the part of the page that the link names."""
    return link_choices.open_view(_offered(), QUESTIONS)


def _offered() -> dict[str, str]:
    """Return the parts of the page that the user may open."""
    may_ask = permissions.may_see(PAGE_RUN_MODELS)
    return {one: name for one, name in VIEWS.items() if one != ASK or may_ask}


def choose_view() -> str:
    """Show a choice of the parts that the user may open; return the open one."""
    return link_choices.choose_view("curate", _offered(), QUESTIONS)


# Shared by the parts of the Curate page: a study's viewer, and the style of their pads.

STYLES: Final = ("pad/assets/pad.css", "pad/assets/task_pad.css", "curate/assets/cards.css")


def study_page(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return a case for the page, without answers; None if there is none."""
    case = review_set.case(case_id)
    return CasePage(case, (), (), {}, ()) if case else None

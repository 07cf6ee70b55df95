"""The parts of the Curate page, and which one is open: it stands in the link."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.ui.access import permissions
from rexview.ui.link import choices
from rexview.ui.link.pages import PAGE_RUN_MODELS
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


def show_how_to_begin(command: str) -> None:
    """Say how a model is asked: on this page by whoever may, and by a command."""
    if permissions.may_see(PAGE_RUN_MODELS):
        st.caption(tr("Begin above, under “{view}”, or by this command:").format(view=VIEWS[ASK]))
    st.code(command, language="sh")


def open_view() -> str:
    """Return the part of the page that the link names."""
    return choices.open_view(_offered(), QUESTIONS)


def _offered() -> dict[str, str]:
    """Return the parts of the page that the viewer may use."""
    may_ask = permissions.may_see(PAGE_RUN_MODELS)
    return {one: name for one, name in VIEWS.items() if one != ASK or may_ask}


def choose_view() -> str:
    """Offer the parts of the page that the viewer may use; return the one that is open."""
    return choices.choose_view("curate", _offered(), QUESTIONS)

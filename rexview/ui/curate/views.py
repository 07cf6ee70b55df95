"""The parts of the Curate page, and which one is open: it stands in the link."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.ui.access import permissions
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import option_kept_in_link
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
    named = link_keys.query_value(link_keys.QUERY_VIEW)
    return named if named in _offered() else QUESTIONS


def _offered() -> list[str]:
    """Return the parts of the page that the viewer may use."""
    return [one for one in VIEWS if one != ASK or permissions.may_see(PAGE_RUN_MODELS)]


def choose_view() -> str:
    """Offer the parts of the page that the viewer may use; return the one that is open."""
    views = _offered()
    kept = option_kept_in_link("curate_view", link_keys.QUERY_VIEW, views, QUESTIONS)
    shown = st.segmented_control(
        tr("Shown"),
        views,
        format_func=lambda view: VIEWS[view],
        required=True,
        label_visibility="collapsed",
        **kept,
    )
    return str(shown)

"""What every page shares: page config, navigation, the open review set, the notice, the styles."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final, NoReturn

import streamlit as st

from rexview.detect import read_word_lists
from rexview.errors import ReviewSetError, RexviewError, SettingsError
from rexview.schema import ReviewSet
from rexview.ui import resources, state
from rexview.ui.problems import show_problems
from rexview.ui.text import as_markdown

_ROOT: Final = Path(__file__).resolve().parents[2]
_STYLES: Final = ("style.css", "browse.css", "scores.css", "readers.css", "print.css")


@cache
def _style() -> str:
    here = Path(__file__).parent
    rules = "\n".join((here / name).read_text(encoding="utf-8") for name in _STYLES)
    return f"<style>{rules}</style>"


def prepare_server() -> None:
    """Prepare what all visitors share; called once, when the server starts.

    All that pages need is imported now, so that the first visitor does not wait for it and the
    caller can set it apart from garbage collection, which Streamlit runs after every page run.

    Streamlit takes a folder ``pages/`` for its older kind of pages until ``st.navigation`` has run
    for the first time: the first visitor who opens a link to a page would get it without the shell.
    """
    from streamlit.runtime.pages_manager import PagesManager

    PagesManager.uses_pages_directory = False
    for module in pkgutil.iter_modules([str(Path(__file__).parent)], "rexview.ui."):
        import_module(module.name)
    read_word_lists()


def run() -> None:
    """Run the app for one visitor: called by ``app.py`` on every page run."""
    st.set_page_config(
        page_title="rexview", page_icon=str(_ROOT / "assets" / "icon.png"), layout="wide"
    )
    pages = [
        st.Page(_ROOT / state.PAGE_OVERVIEW, title="Overview", default=True),
        st.Page(_ROOT / state.PAGE_BROWSE, title="Browse", url_path="browse"),
        st.Page(_ROOT / state.PAGE_CASE, title="Case", url_path="case"),
        st.Page(_ROOT / state.PAGE_SCORES, title="Scores", url_path="scores"),
        st.Page(_ROOT / state.PAGE_READERS, title="Readers", url_path="readers"),
        st.Page(_ROOT / state.PAGE_DATA, title="Data", url_path="data"),
    ]
    page = st.navigation(pages, position="top")
    st.html(_style())
    try:
        resources.settings()
    except SettingsError as error:
        st.error(f"The settings cannot be used.\n\n{error}", icon=":material/error:")
        st.stop()
    state.keep_choices(page.url_path)
    page.run()


def try_review_set() -> tuple[ReviewSet | None, RexviewError | None]:
    """Return the review set of this link, with its notice shown, or why there is none."""
    try:
        review_set = resources.open_set(resources.folder_of(state.query_value(state.QUERY_SET)))
    except RexviewError as error:
        return None, error
    if review_set.info.notice:
        show_notice(review_set.info.notice)
    return review_set, None


def open_review_set() -> ReviewSet:
    """Return the review set of this link, with its notice shown; else explain and stop the page."""
    review_set, error = try_review_set()
    if review_set is None:
        _stop_without_set(error)
    return review_set


def _stop_without_set(error: RexviewError | None) -> NoReturn:
    st.error(str(error), icon=":material/error:")
    if isinstance(error, ReviewSetError):
        show_problems(error.problems)
    st.page_link(_ROOT / state.PAGE_DATA, label="Open another review set")
    st.stop()


def show_notice(notice: str) -> None:
    """Show the set's own notice, as text, at the top of the page."""
    with st.container(key="rx_notice"):  # plain markdown: st.html waits for modules of its own
        st.markdown(as_markdown(notice))


def page_header(title: str) -> None:
    """Show the title of a page."""
    with st.container(key="rx_title"):
        st.markdown(f"# {as_markdown(title)}", anchors=False)

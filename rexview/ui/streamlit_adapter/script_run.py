"""How Streamlit runs a page: what it raises to begin anew, its types of pages and containers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.delta_generator import DeltaGenerator as Container
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx

__all__ = ["Container", "RerunException", "StreamlitPage", "is_page_run", "within_page"]


def is_page_run() -> bool:
    """Return whether this thread runs the whole script of a page, not a fragment of it."""
    run = get_script_run_ctx(suppress_warning=True)
    return run is not None and not run.fragment_ids_this_run


@contextmanager
def within_page(page: StreamlitPage) -> Iterator[None]:
    """Make elements that belong to a page, without running its script.

    A component of the page and one that is made here with the same key are one to the browser.
    """
    run = get_script_run_ctx()
    if run is None:
        yield
        return
    with run.run_with_active_hash(page._script_hash):
        yield

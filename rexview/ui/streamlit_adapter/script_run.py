"""How Streamlit runs the script of a page: what it raises to begin anew, what a page is to it."""

from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx

__all__ = ["RerunException", "StreamlitPage", "is_page_run"]


def is_page_run() -> bool:
    """Return whether this thread runs the script of a page."""
    return get_script_run_ctx(suppress_warning=True) is not None

"""The message of pages when the tables on ClickHouse do not answer.

The server imports this before it answers requests, so it imports nothing heavy.
"""

from __future__ import annotations

import streamlit as st

from rexview.errors import EngineError
from rexview.ui.safe_text import lines_as_markdown


def show_engine_error(error: Exception) -> bool:
    """Show why the tables do not answer, in a sentence; return whether this was the error.

    Streamlit calls this for every uncaught exception: of a page, of a fragment or dialog that runs
    by itself, and of a button's action. The sentence is shown at the place of that part; what was
    already shown remains.
    """
    if not isinstance(error, EngineError):
        return False
    st.error(lines_as_markdown(error), icon=":material/cloud_off:")
    return True

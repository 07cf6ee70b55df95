"""What pages say where the tables on ClickHouse do not answer.

The server imports this before it answers anybody, so that it imports nothing heavy.
"""

from __future__ import annotations

import streamlit as st

from rexview.errors import EngineError
from rexview.ui.safe_text import lines_as_markdown


def engine_error_said(error: Exception) -> bool:
    """Say in a sentence what keeps the tables from answering; return whether it was that.

    Streamlit asks this of whatever was raised and not caught: by a page, by a part of it that runs
    by itself (a fragment, a dialog), by what a button does. The sentence stands where that part
    does; what was shown by then stays.
    """
    if not isinstance(error, EngineError):
        return False
    st.error(lines_as_markdown(error), icon=":material/cloud_off:")
    return True

"""The comments panel as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from rexview.ui.components import component

NAME: Final = "rexview_comments"
_FILES: Final = "comments/assets/comments"


def comments_panel(data: Mapping[str, Any], *, key: str, on_said: Callable[[Any], None]) -> None:
    """Put the panel on the page: a tab at the lower edge of the window that opens it.

    Parameters
    ----------
    data : mapping
        As :mod:`rexview.ui.comments.panel` makes it. Texts in it are text: the panel never takes
        them for HTML.
    key : str
        Keep it the same from case to case: what is being typed and sent stays.
    on_said : callable
        Called with what the panel sends; :func:`rexview.ui.comments.read_messages` reads it.
    """

    def said() -> None:
        on_said(st.session_state[key].get("said"))

    panel = component(NAME, f"{_FILES}.js", style=f"{_FILES}.css", title="The comments")
    panel(key=key, data=dict(data), on_said_change=said)

"""The viewer as a Streamlit component: how it is put on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import streamlit as st

from rexview.ui.components import component
from rexview.ui.viewer.payload import ViewerData
from rexview.words import tr

NAME: Final = "rexview_viewer"
VIEWER_KEY: Final = "viewer"
"""Streamlit's key of the viewer, the same on all pages."""
_FILES: Final = "viewer/assets/viewer"


def radiograph_viewer(
    data: ViewerData, *, key: str, on_navigate: Callable[[Any], None], height: str | None = None
) -> None:
    """Put the viewer on the page.

    Nothing that the reader does to the picture comes back to the server, but for ``on_navigate``,
    called with where the reader has turned to, as :func:`rexview.ui.turning.ticket.follow` takes
    it, before Streamlit runs the page (or the fragment) again: one run shows that case. ``key``
    stays the same from case to case: the viewer then stays and only takes the new data. ``height``
    is a CSS length, by default what the window leaves room for below what stands above the viewer.
    """

    def navigate() -> None:
        asked = st.session_state[key].get("navigate")
        if asked:
            on_navigate(asked)

    viewer = component(
        NAME,
        f"{_FILES}.js",
        style=f"{_FILES}.css",
        isolate_styles=True,
        title=tr("The viewer"),
    )
    viewer(
        key=key,
        data=data.to_json(height),
        on_navigate_change=navigate,
        on_report_change=lambda: None,
    )

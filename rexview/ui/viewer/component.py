"""The viewer as a Streamlit component: how it is put on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from rexview.ui.components import component
from rexview.ui.viewer.payload import ViewerData

NAME: Final = "rexview_viewer"
_FILES: Final = "viewer/assets/viewer"


def radiograph_viewer(
    data: ViewerData,
    *,
    key: str,
    on_navigate: Callable[[str], None],
    on_report: Callable[[], None] | None = None,
    height: int | str | None = None,
) -> None:
    """Put the viewer on the page.

    Nothing that the reader does to the picture comes back to the server. What concerns the page
    comes back through the callbacks, which Streamlit calls before it runs the page (or the
    fragment) again: one run shows the next case.

    Parameters
    ----------
    data : ViewerData
        The case.
    key : str
        Keep it the same from case to case: the viewer then stays and only takes the new data.
    on_navigate : callable
        Called with the id of the neighbouring case that the reader wants.
    on_report : callable, optional
        Called when the reader asks for the report and the page has no element with the id
        ``report`` to scroll to.
    height : int or str, optional
        Pixels, or a CSS length. By default as high as the window leaves room for below what
        stands above the viewer.
    """

    def navigate() -> None:
        asked = st.session_state[key].get("navigate")
        if asked:
            on_navigate(str(asked["case"]))

    css_height = f"{height}px" if isinstance(height, int) else height
    viewer = component(
        NAME,
        f"{_FILES}.js",
        style=f"{_FILES}.css",
        isolate_styles=True,
        title="The viewer",
    )
    viewer(
        key=key,
        data=data.to_json(css_height),
        on_navigate_change=navigate,
        on_report_change=on_report or _nothing,
    )


def _nothing() -> None:
    """Do nothing."""

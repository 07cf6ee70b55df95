"""The score pad as a Streamlit component: how it is put on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from rexview.ui.components import component

NAME: Final = "rexview_score_pad"
_FILES: Final = "score_cases/pad/assets/pad"


def score_pad(
    data: Mapping[str, Any], *, key: str, on_go: Callable[[str | None], None], height: str
) -> None:
    """Put the pad on the page.

    What the reader says goes to the server past the page's script, by
    :mod:`rexview.ui.saving.route`. The page is told only which case is wanted.

    Parameters
    ----------
    data : mapping
        As :func:`rexview.ui.score_cases.pad_data.pad_data` makes it.
    key : str
        Keep it the same from case to case: what is on its way to the server then stays with it.
    on_go : callable
        Called with the id of the case that the reader wants, None for the next unscored one.
    height : str
        A CSS length.
    """

    def go() -> None:
        asked = st.session_state[key].get("go")
        if isinstance(asked, Mapping):
            on_go(str(asked.get("case") or "") or None)

    pad = component(NAME, f"{_FILES}.js", style=f"{_FILES}.css", title="The score pad")
    pad(key=key, data={"height": height, **data}, on_go_change=go, on_refresh_change=lambda: None)

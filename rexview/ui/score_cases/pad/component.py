"""The score pad as a Streamlit component: its files, their version, and how it is put on a page.

As for the viewer, Streamlit gets a loader only; the modules are served by a route of ours under a
path that holds :func:`pad_version`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import streamlit as st

from rexview.ui.viewer import viewer_assets

NAME: Final = "rexview_score_pad"
_ASSETS: Final = Path(__file__).with_name("assets")
_LOADER: Final = "loader.js"
_STYLE: Final = "pad.css"
_FROM_VIEWER: Final = "dom.js"


@cache
def pad_assets() -> Mapping[str, bytes]:
    """Return the pad's modules by file name, as they are served."""
    names = sorted(path for path in _ASSETS.glob("*.js") if path.name != _LOADER)
    own = {path.name: path.read_bytes() for path in names}
    return MappingProxyType({**own, _FROM_VIEWER: viewer_assets()[_FROM_VIEWER]})


@cache
def pad_version() -> str:
    """Return a short hash that changes when any module does."""
    digest = hashlib.sha256()
    for name, content in pad_assets().items():
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


@cache
def _component() -> Callable[..., Any]:
    loader = (_ASSETS / _LOADER).read_text(encoding="utf-8").replace("@VERSION@", pad_version())
    style = (_ASSETS / _STYLE).read_text(encoding="utf-8")
    return st.components.v2.component(NAME, css=style, js=loader, isolate_styles=False)


def score_pad(
    data: Mapping[str, Any], *, key: str, on_go: Callable[[str | None], None], height: str
) -> None:
    """Put the pad on the page.

    What the reader says goes to the server past the page's script, by
    :mod:`rexview.ui.saving.route`. The page is told only which case is wanted.

    ``data`` is as :func:`rexview.ui.score_cases.pad_data.pad_data` makes it. ``key`` stays the same
    from case to case: what is on its way to the server then stays with it. ``on_go`` is called with
    the id of the case that the reader wants, None for the next unscored one; ``height`` is a CSS
    length.
    """

    def go() -> None:
        asked = st.session_state[key].get("go")
        if isinstance(asked, Mapping):
            on_go(str(asked.get("case") or "") or None)

    _component()(
        key=key, data={"height": height, **data}, on_go_change=go, on_refresh_change=lambda: None
    )

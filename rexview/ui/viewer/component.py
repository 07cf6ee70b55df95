"""The viewer as a Streamlit component: its files, their version, and how it is put on a page.

The component that Streamlit registers is only a loader; the viewer's modules are served by an HTTP
route under a path that holds :func:`assets_version`, so browsers may keep them for good.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import streamlit as st

from rexview.ui.viewer.payload import ViewerData

NAME: Final = "rexview_viewer"
_ASSETS: Final = Path(__file__).with_name("assets")
_LOADER: Final = "loader.js"
_STYLE: Final = "viewer.css"


@cache
def viewer_assets() -> Mapping[str, bytes]:
    """Return the viewer's modules by file name, as they are served."""
    names = sorted(path for path in _ASSETS.glob("*.js") if path.name != _LOADER)
    return MappingProxyType({path.name: path.read_bytes() for path in names})


@cache
def assets_version() -> str:
    """Return a short hash that changes when any module does."""
    digest = hashlib.sha256()
    for name, content in viewer_assets().items():
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


@cache
def _component() -> Callable[..., Any]:
    loader = (_ASSETS / _LOADER).read_text(encoding="utf-8").replace("@VERSION@", assets_version())
    style = (_ASSETS / _STYLE).read_text(encoding="utf-8")
    return st.components.v2.component(NAME, css=style, js=loader)


def radiograph_viewer(
    data: ViewerData, *, key: str, on_navigate: Callable[[str], None], height: str | None = None
) -> None:
    """Put the viewer on the page.

    Nothing that the reader does to the picture comes back to the server, but for ``on_navigate``,
    called with the id of the neighbouring case that the reader wants, before Streamlit runs the
    page (or the fragment) again: one run shows the next case. ``key`` stays the same from case to
    case: the viewer then stays and only takes the new data. ``height`` is a CSS length, by default
    what the window leaves room for below what stands above the viewer.
    """

    def navigate() -> None:
        asked = st.session_state[key].get("navigate")
        if asked:
            on_navigate(str(asked["case"]))

    _component()(
        key=key,
        data=data.to_json(height),
        on_navigate_change=navigate,
        on_report_change=lambda: None,
    )

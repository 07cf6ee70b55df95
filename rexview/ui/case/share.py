"""The button that copies the link to what is on screen."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import streamlit as st

from rexview.schema import ReviewSet
from rexview.ui.link import keys as link_keys
from rexview.ui.server import review_sets

_JS: Final = Path(__file__).with_name("share.js")
_STYLE: Final = """
.rx-share { display: flex; align-items: center; gap: 0.4rem; font: inherit; font-size: 0.88rem; }
.rx-share button {
  font: inherit; color: inherit; background: transparent; cursor: pointer;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 4px);
  min-height: 2rem; padding: 0.1rem 0.7rem; white-space: nowrap;
}
.rx-share button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
.rx-share button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
.rx-share input {
  font: inherit; width: 14rem; color: inherit; background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color); border-radius: 4px; padding: 0.1rem 0.4rem;
}
"""


@cache
def _component() -> Callable[..., Any]:
    script = _JS.read_text(encoding="utf-8")
    return st.components.v2.component("rexview_share", js=script, css=_STYLE)


def share_button(review_set: ReviewSet) -> None:
    """Put the button on the page; the link that it copies names the review set."""
    name = {"key": link_keys.QUERY_SET, "name": review_sets.set_id(review_set.folder)}
    _component()(key="share", width="content", data={"set": name})

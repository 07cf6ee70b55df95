"""Which pages a set on ClickHouse does not serve, and what they say."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import (
    ADDRESSES,
    PAGE_ADJUDICATE,
    PAGE_CURATE,
    PAGE_MEETING,
    PAGE_RUN_MODELS,
    PAGE_STUDY,
)
from rexview.ui.server.server_state import on_tables
from rexview.words import tr

_IN_MEMORY_ONLY: Final = frozenset(
    ADDRESSES[page]
    for page in (PAGE_STUDY, PAGE_ADJUDICATE, PAGE_MEETING, PAGE_RUN_MODELS, PAGE_CURATE)
)
"""Addresses of the pages that go through all cases or answers of a set by themselves."""


def stop_unless_served() -> None:
    """Explain and stop on a page that needs a set in memory, where it is on ClickHouse."""
    if on_tables() and link_keys.page_shown() in _IN_MEMORY_ONLY:
        st.info(
            tr(
                "This page needs the whole review set in memory, and this server has it on "
                "ClickHouse. Open the set on a server without REXVIEW_ENGINE."
            ),
            icon=":material/database:",
        )
        st.stop()

"""The filter of the link, as far as this server can ask it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from rexview.analysis import CaseFilter
from rexview.ui.link import keys as link_keys
from rexview.ui.server.server_state import on_tables
from rexview.words import tr


def asked_filter() -> CaseFilter:
    """Return the filter of the link; what cannot be understood or asked is left out, and said."""
    found = link_keys.link_filter()
    if not found.written or not on_tables():
        return found
    st.warning(
        tr(
            "The link asks what a language model found of failures in words. This server has the "
            "set on ClickHouse, where that is not known: the condition is left out. A server "
            "without REXVIEW_ENGINE knows it."
        ),
        icon=":material/link_off:",
    )
    return replace(found, written=())

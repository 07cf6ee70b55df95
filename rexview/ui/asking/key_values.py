"""Keys that Streamlit's secrets hold: read here only, and handed on by environment."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from rexview.ui.streamlit_adapter.process import secrets_loaded


def keys_known(variable: str) -> Mapping[str, str]:
    """Return the key of a variable, where the secrets have it at their top level."""
    value = st.secrets.get(variable) if secrets_loaded() else None
    return {variable: value} if isinstance(value, str) and value else {}

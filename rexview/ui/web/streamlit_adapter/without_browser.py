"""Runs the app's script without a server or a browser, for measurements."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest


def app_without_browser(script: Path, limit_s: float) -> AppTest:
    """Return an app that runs in this process on demand."""
    return AppTest.from_file(str(script), default_timeout=limit_s)

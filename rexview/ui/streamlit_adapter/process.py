"""What Streamlit does of its own accord in a server process: what is stopped, what is asked."""

from __future__ import annotations

import streamlit as st
from streamlit import net_util
from streamlit.runtime.pages_manager import PagesManager


def ask_nobody_outside() -> None:
    """Keep Streamlit from asking a service on the internet which address this machine has.

    It asks when a foreign page opens a websocket, which ``access.middleware`` refuses before that,
    and when it prints its own address, unless ``browser.serverAddress`` is set, as it is in
    ``.streamlit/config.toml``.
    """
    net_util.get_external_ip = lambda: None


def have_no_pages_folder() -> None:
    """Keep Streamlit from taking our folder ``pages/`` for its older kind of pages.

    It does until ``st.navigation`` has run for the first time: the first visitor who opens a link
    to a page would get that page's file without the shell.
    """
    PagesManager.uses_pages_directory = False


def secrets_loaded() -> bool:
    """Whether there is a file of secrets that Streamlit can read; it logs why it cannot."""
    return st.secrets.load_if_toml_exists()

"""What Streamlit does of its own accord in a server process, and should not."""

from __future__ import annotations

from streamlit import net_util
from streamlit.runtime.pages_manager import PagesManager


def ask_nobody_outside() -> None:
    """Keep Streamlit from asking a service on the internet which address this machine has.

    It would to judge the websocket of a foreign page, which ``access.middleware`` refuses before,
    and to print its address, which ``browser.serverAddress`` in ``.streamlit/config.toml`` spares
    it.
    """
    net_util.get_external_ip = lambda: None


def have_no_pages_folder() -> None:
    """Keep Streamlit from taking our folder ``pages/`` for its older kind of pages.

    It does until ``st.navigation`` has run for the first time: the first visitor who opens a link
    to a page would get that page's file without the shell.
    """
    PagesManager.uses_pages_directory = False

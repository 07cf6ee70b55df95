"""What Streamlit does of its own accord in a server process: what is stopped, what is asked."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from typing import Final

import streamlit as st
import uvicorn
from streamlit import delta_generator, error_util, net_util
from streamlit.runtime.media_file_manager import MediaFileMetadata
from streamlit.runtime.pages_manager import PagesManager

_LOG: Final = logging.getLogger(__name__)
DOWNLOAD_KEPT_S: Final = 120.0
"""How long a download that was made when it was clicked is there for the browser."""


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


def keep_downloads() -> None:
    """Keep Streamlit from forgetting a download before the browser has asked for it.

    No page names a file that is made when its button is clicked. The second run of any page, of
    anybody, that ends after that would delete it: the first one marks it, and the next one deletes
    what is marked.
    """
    mark = MediaFileMetadata.mark_for_delete
    first_asked = "_rexview_first_asked"

    def mark_when_old(self: MediaFileMetadata) -> None:
        since = self.__dict__.setdefault(first_asked, time.monotonic())
        if time.monotonic() - since >= DOWNLOAD_KEPT_S:
            mark(self)

    MediaFileMetadata.mark_for_delete = mark_when_old  # type: ignore[method-assign]


def ask_not_who_runs_it() -> None:
    """Keep Streamlit from looking whether its first element is put on a page by ``streamlit run``.

    It looks once for each process, through the source of all modules that are loaded: while the
    first visitor waits for the first page.
    """
    delta_generator._use_warning_has_been_displayed = True


def send_at_once() -> None:
    """Keep the end of each answer from waiting until the browser has confirmed its beginning.

    An answer goes out in two parts, head and body. The system holds the second one back for up to
    40 ms (Nagle's algorithm against delayed acknowledgements), a hundred times over while a page is
    loaded. asyncio switches that off for sockets that name their protocol; Streamlit's names none.
    """
    startup = uvicorn.Server.startup

    async def startup_at_once(
        self: uvicorn.Server, sockets: list[socket.socket] | None = None
    ) -> None:
        class Protocol(self.config.http_protocol_class):  # type: ignore[misc, name-defined]
            def connection_made(self, transport: asyncio.Transport) -> None:
                connection = transport.get_extra_info("socket")
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                super().connection_made(transport)

        self.config.http_protocol_class = Protocol
        await startup(self, sockets)

    uvicorn.Server.startup = startup_at_once  # type: ignore[method-assign]


def before_stopping(act: Callable[[], None]) -> None:
    """Call something when the server is told to stop, before it waits for its answers to end.

    An answer that never ends by itself, a stream of events, would keep it from stopping for good.
    """
    shutdown = uvicorn.Server.shutdown

    async def act_and_shut_down(
        self: uvicorn.Server, sockets: list[socket.socket] | None = None
    ) -> None:
        act()
        await shutdown(self, sockets)

    uvicorn.Server.shutdown = act_and_shut_down  # type: ignore[method-assign]


def log_in_one_line(kind: type[Exception]) -> None:
    """Have the log give an exception of a kind as its words, where a page did not catch it.

    Streamlit logs it with all its frames, each time. A page asks again every few seconds while
    what it needs is away.
    """
    log_in_full = error_util._log_uncaught_app_exception

    def log(ex: BaseException) -> None:
        if isinstance(ex, kind):
            _LOG.error("%s", ex)
        else:
            log_in_full(ex)

    error_util._log_uncaught_app_exception = log


def secrets_loaded() -> bool:
    """Whether there is a file of secrets that Streamlit can read; it logs why it cannot."""
    return st.secrets.load_if_toml_exists()

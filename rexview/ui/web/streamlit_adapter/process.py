"""Changes to Streamlit's defaults in a process, and its options where no server runs."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import streamlit as st
import uvicorn
from streamlit import delta_generator, error_util, net_util
from streamlit.errors import StreamlitAuthError
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.media_file_manager import MediaFileManager, MediaFileMetadata
from streamlit.runtime.pages_manager import PagesManager

from rexview.errors import SettingsError

_LOG: Final = logging.getLogger(__name__)
DOWNLOAD_KEPT_S: Final = 120.0
"""Seconds for which a download made on a click is available, and for which its maker is kept after
the button has left all pages."""
BUTTONS_KEPT: Final = 8
"""Number of earlier runs of a page that can still make the file of one button. Each keeps its table
in memory, and some parts of pages run every second."""
_ANSWER: Final = "backend_operation_response"
"""Streamlit's name of the message with a file's address."""


def disable_external_ip_lookup() -> None:
    """Keep Streamlit from asking an external service for the address of this machine.

    It asks when a foreign page opens a websocket, which ``access.request_checks`` refuses before
    that. It also asks when it prints its own address, unless ``browser.serverAddress`` is set, as
    in ``.streamlit/config.toml``.
    """
    net_util.get_external_ip = lambda: None


def disable_pages_folder() -> None:
    """Keep Streamlit from using our folder ``pages/`` as its older kind of pages.

    Otherwise it does so until ``st.navigation`` has run for the first time: the first visitor who
    opens a link to a page would get that page's file without the shell.
    """
    PagesManager.uses_pages_directory = False


def keep_downloads() -> None:
    """Keep Streamlit from losing a clicked download while pages run.

    A file that is made on a click takes three steps, and any user's page run can come between them.
    The button names the function that makes the file: see :func:`_keep_what_makes_files`. The
    server answers with the file's address: see :func:`_keep_answers`. The browser requests the
    file: see :func:`_keep_files`.
    """
    _keep_what_makes_files()
    _keep_answers()
    _keep_files()


def _keep_what_makes_files() -> None:
    """Let a button that a browser still shows make its file.

    A run of a page first forgets its buttons. The end of any user's run then deletes what no button
    names. Until the browser has received the new buttons, a click on an old one would fail. That
    lasts seconds on a busy server, and longer if one run interrupts another.
    """
    unnamed_since = "_rexview_unnamed_since"

    def forget_old(self: MediaFileManager) -> None:
        now = time.monotonic()
        named = {
            one for files in self._files_by_session_and_coord.values() for one in files.values()
        }
        later: Counter[tuple[str, str]] = Counter()
        for file_id, entry in reversed(list(self._deferred_callables.items())):
            kept = cast("dict[str, Any]", entry)
            if file_id in named:
                kept.pop(unnamed_since, None)
                continue
            button = entry["session_id"], entry["element_id"] or entry["coordinates"]
            later[button] += 1
            old = now - kept.setdefault(unnamed_since, now) >= DOWNLOAD_KEPT_S
            if old or later[button] > BUTTONS_KEPT:
                self._drop_deferred_id(file_id)

    MediaFileManager._remove_orphaned_deferred_callables = (  # type: ignore[method-assign]
        forget_old
    )


def _keep_answers() -> None:
    """Deliver an answer that is waiting to be sent when a run of its page starts.

    That run discards what the run before was to draw. Streamlit would discard all other messages as
    well: the clicked button would spin for three minutes and return nothing.
    """
    clear = ForwardMsgQueue.clear

    def clear_what_is_drawn(
        self: ForwardMsgQueue,
        retain_lifecycle_msgs: bool = False,
        fragment_ids_this_run: list[str] | None = None,
    ) -> None:
        waiting = self._queue if retain_lifecycle_msgs else []
        answers = [one for one in waiting if one.WhichOneof("type") == _ANSWER]
        clear(self, retain_lifecycle_msgs, fragment_ids_this_run)
        others = [one for one in self._queue if one.WhichOneof("type") != _ANSWER]
        self._queue[:] = [*answers, *others]

    ForwardMsgQueue.clear = clear_what_is_drawn  # type: ignore[method-assign]


def _keep_files() -> None:
    """Keep a file until the browser has requested it.

    No page names a file that is made on a click. Two later runs of any user's page would delete it:
    the first marks it, and the second deletes marked files.
    """
    mark = MediaFileMetadata.mark_for_delete
    first_asked = "_rexview_first_asked"

    def mark_when_old(self: MediaFileMetadata) -> None:
        since = self.__dict__.setdefault(first_asked, time.monotonic())
        if time.monotonic() - since >= DOWNLOAD_KEPT_S:
            mark(self)

    MediaFileMetadata.mark_for_delete = mark_when_old  # type: ignore[method-assign]


def skip_bare_mode_check() -> None:
    """Keep Streamlit from checking whether ``streamlit run`` made its first element.

    The check reads the source of all loaded modules, once in each process, while the first visitor
    waits for the first page.
    """
    delta_generator._use_warning_has_been_displayed = True


def enable_tcp_nodelay() -> None:
    """Send the end of each response without waiting for the browser to confirm its start.

    A response is sent in two parts, head and body. The system delays the second by up to 40 ms
    (Nagle's algorithm with delayed acknowledgements), about a hundred times while a page loads.
    asyncio turns this off for sockets that name their protocol; Streamlit's name none.
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


def call_before_shutdown(act: Callable[[], None]) -> None:
    """Call ``act`` when the server is asked to stop, before it waits for open responses to end.

    A response that never ends, such as a stream of events, would otherwise block the stop forever.
    """
    shutdown = uvicorn.Server.shutdown

    async def act_and_shut_down(
        self: uvicorn.Server, sockets: list[socket.socket] | None = None
    ) -> None:
        act()
        await shutdown(self, sockets)

    uvicorn.Server.shutdown = act_and_shut_down  # type: ignore[method-assign]


def log_in_one_line(kind: type[Exception]) -> None:
    """Log an uncaught exception of this type as one line.

    Streamlit logs it with its whole traceback, each time. A page retries every few seconds while
    what it needs is unavailable.
    """
    log_in_full = error_util._log_uncaught_app_exception

    def log(ex: BaseException) -> None:
        if isinstance(ex, kind):
            _LOG.error("%s", ex)
        else:
            log_in_full(ex)

    error_util._log_uncaught_app_exception = log


def secrets_loaded() -> bool:
    """Return whether Streamlit can read a secrets file; it logs why it cannot."""
    return st.secrets.load_if_toml_exists()


# Streamlit's options outside a server; faults of its sign-in configuration.

_APP: Final = Path(__file__).resolve().parents[4] / "app.py"


def apply_options(words: Sequence[str]) -> tuple[str, ...]:
    """Apply the options of ``streamlit run app.py WORDS``; return the words after ``--``.

    They are read from Streamlit's files, the environment and the words.

    Raises
    ------
    SettingsError
        The words are no options of Streamlit, or a value is invalid.
    """
    import click
    from streamlit import config
    from streamlit.web import bootstrap, cli

    try:
        asked = cli.main_run.make_context("streamlit run", ["app.py", *words])
    except (click.ClickException, click.exceptions.Exit) as error:
        why = error.format_message() if isinstance(error, click.ClickException) else "no options"
        raise SettingsError(f"streamlit run does not take these options: {why}") from None
    given = dict(asked.params)
    given.pop("target")
    arguments = given.pop("args")
    config._main_script_path = str(_APP)  # one of Streamlit's files is in the same folder
    bootstrap.load_config_options(given)
    return tuple(arguments)


def sign_in_fault(provider: str = "default") -> str:
    """Return why sign-in with a provider is impossible, in Streamlit's words; empty if possible.

    The text names fields of the secrets file, but no values.
    """
    from streamlit.auth_util import is_authlib_installed, validate_auth_credentials

    if not is_authlib_installed():
        return "The package authlib is not installed in a version that Streamlit can use."
    try:
        validate_auth_credentials(provider)
    except StreamlitAuthError as error:
        return " ".join(str(error).split())
    return ""

"""What Streamlit does of its own accord in a process, and its options where no server runs."""

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
"""How long a download that was made when it was clicked is there for the browser, and what makes it
for a button that no page has any more."""
BUTTONS_KEPT: Final = 8
"""So many earlier runs of a page can still make the file of one button: each holds its table. Some
parts of pages run every second."""
_ANSWER: Final = "backend_operation_response"
"""What Streamlit calls the message that says where a file is."""


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
    """Keep Streamlit from losing what a click on a download leads to while pages run.

    A file that is made when its button is clicked comes in three steps, and a run of a page, of
    anybody, can come between each two of them. The button names what makes the file: see
    :func:`_keep_what_makes_files`. The server answers where the file is: see
    :func:`_keep_answers`. The browser asks for it: see :func:`_keep_files`.
    """
    _keep_what_makes_files()
    _keep_answers()
    _keep_files()


def _keep_what_makes_files() -> None:
    """Let a button that a browser still shows make its file.

    A run of a page begins by forgetting its buttons, and ends, as that of anybody else does, by
    deleting what no button names. Until the browser has heard of the new ones, a click on an old
    one would be told that the file cannot be made: for seconds on a busy server, and for as long as
    the next run takes where one breaks off another.
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
    """Have an answer reach the browser that waits to be sent when a run of its page begins.

    That run takes back what was to be drawn by the one before, and with it Streamlit would take
    back all else: the button that was clicked would turn for three minutes, and give nothing.
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
    """Keep a file until the browser has asked for it.

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


# Streamlit's options as a server has them, in a process that is none; what its sign-in lacks.

_APP: Final = Path(__file__).resolve().parents[4] / "app.py"


def take_options(words: Sequence[str]) -> tuple[str, ...]:
    """Have the options that ``streamlit run app.py WORDS`` has; return what stands after ``--``.

    They come from Streamlit's files, from the environment and from the words.

    Raises
    ------
    SettingsError
        The words are no options of Streamlit, or a value is none.
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
    config._main_script_path = str(_APP)  # beside which lies one of Streamlit's files
    bootstrap.load_config_options(given)
    return tuple(arguments)


def why_no_sign_in(provider: str = "default") -> str:
    """Return why nobody can sign in with a provider, in Streamlit's words; empty where they can.

    The words name fields of the file of secrets, and no value.
    """
    from streamlit.auth_util import is_authlib_installed, validate_auth_credentials

    if not is_authlib_installed():
        return "The package authlib is not installed in a version that Streamlit can use."
    try:
        validate_auth_credentials(provider)
    except StreamlitAuthError as error:
        return " ".join(str(error).split())
    return ""

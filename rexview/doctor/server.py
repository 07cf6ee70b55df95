"""Options of the server that matter behind a proxy, the clock, and a server that runs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

import streamlit as st

from rexview.doctor.finding import Known, Said, note, ok, wrong
from rexview.doctor.reviews import told_clock
from rexview.ui.server.server_state import base_path, on_this_machine_only
from rexview.untrusted_input import printable

_ASK_S: Final = 12.0
"""A server itself may wait 10 s for its database before it says that it is away."""
_SHOWN: Final = 200
_READY: Final = "/rexview/ready"


def look_at_server(known: Known) -> Iterator[Said]:
    """Say what a proxy has to know, and ask a server whether it is ready."""
    yield _address()
    yield _under_path()
    size = int(st.get_option("server.maxUploadSize"))
    yield ok("uploads", f"at most {size} MB (nginx: client_max_body_size {size}m or more)")
    yield _config()
    now = datetime.now().astimezone()
    yield ok("clock", f"{now:%Y-%m-%d %H:%M:%S} {now.tzname()}")
    if known.ask:
        yield from _asked(known.ask.rstrip("/"))


def _address() -> Said:
    at = f"{st.get_option('server.address') or 'every address'}, port {_port()}"
    if on_this_machine_only():
        return ok("listens on", f"{at}: a proxy on this computer reaches it, nobody else does")
    return note(
        "listens on",
        f"{at}: other computers reach it without TLS.",
        "Let a firewall, or the network of the containers, admit the proxy only.",
    )


def _port() -> int:
    return int(st.get_option("server.port"))


def _under_path() -> Said:
    if base_path():
        return ok("path", f"{base_path()}: the proxy passes it on, and redirect_uri has it")
    return ok("path", "none")


def _config() -> Said:
    """Look whether the options that rexview comes with are in force, by one of each kind."""
    changed = [
        name
        for name, ours in (
            ("server.fileWatcherType", "none"),
            ("browser.gatherUsageStats", False),
            ("client.showErrorDetails", "none"),
        )
        if st.get_option(name) != ours
    ]
    if changed:
        said = f"Not as rexview comes: {', '.join(changed)}."
        return note(
            "config.toml", said, "See .streamlit/config.toml, which says what they are for."
        )
    return ok("config.toml", "as rexview comes")


def _asked(server: str) -> Iterator[Said]:
    import httpx

    about = f"{printable(server)}{_READY}"
    try:
        answer = httpx.get(f"{server}{_READY}", timeout=_ASK_S, follow_redirects=False)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        remedy = "Give it like http://localhost:8501."
        yield wrong("server", "This is no address of a server.", remedy)
        return
    except httpx.TimeoutException:
        yield wrong(about, "It does not answer in time.", "Look at the server's log; restart it.")
        return
    except httpx.HTTPError as error:
        is_certificate = "CERTIFICATE" in str(error).upper()
        why = "Its certificate is not trusted here." if is_certificate else "Nothing answers there."
        remedy = (
            "Give the proxy a whole chain." if is_certificate else "Is it started, and so named?"
        )
        yield wrong(about, why, remedy)
        return
    said = printable(" ".join(answer.text[:_SHOWN].split()))
    if answer.status_code == httpx.codes.OK and said == "Ready.":
        yield ok(about, said)
    elif answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        yield wrong(about, said, "Mend that; the server goes on by itself.")
    else:
        said = f"It answers with HTTP {answer.status_code}, as rexview does not."
        yield wrong(about, said, "Is it another program, or a proxy that leads elsewhere?")
    if date := answer.headers.get("Date"):
        yield from _its_clock(date)


def _its_clock(date: str) -> Iterator[Said]:
    try:
        clock = parsedate_to_datetime(date)
    except ValueError:
        return
    if clock.tzinfo is not None:
        yield told_clock("the server's clock", clock)

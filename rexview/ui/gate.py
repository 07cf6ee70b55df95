"""Who gets anything at all from the server, and what is served beside pages only after sign-in.

Alone nobody signs in, and the server is for this machine only. A page of the internet cannot reach
it under its own name, but it can let its name point to this machine (DNS rebinding): so a server
for this machine answers only to names of this machine.

Files that a page offers for download lie at an address that Streamlit gives to whoever asks for it,
and its address for uploads takes what anybody sends. Where people sign in, both are for those who
are signed in, and not for readers: what others may download names models and scores.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import streamlit as st
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rexview.errors import NotAdmitted, SettingsError
from rexview.ui import resources, sign_in

_GUARDED: Final = ("/media/", "/_stcore/upload_file/")
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_OTHER_NAME: Final = (
    "This server is for the machine that it runs on, and nobody signs in there. To open it under "
    "another name, start it with --browser.serverAddress and that name."
)


class OwnNamesOnly:
    """Middleware that, where nobody signs in, refuses requests to a name of another machine."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, refuse the websocket, or pass the request on."""
        if scope["type"] == "lifespan" or _is_own_name(HTTPConnection(scope).headers.get("host")):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse(_OTHER_NAME, 403)(scope, receive, send)


def _is_own_name(host: str | None) -> bool:
    """Whether a request that names a host is meant for this server; a browser always names one."""
    if host is None or st.get_option("server.address") not in _THIS_MACHINE:
        return True
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if resources.team():
            return True
    except ValueError:
        return False
    except SettingsError:  # every page says so and shows nothing else
        return True
    return name in {*_THIS_MACHINE, str(st.get_option("browser.serverAddress")).lower()}


class SignedInOnly:
    """Middleware that lets only those through to files who may have them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 or 403, or pass the request on."""
        refusal = _refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await refusal(scope, receive, send)


def _refusal(scope: Scope) -> PlainTextResponse | None:
    if not any(part in scope["path"] for part in _GUARDED):
        return None
    try:
        if not resources.team():
            return None
        person = sign_in.signed_in_at(HTTPConnection(scope))
    except (NotAdmitted, SettingsError):
        person = None
    if person is None:
        return PlainTextResponse("Sign in first.", 401, headers={"Cache-Control": "no-store"})
    if person.role == "reader":
        return PlainTextResponse("Your role does not include files.", 403)
    return None

"""Which requests the server takes: by name, origin, path and body.

Alone nobody signs in, and the server is for this machine only. A page of the internet cannot reach
it under its own name, but it can let its name point to this machine (DNS rebinding), and it can
open a websocket or send a form: so a server answers only to its own names, and takes only what its
own pages send. Streamlit would look a foreign origin up at an address service outside: it sees
none.

Of what Streamlit serves beside pages, only what ``streamlit_adapter.served_routes`` names is passed
on. Files that a page offers for download lie at an address that Streamlit gives to whoever asks for
it, and its address for uploads takes what anybody sends. Where people sign in, both are for those
who are signed in, and not for readers: what others may download names models and scores.
"""

from __future__ import annotations

import html
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rexview.errors import NotAdmitted, SettingsError
from rexview.people import Role
from rexview.ui.web.access import sign_in
from rexview.ui.web.server import server_state
from rexview.ui.web.server.page_work import READY
from rexview.ui.web.server.server_state import THIS_MACHINE
from rexview.ui.web.streamlit_adapter import sign_in_cookie
from rexview.ui.web.streamlit_adapter.served_routes import (
    HEALTH,
    LOGOUT,
    ROUTES,
    STATIC_FILES,
    STATIC_FOLDER,
    STREAM,
    Audience,
    is_known_message,
)
from rexview.words import tr

# Which requests come from this app's own pages: names of this server, and origins of browsers.
#
# A browser says with a request which name it was sent to (``Host``) and, for all but plain
# reading, which page sent it (``Origin``). A name can be made to point to this machine by anybody
# (DNS rebinding), and any page may open a websocket to it; so both are compared with what is
# known.

_USUAL_PORTS: Final = {"http": 80, "https": 443}
_ELSEWHERE: Final = frozenset({"cross-site", "same-site"})
"""What a browser says in ``Sec-Fetch-Site`` of another page's request; another port of the same
machine is ``same-site``."""


def public_origin() -> str | None:
    """Return where browsers find this server, such as ``https://review.example.org``, if known.

    It is a setting; where people sign in, the address that the sign-in comes back to says it too.
    """
    try:
        given = server_state.settings().public_address
        return given or (sign_in_cookie.sign_in_origin() if server_state.team() else None)
    except SettingsError:  # every page says so and shows nothing else
        return None


def is_name_of_server(host: str | None) -> bool:
    """Whether a request that names a host is meant for this server; a browser always names one.

    Names are compared where nobody signs in on a server for this machine only, and wherever the
    public address is known. Else the server cannot know its names, and answers to all.
    """
    if host is None:
        return True
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    public = public_origin()
    if public is None and not _for_this_machine_only():
        return True
    known = {*THIS_MACHINE, str(st.get_option("browser.serverAddress")).lower()}
    return name in known or (public is not None and name == urlsplit(public).hostname)


def _for_this_machine_only() -> bool:
    try:
        return server_state.on_this_machine_only() and not server_state.team()
    except SettingsError:
        return False  # nobody gets more than a page that says so


def is_sent_by_app(headers: Headers) -> bool:
    """Whether a request was sent by a page of this app, or by something that is no browser.

    ``Host`` has been checked before: a page of this app has the same name and the same port, or
    the public address.
    """
    origin = headers.get("origin")
    if origin is None:  # browsers give it with all that writes; older ones tell less
        return headers.get("sec-fetch-site") not in _ELSEWHERE
    sender = _origin_fields(origin)
    if sender is None:
        return False
    public = public_origin()
    if public is not None and sender[1] == urlsplit(public).hostname not in THIS_MACHINE:
        return sender == _origin_fields(public)
    host = headers.get("host")
    return host is not None and sender == _origin_fields(f"{sender[0]}://{host}")


def _origin_fields(origin: str) -> tuple[str, str, int] | None:
    """Return scheme, name and port of an origin; None for what is none, such as ``null``."""
    try:
        url = urlsplit(origin)
        port = url.port
    except ValueError:
        return None
    if url.scheme not in _USUAL_PORTS or not url.hostname:
        return None
    return url.scheme, url.hostname, port or _USUAL_PORTS[url.scheme]


# What a page's script sends to our routes: one JSON object, no larger than it may be.

NOT_KEPT: Final = {"Cache-Control": "no-store"}
"""The headers of an answer that no cache may keep."""


class RequestRefused(Exception):
    """What a browser is answered: status, why, and whether another ticket may help."""

    def __init__(self, status: int, message: str, *, renew: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.renew = status, message, renew

    def answer(self) -> Response:
        """Return what the browser gets."""
        reply = {"error": self.message, "renew": self.renew}
        return JSONResponse(reply, self.status, headers=NOT_KEPT)


async def json_body(request: Request, most: int) -> Mapping[str, Any]:
    """Read the JSON object of a request, of at most so many bytes.

    Raises
    ------
    RequestRefused
        It is larger, or no such thing. JSON has no NaN: no browser could read it again.
    """
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > most:
            raise RequestRefused(413, tr("Too much was sent at once."))
    try:
        found = json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RequestRefused(422, tr("This is not what a page of ours sends."))
    return found


def _no_number(name: str) -> float:
    raise ValueError(name)


_LOG: Final = logging.getLogger(__name__)
_OTHER_NAME: Final = (
    "This server does not answer to this name. Whoever runs it can name its public address "
    "(public_address in rexview.yaml); on a machine of one's own, --browser.serverAddress adds a "
    "name."
)
_OTHER_PAGE: Final = tr("This was sent by another web page, not by this app. Open the app itself.")


class OriginCheck:
    """Middleware that refuses requests to names of other servers, and those of foreign pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, refuse the websocket, or pass the request on."""
        refusal = None if scope["type"] == "lifespan" else _why_foreign(scope)
        if refusal is None:
            await self.app(_with_one_name(scope), receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse(refusal, 403, NOT_KEPT)(scope, receive, send)


def _why_foreign(scope: Scope) -> str | None:
    path = _path(scope)
    if path in (HEALTH, READY):  # asked for by whatever watches the server, under any name
        return None
    headers = Headers(scope=scope)
    if not is_name_of_server(headers.get("host")):
        return _OTHER_NAME
    writes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
    if (writes or path == LOGOUT or "origin" in headers) and not is_sent_by_app(headers):
        return _OTHER_PAGE
    return None


def _with_one_name(scope: Scope) -> Scope:
    """Set ``Host`` of an admitted websocket to the name in ``Origin``: Streamlit compares the two.

    Behind a proxy they may differ; Streamlit would ask a service outside for this machine's name.
    """
    origin = Headers(scope=scope).get("origin") if scope["type"] == "websocket" else None
    if origin is None:
        return scope
    headers = MutableHeaders(raw=list(scope["headers"]))
    headers["host"] = origin.partition("://")[2]
    return {**scope, "headers": headers.raw}


class KnownRoutesOnly:
    """Middleware that passes on only what is known, and to those who may have it.

    ``app_routes`` are the app's routes beside Streamlit's, which check by themselves who asks;
    ``pages`` are the addresses of its pages, the first page being ``""``.
    """

    def __init__(
        self, app: ASGIApp, app_routes: Sequence[BaseRoute], pages: Collection[str]
    ) -> None:
        self.app = app
        self.app_routes = app_routes
        self.pages = frozenset(f"/{page}" for page in pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, 403 or 404, or pass the request on."""
        if scope["type"] == "websocket":
            if _path(scope) == STREAM:
                await self.app(scope, _KnownMessages(receive), send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        refusal = None if scope["type"] == "lifespan" else self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        if any(route.matches(scope)[0] is Match.FULL for route in self.app_routes):
            return None
        path, method = _path(scope), scope["method"]
        route = next((one for one in ROUTES if one.takes(method, path)), None)
        if route is not None:
            return _refusal_of(route.audience, HTTPConnection(scope))
        static = path in STATIC_FILES or path.startswith(STATIC_FOLDER)
        page = path in self.pages or path.rstrip("/") in self.pages
        if method in ("GET", "HEAD") and (static or page):
            return None
        return _nothing_here(Headers(scope=scope))


def _nothing_here(headers: Headers) -> Response:
    """Say that there is nothing; to a browser that opens the address, with a way back."""
    words = tr("There is nothing at this address.")
    if "text/html" not in headers.get("accept", ""):
        return PlainTextResponse(words, 404, NOT_KEPT)
    home = html.escape(f"{server_state.base_path()}/")
    page = (
        '<!doctype html><meta charset="utf-8"><title>rexview</title>'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="color-scheme" content="light dark">'
        f'<p>{html.escape(words)}</p><p><a href="{home}">{html.escape(tr("Overview"))}</a></p>'
    )
    return HTMLResponse(page, 404, NOT_KEPT)


def _path(scope: Scope) -> str:
    """Return the path of a request without the app's base path."""
    path: str = scope["path"]
    base = server_state.base_path()
    if path == base or path.startswith(f"{base}/"):
        return path.removeprefix(base) or "/"
    return ""  # nothing of ours stands outside it


_ROLES: Final[Mapping[Audience, frozenset[Role]]] = {
    "files": frozenset({"viewer", "adjudicator", "lead"}),
    "lead": frozenset({"lead"}),
}
"""Of a team, who gets what not everybody may have."""


def _refusal_of(audience: Audience, request: HTTPConnection) -> PlainTextResponse | None:
    """Return what somebody gets who may not have something; None when they may."""
    if audience == "all":
        return None
    try:
        team = server_state.team()
        if audience == "sign-in":
            return None if team else PlainTextResponse(tr("Nobody signs in here."), 404, NOT_KEPT)
        if not team:
            return None
        person = sign_in.signed_in_at(request)
    except (NotAdmitted, SettingsError):
        person = None
    if person is None:
        return PlainTextResponse(tr("Sign in first."), 401, NOT_KEPT)
    if person.role not in _ROLES.get(audience, ()):
        return PlainTextResponse(tr("Your role does not include this."), 403, NOT_KEPT)
    return None


class _KnownMessages:
    """Receives what a browser sends over the websocket, and leaves out what it has no reason to."""

    def __init__(self, receive: Receive) -> None:
        self.receive = receive

    async def __call__(self) -> Message:
        while True:
            message = await self.receive()
            if message["type"] != "websocket.receive" or is_known_message(message.get("bytes")):
                return message
            _LOG.warning("A message over the websocket that the app does not use was left out.")

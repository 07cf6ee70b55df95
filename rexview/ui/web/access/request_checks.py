"""Checks of requests by name, origin, path and body.

Without sign-in, the server is for this machine only. A page of the internet cannot reach it under
its own name. But such a page can point its name to this machine (DNS rebinding), open a websocket
or send a form. So a server answers only to its own names, and accepts only what its own pages send.
Streamlit would look up a foreign origin at an external address service; these checks keep such
origins from it.

Of Streamlit's other routes, only those in ``streamlit_adapter.served_routes`` are passed on.
Streamlit gives the address of a download to everybody who requests it, and its upload address
accepts data from everybody. Where people sign in, both require a sign-in with another role than
reader: downloads name models and scores.
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

# Requests from this app's own pages: names of this server, and origins of browsers.
#
# A browser sends the name it requested (``Host``) and, for all but plain reading, the page's origin
# (``Origin``). Anybody can point a name to this machine (DNS rebinding), and any page may open a
# websocket to it. So both are compared with the known ones.

_USUAL_PORTS: Final = {"http": 80, "https": 443}
_ELSEWHERE: Final = frozenset({"cross-site", "same-site"})
"""Values of ``Sec-Fetch-Site`` for another page's request; another port of the same machine is
``same-site``."""


def public_origin() -> str | None:
    """Return the address at which browsers find this server, if known.

    An example is ``https://review.example.org``. It is a setting; with sign-in, the redirect
    address of the sign-in gives it, too.
    """
    try:
        given = server_state.settings().public_address
        return given or (
            sign_in_cookie.sign_in_origin() if server_state.requires_sign_in() else None
        )
    except SettingsError:  # every page shows this error and nothing else
        return None


def is_name_of_server(host: str | None) -> bool:
    """Return whether ``host`` of a request names this server; a browser always sends one.

    Names are compared where nobody signs in on a server for this machine only, and where the public
    address is known. Otherwise the server cannot know its names, and answers to all.
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
        return server_state.on_this_machine_only() and not server_state.requires_sign_in()
    except SettingsError:
        return False  # users only get a page with this error


def is_sent_by_app(headers: Headers) -> bool:
    """Return whether a request was sent by a page of this app, or by a client that is no browser.

    ``Host`` has been checked before. A page of this app has the same name and the same port, or the
    public address.
    """
    origin = headers.get("origin")
    if origin is None:  # browsers send it with all writes; older browsers send less
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
    """Return scheme, name and port of an origin; None if it is invalid, such as ``null``."""
    try:
        url = urlsplit(origin)
        port = url.port
    except ValueError:
        return None
    if url.scheme not in _USUAL_PORTS or not url.hostname:
        return None
    return url.scheme, url.hostname, port or _USUAL_PORTS[url.scheme]


# Requests from a page's script to our routes: one JSON object of limited size.

NO_STORE_HEADERS: Final = {"Cache-Control": "no-store"}
"""The headers of a response that no cache may store."""


class RequestRefused(Exception):
    """A refusal to send to a browser: status, reason, and whether a new ticket may help."""

    def __init__(self, status: int, message: str, *, renew: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.renew = status, message, renew

    def answer(self) -> Response:
        """Return the response to send."""
        reply = {"error": self.message, "renew": self.renew}
        return JSONResponse(reply, self.status, headers=NO_STORE_HEADERS)


async def json_body(request: Request, most: int) -> Mapping[str, Any]:
    """Read the JSON object of a request of at most ``most`` bytes.

    Raises
    ------
    RequestRefused
        The body is larger or no JSON object. NaN is refused: browsers cannot parse it.
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
        raise RequestRefused(422, tr("This request does not come from this app."))
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
            await PlainTextResponse(refusal, 403, NO_STORE_HEADERS)(scope, receive, send)


def _why_foreign(scope: Scope) -> str | None:
    path = _path(scope)
    if path in (HEALTH, READY):  # health checks use any name
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

    Behind a proxy they may differ. Streamlit would then ask an external service for this machine's
    name.
    """
    origin = Headers(scope=scope).get("origin") if scope["type"] == "websocket" else None
    if origin is None:
        return scope
    headers = MutableHeaders(raw=list(scope["headers"]))
    headers["host"] = origin.partition("://")[2]
    return {**scope, "headers": headers.raw}


class KnownRoutesOnly:
    """Middleware that passes on only known requests, and only from users who may make them.

    ``app_routes`` are the app's own routes, which check the user themselves. ``pages`` are the
    addresses of its pages; the first page is ``""``.
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
    """Return a 404 response; a browser that opened the address gets a link back."""
    words = tr("There is nothing at this address.")
    if "text/html" not in headers.get("accept", ""):
        return PlainTextResponse(words, 404, NO_STORE_HEADERS)
    home = html.escape(f"{server_state.base_path()}/")
    page = (
        '<!doctype html><meta charset="utf-8"><title>rexview</title>'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="color-scheme" content="light dark">'
        f'<p>{html.escape(words)}</p><p><a href="{home}">{html.escape(tr("Overview"))}</a></p>'
    )
    return HTMLResponse(page, 404, NO_STORE_HEADERS)


def _path(scope: Scope) -> str:
    """Return the path of a request without the app's base path."""
    path: str = scope["path"]
    base = server_state.base_path()
    if path == base or path.startswith(f"{base}/"):
        return path.removeprefix(base) or "/"
    return ""  # none of our routes is outside it


_ROLES: Final[Mapping[Audience, frozenset[Role]]] = {
    "files": frozenset({"viewer", "adjudicator", "lead"}),
    "lead": frozenset({"lead"}),
}
"""In a team, the roles that get what is not for everybody."""


def _refusal_of(audience: Audience, request: HTTPConnection) -> PlainTextResponse | None:
    """Return the refusal for a user who may not have this; None if they may."""
    if audience == "all":
        return None
    try:
        team = server_state.requires_sign_in()
        if audience == "sign-in":
            return (
                None
                if team
                else PlainTextResponse(tr("This server has no sign-in."), 404, NO_STORE_HEADERS)
            )
        if not team:
            return None
        person = sign_in.signed_in_for_request(request)
    except (NotAdmitted, SettingsError):
        person = None
    if person is None:
        return PlainTextResponse(tr("Sign in first."), 401, NO_STORE_HEADERS)
    if person.role not in _ROLES.get(audience, ()):
        return PlainTextResponse(tr("Your role does not include this."), 403, NO_STORE_HEADERS)
    return None


class _KnownMessages:
    """Receive a browser's websocket messages, and drop those it has no reason to send."""

    def __init__(self, receive: Receive) -> None:
        self.receive = receive

    async def __call__(self) -> Message:
        while True:
            message = await self.receive()
            if message["type"] != "websocket.receive" or is_known_message(message.get("bytes")):
                return message
            _LOG.warning("A message over the websocket that the app does not use was left out.")

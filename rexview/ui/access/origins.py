"""Which requests come from this app's own pages: names of this server, and origins of browsers.

A browser says with a request which name it was sent to (``Host``) and, for all but plain reading,
which page sent it (``Origin``). A name can be made to point to this machine by anybody (DNS
rebinding), and any page may open a websocket to it; so both are compared with what is known.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers

from rexview.errors import SettingsError
from rexview.ui.server import server_state
from rexview.ui.server.server_state import THIS_MACHINE
from rexview.ui.streamlit_adapter import sign_in_cookie

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

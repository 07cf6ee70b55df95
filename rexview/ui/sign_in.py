"""Sign-in as Streamlit does it (OpenID Connect), for pages and for our own HTTP routes.

Streamlit keeps who signed in in a signed cookie that scripts of a page cannot read. A page gets it
through ``st.user``, which Streamlit reads once, when a browser tab connects; an HTTP route has only
the cookie. What depends on Streamlit's own modules stands in this one; a browser test covers it.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import streamlit as st
from starlette.requests import HTTPConnection

from rexview.errors import NotAdmitted, SettingsError
from rexview.people import Person, admit
from rexview.ui import resources

_MOST_ENDED: Final = 10_000
_ended: Final[deque[str]] = deque(maxlen=_MOST_ENDED)


@cache
def team() -> bool:
    """Whether people sign in here; decided once, when the server starts.

    Raises
    ------
    SettingsError
        The settings name people, or there is a secrets file, but it configures no sign-in: rather
        than let everybody in as lead, nobody is.
    """
    loaded = st.secrets.load_if_toml_exists()
    if not loaded and any(Path(file).is_file() for file in st.get_option("secrets.files")):
        raise SettingsError("secrets.toml is there but cannot be read. See what the server logged.")
    configured = loaded and bool(st.secrets.get("auth"))
    settings = resources.settings()
    if (settings.people or settings.default_role) and not configured:
        raise SettingsError(
            "The settings say who may sign in, but secrets.toml has no [auth]. See docs/team.md."
        )
    return configured


def signed_in_here() -> Person | None:
    """Return who is signed in on the page that runs; None when nobody is.

    Raises
    ------
    NotAdmitted
        Somebody is signed in who may not use the app, or whose sign-in has ended.
    """
    claims = st.user.to_dict()
    return _person(claims) if claims.get("is_logged_in") is True else None


def signed_in_at(request: HTTPConnection) -> Person | None:
    """Return who is signed in where a request to our own routes comes from; None when nobody is.

    Raises
    ------
    NotAdmitted
        As for :func:`signed_in_here`.
    """
    claims = _claims_of_cookie(request.cookies)
    return _person(claims) if claims.get("is_logged_in") is True else None


def end_sign_in() -> None:
    """End the sign-in of the page that runs in all its tabs, and go to the provider's sign-out."""
    _ended.append(_name_of(st.user.to_dict()))
    st.logout()


def _person(claims: Mapping[str, Any]) -> Person:
    if _name_of(claims) in _ended:
        raise NotAdmitted("You have signed out. Sign in again.", again=True)
    settings = resources.settings()
    return admit(claims, settings.people, settings.default_role, hours=settings.sign_in_hours)


def _name_of(claims: Mapping[str, Any]) -> str:
    """Return what tells one sign-in from all others, also one of the same person."""
    parts = [claims.get(name) for name in ("iss", "sub", "email", "iat", "nonce")]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def _claims_of_cookie(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    from streamlit.auth_util import get_cookie_with_chunks
    from streamlit.web.server.server_util import get_cookie_secret
    from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    def one(name: str) -> bytes | None:
        value = cookies.get(name)
        if value is None:
            return None
        return decode_signed_value(get_cookie_secret(), name, value.encode("latin-1"))

    try:
        found = get_cookie_with_chunks(one, USER_COOKIE_NAME)
        claims = json.loads(found) if found else {}
    except (ValueError, TypeError, UnicodeError):
        return {}
    return claims if isinstance(claims, dict) else {}

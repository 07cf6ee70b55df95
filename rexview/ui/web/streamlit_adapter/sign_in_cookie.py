"""Streamlit's signed cookie with the signed-in user, which page scripts cannot read.

A page gets its content as ``st.user``; our HTTP routes have only the cookie.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from streamlit.errors import StreamlitAuthError

__all__ = ["StreamlitAuthError", "claims_of", "sign_in_origin", "signed_cookie"]


def sign_in_origin() -> str | None:
    """Return scheme, name and port of the sign-in's redirect address; None if there is none."""
    from streamlit.auth_util import get_origin_from_redirect_uri

    return get_origin_from_redirect_uri()


def claims_of(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the identity provider's claims about the signed-in user; empty for other cookies."""
    from streamlit.auth_util import get_cookie_with_chunks
    from streamlit.web.server.server_util import get_cookie_secret
    from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    def part(name: str) -> bytes | None:
        value = cookies.get(name)
        if value is None:
            return None
        return decode_signed_value(get_cookie_secret(), name, value.encode("latin-1"))

    try:
        found = get_cookie_with_chunks(part, USER_COOKIE_NAME)
        claims = json.loads(found) if found else {}
    except (ValueError, TypeError, UnicodeError):
        return {}
    ours = isinstance(claims, dict) and claims.get("origin") == sign_in_origin()
    return claims if ours else {}


def signed_cookie(claims: Mapping[str, Any], secret: str) -> tuple[str, str]:
    """Return name and value of a signed-in user's cookie, for benchmarks and tests.

    ``secret`` is the server's ``cookie_secret``, ``claims["origin"]`` its :func:`sign_in_origin`.
    """
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    value = create_signed_value(secret, USER_COOKIE_NAME, json.dumps(dict(claims)))
    return USER_COOKIE_NAME, value.decode()

"""What Streamlit serves beside its pages, behind the sign-in.

Files that a page offers for download lie at an address that Streamlit gives to whoever asks for it,
and its address for uploads takes what anybody sends. Where people sign in, both are for those who
are signed in, and not for readers: what others may download names models and scores.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rexview.errors import NotAdmitted, SettingsError
from rexview.ui import resources, sign_in

_GUARDED: Final = ("/media/", "/_stcore/upload_file/")


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

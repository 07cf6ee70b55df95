"""Who has one vote: a person who signed in, else a browser to which the server gave a name.

The name is a random word in a sealed cookie, which scripts of a page cannot read and nobody can
invent. It comes with the stream of a meeting, so that a vote needs a window that follows.
"""

from __future__ import annotations

import secrets
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from rexview.ui.meeting.live.ticket import Admitted
from rexview.ui.server import server_state
from rexview.ui.server.sealed_tokens import Grant, LinkRefused

COOKIE: Final = "rexview_voter"
_KIND: Final = "voter"
_LIFETIME_S: Final = 30 * 24 * 3600


def voter_of(request: Request, who: Admitted) -> str | None:
    """Return who votes with a request; None for a browser that has followed nothing yet."""
    signer = server_state.signer()
    if server_state.team():
        return signer.name(_KIND, who.set_id, who.meeting, who.person.id) if who.person else None
    try:
        grant = signer.check(request.cookies.get(COOKIE, ""))
    except LinkRefused:
        return None
    return grant.image if grant.kind == _KIND else None


def new_voter() -> str:
    """Return a name for a browser that has none."""
    return secrets.token_hex(16)


def keep_voter(answer: Response, request: Request, voter: str) -> None:
    """Give a browser its name with an answer."""
    sealed = server_state.signer().sign(Grant(_KIND, "", voter), lifetime_s=_LIFETIME_S)
    answer.set_cookie(
        COOKIE,
        sealed,
        max_age=_LIFETIME_S,
        path=server_state.base_path() or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )

"""Admission to a meeting: its link, code and QR image, the sealed ticket, and the voters."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import segno
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from rexview.errors import NotAdmitted
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import may_write_kind
from rexview.ui.meeting.live.rooms import ROOMS
from rexview.ui.meeting.meetings import FOLLOW
from rexview.ui.web.access import permissions, sign_in
from rexview.ui.web.access.request_checks import NO_STORE_HEADERS, is_name_of_server
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.pages import PAGE_MEETING, roles_of_page
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant, LinkRefused
from rexview.words import tr

ADDRESS: Final = "rexview/meeting"
"""The address of live meetings, relative to the app; see :mod:`rexview.ui.meeting.live.route`."""
KIND: Final = "meeting"
_LIFETIME_S: Final = 6 * 3600
"""Long enough for a meeting and its preparation; an older page has to get another ticket."""


@dataclass(frozen=True)
class AdmittedPerson:
    """An admitted person, and the meeting and the open set that they follow."""

    set_id: str
    meeting: str
    person: Person | None
    may_lead: bool


def room_json(review_set: ReviewSet, meeting_id: str) -> dict[str, Any]:
    """Return the data with which :file:`live.js` joins a meeting, for the user of the page.

    Without a name they can only follow (``may_lead`` is false).
    """
    person = permissions.current_person()
    who: Sequence[str] | None = [person.id, person.name, person.role] if person else None
    set_id = review_sets.set_id(review_set.folder)
    grant = Grant(KIND, set_id, meeting_id, detail=who, person=permissions.current_link_owner())
    signer = server_state.signer()
    return {
        "address": f"{ADDRESS}/{signer.sign(grant, lifetime_s=_LIFETIME_S)}",
        "room": f"{set_id}/{meeting_id}",  # the same after a restart: a key in browsers' storage
        "may_lead": _may_lead(person),
    }


def admit(request: Request, token: str) -> AdmittedPerson:
    """Return the sender of a request with a ticket.

    Raises
    ------
    LinkRefused
        The ticket is invalid or expired, or their role may not follow meetings.
    NotAdmitted
        The sender of the request is not, or no longer, signed in.
    """
    grant = server_state.signer().check(token)
    if grant.kind != KIND:
        raise LinkRefused(tr("This link is for something else."))
    person = sign_in.find_sender(request, grant, Person(*grant.detail) if grant.detail else None)
    if server_state.requires_sign_in() and person is None:
        raise NotAdmitted(tr("You are not signed in. Sign in again."), again=True)
    if person is not None and person.role not in roles_of_page(PAGE_MEETING):
        raise LinkRefused(tr("Your role does not include meetings."))
    return AdmittedPerson(grant.set_id, grant.image, person, _may_lead(person))


def _may_lead(person: Person | None) -> bool:
    return person is not None and may_write_kind(person, "discussed")


# Ways for others to join a meeting: its link, a code to type, and an image of the address (QR).

JOIN_ADDRESS: Final = "rexview/join"
"""The address to which the typed code is appended, relative to the app."""
_SIGNS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # no look-alikes
_LENGTH: Final = 5
_LONGEST: Final = 500


def meeting_code(set_id: str, meeting: str) -> str:
    """Return the code of a meeting; with the same secret it stays the same after a restart.

    It only leads to the page, which checks who may enter.
    """
    number = int(server_state.signer().name(JOIN_ADDRESS, set_id, meeting), 16)
    signs = []
    for _ in range(_LENGTH):
        number, place = divmod(number, len(_SIGNS))
        signs.append(_SIGNS[place])
    return "".join(signs)


def follow_link(set_id: str, meeting: str) -> str:
    """Return the address for following a meeting, relative to the app; not escaped."""
    query = {
        link_keys.QUERY_SET: set_id,
        link_keys.QUERY_MEETING: meeting,
        link_keys.QUERY_VIEW: FOLLOW,
    }
    return href(PAGE_MEETING, query)


def join_json(set_id: str, meeting: str, app: str) -> dict[str, Any]:
    """Return how to join: ``link``, ``typed`` (address with code) and ``picture`` (a data URI).

    ``app`` is the address of the app in the presenter's browser, with a slash at its end.
    ``elsewhere`` is False if that address works on this machine only.

    Raises
    ------
    ValueError
        ``app`` is not an address of this server.
    """
    parts = urlsplit(app)
    if (
        parts.scheme not in ("http", "https")
        or len(app) > _LONGEST
        or parts.query
        or parts.fragment
        or not is_name_of_server(parts.netloc.rpartition("@")[2])
        or not re.fullmatch(r"[\w.:\[\]/~%-]*", parts.netloc + parts.path)
    ):
        raise ValueError("This is no address of this server.")
    link = app + follow_link(set_id, meeting)
    typed = f"{app}{JOIN_ADDRESS}/{meeting_code(set_id, meeting)}"
    picture = segno.make(link, micro=False).svg_data_uri(border=4, light="#fff", dark="#000")
    return {
        "link": link,
        "typed": typed,
        "picture": picture,
        "elsewhere": parts.hostname not in server_state.THIS_MACHINE,
    }


async def redirect_by_code(request: Request) -> Response:
    """Redirect a user who typed the code of a running meeting to the page that follows it."""
    wanted = request.path_params["code"].upper()
    held = (room for room in ROOMS.held() if meeting_code(*room) == wanted)
    found = next(held, None)
    if found is None:
        message = tr("No meeting with this code is running right now.")
        return PlainTextResponse(message, 404, NO_STORE_HEADERS)
    place = f"{server_state.base_path()}/{follow_link(*found)}"
    return RedirectResponse(place, 303, NO_STORE_HEADERS)


# One vote each: for a person who signed in, else for a browser that the server gave a name.
#
# The name is a random word in a sealed cookie, which page scripts cannot read and nobody can forge.
# It is sent with the stream of a meeting, so that a vote needs a window that follows.

COOKIE: Final = "rexview_voter"
_KIND: Final = "voter"
_VOTER_LIFETIME_S: Final = 30 * 24 * 3600


def find_voter(request: Request, who: AdmittedPerson) -> str | None:
    """Return the voter of a request; None for a browser that has not followed a meeting yet."""
    signer = server_state.signer()
    if server_state.requires_sign_in():
        return signer.name(_KIND, who.set_id, who.meeting, who.person.id) if who.person else None
    try:
        grant = signer.check(request.cookies.get(COOKIE, ""))
    except LinkRefused:
        return None
    return grant.image if grant.kind == _KIND else None


def new_voter() -> str:
    """Return a new name for a browser without one."""
    return secrets.token_hex(16)


def set_voter_cookie(answer: Response, request: Request, voter: str) -> None:
    """Send a browser its name with a response."""
    sealed = server_state.signer().sign(Grant(_KIND, "", voter), lifetime_s=_VOTER_LIFETIME_S)
    answer.set_cookie(
        COOKIE,
        sealed,
        max_age=_VOTER_LIFETIME_S,
        path=server_state.base_path() or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )

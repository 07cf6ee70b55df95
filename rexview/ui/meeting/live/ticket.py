"""What a page gives :file:`live.js`: where its meeting is followed, and as whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request

from rexview.errors import NotAdmitted
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import may
from rexview.ui.access import permissions, sign_in
from rexview.ui.link.pages import PAGE_MEETING, seen_by
from rexview.ui.server import review_sets, server_state
from rexview.ui.server.sealed_tokens import Grant, LinkRefused
from rexview.words import tr

ADDRESS: Final = "rexview/meeting"
"""Where meetings are followed, relative to the app; see :mod:`rexview.ui.meeting.live.route`."""
KIND: Final = "meeting"
_LIFETIME_S: Final = 6 * 3600
"""A meeting, and what goes before it; a page that is older is asked for another ticket."""


@dataclass(frozen=True)
class Admitted:
    """Who asks, and for which meeting of which open set."""

    set_id: str
    meeting: str
    person: Person | None
    may_lead: bool


def room_json(review_set: ReviewSet, meeting_id: str) -> dict[str, Any]:
    """Return what :file:`live.js` joins a meeting with, for whoever looks at the page.

    Without a name (``may_lead`` is false then) they can only follow.
    """
    person = permissions.current()
    who: Sequence[str] | None = [person.id, person.name, person.role] if person else None
    set_id = review_sets.set_id(review_set.folder)
    grant = Grant(KIND, set_id, meeting_id, detail=who, person=permissions.link_person())
    signer = server_state.signer()
    return {
        "address": f"{ADDRESS}/{signer.sign(grant, lifetime_s=_LIFETIME_S)}",
        "room": f"{set_id}/{meeting_id}",  # the same after a restart: browsers keep things under it
        "may_lead": _may_lead(person),
    }


def admit(request: Request, token: str) -> Admitted:
    """Return who asks with a ticket.

    Raises
    ------
    LinkRefused
        The ticket is not good (any more), or their role does not follow meetings.
    NotAdmitted
        Nobody is signed in (any more) where the request comes from.
    """
    grant = server_state.signer().check(token)
    if grant.kind != KIND:
        raise LinkRefused(tr("This link is for something else."))
    person = sign_in.who_asks(request, grant, Person(*grant.detail) if grant.detail else None)
    if server_state.team() and person is None:
        raise NotAdmitted(tr("You are not signed in. Sign in again."), again=True)
    if person is not None and person.role not in seen_by(PAGE_MEETING):
        raise LinkRefused(tr("Your role does not include meetings."))
    return Admitted(grant.set_id, grant.image, person, _may_lead(person))


def _may_lead(person: Person | None) -> bool:
    return person is not None and may(person, "discussed")

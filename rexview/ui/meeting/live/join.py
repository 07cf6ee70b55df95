"""How others get into a meeting: its link, a code to type, and a picture of the address (QR)."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

import segno
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from rexview.ui.access.origins import is_name_of_server
from rexview.ui.access.page_requests import NOT_KEPT
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import PAGE_MEETING
from rexview.ui.meeting.live.rooms import ROOMS
from rexview.ui.meeting.views import FOLLOW
from rexview.ui.server import server_state
from rexview.words import tr

ADDRESS: Final = "rexview/join"
"""Where a code is typed after, relative to the app."""
_SIGNS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # none that looks like another
_LENGTH: Final = 5
_LONGEST: Final = 500


def code_of(set_id: str, meeting: str) -> str:
    """Return the code of a meeting: with the same secret the same one after a restart.

    It leads to the page only, which asks who comes.
    """
    number = int(server_state.signer().name(ADDRESS, set_id, meeting), 16)
    signs = []
    for _ in range(_LENGTH):
        number, place = divmod(number, len(_SIGNS))
        signs.append(_SIGNS[place])
    return "".join(signs)


def follow_link(set_id: str, meeting: str) -> str:
    """Return the address at which a meeting is followed, relative to the app; not escaped."""
    query = {
        link_keys.QUERY_SET: set_id,
        link_keys.QUERY_MEETING: meeting,
        link_keys.QUERY_VIEW: FOLLOW,
    }
    return href(PAGE_MEETING, query)


def join_json(set_id: str, meeting: str, app: str) -> dict[str, Any]:
    """Return how to join: ``link``, ``typed`` (address with code) and ``picture`` (a data URI).

    ``app`` is the address of the app as the presenter's browser has it, with a slash at its end.
    ``elsewhere`` is False where that is known on this machine only.

    Raises
    ------
    ValueError
        That is no address of this server.
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
    typed = f"{app}{ADDRESS}/{code_of(set_id, meeting)}"
    picture = segno.make(link, micro=False).svg_data_uri(border=4, light="#fff", dark="#000")
    return {
        "link": link,
        "typed": typed,
        "picture": picture,
        "elsewhere": parts.hostname not in server_state.THIS_MACHINE,
    }


async def go_by_code(request: Request) -> Response:
    """Lead whoever typed the code of a meeting that is held to where it is followed."""
    wanted = request.path_params["code"].upper()
    held = (room for room in ROOMS.held() if code_of(*room) == wanted)
    found = next(held, None)
    if found is None:
        message = tr("No meeting with this code is held here just now.")
        return PlainTextResponse(message, 404, NOT_KEPT)
    place = f"{server_state.base_path()}/{follow_link(*found)}"
    return RedirectResponse(place, 303, NOT_KEPT)

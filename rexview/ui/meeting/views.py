"""The views of the Meeting page: which there are, and which is open. It stands in the link."""

from __future__ import annotations

from typing import Final

from rexview.ui.link import choices
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import PAGE_MEETING
from rexview.words import tr

AGENDA: Final = "agenda"
DECISIONS: Final = "decisions"
PRESENT: Final = "present"
FOLLOW: Final = "follow"
VIEWS: Final = {
    AGENDA: tr("Agenda"),
    DECISIONS: tr("Decisions"),
    PRESENT: tr("Present"),
    FOLLOW: tr("Follow"),
}
"""The views that there are, in order, with their names; links lead to no other."""
_WHOLE_SCREEN: Final = (PRESENT, FOLLOW)
"""Views without title and choices of the page: they take all of it."""


def open_view() -> str:
    """Return the view that the link names."""
    return choices.open_view(VIEWS, AGENDA)


def choose_view() -> None:
    """Offer the views that stand beside each other; the link keeps which is open."""
    offered = {one: name for one, name in VIEWS.items() if one not in _WHOLE_SCREEN}
    choices.choose_view("meeting", offered, AGENDA)


def view_link(view: str, meeting_id: str, case: str | None = None) -> str:
    """Return the address of a view of a meeting, at a case, relative to the app; not escaped."""
    query = link_keys.link_query(case=case) | {link_keys.QUERY_MEETING: meeting_id}
    return href(PAGE_MEETING, query if view == AGENDA else query | {link_keys.QUERY_VIEW: view})

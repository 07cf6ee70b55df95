"""The ticket with which a browser fetches the cases around, and the page's following."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from rexview.schema import ReviewSet
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant

ADDRESS: Final = "rexview/cases"
"""The address of the cases, relative to the app; see :mod:`rexview.ui.web.app.case_routes`."""
KIND: Final = "cases"
_MOST_PASSED: Final = 1000
_LONGEST_ID: Final = 1000


def turning_json(
    review_set: ReviewSet, page: str, detail: Mapping[str, Any], *, state: str
) -> dict[str, Any]:
    """Return the data for :file:`turning.js` on a page (one of ``link.pages.PAGE_…``).

    ``detail`` is JSON that the route needs to show cases as the page does. The browser discards
    fetched cases when ``detail`` or ``state`` changes; ``state`` names everything else that cases
    depend on. ``asked`` is the number of the last request to follow that the page has received.
    Requests from another ``task`` of the page are dropped.
    """
    person = permissions.current_person()
    who = [person.id, person.name, person.role] if person else None
    grant = Grant(
        KIND,
        review_sets.set_id(review_set.folder),
        page,
        review_sets.files_state(review_set),
        {"who": who, **detail},
        permissions.current_link_owner(),
    )
    signer = server_state.signer()
    told = json.dumps([grant.set_id, who, detail], sort_keys=True)
    return {
        "address": f"{ADDRESS}/{signer.sign(grant)}",
        "version": signer.name(page, state, told),
        "asked": st.session_state.get(link_keys.SESSION_FOLLOW_REQUEST, 0),
        "task": detail.get("task"),
    }


def follow_browser(wanted: Any) -> Sequence[str]:
    """Open the case that the browser turned to; return the cases shown until then.

    ``wanted`` is the browser's message: ``case`` (empty for the one to continue with), ``number``
    of the request, ``passed`` cases.
    """
    if not isinstance(wanted, Mapping):
        return ()
    number, passed = wanted.get("number"), wanted.get("passed")
    case = str(wanted.get("case") or "") or None
    # a repeated request would lead on from its own result
    again = case is None and number == st.session_state.get(link_keys.SESSION_FOLLOW_REQUEST)
    if isinstance(number, int):
        st.session_state[link_keys.SESSION_FOLLOW_REQUEST] = number
    if not again:
        link_keys.go_to_case(case)
    seen = passed[:_MOST_PASSED] if isinstance(passed, list) else []
    return [case for case in seen if isinstance(case, str) and len(case) <= _LONGEST_ID]

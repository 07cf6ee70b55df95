"""A page's data for its browser's outbox, and the sealed ticket that lets it save."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st

from rexview.errors import RexviewError, StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.ui.web.access import permissions
from rexview.ui.web.access.name_suggestions import NameSuggestions, suggest_names
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import ADDRESSES, PAGE_ACCOUNT, PAGES
from rexview.ui.web.saving.entries import PAGE_FILES, TASK_PAGES
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant
from rexview.ui.web.streamlit_adapter.script_run import finished_drafts
from rexview.words import tr

ADDRESS: Final = "rexview/reviews"
"""The address for entries, relative to the app; see :mod:`rexview.ui.web.saving.route`."""
KIND: Final = "write"


def outbox_json(review_set: ReviewSet, page: str, person: Person | None) -> dict[str, Any]:
    """Return the data that :file:`outbox.js` needs.

    ``owner`` names the person and the set in the browser's storage, so that nobody sends what
    somebody else entered in the same browser. ``unowned`` replaces it until a name is given and the
    database can be reached. Without a ticket, all entries wait in the browser. ``scorer`` names the
    person whose entries these are (:func:`_scorer_json`).
    """
    name = review_sets.set_id(review_set.folder)
    signed_in = permissions.current_person() if server_state.requires_sign_in() else None
    unowned = _hash(name, signed_in.id if signed_in else "")
    try:
        owner = _hash(review_sets.reviews(review_set).key, person.id) if person else None
    except StoreError:
        owner = None
    ticket = None
    if owner and person:
        who = [person.id, person.name, person.role]
        grant = Grant(KIND, name, "", detail=who, person=permissions.current_link_owner())
        ticket = server_state.signer().sign(grant)
    return {
        "address": ADDRESS,
        "page": page,
        "owner": owner,
        "unowned": unowned,
        "ticket": ticket,
        "scorer": _scorer_json(review_set, person),
    }


def _scorer_json(review_set: ReviewSet, person: Person | None) -> dict[str, Any] | None:
    """Return the name that :file:`scorer.js` shows or offers; None where people sign in.

    ``change`` is the address for changing the name, ``cookie`` the value for the browser to store.
    """
    if server_state.requires_sign_in():
        return None
    query = urlencode({link_keys.QUERY_SET: review_sets.set_id(review_set.folder)})
    offered = NameSuggestions() if person else suggest_names(review_set)
    return {
        "name": person.name if person else None,
        "change": f"{ADDRESSES[PAGE_ACCOUNT]}?{query}",
        "cookie": permissions.name_cookie_value(),
        **asdict(offered),
    }


def set_name_from_component(key: str) -> None:
    """Set the name that a component with this key was given, where people do not sign in."""
    if permissions.current_person() is not None or server_state.requires_sign_in():
        return
    try:
        permissions.set_name(str(st.session_state[key].get("name") or ""))
    except ValueError as error:
        st.session_state[f"{key}_name_problem"] = str(error)


def name_problem(key: str) -> str:
    """Return, once, why the last name given cannot be used; empty if it can."""
    problem: str = st.session_state.pop(f"{key}_name_problem", "")
    return problem


def _hash(*parts: str) -> str:
    text = "\n".join(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:20]


# Sends waiting entries from every page, and reports them where the page itself does not.
#
# A tab that opens on a page without saving has no other component that knows the outbox.

_KEY: Final = "rx_waiting"
_FILES: Final = "web/saving/assets/waiting"
_TITLES: Final = {page.file: page.title for page in PAGES}


def show_outbox_sender(address: str) -> None:
    """Mount the sender of waiting entries on the page; nothing if its set cannot be opened."""
    try:
        folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
        review_set = review_sets.open_set(folder)
    except RexviewError:
        return  # the page shows the reason
    with st.container(key="rx_waiting_place"):
        _show(review_set, address)


@st.fragment
def _show(review_set: ReviewSet, address: str) -> None:
    person = permissions.current_person()
    pages = {name: file for name, file in PAGE_FILES.items() if permissions.may_see(file)}
    data = {
        "outbox": outbox_json(review_set, _page_shown(review_set, address, pages), person),
        "named": person is not None,
        "taken": finished_drafts(),
        "account": ADDRESSES[PAGE_ACCOUNT],
        "set": link_keys.query_value(link_keys.QUERY_SET),
        "pages": {
            name: [ADDRESSES[file], _TITLES[file], TASK_PAGES.get(name)]
            for name, file in pages.items()
        },
    }
    title = tr("Sending of unsaved entries")
    show = component("rexview_waiting", f"{_FILES}.js", style=f"{_FILES}.css", title=title)
    show(key=_KEY, data=data, on_refresh_change=lambda: None)


def _page_shown(review_set: ReviewSet, address: str, pages: Mapping[str, str]) -> str:
    """Return the entries' name of the open page; on the Score page, that of the current task."""
    at = [name for name, file in pages.items() if ADDRESSES[file] == address]
    if len(at) < 2:
        return next(iter(at), "")
    tasks = review_sets.study_engine(review_set).tasks
    asked = link_keys.query_value(link_keys.QUERY_TASK)
    task = asked if asked in tasks else next(iter(tasks), None)  # as choose_task
    return next((name for name in at if TASK_PAGES.get(name, "score") == task), at[0])

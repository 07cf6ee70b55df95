"""The user of the page: what they may see and write, and how they give their name.

Without sign-in, the user may see and write everything. A name is asked for before something is
written, and the browser stores it in a cookie. The machine stores the last name only to propose it
to a browser that has none. In a team, people sign in and their role decides which pages they get:
the navigation offers only these pages, and every page checks the permission itself (:func:`guard`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from urllib.parse import quote, unquote

import streamlit as st

from rexview.errors import NotAdmitted
from rexview.people import LONGEST_NAME, Person, Role, single_user
from rexview.ui.safe_text import as_markdown
from rexview.ui.web.access import sign_in
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import roles_of_page
from rexview.ui.web.server import server_state
from rexview.ui.web.streamlit_adapter.script_run import (
    finish_draft,
    form_save_button,
    is_page_run,
    save_button,
    typed_fields,
)
from rexview.words import tr

NAME_COOKIE: Final = "rexview_name"
"""The cookie in which a browser stores the user's name where nobody signs in."""
_COOKIE_LASTS_S: Final = 365 * 24 * 3600
_MOST_OFFERED: Final = 12
_asking: Final = ContextVar[tuple[Person | None] | None]("asking", default=None)


def current_person() -> Person | None:
    """Return the user of the page: who signed in, or the name given without sign-in.

    None if nobody is signed in, if the signed-in user has no role, or if no name has been given
    yet.
    """
    asking = _asking.get()
    if asking is not None:
        return asking[0]
    if server_state.requires_sign_in():
        try:
            return sign_in.signed_in_on_page()
        except NotAdmitted:
            return None
    name = st.session_state.get(link_keys.SESSION_NAME)
    try:
        if name is None and (name := _name_of_browser()):
            # Another tab may have taken another name: this tab keeps the name that it shows.
            st.session_state[link_keys.SESSION_NAME] = name = single_user(name).name
        return single_user(name) if name else None
    except ValueError:
        return None


@contextmanager
def acting_as(person: Person | None) -> Iterator[None]:
    """Run the block as the person whom a route has verified.

    A route has no page: its session has no user, and neither has ``st.user``.
    """
    before = _asking.set((person,))
    try:
        yield
    finally:
        _asking.reset(before)


def current_role() -> Role | None:
    """Return the user's role; None if they are not signed in or have none."""
    if not server_state.requires_sign_in():
        return "lead"
    person = current_person()
    return person.role if person else None


def current_link_owner() -> str:
    """Return the owner of new links: the signed-in user with their role; empty without sign-in."""
    person = current_person() if server_state.requires_sign_in() else None
    return sign_in.link_owner(person) if person else ""


def may_see(page: str) -> bool:
    """Return whether the user may see a page (one of ``link.pages.PAGE_…``)."""
    return current_role() in roles_of_page(page)


def guard(page: str) -> None:
    """Stop the running page or fragment if the user may not see it, and show why."""
    if not may_see(page):
        show_refusal()
        st.stop()


def make_access_check(page: str) -> Callable[[], None]:
    """Return a check, usable outside the page, that the user may still see a page.

    The check raises NotAdmitted once the user has signed out or has another role.
    """
    if not server_state.requires_sign_in():
        return lambda: None
    now = sign_in.make_sign_in_check()

    def check() -> None:
        person = now()
        if person is None or person.role not in roles_of_page(page):
            raise NotAdmitted(tr("Your role no longer includes this."))

    return check


def show_refusal() -> None:
    """Show that the user may not see this page."""
    if current_role() is None:
        st.error(tr("You are not signed in. Reload the page."), icon=":material/lock:")
    else:
        st.error(tr("Your role does not include this page."), icon=":material/lock:")


def ask_name(key: str = "ask_name") -> Person | None:
    """Return the user; if no name is known yet, show a field for it here and return None.

    The field is filled with the name that this machine knows. Other names used in the set are
    offered. ``key`` distinguishes several such fields on one page.
    """
    return _ask(key)


def require_name(purpose: str) -> Person:
    """Return the user; if no name is known yet, ask for it and stop the page.

    ``purpose`` (Markdown) explains the page, which shows nothing else then.
    """
    above = st.empty()
    person = _ask("ask_name", shortcut="Enter")
    if person is None:
        above.markdown(purpose, anchors=False)
        st.stop()
    return person


def _ask(key: str, shortcut: str | None = None) -> Person | None:
    person = current_person()
    if person is not None or server_state.requires_sign_in():
        if st.session_state.pop(f"{key}_given", False) and not is_page_run():
            st.rerun()  # the rest of the page needs the name, too
        return person
    from rexview.ui.web.access.name_suggestions import suggest_names

    offered = suggest_names()

    def take(name: str | None = None) -> None:
        try:
            set_name(st.session_state[field] if name is None else name)
        except ValueError as error:
            st.session_state[f"{key}_problem"] = str(error)
        else:
            st.session_state[f"{key}_given"] = True
            finish_draft(f"own name {key}")

    field = f"{key}_text"
    with typed_fields(f"own name {key}"), st.form(f"{key}_form", border=True, width=460):
        st.text_input(tr("Your name"), value=offered.proposed, key=field, max_chars=LONGEST_NAME)
        st.caption(tr("Shown next to your entries. This browser asks once and keeps it."))
        form_save_button(tr("Continue"), key=f"{key}_go", on_click=take, shortcut=shortcut)
    offer_names(key, take, offered.used)
    problem = st.session_state.pop(f"{key}_problem", None)
    if problem:
        st.error(as_markdown(problem))
    return None


def offer_names(key: str, take: Callable[[str], object], used: Sequence[str]) -> None:
    """Offer the names already used in the set, so that one person does not become two.

    ``take`` is called with the name that is pressed; ``key`` distinguishes several such places on
    one page.
    """
    if not used:
        return
    st.caption(tr("Or choose your name among those used in this set:"))
    with st.container(horizontal=True):
        for number, name in enumerate(used[:_MOST_OFFERED]):
            label = as_markdown(name)
            save_button(label, key=f"{key}_used_{number}", on_click=take, args=(name,))


def set_name(name: str) -> Person:
    """Set the user's name for this session and this browser, without sign-in.

    This machine proposes it to other browsers.

    Raises
    ------
    ValueError
        The name cannot be used; the message is the reason to show.
    """
    person = single_user(name)
    st.session_state[link_keys.SESSION_NAME] = person.name
    st.session_state[link_keys.SESSION_NAME_TAKEN] = True
    server_state.store_name(person.name)
    return person


def name_cookie_value() -> str | None:
    """Return the name that this session has taken, which the browser has to store in its cookie.

    None if the session has taken none: the browser has it already, or no name was given.
    """
    name = st.session_state.get(link_keys.SESSION_NAME)
    if (
        not name
        or not st.session_state.get(link_keys.SESSION_NAME_TAKEN)
        or server_state.requires_sign_in()
    ):
        return None
    path = f"{server_state.base_path()}/"
    rules = f"Path={path}; Max-Age={_COOKIE_LASTS_S}; SameSite=Lax"
    return f"{NAME_COOKIE}={quote(name, safe='')}; {rules}"


def _name_of_browser() -> str | None:
    kept = st.context.cookies.get(NAME_COOKIE)
    return unquote(kept) if isinstance(kept, str) else None

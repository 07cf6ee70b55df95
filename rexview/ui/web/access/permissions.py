"""Who looks at the page, what they may see and write, and how they are asked for their name.

Alone (no sign-in configured) whoever looks may see and write all; a name is asked for when
something is about to be written, and kept by the browser in a cookie. The machine keeps the last
name only to propose it to a browser that has none. In a team people sign in, and their role says
which pages they get: the navigation offers no others, and every page checks by itself
(:func:`guard`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from urllib.parse import quote, unquote

import streamlit as st

from rexview.errors import NotAdmitted
from rexview.people import LONGEST_NAME, Person, Role, person_alone
from rexview.ui.safe_text import as_markdown
from rexview.ui.web.access import sign_in
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import seen_by
from rexview.ui.web.server import server_state
from rexview.ui.web.streamlit_adapter.script_run import (
    form_save_button,
    is_page_run,
    save_button,
    typed_fields,
    words_taken,
)
from rexview.words import tr

NAME_COOKIE: Final = "rexview_name"
"""The cookie in which a browser keeps the name of whoever works alone."""
_COOKIE_LASTS_S: Final = 365 * 24 * 3600
_MOST_OFFERED: Final = 12
_asking: Final = ContextVar[tuple[Person | None] | None]("asking", default=None)


def current() -> Person | None:
    """Return who looks at the page: in a team who signed in, alone whoever gave a name.

    None when nobody is signed in, when who is has no role, and when no name has been given yet.
    """
    asking = _asking.get()
    if asking is not None:
        return asking[0]
    if server_state.team():
        try:
            return sign_in.signed_in_here()
        except NotAdmitted:
            return None
    name = st.session_state.get(link_keys.SESSION_NAME)
    try:
        if name is None and (name := _name_of_browser()):
            # Another tab can take another name: this one goes on with the name that it shows.
            st.session_state[link_keys.SESSION_NAME] = name = person_alone(name).name
        return person_alone(name) if name else None
    except ValueError:
        return None


@contextmanager
def asking(person: Person | None) -> Iterator[None]:
    """Let everything in the block see as the person whom a route has made sure of.

    A route has no page: there is nobody in its session, and no user of Streamlit's.
    """
    before = _asking.set((person,))
    try:
        yield
    finally:
        _asking.reset(before)


def role() -> Role | None:
    """Return the role of the visitor; None for those who are not signed in or have none."""
    if not server_state.team():
        return "lead"
    person = current()
    return person.role if person else None


def link_person() -> str:
    """Return for whom links are made: who signed in, in their role; nothing when alone."""
    person = current() if server_state.team() else None
    return sign_in.link_owner(person) if person else ""


def may_see(page: str) -> bool:
    """Whether whoever looks may see a page (one of ``link.pages.PAGE_…``)."""
    return role() in seen_by(page)


def guard(page: str) -> None:
    """Stop the page or fragment that runs unless whoever looks may see it; say why."""
    if not may_see(page):
        show_refusal()
        st.stop()


def watch(page: str) -> Callable[[], None]:
    """Return what checks, also beside the page, that whoever looks now may still see a page.

    It raises NotAdmitted once they have signed out, or have another role.
    """
    if not server_state.team():
        return lambda: None
    now = sign_in.watch_here()

    def check() -> None:
        person = now()
        if person is None or person.role not in seen_by(page):
            raise NotAdmitted(tr("Your role does not include this any more."))

    return check


def show_refusal() -> None:
    """Say that whoever looks may not see this page."""
    if role() is None:
        st.error(tr("You are not signed in. Reload the page."), icon=":material/lock:")
    else:
        st.error(tr("Your role does not include this page."), icon=":material/lock:")


def ask_name(key: str = "ask_name") -> Person | None:
    """Return who looks; where nobody gave a name yet, ask for it in this place and return None.

    The name that this machine knows stands in the field; others used in the set can be chosen.
    ``key`` tells apart several such places on one page.
    """
    return _ask(key)


def require_name(purpose: str) -> Person:
    """Return who looks; where nobody gave a name yet, ask for it and stop the page here.

    ``purpose`` (Markdown) tells what the page is for: there is nothing else to see on it then.
    """
    above = st.empty()
    person = _ask("ask_name", shortcut="Enter")
    if person is None:
        above.markdown(purpose, anchors=False)
        st.stop()
    return person


def _ask(key: str, shortcut: str | None = None) -> Person | None:
    person = current()
    if person is not None or server_state.team():
        if st.session_state.pop(f"{key}_given", False) and not is_page_run():
            st.rerun()  # the rest of the page has to know the name, too
        return person
    from rexview.ui.web.access.names import (
        offered_names,  # what it imports waits for the first page
    )

    offered = offered_names()

    def take(name: str | None = None) -> None:
        try:
            take_name(st.session_state[field] if name is None else name)
        except ValueError as error:
            st.session_state[f"{key}_problem"] = str(error)
        else:
            st.session_state[f"{key}_given"] = True
            words_taken(f"own name {key}")

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

    ``take`` gets the name that is pressed; ``key`` tells apart several such places on one page.
    """
    if not used:
        return
    st.caption(tr("Or choose your name among those used in this set:"))
    with st.container(horizontal=True):
        for number, name in enumerate(used[:_MOST_OFFERED]):
            label = as_markdown(name)
            save_button(label, key=f"{key}_used_{number}", on_click=take, args=(name,))


def take_name(name: str) -> Person:
    """Take the name of whoever works alone, for this session and this browser (:func:`to_keep`).

    This machine proposes it to other browsers.

    Raises
    ------
    ValueError
        The name cannot be used: the reason to show.
    """
    person = person_alone(name)
    st.session_state[link_keys.SESSION_NAME] = person.name
    st.session_state[link_keys.SESSION_NAME_TAKEN] = True
    server_state.keep_name(person.name)
    return person


def to_keep() -> str | None:
    """Return the cookie that the browser has to keep: the name that this session has taken.

    None when it has taken none: then the browser has it already, or nobody gave a name.
    """
    name = st.session_state.get(link_keys.SESSION_NAME)
    if not name or not st.session_state.get(link_keys.SESSION_NAME_TAKEN) or server_state.team():
        return None
    path = f"{server_state.base_path()}/"
    rules = f"Path={path}; Max-Age={_COOKIE_LASTS_S}; SameSite=Lax"
    return f"{NAME_COOKIE}={quote(name, safe='')}; {rules}"


def _name_of_browser() -> str | None:
    kept = st.context.cookies.get(NAME_COOKIE)
    return unquote(kept) if isinstance(kept, str) else None

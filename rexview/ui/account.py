"""The user's account: signing in and out in a team, the name without sign-in."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Final

import streamlit as st

from rexview.errors import NotAdmitted
from rexview.people import LONGEST_NAME, Role
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.access import permissions, sign_in
from rexview.ui.web.access.name_suggestions import suggest_names
from rexview.ui.web.server import server_state
from rexview.ui.web.streamlit_adapter.script_run import finish_draft, save_button, typed_fields
from rexview.words import tr

ROLE_NAMES: Final[Mapping[Role, str]] = {
    "reader": tr("reader"),
    "adjudicator": tr("adjudicator"),
    "lead": tr("lead"),
    "viewer": tr("viewer"),
}
_ROLES: Final[Mapping[Role, str]] = {
    "reader": tr("scores answers without seeing the models or other readers' scores"),
    "adjudicator": tr("sees everything, settles cases where readers differ"),
    "lead": tr(
        "sees everything, assigns cases, opens review sets, and has the rights of all other roles"
    ),
    "viewer": tr("sees everything, writes nothing"),
}
"""The purpose of each role."""


def show_account() -> None:
    """Show the signed-in user or the sign-in; without sign-in, show and change the name."""
    with st.container(width=480):
        if server_state.requires_sign_in():
            _show_team()
        else:
            _show_alone()


def _show_team() -> None:
    try:
        person = sign_in.signed_in_on_page()
    except NotAdmitted as error:
        st.markdown("# rexview", anchors=False)
        st.warning(as_markdown(str(error)), icon=":material/lock:")
        if error.again:
            _offer_sign_in()
        else:
            st.button(tr("Sign out"), on_click=sign_in.end_sign_in)
        return
    if person is None:
        st.markdown("# rexview", anchors=False)
        st.markdown(tr("Sign in to review the answers of models on chest radiographs."))
        _offer_sign_in()
        return
    st.markdown(f"# {as_markdown(person.name)}", anchors=False)
    signed_in = tr("Signed in as {id}.").format(id=html.escape(person.id))
    st.html(f"<p>{signed_in}</p>")  # markdown would link an address
    role = tr("Role: {role}: {meaning}.")
    st.markdown(role.format(role=f"**{ROLE_NAMES[person.role]}**", meaning=_ROLES[person.role]))
    st.button(tr("Sign out"), on_click=sign_in.end_sign_in)


def _offer_sign_in() -> None:
    names = sign_in.providers()
    wanted = not names and st.button(tr("Sign in"), type="primary")
    provider = None
    for name in names:
        label = tr("Sign in with {provider}").format(provider=as_markdown(name.capitalize()))
        if st.button(label, key=f"sign_in_{name}"):
            wanted, provider = True, name
    if wanted:
        try:
            sign_in.begin_sign_in(provider)
        except NotAdmitted as error:
            st.error(lines_as_markdown(error))


def _show_alone() -> None:
    person = permissions.ask_name("account")
    if person is None:
        return
    st.markdown(f"# {as_markdown(person.name)}", anchors=False)
    st.markdown(tr("Your name is shown next to your entries. This server has no sign-in."))
    with st.popover(tr("Change the name")):
        st.markdown(tr("Your earlier entries keep the name you had then."))
        with typed_fields("another name"):
            st.text_input(tr("Name"), key="account_new", max_chars=LONGEST_NAME)
        save_button(tr("Change"), key="account_change", on_click=_change)
        permissions.offer_names("account", _change, suggest_names().used)
    if problem := st.session_state.pop("account_problem", None):
        st.error(as_markdown(problem))


def _change(name: str | None = None) -> None:
    try:
        permissions.set_name(st.session_state["account_new"] if name is None else name)
    except ValueError as error:
        st.session_state["account_problem"] = str(error)
    else:
        finish_draft("another name")

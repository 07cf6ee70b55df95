"""Sign-in through Streamlit (OpenID Connect), for pages and our HTTP routes; and roles.

Streamlit stores the signed-in user in a signed cookie that page scripts cannot read. A page gets it
through ``st.user``, which Streamlit reads once, when a browser tab connects. An HTTP route has only
the cookie (:mod:`rexview.ui.web.streamlit_adapter.sign_in_cookie`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

import streamlit as st
from starlette.requests import HTTPConnection

from rexview.errors import NotAdmitted, SettingsError
from rexview.people import Member, Person, Role, admit_sign_in
from rexview.settings import CONFIG_NAME, Settings, load_settings
from rexview.ui.web.access.revoked_sessions import SIGN_IN_REVOCATIONS
from rexview.ui.web.server import server_state
from rexview.ui.web.server.sealed_tokens import Grant, LinkRefused
from rexview.ui.web.streamlit_adapter.sign_in_cookie import StreamlitAuthError, claims_of
from rexview.words import tr

# Current roles: ``rexview.yaml`` is read again when it changes, without a restart.

CHECK_INTERVAL_S: Final = 0.5
"""Minimum seconds between two checks of the file."""
_SETTLED_S: Final = 0.5
"""A file written to within this many seconds may be incomplete."""
_LOG: Final = logging.getLogger(__name__)
_State = tuple[int, int, int, int] | None


@dataclass(frozen=True)
class Roles:
    """The people who may sign in, their roles, and how long a sign-in is valid."""

    people: tuple[Member, ...]
    default_role: Role | None
    sign_in_hours: float

    @classmethod
    def of(cls, settings: Settings) -> Roles:
        """Return the roles of the settings."""
        return cls(settings.people, settings.default_role, settings.sign_in_hours)


class RolesFile:
    """The roles of a settings file, from its newest valid state.

    Parameters
    ----------
    file : Path
    started_with : Roles
    read : callable
        Reads all settings again; raises SettingsError.
    """

    def __init__(self, file: Path, started_with: Roles, read: Callable[[], Settings]) -> None:
        self._file, self._read = file, read
        self._roles = started_with
        self._state = self._seen()
        self._looked_at = time.monotonic()
        self._lock = Lock()
        self._problem = ""

    def now(self) -> Roles:
        """Return the current roles."""
        if time.monotonic() - self._looked_at >= CHECK_INTERVAL_S and self._lock.acquire(
            blocking=False
        ):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._roles

    @property
    def problem(self) -> str:
        """The fault of the file, in words for a lead; empty if the file is in use."""
        return self._problem

    def _look(self) -> None:
        self._looked_at = time.monotonic()
        state = self._seen()
        if state == self._state or _is_fresh(state):
            return
        self._state = state
        try:
            roles = Roles.of(self._read())
            if state is None and self._roles != roles:
                raise SettingsError(tr("{name} is missing.").format(name=self._file.name))
            if self._roles.people and not roles.people:
                raise SettingsError(
                    tr("{name} no longer names anyone.").format(name=self._file.name)
                )
        except SettingsError as error:
            since = f"{datetime.now().astimezone():%H:%M}"
            self._problem = tr(
                "Roles are as they were before {since}: {error}\nCorrect {name}; it is "
                "read again when it changes."
            ).format(since=since, error=error, name=self._file.name)
            _LOG.warning("Roles stay as they were: %s cannot be used.", self._file.name)
            return
        self._problem = ""
        if roles != self._roles:
            self._roles = roles
            _LOG.warning("Roles have changed: %d people.", len(roles.people))

    def _seen(self) -> _State:
        try:
            stat = self._file.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _is_fresh(state: _State) -> bool:
    return state is not None and 0 <= time.time() - state[2] / 1e9 < _SETTLED_S


@cache
def _file_of(settings: Settings) -> RolesFile:
    return RolesFile(Path(CONFIG_NAME), Roles.of(settings), lambda: load_settings(sys.argv[1:]))


def roles() -> Roles:
    """Return the current roles on this server."""
    return _file_of(server_state.settings()).now()


def roles_problem() -> str:
    """Return the fault of the roles file, for a lead; empty if there is none."""
    return _file_of(server_state.settings()).problem


def sign_in_section() -> Mapping[str, Any]:
    """Return the sign-in section of the secrets file; call it only where sign-in is configured."""
    section: Mapping[str, Any] = st.secrets["auth"]
    return section


def providers() -> tuple[str, ...]:
    """Return the names of the identity providers; empty if the only one has no name."""
    return tuple(
        name
        for name, value in sign_in_section().items()
        if isinstance(value, Mapping) and value.get("client_id")
    )


def begin_sign_in(provider: str | None = None) -> None:
    """Send the browser to an identity provider.

    Raises
    ------
    NotAdmitted
        The sign-in is configured wrongly; the server's log gives the fault.
    """
    try:
        st.login(provider)
    except StreamlitAuthError:
        _LOG.exception("The sign-in is not configured as it should be.")
        raise NotAdmitted(
            tr(
                "The sign-in is not configured correctly. The administrator finds the "
                "reason in the server's log."
            )
        ) from None


def signed_in_on_page() -> Person | None:
    """Return who is signed in on the running page; None if nobody is.

    Raises
    ------
    NotAdmitted
        The signed-in person may not use the app, or their sign-in has been ended.
    """
    claims = st.user.to_dict()
    return _person(claims) if claims.get("is_logged_in") is True else None


def make_sign_in_check() -> Callable[[], Person | None]:
    """Return a function that later returns whom the sign-in of the running page admits.

    It works outside the page. It raises NotAdmitted as :func:`signed_in_on_page` does.
    """
    claims = st.user.to_dict()
    return lambda: _person(claims) if claims.get("is_logged_in") is True else None


def signed_in_for_request(request: HTTPConnection) -> Person | None:
    """Return who is signed in, for a request to our own routes; None if nobody is.

    Raises
    ------
    NotAdmitted
        As for :func:`signed_in_on_page`.
    """
    claims = claims_of(request.cookies)
    return _person(claims) if claims.get("is_logged_in") is True else None


def link_owner(person: Person) -> str:
    """Return the owner to write into a link; it differs for each role of the same person.

    So the permissions of a role end with the role, also for older links.
    """
    return f"{person.role} {person.id}"


def check_person(request: HTTPConnection, grant: Grant) -> None:
    """Check that a link is for the person who sent the request: copied links open nothing.

    Raises
    ------
    LinkRefused
        It is for another person or another role, or was made when nobody had to sign in.
    NotAdmitted
        The sender of the request is not, or no longer, signed in.
    """
    if not server_state.requires_sign_in():
        if grant.person:
            raise LinkRefused(tr("This link is for a signed-in user."))
        return
    person = signed_in_for_request(request)
    if person is None:
        raise NotAdmitted(tr("You are not signed in. Sign in again."), again=True)
    if grant.person != link_owner(person):
        raise LinkRefused(tr("This link is for another user."))


def find_sender(request: HTTPConnection, grant: Grant, alone: Person | None) -> Person | None:
    """Return the sender of a request with a link: the signed-in person, else the link's person.

    Raises
    ------
    LinkRefused, NotAdmitted
        As for :func:`check_person`.
    """
    check_person(request, grant)
    return signed_in_for_request(request) if server_state.requires_sign_in() else alone


def end_sign_in() -> None:
    """End the sign-in of the running page in all its tabs, and open the provider's sign-out.

    Other servers know it within about a second, or once the database can be written to.
    """
    SIGN_IN_REVOCATIONS.end(_sign_in_id(st.user.to_dict()))
    st.logout()


def _person(claims: Mapping[str, Any]) -> Person:
    SIGN_IN_REVOCATIONS.check(_sign_in_id(claims))
    now = roles()
    return admit_sign_in(claims, now.people, now.default_role, hours=now.sign_in_hours)


def _sign_in_id(claims: Mapping[str, Any]) -> str:
    """Return the id of one sign-in; the same person's next sign-in has another id."""
    values = [claims.get(name) for name in ("iss", "sub", "email", "iat", "nonce")]
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()

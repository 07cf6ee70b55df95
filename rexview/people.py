"""Users of the app: persons, roles, and the role of each person who signs in.

On one's own machine a person is a name with the role ``lead``. In a team, people sign in and
``rexview.yaml`` gives them their roles (:class:`Member`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from rexview.errors import NotAdmitted
from rexview.words import tr

Role = Literal["reader", "adjudicator", "lead", "viewer"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
LONGEST_NAME: Final = 80
_CLOCK_SLACK_S: Final = 300


@dataclass(frozen=True)
class Person:
    """A user of the app. ``id`` is stored in the history and in exported scores."""

    id: str
    name: str
    role: Role


@dataclass(frozen=True)
class Member:
    """A person of the team, identified by the e-mail address of the sign-in."""

    email: str
    person: Person


def single_user(name: str) -> Person:
    """Return the person who works alone under a name.

    Raises
    ------
    ValueError
        The name is empty or too long: the reason to show.
    """
    name = " ".join(name.split())
    if not name or not any(character.isalnum() for character in name):
        raise ValueError(tr("Give a name with at least one letter or digit."))
    if len(name) > LONGEST_NAME or not name.isprintable():
        words = tr("Give a name of at most {most} printable characters.")
        raise ValueError(words.format(most=LONGEST_NAME))
    return Person("-".join(name.casefold().split()), name, "lead")


def read_role(value: Any) -> Role:
    """Return a role.

    Raises
    ------
    ValueError
        There is no such role.
    """
    roles: tuple[Role, ...] = get_args(Role)
    if value not in roles:
        raise ValueError(f"{value!r} is no role; there are {', '.join(ROLES)}")
    return roles[roles.index(value)]


def read_members(value: Any) -> tuple[Member, ...]:
    """Return the members of a team from the list in ``rexview.yaml``.

    Each has ``email`` and ``role``, and optionally ``name`` (the address by default) and ``id``
    (stored in exported scores; the address by default).

    Raises
    ------
    ValueError
        Names the invalid entry and the reason.
    """
    if not isinstance(value, list):
        raise ValueError("it must be a list of people, each with email and role")
    members = [_member(entry, number) for number, entry in enumerate(value, start=1)]
    for named in ([one.email for one in members], [one.person.id for one in members]):
        twice = {name for name in named if named.count(name) > 1}
        if twice:
            raise ValueError(f"{', '.join(sorted(twice))} is given twice")
    return tuple(members)


def _member(entry: Any, number: int) -> Member:
    if not isinstance(entry, Mapping):
        raise ValueError(f"person {number} must have email and role")
    unknown = set(entry) - {"email", "role", "name", "id"}
    if unknown:
        raise ValueError(
            f"person {number}: there is no {', '.join(sorted(map(str, unknown)))}; "
            "there are email, role, name, id"
        )
    email = str(entry.get("email") or "").strip().casefold()
    if "@" not in email or any(character.isspace() for character in email):
        raise ValueError(f"person {number}: {entry.get('email')!r} is no e-mail address")
    try:
        role = read_role(entry.get("role"))
    except ValueError as error:
        raise ValueError(f"person {number}: {error}") from None
    person_id = str(entry.get("id") or email).strip()
    name = " ".join(str(entry.get("name") or email).split())
    return Member(email, Person(person_id, name, role))


def admit_sign_in(
    claims: Mapping[str, Any],
    members: Iterable[Member],
    default_role: Role | None,
    *,
    hours: float,
    now: float | None = None,
) -> Person:
    """Return the person who signed in, from the provider's identity token claims.

    ``default_role`` is the role of people who are not members; None admits members only. A sign-in
    is valid for ``hours`` after the token was issued. ``now`` is in seconds since 1970, UTC.

    Raises
    ------
    NotAdmitted
        The reason to show.
    """
    email = str(claims.get("email") or "").strip().casefold()
    if "@" not in email:
        raise NotAdmitted("The sign-in gave no e-mail address, so nobody can tell who you are.")
    if claims.get("email_verified", True) not in (True, "true"):
        raise NotAdmitted("Your e-mail address has not been verified where you signed in.")
    issued = claims.get("iat")
    if not isinstance(issued, int | float) or isinstance(issued, bool):
        raise NotAdmitted("The sign-in does not say when it was made. Sign in again.", again=True)
    now = time.time() if now is None else now
    if not -_CLOCK_SLACK_S <= now - issued <= hours * 3600:
        raise NotAdmitted("Your sign-in has ended. Sign in again.", again=True)
    for member in members:
        if member.email == email:
            return member.person
    if default_role is None:
        raise NotAdmitted(
            f"You are signed in as {email}, but have no role here. Ask whoever runs this server "
            "to add you."
        )
    name = " ".join(str(claims.get("name") or email).split())[:LONGEST_NAME]
    return Person(email, name, default_role)

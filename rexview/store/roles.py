"""Which role may write which kind of entry: checked on the server before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rexview.people import Person, Role

_READING: Final = frozenset({"score", "verdict", "skip", "reveal", "done"})
_TALKING: Final = frozenset({"comment", "resolve"})
MAY: Final[Mapping[Role, frozenset[str]]] = {
    "reader": _READING | _TALKING,
    "adjudicator": frozenset({"adjudicate", "verdict"}) | _TALKING,
    "lead": _READING | _TALKING | {"adjudicate", "assign"},
    "viewer": frozenset(),
}
"""Kinds of entries by role. An adjudicator sees what readers gave, so does not score as one."""


def may(person: Person, kind: str) -> bool:
    """Whether a person may write entries of a kind; nobody may write an unknown one."""
    return kind in MAY.get(person.role, frozenset())

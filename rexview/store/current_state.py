"""The current state held in memory, brought up to date with the rows that are new.

Asking the database for the whole state takes longer the more was written; pages ask after every
entry. This is the one place that says which row of a thing stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from sqlalchemy import Connection, func, select

from rexview.people import Person, read_role
from rexview.store.database.connection import Database
from rexview.store.database.tables import HISTORY, stored
from rexview.store.entry import Stored
from rexview.store.kinds import SHARED

Subject = tuple[str | None, str | None, str | None, int | None]
"""What an entry is about: case, model, subject and picture."""
_EMPTY: Mapping[Subject, Stored] = {}


@dataclass(frozen=True)
class CurrentState:
    """The newest row of each thing, and everybody who wrote, of one review set; never changed.

    ``newest`` has the rows by kind and person (None for the kinds in
    :data:`rexview.store.kinds.SHARED`), ``people`` everybody by id under their newest name and
    role. ``comments_begun`` holds when each comment was first written, by its id, oldest first.
    ``revision`` is the id of the newest row, ``count`` the number of all rows.

    What combines several kinds is read from one such state: two readings of the database, one
    after the other, do not fit together while others write.
    """

    revision: int = 0
    count: int = 0
    newest: Mapping[tuple[str, str | None], Mapping[Subject, Stored]] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    comments_begun: Mapping[str, datetime] = field(default_factory=dict)

    def rows(self, kind: str) -> list[Stored]:
        """Return the rows of one kind, oldest first."""
        found = (
            row for (one, _), rows in self.newest.items() if one == kind for row in rows.values()
        )
        return sorted(found, key=lambda row: row.id)

    def of(self, kind: str, person: str) -> Mapping[Subject, Stored]:
        """Return the rows of one kind that are a person's state, or everybody's."""
        return self.newest.get((kind, None if kind in SHARED else person), _EMPTY)

    def after(self, rows: list[Stored], revision: int, count: int) -> CurrentState:
        """Return the state after more rows of the history, oldest first."""
        newest, people, begun = dict(self.newest), dict(self.people), dict(self.comments_begun)
        copied: dict[tuple[str, str | None], dict[Subject, Stored]] = {}
        for row in rows:
            people[row.person] = Person(
                row.person, row.person_name, read_role(row.person_role or "viewer")
            )
            key = row.kind, None if row.kind in SHARED else row.person
            if key not in copied:  # whoever holds the state before goes on reading it
                newest[key] = copied[key] = dict(newest.get(key, _EMPTY))
            copied[key][row.case, row.model, row.subject, row.picture] = row
            if row.kind == "comment":
                begun.setdefault(row.subject or "", row.at)
        return CurrentState(revision, count, newest, people, begun)


class CurrentStateCache:
    """Keeps the current state of one review set up to date."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._key, self._state = "", CurrentState()

    def read(self, key: str) -> CurrentState:
        """Return the current state of the set with this key.

        Raises
        ------
        StoreUnreachable, StoreBusy
        """
        with self._lock:
            if key != self._key:
                self._key, self._state = key, CurrentState()
            self._state = self._database.read(self._newer, CurrentState())
            return self._state

    def _newer(self, connection: Connection) -> CurrentState:
        """Take in the rows that are new.

        Where rows went (the file was put in place of another, or a backup restored), everything is
        read again.
        """
        before = self._state
        of_set = HISTORY.c.review_set == self._key
        numbers = select(func.coalesce(func.max(HISTORY.c.id), 0), func.count()).where(of_set)
        newest, count = connection.execute(numbers).one()
        if (newest, count) == (before.revision, before.count):
            return before
        rows = select(HISTORY).where(of_set).order_by(HISTORY.c.id)
        fresh: list[Any] = list(connection.execute(rows.where(HISTORY.c.id > before.revision)))
        if before.count + len(fresh) != count:
            before, fresh = CurrentState(), list(connection.execute(rows))
        found = list(map(stored, fresh))
        self._database.note_changed(found)
        return before.after(found, newest, count)

"""The current state held in memory, brought up to date with the rows that are new.

Asking the database for the whole state takes longer the more was written; pages ask after every
entry. What is held here is always what the query gives.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, func, select

from rexview.people import Person, read_role
from rexview.store.database.connection import Database
from rexview.store.database.tables import HISTORY, stored
from rexview.store.entry import SHARED, Stored

_KINDS: Final = ("score", "verdict")
_Newer = tuple[int, int, list[Stored]]


class Standing:
    """The newest row of each thing of some kinds, and everybody who wrote, of one review set."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._forget("")

    def _forget(self, key: str) -> None:
        self._key = key
        self._revision = self._count = 0
        self._rows: dict[str, dict[tuple[Any, ...], Stored]] = {kind: {} for kind in _KINDS}
        self._people: dict[str, Person] = {}

    def read(self, key: str) -> tuple[dict[str, list[Stored]], dict[str, Person], int]:
        """Return the rows by kind, oldest first, the people by id, and the revision.

        Raises
        ------
        StoreUnreachable, StoreBusy
        """
        with self._lock:
            if key != self._key:
                self._forget(key)
            nothing: _Newer = (0, 0, [])
            self._take(self._database.read(self._newer, nothing))
            rows = {
                kind: sorted(of_kind.values(), key=lambda row: row.id)
                for kind, of_kind in self._rows.items()
            }
            return rows, dict(self._people), self._revision

    def _newer(self, connection: Connection) -> _Newer:
        """Return the newest id, the number of rows, and the rows to be taken in.

        Where rows went (the file was put in place of another, or a backup restored), everything is
        read again.
        """
        of_set = HISTORY.c.review_set == self._key
        numbers = select(func.coalesce(func.max(HISTORY.c.id), 0), func.count()).where(of_set)
        newest, count = connection.execute(numbers).one()
        if (newest, count) == (self._revision, self._count):
            return newest, count, []
        rows = select(HISTORY).where(of_set).order_by(HISTORY.c.id)
        fresh = list(connection.execute(rows.where(HISTORY.c.id > self._revision)))
        if self._count + len(fresh) != count:
            self._forget(self._key)
            fresh = list(connection.execute(rows))
        return newest, count, list(map(stored, fresh))

    def _take(self, newer: _Newer) -> None:
        self._revision, self._count, rows = newer
        self._database.note_changed(rows)
        if not self._count:
            self._forget(self._key)
        for row in rows:
            role = read_role(row.person_role or "viewer")
            self._people[row.person] = Person(row.person, row.person_name, role)
            if row.kind in self._rows:
                self._rows[row.kind][_thing(row)] = row


def _thing(row: Stored) -> tuple[Any, ...]:
    person = None if row.kind in SHARED else row.person
    return person, row.case, row.model, row.subject, row.picture

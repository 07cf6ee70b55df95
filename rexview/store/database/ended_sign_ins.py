"""Sign-ins that people have ended, known to all servers that share a database.

With the setting ``database_url`` they stand there. Without it there is one server: they stand in a
file in the user's data folder, since reviews have a file for each set.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from rexview.settings import Settings
from rexview.store.database.connection import Database
from rexview.store.database.tables import ENDED_SIGN_INS
from rexview.store.location import data_folder, sqlite_address

KEPT: Final = timedelta(days=31)
"""So long an ended sign-in is remembered: a day longer than any browser keeps its cookie."""
_FILE: Final = "sign-ins.sqlite"
_LOCK: Final = "sign-ins"


class EndedSignIns:
    """The ended sign-ins of all servers. Safe to use from many threads.

    Every method may raise :class:`rexview.errors.StoreError`.
    """

    def __init__(self, database: Database) -> None:
        self._database: Final = database

    def read(self, *, now: datetime | None = None) -> frozenset[str]:
        """Return all that are remembered, by the ids that :meth:`end` was given."""
        now = datetime.now(UTC) if now is None else now
        wanted = select(ENDED_SIGN_INS.c.id).where(ENDED_SIGN_INS.c.forgotten > now)
        return frozenset(row[0] for row in self._database.rows(wanted))

    def end(self, sign_in: str, *, now: datetime | None = None) -> None:
        """Note that a sign-in (at most 64 characters) has ended; what is too old is forgotten."""
        now = datetime.now(UTC) if now is None else now

        def write(connection: Connection) -> None:
            table = ENDED_SIGN_INS
            connection.execute(delete(table).where(table.c.forgotten <= now))
            known = select(table.c.id).where(table.c.id == sign_in)
            if connection.execute(known).first() is None:
                connection.execute(insert(table).values(id=sign_in, forgotten=now + KEPT))

        self._database.write(write, lock=_LOCK)

    def close(self) -> None:
        """Close all connections; they are opened anew when they are needed."""
        self._database.close()


def open_ended_sign_ins(settings: Settings) -> EndedSignIns:
    """Return the ended sign-ins of a server; nothing is made before the first one ends.

    The connections are its own: it must be answered also while everybody writes.

    Raises
    ------
    StoreUnreachable
        The address of the database cannot be understood.
    """
    file = sqlite_address(data_folder() / _FILE)
    return EndedSignIns(Database(settings.database_url or file))

"""State shared by all servers on one database: held locks and ended sign-ins."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from threading import Event, Lock, Thread
from typing import Final

from sqlalchemy import Connection, delete, exc, insert, select
from sqlalchemy import text as sql

from rexview.errors import StoreError
from rexview.settings import Settings
from rexview.store.database.connection import ReviewsDatabase, lock_number
from rexview.store.database.errors import store_error
from rexview.store.database.tables import ENDED_SIGN_INS
from rexview.store.database_location import data_folder, sqlite_address

CHECK_EVERY_S: Final = 2.0
"""Seconds between two checks that the connection, and with it the locks, still exists."""
_LOG: Final = logging.getLogger(__name__)


class AdvisoryLocks:
    """The locks of one process. Safe to use from many threads; :meth:`is_held` needs no query.

    Parameters
    ----------
    database : ReviewsDatabase
        Used by nobody else; one of its connections stays open.
    """

    def __init__(self, database: ReviewsDatabase) -> None:
        self._database = database
        self._lock, self._stopped = Lock(), Event()
        self._names: frozenset[str] = frozenset()
        self._connection: Connection | None = None
        self._thread: Thread | None = None

    def is_held(self, name: str) -> bool:
        """True if the lock was held at the last check."""
        return self._database.is_sqlite or name in self._names

    def hold(self, name: str) -> bool:
        """Take a lock; return True if it is held now, False if another process has it.

        Raises
        ------
        StoreError
            The server cannot be reached.
        """
        if self.is_held(name):
            return True
        with self._lock:
            try:
                taken = name in self._names or self._take(name)
            except exc.SQLAlchemyError as error:
                self._drop()
                raise (store_error(error, None) or error) from error
            if taken:
                self._names |= {name}
            if self._thread is None:
                self._thread = Thread(target=self._follow, name="held locks", daemon=True)
                self._thread.start()
            return taken

    def let_go(self, name: str) -> None:
        """Release a lock."""
        with self._lock:
            if name not in self._names:
                return
            self._names -= {name}
            if self._connection is not None:
                try:
                    self._ask("SELECT pg_advisory_unlock(:number)", name)
                except exc.SQLAlchemyError:  # the locks end with the connection
                    self._drop()

    def close(self) -> None:
        """Release all locks and close the database's connections."""
        self._stopped.set()
        with self._lock:
            thread, self._thread = self._thread, None
            self._names = frozenset()
            self._drop()
        if thread is not None:
            thread.join()
        self._database.close()

    def _take(self, name: str) -> bool:
        if self._connection is None:
            self._connection = self._database.open_alone()
            self._take_again()
        return self._ask("SELECT pg_try_advisory_lock(:number)", name)

    def _take_again(self) -> None:
        """Take again the locks of a lost connection; those that others took meanwhile are lost."""
        lost = {
            name
            for name in self._names
            if not self._ask("SELECT pg_try_advisory_lock(:number)", name)
        }
        if lost:
            _LOG.warning("Another server has taken over %d meetings.", len(lost))
            self._names -= lost

    def _ask(self, statement: str, name: str) -> bool:
        if self._connection is None:
            return False
        found = self._connection.execute(sql(statement), {"number": lock_number(name)})
        return bool(found.scalar_one())

    def _follow(self) -> None:
        while not self._stopped.wait(CHECK_EVERY_S):
            with self._lock:
                try:
                    if self._connection is not None:
                        self._connection.execute(sql("SELECT 1"))
                    elif self._names:
                        self._connection = self._database.open_alone()
                        self._take_again()
                except (exc.SQLAlchemyError, StoreError):
                    self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()


# Sign-ins that people have ended, known to all servers that share a database.
#
# With the setting ``database_url`` they are stored in that database. Without it there is one
# server, and reviews have one file per set. So ended sign-ins are stored in a file in the user's
# data folder.

REVOCATION_RETENTION: Final = timedelta(days=31)
"""How long an ended sign-in is remembered: a day longer than any browser keeps its cookie."""
_FILE: Final = "sign-ins.sqlite"
_LOCK: Final = "sign-ins"


class RevokedSignInStore:
    """The ended sign-ins of all servers. Safe to use from many threads.

    Every method may raise :class:`rexview.errors.StoreError`.
    """

    def __init__(self, database: ReviewsDatabase) -> None:
        self._database: Final = database

    def read(self, *, now: datetime | None = None) -> frozenset[str]:
        """Return the ids of all remembered sign-ins, as given to :meth:`end`."""
        now = datetime.now(UTC) if now is None else now
        wanted = select(ENDED_SIGN_INS.c.id).where(ENDED_SIGN_INS.c.forgotten > now)
        return frozenset(row[0] for row in self._database.rows(wanted))

    def end(self, sign_in: str, *, now: datetime | None = None) -> None:
        """Record that a sign-in (id of at most 64 characters) has ended, and forget old ones."""
        now = datetime.now(UTC) if now is None else now

        def write(connection: Connection) -> None:
            table = ENDED_SIGN_INS
            connection.execute(delete(table).where(table.c.forgotten <= now))
            known = select(table.c.id).where(table.c.id == sign_in)
            if connection.execute(known).first() is None:
                connection.execute(
                    insert(table).values(id=sign_in, forgotten=now + REVOCATION_RETENTION)
                )

        self._database.write(write, lock=_LOCK)

    def close(self) -> None:
        """Close all connections; they are opened again when needed."""
        self._database.close()


def open_revoked_sign_ins(settings: Settings) -> RevokedSignInStore:
    """Return the ended sign-ins of a server; nothing is created before the first one ends.

    They have connections of their own: a check must not wait while everybody writes.

    Raises
    ------
    StoreUnreachable
        The address of the database is invalid.
    """
    file = sqlite_address(data_folder() / _FILE)
    return RevokedSignInStore(ReviewsDatabase(settings.database_url or file))

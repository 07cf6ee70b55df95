"""Locks that a process holds at a PostgreSQL server for as long as it lives, by name.

The server gives them up by itself when the process or its connection ends. A file is one server's,
so there everything is held.
"""

from __future__ import annotations

import logging
from threading import Event, Lock, Thread
from typing import Final

from sqlalchemy import Connection, exc
from sqlalchemy import text as sql

from rexview.errors import StoreError
from rexview.store.database.connection import Database, lock_number
from rexview.store.database.errors import store_error

LOOK_EVERY_S: Final = 2.0
"""Seconds between two looks whether the connection, and with it the locks, are still there."""
_LOG: Final = logging.getLogger(__name__)


class HeldLocks:
    """The locks of one process. Safe to use from many threads; names may be asked for at no cost.

    Parameters
    ----------
    database : Database
        Nobody else's: of its connections one is kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock, self._stopped = Lock(), Event()
        self._names: frozenset[str] = frozenset()
        self._connection: Connection | None = None
        self._thread: Thread | None = None

    def is_held(self, name: str) -> bool:
        """Whether a lock is held, as was seen last."""
        return self._database.is_sqlite or name in self._names

    def hold(self, name: str) -> bool:
        """Take a lock; return whether it is held now, False where another process has it.

        Raises
        ------
        StoreError
            The server cannot be asked.
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
        """Give a lock up."""
        with self._lock:
            if name not in self._names:
                return
            self._names -= {name}
            if self._connection is not None:
                try:
                    self._ask("SELECT pg_advisory_unlock(:number)", name)
                except exc.SQLAlchemyError:  # with the connection the locks go, too
                    self._drop()

    def close(self) -> None:
        """Give all locks up, and close the database's connections."""
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
        """Take what was held by a connection that is gone; what others have by now is theirs."""
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
        while not self._stopped.wait(LOOK_EVERY_S):
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

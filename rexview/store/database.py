"""The connection to a reviews database: SQLite files and PostgreSQL servers alike.

Whoever writes holds the one lock for writing, so that rows become visible in the order of their ids
and what a row says of the value before it is true. What :meth:`Database.write` has returned from
survives a power cut.
"""

from __future__ import annotations

import hashlib
import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from sqlalchemy import URL, Connection, Engine, Row, Select, create_engine, event, exc, make_url
from sqlalchemy import text as sql

from rexview.errors import StoreBusy, StoreUnreachable
from rexview.store.migrate import migrate, version_of
from rexview.store.tables import VERSION
from rexview.store.trouble import store_error

WAIT_S: Final = 10.0
"""How long a write waits for others, in seconds."""
_WRITES: Final = "rexview_writes"
_MIGRATIONS: Final = "migrations"
_Result = TypeVar("_Result")
_Errors: Final = (exc.SQLAlchemyError, sqlite3.Error)


class Database:
    """A reviews database. Safe to use from many threads, and from several processes at once.

    A SQLite file is made when the first entry is written; until then there is nothing to read.
    """

    def __init__(self, url: str, *, wait_s: float = WAIT_S) -> None:
        self.url: Final = _driver_url(url)
        self.is_sqlite: Final = self.url.get_backend_name() == "sqlite"
        self.file: Final = Path(self.url.database or "") if self.is_sqlite else None
        self.wait_s: Final = wait_s
        self._lock = Lock()
        self._engine = self._make_engine()
        self._ready: tuple[int, int] | bool = False

    def close(self) -> None:
        """Close all connections; they are opened anew when they are needed."""
        self._engine.dispose()

    def rows(self, statement: Select[Any]) -> list[Row[Any]]:
        """Run a query; nothing is found in a file that is not there yet.

        Raises
        ------
        StoreUnreachable, StoreBusy
        """
        return self.read(lambda connection: list(connection.execute(statement)), [])

    def read(self, work: Callable[[Connection], _Result], nothing: _Result) -> _Result:
        """Do ``work`` in one transaction that sees one state; ``nothing`` for a file not there.

        Raises
        ------
        StoreUnreachable, StoreBusy
        """
        if self.file is not None and not self.file.exists():
            return nothing

        def once() -> _Result:
            with self._engine.connect() as connection:
                if not self.is_sqlite:  # SQLite sees one state in any transaction
                    connection.execution_options(isolation_level="REPEATABLE READ")
                return work(connection)

        return self._patiently(once)

    def write(self, work: Callable[[Connection], _Result], *, lock: str) -> _Result:
        """Do ``work`` in one transaction, alone among all that use ``lock``; all of it or nothing.

        ``work`` may be done several times, the last time only with effect.

        Raises
        ------
        StoreBusy, StoreFull, StoreUnreachable
        """

        def once() -> _Result:
            with self._engine.connect() as plain:
                connection = plain.execution_options(**{_WRITES: True})
                with connection.begin():
                    if not self.is_sqlite:
                        self._hold(connection, lock)
                    return work(connection)

        return self._patiently(once)

    def _hold(self, connection: Connection, lock: str) -> None:
        number = int.from_bytes(hashlib.sha256(lock.encode()).digest()[:8], signed=True)
        limit = max(1, round(self.wait_s * 1000))
        connection.execute(sql(f"SET LOCAL lock_timeout = {limit}"))
        connection.execute(sql("SET LOCAL synchronous_commit = on"))
        connection.execute(sql("SELECT pg_advisory_xact_lock(:number)"), {"number": number})

    def _patiently(self, work: Callable[[], _Result]) -> _Result:
        """Do ``work``, again while others are writing; a dropped connection is made anew once."""
        ends = time.monotonic() + self.wait_s
        dropped = False
        while True:
            try:
                self._prepare()
                return work()
            except _Errors as error:
                trouble = store_error(error, self.file)
                if trouble is None:
                    raise
                is_drop = isinstance(error, exc.DBAPIError) and error.connection_invalidated
                if is_drop and not dropped:
                    dropped = True
                    continue
                if not isinstance(trouble, StoreBusy) or time.monotonic() >= ends:
                    raise trouble from error
                time.sleep(random.uniform(0.02, 0.1))  # noqa: S311

    def _prepare(self) -> None:
        """Make or update the tables, once; anew when the file was put in place of another."""
        state = self._state()
        if state == self._ready:
            return
        with self._lock:
            state = self._state()
            if state == self._ready:
                return
            self._engine.dispose()
            if self.file is not None:
                _make_file(self.file, self.wait_s)
            with self._engine.connect() as connection:
                is_ready = version_of(connection) == VERSION  # asked without the lock for writing
            if not is_ready:
                self._migrate()
            self._ready = self._state()

    def _migrate(self) -> None:
        with self._engine.connect() as plain:
            connection = plain.execution_options(**{_WRITES: True})
            with connection.begin():
                if not self.is_sqlite:
                    self._hold(connection, _MIGRATIONS)
                migrate(connection)

    def _state(self) -> tuple[int, int] | bool:
        if self.file is None:
            return True
        try:
            stat = self.file.stat()
        except FileNotFoundError:
            return (0, 0)
        except OSError as error:
            raise StoreUnreachable(
                "The reviews database cannot be opened.",
                "Check that its folder is there and that the app may read it.",
            ) from error
        return stat.st_dev, stat.st_ino

    def _make_engine(self) -> Engine:
        if self.is_sqlite:
            engine = create_engine(self.url, connect_args={"timeout": self.wait_s})
            event.listen(engine, "connect", _connected)
            event.listen(engine, "begin", _begun)
            return engine
        return create_engine(
            self.url,
            pool_pre_ping=True,
            pool_size=5,
            max_overflow=15,
            pool_timeout=self.wait_s,
            connect_args={"connect_timeout": 5, "application_name": "rexview"},
        )


def _driver_url(text: str) -> URL:
    """Return the address with the driver that we use; it is ours to choose."""
    try:
        url = make_url(text.replace("postgres://", "postgresql://", 1))
    except (exc.ArgumentError, ValueError):
        raise StoreUnreachable(
            "The address of the reviews database cannot be understood.",
            "Correct the setting database_url.",
        ) from None
    driver = "sqlite+pysqlite" if url.get_backend_name() == "sqlite" else "postgresql+psycopg"
    return url.set(drivername=driver)


def _connected(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we begin transactions ourselves
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begun(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _make_file(file: Path, wait_s: float) -> None:
    """Make a SQLite file if there is none, with a log of its own so that readers need not wait."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnreachable(
            "The folder of the reviews database cannot be made.",
            "Check that the app may write there.",
        ) from error
    connection = sqlite3.connect(file, timeout=wait_s, isolation_level=None)
    try:
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


_databases: dict[str, Database] = {}
_databases_lock: Final = Lock()


def database_at(url: str) -> Database:
    """Return the database at an address: one object for all who use it in this process."""
    with _databases_lock:
        if url not in _databases:
            _databases[url] = Database(url)
        return _databases[url]


def close_databases() -> None:
    """Close all databases of this process; they are opened anew when they are needed."""
    with _databases_lock:
        for database in _databases.values():
            database.close()
        _databases.clear()

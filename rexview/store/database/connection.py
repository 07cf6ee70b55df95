"""Connection to a reviews database: a SQLite file or a PostgreSQL server.

Every writer takes the one lock for writing. So rows become visible in the order of their ids, and
the previous value in a row is correct. What :meth:`Database.write` has returned from survives a
power cut.
"""

from __future__ import annotations

import hashlib
import random
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Row,
    Select,
    create_engine,
    event,
    exc,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy import text as sql

from rexview.errors import StoreBusy, StoreUnreachable
from rexview.store.database.errors import busy_error, damaged_error, folder_gone_error, store_error
from rexview.store.database.migrate import (
    check_not_newer,
    find_schema_version,
    migrate,
    read_schema_version,
)
from rexview.store.database.sqlite_file import (
    NewestEntry,
    Watermark,
    create_sqlite_file,
    empty_log,
    open_sqlite_file,
    set_up_connection,
    sqlite_file_states,
)
from rexview.store.database.tables import (
    HISTORY,
    METADATA,
    SCHEMA_VERSION,
    ChangedEntry,
    DatabaseDamaged,
    check_sqlite_file,
)
from rexview.store.entry import StoredEntry

WRITE_WAIT_S: Final = 10.0
"""How long a write waits for other writers, in seconds."""
_WRITES: Final = "rexview_writes"
_MIGRATIONS: Final = "migrations"
_VERSION_EVERY_S: Final = 1.0
"""The version is checked before each write, and before a read if the last check is older than
this."""
_Result = TypeVar("_Result")
_Errors: Final = (exc.SQLAlchemyError, sqlite3.Error)
_WhichFiles = tuple[tuple[int, int] | None, ...]
"""Identity of the file and of its ``-wal``: device and inode; None for a missing file."""


class _DatabaseReplaced(Exception):
    """The file or its version is no longer the one that was opened; nothing was written to it."""


class ReviewsDatabase:
    """A reviews database. Safe to use from many threads and from several processes.

    A SQLite file is created when the first entry is written; until then there is nothing to read.
    Its folder is never created. The file is checked as a whole when it is opened.

    Attributes
    ----------
    changed : mapping of int to ChangedEntry
        Entries that were changed after they were written, by row id. For a file: all that were
        found when it was opened. For a server: those that were read.
    """

    def __init__(self, url: str, *, wait_s: float = WRITE_WAIT_S) -> None:
        self.url: Final = _driver_url(url)
        self.is_sqlite: Final = self.url.get_backend_name() == "sqlite"
        self.file: Final = Path(self.url.database or "") if self.is_sqlite else None
        self.wait_s: Final = wait_s
        self._lock, self._writes = Lock(), Lock()
        self._engine = self._make_engine()
        self._ready: _WhichFiles | bool = False
        self._version_seen = 0.0
        self.changed: dict[int, ChangedEntry] = {}
        self._damaged: tuple[tuple[int, ...], StoreUnreachable] | None = None
        self._watermark = Watermark(self.file) if self.file is not None else None
        self._loss: NewestEntry | None = None

    def open_alone(self) -> Connection:
        """Return an autocommit connection that only the caller uses and closes."""
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def look(self, work: Callable[[Connection], _Result]) -> _Result:
        """Run ``work`` in a transaction that is rolled back, without migrating the database.

        Tables are neither created nor migrated. A SQLite file has to exist.

        Raises
        ------
        StoreUnreachable, StoreBusy, StoreFull
        """
        try:
            with self._engine.connect() as plain:
                connection = plain.execution_options(**{_WRITES: True})
                connection.begin()
                return work(connection)  # closed without a commit
        except _Errors as error:
            if (meaning := store_error(error, self.file)) is None:
                raise
            raise meaning from error

    def close(self) -> None:
        """Close all connections; they are opened again when needed."""
        self._engine.dispose()

    def note_changed(self, rows: Iterable[StoredEntry]) -> None:
        """Remember which of the rows that were read have been changed since they were written."""
        for row in rows:
            if not row.intact and row.id not in self.changed:
                at = row.at.isoformat(" ", "seconds")
                entry = ChangedEntry(row.id, row.kind, row.person, row.case or "", at)
                self.changed = {**self.changed, row.id: entry}

    def check_again(self) -> None:
        """Check the database again at its next use: its rows were replaced."""
        self.changed, self._ready = {}, False

    def newest_lost(self) -> NewestEntry | None:
        """Return the entry that was once the newest in the file and is missing now, if any.

        It is looked up when the file is opened and before each write. Entries disappear when the
        file's ``-wal`` does, or when an older copy replaces the file.
        """
        if self._watermark is None or self.file is None:
            return None
        return self._loss if self.file.exists() else self._watermark.read()

    def accept_loss(self) -> None:
        """Continue without the missing entries."""
        self.write(lambda _connection: None, lock=_MIGRATIONS, replaces=True)

    def rows(self, statement: Select[Any]) -> list[Row[Any]]:
        """Run a query; return no rows if the file does not exist yet.

        Raises
        ------
        StoreUnreachable, StoreBusy
        """
        return self.read(lambda connection: list(connection.execute(statement)), [])

    def read(self, work: Callable[[Connection], _Result], nothing: _Result) -> _Result:
        """Run ``work`` in one transaction that sees one state.

        Return ``nothing`` if the file does not exist.

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
                if time.monotonic() - self._version_seen >= _VERSION_EVERY_S:
                    self._check_version(connection)
                return work(connection)

        return self._with_retries(once)

    def write(
        self, work: Callable[[Connection], _Result], *, lock: str, replaces: bool = False
    ) -> _Result:
        """Run ``work`` in one transaction, alone under ``lock``; commit all or nothing.

        ``work`` may run several times; only the last run takes effect. With ``replaces`` its result
        is complete: entries that are gone afterwards are not reported as lost.

        Raises
        ------
        StoreBusy, StoreFull, StoreUnreachable
        """

        def once() -> _Result:
            with self._write_turn(), self._engine.connect() as plain:
                connection = plain.execution_options(**{_WRITES: True})
                with connection.begin():
                    if not self.is_sqlite:
                        self._take_lock(connection, lock)
                    elif self._which_files() != self._ready:
                        raise _DatabaseReplaced
                    else:
                        self._check_newest(connection)
                    self._check_version(connection)
                    result = work(connection)
                    if self._loss is not None:  # a restore or a merge may have brought it back
                        self._check_newest(connection)
                    newest = self._newest(connection)
                if self.is_sqlite:
                    empty_log(plain, self.wait_s)
            if self._watermark is not None and (replaces or self._loss is None):
                self._loss = None
                self._watermark.write(newest)
            return result

        return self._with_retries(once)

    @contextmanager
    def _write_turn(self) -> Iterator[None]:
        """Wait for other threads that write to the file; SQLite would retry at random."""
        if not self.is_sqlite:
            yield
            return
        if not self._writes.acquire(timeout=self.wait_s):
            raise busy_error()
        try:
            yield
        finally:
            self._writes.release()

    def _newest(self, connection: Connection) -> NewestEntry | None:
        if self._watermark is None:
            return None
        columns = (HISTORY.c.id, HISTORY.c.token, HISTORY.c.at)
        newest = select(*columns).order_by(HISTORY.c.id.desc()).limit(1)
        row = connection.execute(newest).one_or_none()
        return None if row is None else NewestEntry(row.id, row.token, row.at.isoformat(" "))

    def _check_newest(self, connection: Connection) -> None:
        """Check whether the entry that was the newest still exists."""
        noted = self._watermark.read() if self._watermark is not None else None
        if noted is not None:
            there = select(HISTORY.c.id).where(HISTORY.c.token == noted.token)
            if connection.execute(there).first() is not None:
                noted = None
        self._loss = noted

    def _check_version(self, connection: Connection) -> None:
        """Check whether another rexview has changed the tables since they were opened."""
        if read_schema_version(connection) != SCHEMA_VERSION:
            self._ready = False
            raise _DatabaseReplaced
        self._version_seen = time.monotonic()

    def _take_lock(self, connection: Connection, lock: str) -> None:
        limit = max(1, round(self.wait_s * 1000))
        connection.execute(sql(f"SET LOCAL lock_timeout = {limit}"))
        connection.execute(sql("SET LOCAL synchronous_commit = on"))
        if lock != _MIGRATIONS:  # no migration may run in between
            lock_shared = sql("SELECT pg_advisory_xact_lock_shared(:number)")
            connection.execute(lock_shared, {"number": lock_number(_MIGRATIONS)})
        lock_alone = sql("SELECT pg_advisory_xact_lock(:number)")
        connection.execute(lock_alone, {"number": lock_number(lock)})

    def _with_retries(self, work: Callable[[], _Result]) -> _Result:
        """Run ``work``; retry while others are writing, and reconnect once if needed."""
        ends = time.monotonic() + self.wait_s
        dropped = False
        while True:
            try:
                self._make_ready()
                return work()
            except _DatabaseReplaced:
                if time.monotonic() >= ends:
                    raise busy_error() from None
                continue
            except UnicodeDecodeError:  # in the names of its tables and columns
                if self.file is None:
                    raise
                raise damaged_error(self.file) from None
            except _Errors as error:
                meaning = store_error(error, self.file)
                if meaning is None:
                    raise
                is_drop = isinstance(error, exc.DBAPIError) and error.connection_invalidated
                if is_drop and not dropped:
                    dropped = True
                    continue
                if not isinstance(meaning, StoreBusy) or time.monotonic() >= ends:
                    raise meaning from error
                time.sleep(random.uniform(0.02, 0.1))  # noqa: S311

    def _make_ready(self) -> None:
        """Create or migrate the tables once, and again when the file was replaced."""
        state = self._which_files()
        if state == self._ready:
            return
        with self._lock:
            state = self._which_files()
            if state == self._ready:
                return
            self._engine.dispose()
            if self.file is not None:
                try:
                    create_sqlite_file(self.file, self.wait_s)
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                        raise
                    raise damaged_error(self.file) from error  # of a format unknown to SQLite
                self._examine(self.file)
            with self._engine.connect() as connection:
                is_ready = (
                    find_schema_version(connection) == SCHEMA_VERSION
                )  # read without the lock for writing
            if not is_ready:
                self._migrate()
            if self.file is not None:
                with self._engine.connect() as connection:
                    self._check_newest(connection)
            self._ready = self._which_files()

    def _examine(self, file: Path) -> None:
        """Check the whole file; a damaged file is not checked again until it changes."""
        try:
            stat = file.stat()
        except OSError:
            raise folder_gone_error() from None
        state = (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if self._damaged is not None and self._damaged[0] == state:
            raise self._damaged[1]
        self._damaged = None
        try:
            self.changed = {entry.id: entry for entry in check_sqlite_file(file)}
        except DatabaseDamaged:
            self._damaged = (state, damaged_error(file))
            raise self._damaged[1] from None

    def _migrate(self) -> None:
        with self._engine.connect() as plain:
            connection = plain.execution_options(**{_WRITES: True})
            with connection.begin():
                if not self.is_sqlite:
                    self._take_lock(connection, _MIGRATIONS)
                migrate(connection)

    def _which_files(self) -> _WhichFiles | bool:
        """Identify the file and its ``-wal``; the result stays the same while we have it open."""
        if self.file is None:
            return True
        try:
            states = sqlite_file_states(self.file)
        except OSError as error:
            raise StoreUnreachable(
                "The reviews database cannot be opened.",
                "Check that its folder is there and that the app may read it.",
            ) from error
        return tuple(state and (state.st_dev, state.st_ino) for state in states)

    def _make_engine(self) -> Engine:
        if self.file is not None:
            engine = create_engine(
                self.url, creator=partial(open_sqlite_file, self.file, self.wait_s)
            )
            event.listen(engine, "connect", set_up_connection)
            event.listen(engine, "begin", _begin_transaction)
            return engine
        return create_engine(
            self.url,
            pool_pre_ping=True,
            pool_size=5,
            max_overflow=15,
            pool_timeout=self.wait_s,
            connect_args={
                "connect_timeout": 5,
                "application_name": "rexview",
                "client_encoding": "utf8",  # a database without an encoding would return bytes
            },
        )


def lock_number(name: str) -> int:
    """Return PostgreSQL's number for a lock."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)


def _driver_url(text: str) -> URL:
    """Return the address with our driver, whatever driver it names."""
    try:
        url = make_url(text.replace("postgres://", "postgresql://", 1))
    except (exc.ArgumentError, ValueError):
        raise StoreUnreachable(
            "The address of the reviews database cannot be understood.",
            "Correct the setting database_url.",
        ) from None
    driver = "sqlite+pysqlite" if url.get_backend_name() == "sqlite" else "postgresql+psycopg"
    return url.set(drivername=driver)


def _begin_transaction(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_databases: dict[str, ReviewsDatabase] = {}
_databases_lock: Final = Lock()


def open_reviews_database(url: str) -> ReviewsDatabase:
    """Return the database at an address: one object for all users in this process."""
    with _databases_lock:
        if url not in _databases:
            _databases[url] = ReviewsDatabase(url)
        return _databases[url]


def open_databases() -> tuple[ReviewsDatabase, ...]:
    """Return the databases that this process has open."""
    with _databases_lock:
        return tuple(_databases.values())


def close_database(file: Path) -> None:
    """Close the database of a SQLite file if this process has it open."""
    with _databases_lock:
        for database in _databases.values():
            if database.file == file:
                database.close()


def close_databases() -> None:
    """Close all databases of this process; they are opened again when needed."""
    with _databases_lock:
        for database in _databases.values():
            database.close()
        _databases.clear()


# Checks of a reviews database that change nothing: reachable, version, writable.

CHECK_WAIT_S = 3.0
"""How long a check waits for others who are writing, in seconds."""


@dataclass(frozen=True)
class DatabaseCheck:
    """Result of checking a database that can be written to.

    ``version`` is None if no tables exist yet. ``clock`` (UTC) is None for a file. ``changed``
    counts the entries of a file that were changed after they were written.
    """

    version: str | None
    clock: datetime | None
    changed: int


def check_database(url: str) -> DatabaseCheck:
    """Check a database; a test write runs in a transaction that is rolled back.

    Raises
    ------
    StoreNewer
        A newer rexview made it.
    StoreUnreachable, StoreBusy, StoreFull
        It is unreachable, refuses this app, is damaged, or cannot be written to.
    """
    database = ReviewsDatabase(url, wait_s=CHECK_WAIT_S)
    try:
        changed = 0 if database.file is None else _count_changed(database)
        version, clock = database.look(_try_server if database.file is None else _try_file)
    finally:
        database.close()
    return DatabaseCheck(version, clock, changed)


def _count_changed(database: ReviewsDatabase) -> int:
    file = database.file
    assert file is not None
    try:
        return len(check_sqlite_file(file))
    except DatabaseDamaged:
        raise damaged_error(file) from None
    except sqlite3.Error as error:
        if (meaning := store_error(error, file)) is None:
            raise
        raise meaning from error


def _try_file(connection: Connection) -> tuple[str | None, datetime | None]:
    version = find_schema_version(connection)
    check_not_newer(version)
    _try_to_insert(connection)
    return version, None


def _try_server(connection: Connection) -> tuple[str | None, datetime | None]:
    limit = round(CHECK_WAIT_S * 1000)
    connection.execute(text(f"SET LOCAL lock_timeout = {limit}"))
    connection.execute(text(f"SET LOCAL statement_timeout = {limit}"))
    version = find_schema_version(connection)
    check_not_newer(version)
    may_make = text("SELECT has_schema_privilege(current_schema(), 'CREATE')")
    read_only = text("SELECT current_setting('transaction_read_only') = 'on'")
    if version is None and (
        not connection.execute(may_make).scalar() or connection.execute(read_only).scalar()
    ):
        raise StoreUnreachable(
            "The database server does not let this app make its tables.",
            "Ask whoever runs it for the right to create and write tables.",
        )
    _try_to_insert(connection)
    now = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    return version, now.astimezone(UTC)


def _try_to_insert(connection: Connection) -> None:
    """Insert no rows into each existing table, which still requires the right to insert.

    No number of a sequence is used.
    """
    for name in sorted(METADATA.tables.keys() & set(inspect(connection).get_table_names())):
        connection.execute(text(f"INSERT INTO {name} SELECT * FROM {name} WHERE 1 = 0"))  # noqa: S608

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
from rexview.store.database.errors import busy, damaged, folder_gone, store_error
from rexview.store.database.migrate import check_not_newer, migrate, version_at, version_of
from rexview.store.database.sqlite_file import (
    NewestEntry,
    Watermark,
    empty_log,
    file_states,
    make_file,
    open_file,
    set_up,
)
from rexview.store.database.tables import HISTORY, METADATA, VERSION, ChangedEntry, Damaged, examine
from rexview.store.entry import Stored

WAIT_S: Final = 10.0
"""How long a write waits for others, in seconds."""
_WRITES: Final = "rexview_writes"
_MIGRATIONS: Final = "migrations"
_VERSION_EVERY_S: Final = 1.0
"""Before each write the version is looked at; before reading if that was longer ago."""
_Result = TypeVar("_Result")
_Errors: Final = (exc.SQLAlchemyError, sqlite3.Error)
_WhichFiles = tuple[tuple[int, int] | None, ...]
"""Which file it is, and which its ``-wal``: device and number; None for what is not there."""


class _Replaced(Exception):
    """It is no longer the file, or of the version, that was opened: nothing was written to it."""


class Database:
    """A reviews database. Safe to use from many threads, and from several processes at once.

    A SQLite file is made when the first entry is written; until then there is nothing to read. Its
    folder is never made, and it is checked as a whole when it is opened.

    Attributes
    ----------
    changed : mapping of int to ChangedEntry
        Entries that are not as they were written, by number: in a file all, as far as was seen
        when it was opened; else those that were read.
    """

    def __init__(self, url: str, *, wait_s: float = WAIT_S) -> None:
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
        """Return a connection for the caller alone, each statement by itself; they close it."""
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def look(self, work: Callable[[Connection], _Result]) -> _Result:
        """Do ``work`` in one transaction that may write and is rolled back, on a database as it is.

        Its tables are neither made nor brought up to date. Of a file, it has to be there.

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
        """Close all connections; they are opened anew when they are needed."""
        self._engine.dispose()

    def note_changed(self, rows: Iterable[Stored]) -> None:
        """Remember which rows of those that were read are not as they were written."""
        for row in rows:
            if not row.intact and row.id not in self.changed:
                at = row.at.isoformat(" ", "seconds")
                entry = ChangedEntry(row.id, row.kind, row.person, row.case or "", at)
                self.changed = {**self.changed, row.id: entry}

    def check_again(self) -> None:
        """Check the database anew when it is used next: its rows were replaced."""
        self.changed, self._ready = {}, False

    def newest_lost(self) -> NewestEntry | None:
        """Return the entry that was the newest in the file once and is not in it now, if any.

        It is looked for when the file is opened and before each write. Entries go when the file's
        ``-wal`` does, or when an older copy is put in its place.
        """
        if self._watermark is None or self.file is None:
            return None
        return self._loss if self.file.exists() else self._watermark.read()

    def accept_loss(self) -> None:
        """Go on without the entries that are missing."""
        self.write(lambda _connection: None, lock=_MIGRATIONS, replaces=True)

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
                if time.monotonic() - self._version_seen >= _VERSION_EVERY_S:
                    self._check_version(connection)
                return work(connection)

        return self._with_retries(once)

    def write(
        self, work: Callable[[Connection], _Result], *, lock: str, replaces: bool = False
    ) -> _Result:
        """Do ``work`` in one transaction, alone among all that use ``lock``; all of it or nothing.

        ``work`` may be done several times, the last time only with effect. ``replaces`` says that
        what it leaves is all that there is to be: entries that are gone then are not missed.

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
                        raise _Replaced
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
        """Wait for the other threads that write to a file: SQLite would have all try at random."""
        if not self.is_sqlite:
            yield
            return
        if not self._writes.acquire(timeout=self.wait_s):
            raise busy()
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
        """Look whether the entry that was the newest is there still."""
        noted = self._watermark.read() if self._watermark is not None else None
        if noted is not None:
            there = select(HISTORY.c.id).where(HISTORY.c.token == noted.token)
            if connection.execute(there).first() is not None:
                noted = None
        self._loss = noted

    def _check_version(self, connection: Connection) -> None:
        """Look whether another rexview has changed the tables since they were opened."""
        if version_at(connection) != VERSION:
            self._ready = False
            raise _Replaced
        self._version_seen = time.monotonic()

    def _take_lock(self, connection: Connection, lock: str) -> None:
        limit = max(1, round(self.wait_s * 1000))
        connection.execute(sql(f"SET LOCAL lock_timeout = {limit}"))
        connection.execute(sql("SET LOCAL synchronous_commit = on"))
        if lock != _MIGRATIONS:  # no step of the database comes in between
            lock_shared = sql("SELECT pg_advisory_xact_lock_shared(:number)")
            connection.execute(lock_shared, {"number": lock_number(_MIGRATIONS)})
        lock_alone = sql("SELECT pg_advisory_xact_lock(:number)")
        connection.execute(lock_alone, {"number": lock_number(lock)})

    def _with_retries(self, work: Callable[[], _Result]) -> _Result:
        """Do ``work``, again while others are writing; a dropped connection is made anew once."""
        ends = time.monotonic() + self.wait_s
        dropped = False
        while True:
            try:
                self._make_ready()
                return work()
            except _Replaced:
                if time.monotonic() >= ends:
                    raise busy() from None
                continue
            except UnicodeDecodeError:  # in the names of its tables and columns
                if self.file is None:
                    raise
                raise damaged(self.file) from None
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
        """Make or update the tables, once; anew when the file was put in place of another."""
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
                    make_file(self.file, self.wait_s)
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                        raise
                    raise damaged(self.file) from error  # of a format that SQLite does not know
                self._examine(self.file)
            with self._engine.connect() as connection:
                is_ready = version_of(connection) == VERSION  # asked without the lock for writing
            if not is_ready:
                self._migrate()
            if self.file is not None:
                with self._engine.connect() as connection:
                    self._check_newest(connection)
            self._ready = self._which_files()

    def _examine(self, file: Path) -> None:
        """Check a file as a whole; one that is damaged is not checked again as long as it is."""
        try:
            stat = file.stat()
        except OSError:
            raise folder_gone() from None
        state = (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if self._damaged is not None and self._damaged[0] == state:
            raise self._damaged[1]
        self._damaged = None
        try:
            self.changed = {entry.id: entry for entry in examine(file)}
        except Damaged:
            self._damaged = (state, damaged(file))
            raise self._damaged[1] from None

    def _migrate(self) -> None:
        with self._engine.connect() as plain:
            connection = plain.execution_options(**{_WRITES: True})
            with connection.begin():
                if not self.is_sqlite:
                    self._take_lock(connection, _MIGRATIONS)
                migrate(connection)

    def _which_files(self) -> _WhichFiles | bool:
        """Name the file and its ``-wal``, which stays the same as long as we have it open."""
        if self.file is None:
            return True
        try:
            states = file_states(self.file)
        except OSError as error:
            raise StoreUnreachable(
                "The reviews database cannot be opened.",
                "Check that its folder is there and that the app may read it.",
            ) from error
        return tuple(state and (state.st_dev, state.st_ino) for state in states)

    def _make_engine(self) -> Engine:
        if self.file is not None:
            engine = create_engine(self.url, creator=partial(open_file, self.file, self.wait_s))
            event.listen(engine, "connect", set_up)
            event.listen(engine, "begin", _begin)
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
                "client_encoding": "utf8",  # of a database without an encoding, bytes would come
            },
        )


def lock_number(name: str) -> int:
    """Return the number by which PostgreSQL knows a lock."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)


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


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_databases: dict[str, Database] = {}
_databases_lock: Final = Lock()


def database_at(url: str) -> Database:
    """Return the database at an address: one object for all who use it in this process."""
    with _databases_lock:
        if url not in _databases:
            _databases[url] = Database(url)
        return _databases[url]


def open_databases() -> tuple[Database, ...]:
    """Return the databases that this process uses."""
    with _databases_lock:
        return tuple(_databases.values())


def close_database(file: Path) -> None:
    """Close the database of a SQLite file, where this process has it open."""
    with _databases_lock:
        for database in _databases.values():
            if database.file == file:
                database.close()


def close_databases() -> None:
    """Close all databases of this process; they are opened anew when they are needed."""
    with _databases_lock:
        for database in _databases.values():
            database.close()
        _databases.clear()


# A reviews database looked at as it is: reached, of which version, writable; nothing changes.

LOOK_S = 3.0
"""So long it waits for others who are writing, in seconds."""


@dataclass(frozen=True)
class DatabaseCheck:
    """What was seen of a database that can be written to.

    ``version`` is None where nothing has been made in it yet, ``clock`` (UTC) for a file.
    ``changed`` counts the entries of a file that are not as they were written.
    """

    version: str | None
    clock: datetime | None
    changed: int


def check_database(url: str) -> DatabaseCheck:
    """Look at a database; that it takes entries is tried in a transaction that is rolled back.

    Raises
    ------
    StoreNewer
        A newer rexview made it.
    StoreUnreachable, StoreBusy, StoreFull
        It is away, refuses this app, is damaged, or may not be written to.
    """
    database = Database(url, wait_s=LOOK_S)
    try:
        changed = 0 if database.file is None else _changed(database)
        version, clock = database.look(_try if database.file is None else _try_file)
    finally:
        database.close()
    return DatabaseCheck(version, clock, changed)


def _changed(database: Database) -> int:
    file = database.file
    assert file is not None
    try:
        return len(examine(file))
    except Damaged:
        raise damaged(file) from None
    except sqlite3.Error as error:
        if (meaning := store_error(error, file)) is None:
            raise
        raise meaning from error


def _try_file(connection: Connection) -> tuple[str | None, datetime | None]:
    version = version_of(connection)
    check_not_newer(version)
    _try_to_insert(connection)
    return version, None


def _try(connection: Connection) -> tuple[str | None, datetime | None]:
    limit = round(LOOK_S * 1000)
    connection.execute(text(f"SET LOCAL lock_timeout = {limit}"))
    connection.execute(text(f"SET LOCAL statement_timeout = {limit}"))
    version = version_of(connection)
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
    """Insert no rows into each table that is there: the right to do so is asked for all the same.

    Not even a number of a sequence is used.
    """
    for name in sorted(METADATA.tables.keys() & set(inspect(connection).get_table_names())):
        connection.execute(text(f"INSERT INTO {name} SELECT * FROM {name} WHERE 1 = 0"))  # noqa: S608

"""A reviews database looked at as it is: reached, of which version, writable; nothing changes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, inspect, text

from rexview.errors import StoreUnreachable
from rexview.store.database.connection import Database
from rexview.store.database.errors import damaged, store_error
from rexview.store.database.integrity import Damaged, examine
from rexview.store.database.migrate import check_not_newer, version_of
from rexview.store.database.tables import METADATA

LOOK_S = 3.0
"""So long it waits for others who are writing, in seconds."""


@dataclass(frozen=True)
class Looked:
    """What was seen of a database that can be written to.

    ``version`` is None where nothing has been made in it yet, ``clock`` (UTC) for a file.
    ``changed`` counts the entries of a file that are not as they were written.
    """

    version: str | None
    clock: datetime | None
    changed: int


def look_at(url: str) -> Looked:
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
    return Looked(version, clock, changed)


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

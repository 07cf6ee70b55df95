"""The SQLite file of a reviews database: made, opened, its connections set up, its log emptied."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from rexview.store.database.errors import cannot_make, folder_gone
from rexview.store.location import data_folder

TOLERANT_TEXT: Final = partial(str, encoding="utf-8", errors="replace")
"""How bytes in a file become text: damaged ones can be read, and are found by the checksum."""


def make_file(file: Path, wait_s: float) -> None:
    """Make a SQLite file if there is none, with a log of its own so that readers need not wait.

    The folder of a review set is never made: it may have been renamed, and what is written now
    would be seen by nobody. Only the one in the user's data folder is.
    """
    try:
        if file.parent == data_folder():
            file.parent.mkdir(parents=True, exist_ok=True)
        # only where there is none: to close a file that SQLite has open in this process takes away
        # its locks, and another process would take itself for the last one and remove the -wal
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644))
    except FileExistsError:
        pass
    except (FileNotFoundError, NotADirectoryError):
        raise folder_gone() from None
    except OSError as error:
        raise cannot_make(error, file) from error
    with closing(open_file(file, wait_s)) as connection:
        connection.isolation_level = None
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            connection.execute("PRAGMA journal_mode = WAL")


def open_file(file: Path, wait_s: float, how: str = "mode=rw") -> sqlite3.Connection:
    """Open a SQLite file that is there; none is made, as its folder may just have been renamed.

    ``how`` is a query of SQLite's file addresses: ``immutable=1`` reads a file as it is, also where
    nothing may be written.
    """
    address = f"{file.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=wait_s, check_same_thread=False)
    connection.text_factory = TOLERANT_TEXT
    return connection


def file_states(file: Path) -> tuple[os.stat_result | None, ...]:
    """Return the state of a SQLite file and of its ``-wal``; None for what is not there.

    Raises
    ------
    OSError
        It cannot be told whether one is there.
    """
    found: list[os.stat_result | None] = []
    for one in (file, file.with_name(f"{file.name}-wal")):
        try:
            found.append(one.stat())
        except FileNotFoundError:
            found.append(None)
    return tuple(found)


def set_up(connection: Any, _record: Any) -> None:
    """Set a connection up: what it says is written survives a power cut."""
    connection.isolation_level = None  # we begin transactions ourselves
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def empty_log(connection: Connection, wait_s: float) -> None:
    """Bring what was written on into the file itself, and leave nothing in its ``-wal``.

    So a ``-wal`` that is lost or not copied costs no entry, and one that is left behind is not
    taken for that of another file. Where somebody reads, the next write does it.
    """
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute("PRAGMA busy_timeout = 0")
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error:
        pass  # what was to be saved is saved
    finally:
        driver.execute(f"PRAGMA busy_timeout = {round(wait_s * 1000)}")

"""The SQLite file of a reviews database: made, opened, its connections set up, its log emptied."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from rexview.store.database.errors import cannot_make, folder_gone
from rexview.store.database.integrity import TOLERANT_TEXT
from rexview.store.location import data_folder


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
    connection = open_file(file, wait_s)
    try:
        connection.isolation_level = None
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def open_file(file: Path, wait_s: float) -> sqlite3.Connection:
    """Open a SQLite file that is there; none is made, as its folder may just have been renamed."""
    address = f"{file.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=wait_s, check_same_thread=False)


def set_up(connection: Any, _record: Any) -> None:
    """Set a connection up: what it says is written survives a power cut."""
    connection.isolation_level = None  # we begin transactions ourselves
    connection.text_factory = TOLERANT_TEXT
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


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

"""The SQLite file of a reviews database: create, open, set up connections, empty its log."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from rexview.store.database.errors import creation_error, folder_gone_error
from rexview.store.database_location import data_folder

TOLERANT_TEXT: Final = partial(str, encoding="utf-8", errors="replace")
"""Decode bytes from a file; damaged text can be read, and its checksum shows the damage."""
_NOTE_BYTES: Final = 200
"""Fixed size of the note in bytes; it is overwritten in place, which also works on a full disk."""


def create_sqlite_file(file: Path, wait_s: float) -> None:
    """Create a SQLite file in WAL mode if there is none, so that readers need not wait.

    The folder of a review set is never created. It may have been renamed, and nobody would see what
    is written to a new one. Only the folder in the user's data folder is created.
    """
    try:
        if file.parent == data_folder():
            file.parent.mkdir(parents=True, exist_ok=True)
        # Only if there is none: closing a file that SQLite has open in this process releases its
        # locks. Another process would then take itself for the last one and remove the -wal.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644))
    except FileExistsError:
        pass
    except (FileNotFoundError, NotADirectoryError):
        raise folder_gone_error() from None
    except OSError as error:
        raise creation_error(error) from error
    with closing(open_sqlite_file(file, wait_s)) as connection:
        connection.isolation_level = None
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            connection.execute("PRAGMA journal_mode = WAL")


def open_sqlite_file(file: Path, wait_s: float, how: str = "mode=rw") -> sqlite3.Connection:
    """Open an existing SQLite file; none is created, since its folder may just have been renamed.

    ``how`` is a query of SQLite's file addresses. ``immutable=1`` reads a file unchanged, even
    where nothing may be written.
    """
    address = f"{file.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=wait_s, check_same_thread=False)
    connection.text_factory = TOLERANT_TEXT
    return connection


def sqlite_file_states(file: Path) -> tuple[os.stat_result | None, ...]:
    """Return the state of a SQLite file and of its ``-wal``; None for a missing file.

    Raises
    ------
    OSError
        It is unknown whether one exists.
    """
    found: list[os.stat_result | None] = []
    for one in (file, file.with_name(f"{file.name}-wal")):
        try:
            found.append(one.stat())
        except FileNotFoundError:
            found.append(None)
    return tuple(found)


def set_up_connection(connection: Any, _record: Any) -> None:
    """Set up a connection so that committed data survives a power cut."""
    connection.isolation_level = None  # we begin transactions ourselves
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def empty_log(connection: Connection, wait_s: float) -> None:
    """Copy the log into the file itself, and leave nothing in its ``-wal``.

    So a lost or uncopied ``-wal`` costs no entry, and a stale one is not taken for that of another
    file. If somebody is reading, the next write does it.
    """
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute("PRAGMA busy_timeout = 0")
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error:
        pass  # the data is saved already
    finally:
        driver.execute(f"PRAGMA busy_timeout = {round(wait_s * 1000)}")


@dataclass(frozen=True)
class NewestEntry:
    """The newest entry: its ``token``, its row id and the time at which it was written (UTC)."""

    id: int
    token: str
    at: str


class Watermark:
    """The newest entry of a SQLite database, recorded in a separate file.

    SQLite keeps the newest entries in a second file, ``-wal``, until they are copied into the
    first. If that file is lost, so are they, and nothing in the database shows it. This record is
    in neither of the two files, so the loss is noticed.
    """

    def __init__(self, database: Path) -> None:
        # not called reviews.sqlite-…: removing SQLite's companion files must not remove it
        self.file: Final = database.with_suffix(".newest")

    def read(self) -> NewestEntry | None:
        """Return the recorded entry; None if there is none or it is unreadable."""
        try:
            found = json.loads(self.file.read_bytes())
            return NewestEntry(int(found["id"]), str(found["token"]), str(found["at"]))
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def write(self, entry: NewestEntry | None) -> None:
        """Record an entry, or that there is none; if that fails, the older record stays.

        A record older than the database never causes a false alarm, and the entries are saved. So a
        failure is ignored.
        """
        try:
            if entry is None:
                self.file.unlink(missing_ok=True)
                return
            text = json.dumps(asdict(entry)).encode("ascii").ljust(_NOTE_BYTES - 1) + b"\n"
            number = os.open(
                self.file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644
            )
            try:
                os.write(number, text)
            finally:
                os.close(number)
        except OSError:
            pass

"""The SQLite file of a reviews database: made, opened, its connections set up, its log emptied."""

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

from rexview.store.database.errors import cannot_make, folder_gone
from rexview.store.location import data_folder

TOLERANT_TEXT: Final = partial(str, encoding="utf-8", errors="replace")
"""How bytes in a file become text: damaged ones can be read, and are found by the checksum."""
_NOTE_BYTES: Final = 200
"""Bytes of the note, always the same: it is written in place, which a full disk allows, too."""


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
        raise cannot_make(error) from error
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


@dataclass(frozen=True)
class NewestEntry:
    """The entry that was the newest: its ``token``, its number and when it was written (UTC)."""

    id: int
    token: str
    at: str


class Watermark:
    """The newest entry of a SQLite database, noted in a file of its own beside it.

    SQLite keeps the newest entries in a second file, ``-wal``, until they are copied into the
    first. If that file goes, so do they, and nothing in the database tells. What is noted here
    after each entry is in neither of the two, so that the loss is noticed.
    """

    def __init__(self, database: Path) -> None:
        # not called reviews.sqlite-…: whoever removes SQLite's companions does not remove it
        self.file: Final = database.with_suffix(".newest")

    def read(self) -> NewestEntry | None:
        """Return what is noted; None where nothing is, or nothing that can be read."""
        try:
            found = json.loads(self.file.read_bytes())
            return NewestEntry(int(found["id"]), str(found["token"]), str(found["at"]))
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def write(self, entry: NewestEntry | None) -> None:
        """Note an entry, or that there is none; where that cannot be, the older note stays.

        An older note than the database never leads to a false alarm, so that nothing is done about
        it: what was to be saved is saved.
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

"""Backups: a copy of a SQLite file, or the rows of the history as lines, restored into either.

A backup is a SQLite file made while others may be writing, or, of a database server, one JSON
object a line: a heading, the rows, and an end with their number and a digest. Both are checked
before anything is restored.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Select, func, insert, select, text
from sqlalchemy.exc import IntegrityError

from rexview.bounded import check_file
from rexview.errors import BackupError, FileRefused
from rexview.store.database import Database
from rexview.store.location import data_folder
from rexview.store.reviews import Reviews
from rexview.store.tables import HISTORY, VERSION
from rexview.store.trouble import store_error

_FORMAT: Final = "rexview reviews 1"
_LONGEST_FILE: Final = 20_000_000_000
_SQLITE_HEAD: Final = b"SQLite format 3\x00"
_BATCH: Final = 500
_COLUMNS: Final = tuple(column.name for column in HISTORY.columns if column.name != "id")
Row = dict[str, Any]


@dataclass(frozen=True)
class BackupReport:
    """What a backup holds, or what was restored: ``entries`` and where to."""

    entries: int
    file: Path
    kept: Path | None = None
    """Where what was replaced is kept."""


def backup(reviews: Reviews, file: Path) -> BackupReport:
    """Write all entries of a review set to a new file; others may go on writing meanwhile.

    Raises
    ------
    BackupError
        There is such a file already, or it cannot be written.
    StoreUnreachable, StoreBusy
    """
    file = Path(file)
    if file.exists():
        raise BackupError(f"There is a file {file.name} already; it was left as it is.")
    database = reviews.database
    with _beside(file) as part:
        if database.file is not None and reviews.own:
            if not database.file.exists():
                raise BackupError("Nothing has been written yet, so there is nothing to back up.")
            reviews.revision()  # brings an older database up to date
            _copy_sqlite(database.file, part)
            entries = _check_sqlite(part)
        else:
            entries = _write_lines(part, reviews)
    return BackupReport(entries, file)


def restore(file: Path, reviews: Reviews, *, replace: bool = False) -> BackupReport:
    """Put the entries of a backup into the database of a review set.

    Parameters
    ----------
    file : Path
        A backup of either kind.
    reviews : Reviews
        The set that they become entries of.
    replace : bool
        Whether entries that are there already may be taken away. They are backed up first, into
        the user's data folder.

    Raises
    ------
    BackupError
        The file is not a whole backup, holds several sets and not this one, or there are entries
        and ``replace`` is not set. Nothing was changed.
    StoreError
        The database cannot be written to. Nothing was changed.
    """
    rows = _read(Path(file), reviews.key)
    kept = None
    present = _count(reviews)
    if present:
        if not replace:
            entries = "1 entry" if present == 1 else f"{present:,} entries"
            raise BackupError(
                f"There are {entries} in the database already; nothing was restored. To put the "
                "backup in their place, say --replace: they are backed up first."
            )
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        kept = data_folder() / f"replaced-{now}{_ending(reviews)}"
        backup(reviews, kept)
    key = reviews.key

    def work(connection: Connection) -> None:
        if connection.scalar(_counted(key)) != present:
            raise BackupError("Somebody wrote meanwhile; nothing was restored. Try again.")
        if present:
            _take_away(connection, key, reviews.database)
        try:
            for start in range(0, len(rows), _BATCH):
                part = [{**row, "review_set": key} for row in rows[start : start + _BATCH]]
                connection.execute(insert(HISTORY), part)
        except IntegrityError as error:
            raise BackupError(
                "Entries of the backup are in this database already, under another review set; "
                "nothing was restored. Give the set the id under which they were written."
            ) from error

    reviews.database.write(work, lock=reviews.lock)
    return BackupReport(len(rows), Path(file), kept)


def _counted(key: str) -> Select[Any]:
    return select(func.count()).where(HISTORY.c.review_set == key)


def _count(reviews: Reviews) -> int:
    return next((int(row[0]) for row in reviews.database.rows(_counted(reviews.key))), 0)


def _ending(reviews: Reviews) -> str:
    return ".sqlite" if reviews.database.is_sqlite and reviews.own else ".jsonl"


def _take_away(connection: Connection, key: str, database: Database) -> None:
    """Remove the rows of a set: the one thing that the database refuses anybody else."""
    if not database.is_sqlite:
        connection.execute(text("ALTER TABLE history DISABLE TRIGGER history_no_change"))
        connection.execute(HISTORY.delete().where(HISTORY.c.review_set == key))
        connection.execute(text("ALTER TABLE history ENABLE TRIGGER history_no_change"))
        return
    made = connection.execute(
        text("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = 'history_no_delete'")
    ).scalar_one()
    connection.execute(text("DROP TRIGGER history_no_delete"))
    connection.execute(HISTORY.delete().where(HISTORY.c.review_set == key))
    connection.exec_driver_sql(made)


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """Give a name to write to; the file appears under its own name when it is whole."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        os.close(number)
    except OSError as error:
        raise BackupError(f"{file.name} cannot be written: {error.strerror}.") from error
    part = Path(name)
    try:
        yield part
        with part.open("rb") as whole:
            os.fsync(whole.fileno())
        part.rename(file)
    except OSError as error:
        raise BackupError(f"{file.name} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


def _copy_sqlite(source: Path, target: Path) -> None:
    try:
        with _sqlite(source) as given, _sqlite(target) as copy:
            given.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
    except sqlite3.Error as error:
        raise store_error(error, target) or _not_whole(source, str(error)) from error


@contextmanager
def _sqlite(file: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(file, timeout=10)
    try:
        yield connection
    finally:
        connection.close()


def _check_sqlite(file: Path) -> int:
    """Return the number of entries of a whole SQLite backup."""
    try:
        with _sqlite(file) as connection:
            problems = connection.execute("PRAGMA integrity_check").fetchall()
            (entries,) = connection.execute("SELECT count(*) FROM history").fetchone()
    except sqlite3.Error as error:
        raise _not_whole(file, str(error)) from error
    if problems != [("ok",)]:
        raise _not_whole(file, "the database is damaged")
    return int(entries)


def _not_whole(file: Path, why: str) -> BackupError:
    return BackupError(f"{file.name} is not a whole backup: {why}. Nothing was restored.")


def _write_lines(part: Path, reviews: Reviews) -> int:
    rows = select(HISTORY).where(HISTORY.c.review_set == reviews.key).order_by(HISTORY.c.id)
    digest, entries = hashlib.sha256(), 0
    with part.open("w", encoding="ascii", newline="\n") as file:
        heading = {"backup": _FORMAT, "version": VERSION, "made": _moment(datetime.now(UTC))}
        file.write(json.dumps(heading) + "\n")
        for row in reviews.database.rows(rows):
            line = json.dumps({name: _plain(getattr(row, name)) for name in _COLUMNS})
            digest.update(line.encode())
            file.write(line + "\n")
            entries += 1
        file.write(json.dumps({"entries": entries, "sha256": digest.hexdigest()}) + "\n")
    return entries


def _plain(value: Any) -> Any:
    return _moment(value) if isinstance(value, datetime) else value


def _moment(value: datetime) -> str:
    return value.isoformat()


def _read(file: Path, key: str) -> list[Row]:
    """Read the rows of a backup, oldest first, after checking that it is whole."""
    try:
        check_file(file, _LONGEST_FILE)
        with file.open("rb") as opened:
            is_sqlite = opened.read(len(_SQLITE_HEAD)) == _SQLITE_HEAD
        rows = _rows_of_sqlite(file) if is_sqlite else _rows_of_lines(file)
    except OSError as error:
        raise BackupError(f"{file.name} cannot be read: {error.strerror}.") from error
    except FileRefused as refusal:
        raise BackupError(f"{file.name} is no backup. {refusal}") from None
    sets = {row["review_set"] for row in rows}
    if len(sets) > 1:
        rows = [row for row in rows if row["review_set"] == key]
    if not rows:
        raise BackupError(f"{file.name} holds no entries of this review set.")
    return rows


def _rows_of_sqlite(file: Path) -> list[Row]:
    """Read a SQLite backup from a copy, which may have to be brought up to date."""
    _check_sqlite(file)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "backup.sqlite"
        _copy_sqlite(file, copy)
        database = Database(f"sqlite:///{copy}")
        try:
            rows = database.rows(select(HISTORY).order_by(HISTORY.c.id))
            return [{name: getattr(row, name) for name in _COLUMNS} for row in rows]
        finally:
            database.close()


def _rows_of_lines(file: Path) -> list[Row]:
    try:
        lines = file.read_text(encoding="ascii").splitlines()
        heading, ending = json.loads(lines[0]), json.loads(lines[-1])
        if heading["backup"] != _FORMAT or heading["version"] > VERSION:
            raise BackupError(f"{file.name} was made by a newer rexview. Update rexview.")
        digest = hashlib.sha256("".join(lines[1:-1]).encode())
        if ending != {"entries": len(lines) - 2, "sha256": digest.hexdigest()}:
            raise _not_whole(file, "its end does not fit its rows")
        return list(map(_row, map(json.loads, lines[1:-1])))
    except (ValueError, LookupError, TypeError) as error:
        raise _not_whole(file, "it is not one of ours") from error


def _row(given: Row) -> Row:
    row = {name: given[name] for name in _COLUMNS}
    return row | {"at": datetime.fromisoformat(row["at"])}

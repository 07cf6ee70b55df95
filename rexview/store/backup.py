"""Back up and restore reviews: a copy of a SQLite file, or the history's rows as lines.

A backup of a SQLite file is another SQLite file. It is made while others may be writing. A backup
of a database server has one JSON object a line: a heading, the rows, and an end with the number of
rows and a digest. Both are checked before anything is restored.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Connection, insert, or_, select, text
from sqlalchemy.exc import IntegrityError

from rexview.errors import BackupError, FileRefused
from rexview.store.blinding_key import adopt_blinding_key, first_blinding_key
from rexview.store.database.connection import ReviewsDatabase
from rexview.store.database.errors import store_error
from rexview.store.database.sqlite_file import TOLERANT_TEXT, open_sqlite_file
from rexview.store.database.tables import (
    CHECKSUM,
    HISTORY,
    SCHEMA_VERSION,
    SECRETS,
    DatabaseDamaged,
    check_sqlite_file,
    checksum,
    is_intact,
)
from rexview.store.database_location import data_folder
from rexview.store.reviews import Reviews
from rexview.untrusted_input import check_regular_file
from rexview.vocab import english_count

_FORMAT: Final = "rexview reviews 1"
_LONGEST_FILE: Final = 20_000_000_000
_SQLITE_HEAD: Final = b"SQLite format 3\x00"
_BATCH: Final = 500
_COLUMNS: Final = tuple(column.name for column in HISTORY.columns if column.name != "id")
HistoryRow = dict[str, Any]


@dataclass(frozen=True)
class BackupReport:
    """What a backup contains, or what was restored: the number of ``entries`` and the file."""

    entries: int
    file: Path
    kept: Path | None = None
    """Backup of the entries that were replaced."""
    changed: int = 0
    """How many of the entries were changed after they were written; they stay marked as changed."""


def write_backup(reviews: Reviews, file: Path) -> BackupReport:
    """Write all entries of a review set to a new file while others may go on writing.

    Raises
    ------
    BackupError
        The file exists already or cannot be written.
    StoreUnreachable, StoreBusy
    """
    file = Path(file)
    if file.exists():
        raise BackupError(f"There is a file {file.name} already; it was left as it is.")
    database = reviews.database
    with _temporary_file(file) as part:
        if database.file is not None and reviews.dedicated:
            if not database.file.exists():
                raise BackupError("Nothing has been written yet, so there is nothing to back up.")
            reviews.revision()  # brings an older database up to date
            _copy_sqlite(database.file, part)
            entries, changed = _check_sqlite(part)
        else:
            entries, changed = _write_lines(part, reviews)
    return BackupReport(entries, file, changed=changed)


def restore_backup(file: Path, reviews: Reviews, *, replace: bool = False) -> BackupReport:
    """Restore a backup, of either kind, into the database of a review set.

    With ``replace``, entries already in the database are removed. They are first backed up into the
    user's data folder.

    Raises
    ------
    BackupError
        The backup is incomplete, or holds several sets but not this one. Or the database has
        entries and ``replace`` is not set. Nothing was changed.
    StoreError
        The database cannot be written to. Nothing was changed.
    """
    rows, letters = _read(Path(file), reviews.key)
    kept = None
    present = reviews.database.read(lambda connection: len(present_rows(connection, reviews)), 0)
    if present:
        if not replace:
            raise BackupError(
                f"There are {english_count(present, 'entry')} in the database already; nothing was "
                "restored. To put the backup in their place, say --replace: they are backed up "
                "first."
            )
        kept = backup_present_entries(reviews, f"replaced-{timestamp_for_file()}")
    key = reviews.key

    def work(connection: Connection) -> None:
        rows_now = present_rows(connection, reviews)
        if len(rows_now) != present:
            raise BackupError("Somebody wrote meanwhile; nothing was restored. Try again.")
        if present:
            remove_rows(connection, rows_now, reviews)
        try:
            insert_rows(connection, key, rows)
        except IntegrityError as error:
            raise BackupError(
                "Entries of the backup are in this database already, under another review set; "
                "nothing was restored. Give the set the id under which they were written."
            ) from error
        adopt_blinding_key(connection, key, letters, replaces=True)

    reviews.database.write(work, lock=reviews.lock, replaces=True)
    reviews.database.check_again()
    changed = sum(not is_intact(row) for row in rows)
    return BackupReport(len(rows), Path(file), kept, changed)


def backup_present_entries(reviews: Reviews, name: str) -> Path:
    """Back up the present entries before they are replaced, into the user's data folder."""
    ending = ".sqlite" if reviews.database.is_sqlite and reviews.dedicated else ".jsonl"
    return write_backup(reviews, data_folder() / f"{name}{ending}").file


def timestamp_for_file() -> str:
    """Return the current time in the form used in file names."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")


def insert_rows(connection: Connection, key: str, rows: Sequence[HistoryRow]) -> None:
    """Add rows to the history of a set, in their order."""
    for start in range(0, len(rows), _BATCH):
        part = [_with_set_key(row, key) for row in rows[start : start + _BATCH]]
        connection.execute(insert(HISTORY), part)


def _with_set_key(row: HistoryRow, key: str) -> HistoryRow:
    """Return a row with another set's key and a new checksum; a changed row stays recognisable."""
    moved = {**row, "review_set": key}
    if is_intact(row):
        return {**moved, CHECKSUM: checksum(moved)}
    return {name: _storable(moved[name], HISTORY.c[name]) for name in moved}


def _storable(value: Any, column: Column[Any]) -> Any:
    """Return a damaged value in a form that any database accepts."""
    if column.name == "picture":
        return value if isinstance(value, int) else None
    if isinstance(value, bytes):
        value = TOLERANT_TEXT(value)
    if isinstance(value, str):
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return "" if value is None and not column.nullable else value


def present_rows(connection: Connection, reviews: Reviews) -> dict[int, HistoryRow]:
    """Return the rows of a set by row id, oldest first.

    In a dedicated database these include changed rows, whatever set they now name.
    """
    rows = select(HISTORY).order_by(HISTORY.c.id)
    if not reviews.dedicated:
        rows = rows.where(HISTORY.c.review_set == reviews.key)
    found = {row.id: row_columns(row) for row in connection.execute(rows)}
    key = reviews.key
    return {
        number: row
        for number, row in found.items()
        if row["review_set"] == key or not is_intact(row)
    }


def remove_rows(connection: Connection, rows: Mapping[int, HistoryRow], reviews: Reviews) -> None:
    """Remove rows of a set, by row id; the database refuses this from everybody else."""
    others = [number for number, row in rows.items() if row["review_set"] != reviews.key]
    gone = or_(HISTORY.c.review_set == reviews.key, HISTORY.c.id.in_(others))
    if not reviews.database.is_sqlite:
        connection.execute(text("ALTER TABLE history DISABLE TRIGGER history_no_change"))
        connection.execute(HISTORY.delete().where(gone))
        connection.execute(text("ALTER TABLE history ENABLE TRIGGER history_no_change"))
        return
    made = connection.execute(
        text("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = 'history_no_delete'")
    ).scalar_one()
    connection.execute(text("DROP TRIGGER history_no_delete"))
    connection.execute(HISTORY.delete().where(gone))
    connection.exec_driver_sql(made)


@contextmanager
def _temporary_file(file: Path) -> Iterator[Path]:
    """Yield a temporary file to write to, and rename it to ``file`` when it is complete."""
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
        target.touch()
        with (
            closing(open_sqlite_file(source, 10)) as given,
            closing(open_sqlite_file(target, 10)) as copy,
        ):
            given.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a separate log
    except sqlite3.Error as error:
        raise store_error(error, target) or _damaged_backup(source, str(error)) from error


def _check_sqlite(file: Path) -> tuple[int, int]:
    """Return the number of entries in an intact SQLite backup, and how many were changed."""
    try:
        changed = check_sqlite_file(file)
        with closing(open_sqlite_file(file, 10)) as connection:
            (entries,) = connection.execute("SELECT count(*) FROM history").fetchone()
    except sqlite3.Error as error:
        raise _damaged_backup(file, str(error)) from error
    except DatabaseDamaged:
        raise _damaged_backup(file, "the database is damaged") from None
    return int(entries), len(changed)


def _damaged_backup(file: Path, why: str) -> BackupError:
    return BackupError(f"{file.name} is not a whole backup: {why}. Nothing was changed.")


def _write_lines(part: Path, reviews: Reviews) -> tuple[int, int]:
    rows = select(HISTORY).where(HISTORY.c.review_set == reviews.key).order_by(HISTORY.c.id)
    digest, entries, changed = hashlib.sha256(), 0, 0
    with part.open("w", encoding="ascii", newline="\n") as file:
        heading = {
            "backup": _FORMAT,
            "version": SCHEMA_VERSION,
            "made": datetime.now(UTC).isoformat(),
        }
        known = select(SECRETS.c.letters).where(SECRETS.c.review_set == reviews.key)
        for row in reviews.database.rows(known):
            heading["letters"] = row.letters
        file.write(json.dumps(heading) + "\n")
        for row in reviews.database.rows(rows):
            line = json.dumps(row_columns(row), default=_json_text)
            digest.update(line.encode())
            file.write(line + "\n")
            entries += 1
            changed += not is_intact(row._asdict())
        file.write(json.dumps({"entries": entries, "sha256": digest.hexdigest()}) + "\n")
    return entries, changed


def _json_text(value: datetime | bytes) -> str:
    return value.isoformat() if isinstance(value, datetime) else TOLERANT_TEXT(value)


def _read(file: Path, key: str) -> tuple[list[HistoryRow], str | None]:
    """Read from a backup the rows that belong to a set, and the set's blinding key.

    The key is None in a backup older than blinding keys.
    """
    rows, letters = read_backup(file)
    sets = intact_sets(rows)
    if len(sets) > 1:
        rows = [row for row in rows if row["review_set"] == key]
    if not rows:
        raise BackupError(f"{file.name} holds no entries of this review set.")
    return rows, first_blinding_key(letters, intact_sets(rows) or letters)


def intact_sets(rows: Iterable[HistoryRow]) -> tuple[str, ...]:
    """Return the sets of the intact rows; a damaged row may name another set."""
    return tuple(dict.fromkeys(row["review_set"] for row in rows if is_intact(row)))


def read_backup(file: Path) -> tuple[list[HistoryRow], dict[str, str]]:
    """Read a backup or a SQLite file after checking that it is complete.

    Returns
    -------
    rows : list of dict
        Oldest first.
    letters : dict of str to str
        Blinding keys of answers, by set.

    Raises
    ------
    BackupError
    """
    try:
        check_regular_file(file, _LONGEST_FILE)
        with file.open("rb") as opened:
            is_sqlite = opened.read(len(_SQLITE_HEAD)) == _SQLITE_HEAD
        return _rows_of_sqlite(file) if is_sqlite else _rows_of_lines(file)
    except OSError as error:
        raise BackupError(f"{file.name} cannot be read: {error.strerror}.") from error
    except FileRefused as refusal:
        raise BackupError(f"{file.name} is no backup. {refusal}") from None


def _rows_of_sqlite(file: Path) -> tuple[list[HistoryRow], dict[str, str]]:
    """Read the rows of a SQLite file, oldest first, from a copy that is migrated if needed."""
    _check_sqlite(file)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "backup.sqlite"
        _copy_sqlite(file, copy)
        database = ReviewsDatabase(f"sqlite:///{copy}")
        try:
            rows = database.rows(select(HISTORY).order_by(HISTORY.c.id))
            letters = {row.review_set: row.letters for row in database.rows(select(SECRETS))}
            return list(map(row_columns, rows)), letters
        finally:
            database.close()


def row_columns(row: Any) -> HistoryRow:
    """Return the columns of a row of the history, without its id."""
    return {name: getattr(row, name) for name in _COLUMNS}


def _rows_of_lines(file: Path) -> tuple[list[HistoryRow], dict[str, str]]:
    try:
        lines = file.read_text(encoding="ascii").splitlines()
        heading, ending = json.loads(lines[0]), json.loads(lines[-1])
        if heading["backup"] != _FORMAT or heading["version"] > SCHEMA_VERSION:
            raise BackupError(f"{file.name} was made by a newer rexview. Update rexview.")
        digest = hashlib.sha256("".join(lines[1:-1]).encode())
        if ending != {"entries": len(lines) - 2, "sha256": digest.hexdigest()}:
            raise _damaged_backup(file, "its end does not fit its rows")
        rows = list(map(_row, map(json.loads, lines[1:-1])))
        letters = heading.get("letters")
        if letters is not None:
            bytes.fromhex(letters)
        return rows, {} if letters is None else dict.fromkeys(intact_sets(rows)[:1], letters)
    except (ValueError, LookupError, TypeError) as error:
        raise _damaged_backup(file, "it is not one of ours") from error


def _row(given: HistoryRow) -> HistoryRow:
    # a backup from an older version lacks the newer columns, which may all be empty
    row = {name: given[name] for name in _COLUMNS if name in given or not HISTORY.c[name].nullable}
    row = {**dict.fromkeys(_COLUMNS), **row}
    return row | {"at": datetime.fromisoformat(row["at"])}

"""Several databases of one review set joined into one: every entry of each, none twice.

There come to be several where the set's folder could not be written to for a while, when the
setting ``database_url`` is new, or when a copy was written to elsewhere. Entries are told apart by
their tokens and come in the order of their times, so that what was written last stands.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select

from rexview.errors import BackupError
from rexview.store.backup import (
    Row,
    file_stamp,
    insert_rows,
    keep_present,
    present_rows,
    read_whole,
    remove_rows,
    sets_of,
)
from rexview.store.blinding_key import adopt_letter_key, first_letter_key
from rexview.store.database.connection import close_database
from rexview.store.database.sqlite_file import file_states, open_file
from rexview.store.database.tables import CHECKSUM, HISTORY, checksum, is_intact, subject_columns
from rexview.store.location import FOLDER_KEY, files_of, set_key
from rexview.store.reviews import Reviews


@dataclass(frozen=True)
class OtherDatabase:
    """A file with entries of a set that are not in the database in use.

    ``entries`` is how many; None where the file cannot be read.
    """

    file: Path
    entries: int | None


@dataclass(frozen=True)
class MergeReport:
    """What was joined: entries that are new, all that are there now, and the files kept."""

    added: int
    entries: int
    kept: tuple[Path, ...]
    """What was joined in, under a name with the date, and what was there before."""


_counted: Final = dict[tuple[str, str, Path], tuple[tuple[Any, ...], int | None]]()


def other_databases(reviews: Reviews) -> tuple[OtherDatabase, ...]:
    """Find the files that hold entries of a set which the database in use does not have.

    A file is read once for each of its states and of the database's in use.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    found = []
    for file in files_of(reviews.review_set):
        if file == reviews.database.file:
            continue
        name = (str(reviews.database.url), reviews.key, file)
        # another process may have joined it in while it stayed as it is
        state = (reviews.revision(), *_versions(file))
        known = _counted.get(name)
        if known is None or known[0] != state:  # others may clear all of it meanwhile
            known = _counted[name] = (state, _missing(file, reviews))
        entries = known[1]
        if entries != 0:
            found.append(OtherDatabase(file, entries))
    return tuple(found)


def merge_databases(reviews: Reviews, files: Iterable[Path]) -> MergeReport:
    """Join files into the database of a set: all of them or none.

    Rows are numbered anew where older ones come in between, and ``previous`` says again what stood
    before. A row that was changed in one database is taken from the other where it is whole. The
    secret of the letters stays; where there is none, the first file's becomes it. Each file is kept
    under a name with the date, and so is what was there before.

    Raises
    ------
    BackupError
        A file is damaged, or holds the entries of another set. Nothing was changed.
    StoreError
        The database cannot be written to. Nothing was changed.
    """
    files = list(files)
    for file in files:
        close_database(file)
    sources = [_rows_of(file, reviews) for file in files]
    key, stamp = reviews.key, file_stamp()
    kept: list[Path] = []
    if reviews.revision() and files:
        kept.append(keep_present(reviews, f"before-merge-{stamp}"))

    def work(connection: Connection) -> tuple[int, int]:
        numbered = present_rows(connection, reviews)
        present = list(numbered.values())
        joined = present
        for rows, letters in sources:
            joined = in_order(joined, rows)
            adopt_letter_key(connection, key, letters)
        first = next((at for at, row in enumerate(present) if joined[at] is not row), len(present))
        if first < len(present):
            remove_rows(connection, numbered, reviews)
            first = 0
        insert_rows(connection, key, joined[first:])
        return len(joined) - len(present), len(joined)

    added, entries = reviews.database.write(work, lock=reviews.lock)
    reviews.database.check_again()
    found = set(files_of(reviews.review_set))  # a backup of somebody's stays under its name
    kept += [copy for file in files if file in found and (copy := _set_aside(file, stamp))]
    _counted.clear()
    return MergeReport(added, entries, tuple(kept))


def in_order(present: Sequence[Row], more: Sequence[Row]) -> list[Row]:
    """Join two histories by time; the order within each stays as it is.

    Rows of ``present`` that stay as they are, are the same objects. Of rows with one token the
    first that is as it was written is taken.
    """
    whole = {row["token"]: row for row in more if is_intact(row)}
    first = [row if is_intact(row) else whole.get(row["token"], row) for row in present]
    tokens = {row["token"] for row in first}
    second = [row for row in more if row["token"] not in tokens]
    joined = heapq.merge(_timed(first, 0), _timed(second, 1), key=lambda one: one[0])
    newest: dict[tuple[Any, ...], Any] = {}
    rows = []
    for _, row in joined:
        intact = is_intact(row)
        thing = (row["kind"], *(row[name] for name in subject_columns(row["kind"])))
        if intact and row["previous"] != newest.get(thing):
            row = {**row, "previous": newest.get(thing)}
            row[CHECKSUM] = checksum(row)
        newest[thing] = row["value"] if intact else None
        rows.append(row)
    return rows


def _timed(rows: Iterable[Row], which: int) -> Iterable[tuple[tuple[datetime, int], Row]]:
    """Give each row the latest time so far: a clock that was set back does not change the order."""
    latest = datetime.min.replace(tzinfo=UTC)
    for row in rows:
        latest = max(latest, row["at"])
        yield (latest, which), row


def _rows_of(file: Path, reviews: Reviews) -> tuple[list[Row], str | None]:
    """Return the rows of a file that are the set's, and its secret of the letters if it has one.

    A file that is of another set is refused.
    """
    rows, letters = read_whole(file)
    ours, sets = (reviews.key, set_key(reviews.review_set)), sets_of(rows)
    # a folder's key: written before the set had an id, or when its folder lay elsewhere
    foreign = sorted(one for one in sets if one not in ours and not one.startswith(FOLDER_KEY))
    if foreign:
        raise BackupError(
            f"{file.name} holds entries of another review set, with the id “{foreign[0]}”; "
            "nothing was joined."
        )
    return rows, first_letter_key(letters, (*ours, *sets))


def _versions(file: Path) -> tuple[tuple[int, ...] | None, ...]:
    try:
        states = file_states(file)
    except OSError:  # then it cannot be read either
        return ()
    return tuple(state and (state.st_ino, state.st_mtime_ns, state.st_size) for state in states)


def _missing(file: Path, reviews: Reviews) -> int | None:
    """Count the entries of a file that the database of a set does not have."""
    try:
        found = _tokens(file)
    except (sqlite3.Error, OSError):
        return None
    tokens = select(HISTORY.c.token).where(HISTORY.c.review_set == reviews.key)
    return len(found - {row.token for row in reviews.database.rows(tokens)}) if found else 0


def _tokens(file: Path) -> set[str]:
    try:
        return _read_tokens(file, "mode=rw")
    except sqlite3.OperationalError:  # where nothing may be written SQLite reads it as it is
        return _read_tokens(file, "immutable=1")


def _read_tokens(file: Path, how: str) -> set[str]:
    with closing(open_file(file, 2, how)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'history'")
        if tables.fetchone() is None:
            return set()
        return {token for (token,) in connection.execute("SELECT token FROM history")}


def _set_aside(file: Path, stamp: str) -> Path | None:
    """Give a file that was joined in a name with the date.

    One that somebody has open stays where it is: its entries are known to be joined in, and what
    is still written to it will be told.
    """
    target = file.with_name(f"{file.stem}-merged-{stamp}{file.suffix}")
    try:
        with closing(open_file(file, wait_s=0)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            # succeeds for whoever is alone with it; takes away the -wal, which would be left behind
            if connection.execute("PRAGMA journal_mode = DELETE").fetchone() != ("delete",):
                return None
            file.rename(target)
        file.with_suffix(".newest").unlink(missing_ok=True)
    except (sqlite3.Error, OSError):
        return None
    return target

"""Join several databases of one review set into one: every entry of each, none twice.

Several databases arise when the set's folder could not be written to for a while, when the setting
``database_url`` is new, or when a copy was written to elsewhere. Entries are identified by their
tokens and ordered by time, so the last one written is current.
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
    HistoryRow,
    backup_present_entries,
    insert_rows,
    intact_sets,
    present_rows,
    read_backup,
    remove_rows,
    timestamp_for_file,
)
from rexview.store.blinding_key import adopt_blinding_key, first_blinding_key
from rexview.store.database.connection import close_database
from rexview.store.database.sqlite_file import open_sqlite_file, sqlite_file_states
from rexview.store.database.tables import CHECKSUM, HISTORY, checksum, is_intact, subject_columns
from rexview.store.database_location import FOLDER_KEY_PREFIX, review_files, set_key
from rexview.store.reviews import Reviews


@dataclass(frozen=True)
class OtherDatabase:
    """A file with entries of a set that the database in use lacks.

    ``entries`` is their number; None if the file cannot be read.
    """

    file: Path
    entries: int | None


@dataclass(frozen=True)
class MergeReport:
    """Result of a merge: new entries, all entries now, and the files kept."""

    added: int
    entries: int
    kept: tuple[Path, ...]
    """The merged files and the previous database, under names with the date."""


_missing_counts: Final = dict[tuple[str, str, Path], tuple[tuple[Any, ...], int | None]]()


def other_databases(reviews: Reviews) -> tuple[OtherDatabase, ...]:
    """Find the files that contain entries of a set which the database in use lacks.

    A file is read once for each state of the file and of the database in use.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    found = []
    for file in review_files(reviews.review_set):
        if file == reviews.database.file:
            continue
        name = (str(reviews.database.url), reviews.key, file)
        # another process may have merged the file without changing it
        state = (reviews.revision(), *_versions(file))
        known = _missing_counts.get(name)
        if known is None or known[0] != state:  # others may clear all of it meanwhile
            known = _missing_counts[name] = (state, _count_missing(file, reviews))
        entries = known[1]
        if entries != 0:
            found.append(OtherDatabase(file, entries))
    return tuple(found)


def merge_databases(reviews: Reviews, files: Iterable[Path]) -> MergeReport:
    """Merge files into the database of a set: all of them or none.

    Rows get new numbers where older ones come in between, and ``previous`` is corrected. If a row
    was changed in one database, the intact copy from the other is used. The existing blinding key
    stays; if there is none, that of the first file is used. Each file is kept under a name with the
    date, and so is the previous database.

    Raises
    ------
    A file is damaged, or contains the entries of another set. Nothing was changed.
        A file is damaged, or holds the entries of another set. Nothing was changed.
    StoreError
        The database cannot be written to. Nothing was changed.
    """
    files = list(files)
    for file in files:
        close_database(file)
    sources = [_rows_of(file, reviews) for file in files]
    key, stamp = reviews.key, timestamp_for_file()
    kept: list[Path] = []
    if reviews.revision() and files:
        kept.append(backup_present_entries(reviews, f"before-merge-{stamp}"))

    def work(connection: Connection) -> tuple[int, int]:
        numbered = present_rows(connection, reviews)
        present = list(numbered.values())
        joined = present
        for rows, letters in sources:
            joined = merge_histories(joined, rows)
            adopt_blinding_key(connection, key, letters)
        first = next((at for at, row in enumerate(present) if joined[at] is not row), len(present))
        if first < len(present):
            remove_rows(connection, numbered, reviews)
            first = 0
        insert_rows(connection, key, joined[first:])
        return len(joined) - len(present), len(joined)

    added, entries = reviews.database.write(work, lock=reviews.lock)
    reviews.database.check_again()
    found = set(review_files(reviews.review_set))  # a backup from elsewhere keeps its name
    kept += [copy for file in files if file in found and (copy := _rename_merged(file, stamp))]
    _missing_counts.clear()
    return MergeReport(added, entries, tuple(kept))


def merge_histories(present: Sequence[HistoryRow], more: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Merge two histories by time; the order within each stays the same.

    Unchanged rows of ``present`` stay the same objects. Of rows with the same token, the first
    intact one is used.
    """
    whole = {row["token"]: row for row in more if is_intact(row)}
    first = [row if is_intact(row) else whole.get(row["token"], row) for row in present]
    tokens = {row["token"] for row in first}
    second = [row for row in more if row["token"] not in tokens]
    joined = heapq.merge(
        _with_latest_time(first, 0), _with_latest_time(second, 1), key=lambda one: one[0]
    )
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


def _with_latest_time(
    rows: Iterable[HistoryRow], which: int
) -> Iterable[tuple[tuple[datetime, int], HistoryRow]]:
    """Yield each row with the latest time so far: a clock that was set back changes no order."""
    latest = datetime.min.replace(tzinfo=UTC)
    for row in rows:
        latest = max(latest, row["at"])
        yield (latest, which), row


def _rows_of(file: Path, reviews: Reviews) -> tuple[list[HistoryRow], str | None]:
    """Return a file's rows for this set, and its blinding key if it has one.

    A file of another set is refused.
    """
    rows, letters = read_backup(file)
    ours, sets = (reviews.key, set_key(reviews.review_set)), intact_sets(rows)
    # a folder's key: written before the set had an id, or when its folder was elsewhere
    foreign = sorted(
        one for one in sets if one not in ours and not one.startswith(FOLDER_KEY_PREFIX)
    )
    if foreign:
        raise BackupError(
            f"{file.name} holds entries of another review set, with the id “{foreign[0]}”; "
            "nothing was joined."
        )
    return rows, first_blinding_key(letters, (*ours, *sets))


def _versions(file: Path) -> tuple[tuple[int, ...] | None, ...]:
    try:
        states = sqlite_file_states(file)
    except OSError:  # it cannot be read either
        return ()
    return tuple(state and (state.st_ino, state.st_mtime_ns, state.st_size) for state in states)


def _count_missing(file: Path, reviews: Reviews) -> int | None:
    """Count the entries of a file that the database of a set lacks."""
    try:
        found = _tokens(file)
    except (sqlite3.Error, OSError):
        return None
    tokens = select(HISTORY.c.token).where(HISTORY.c.review_set == reviews.key)
    return len(found - {row.token for row in reviews.database.rows(tokens)}) if found else 0


def _tokens(file: Path) -> set[str]:
    try:
        return _read_tokens(file, "mode=rw")
    except sqlite3.OperationalError:  # on read-only storage SQLite reads it without changes
        return _read_tokens(file, "immutable=1")


def _read_tokens(file: Path, how: str) -> set[str]:
    with closing(open_sqlite_file(file, 2, how)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'history'")
        if tables.fetchone() is None:
            return set()
        return {token for (token,) in connection.execute("SELECT token FROM history")}


def _rename_merged(file: Path, stamp: str) -> Path | None:
    """Rename a merged file to a name with the date.

    A file that somebody has open keeps its name. Its entries are known to be merged, and anything
    written to it later will be reported.
    """
    target = file.with_name(f"{file.stem}-merged-{stamp}{file.suffix}")
    try:
        with closing(open_sqlite_file(file, wait_s=0)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            # succeeds only if nobody else has it open; also removes the -wal, which would be left
            # behind
            if connection.execute("PRAGMA journal_mode = DELETE").fetchone() != ("delete",):
                return None
            file.rename(target)
        file.with_suffix(".newest").unlink(missing_ok=True)
    except (sqlite3.Error, OSError):
        return None
    return target

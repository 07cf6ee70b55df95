"""Translate a database's own errors into errors for people who write reviews."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import exc

from rexview.errors import StoreBusy, StoreError, StoreFull, StoreUnreachable

_Make = Callable[[], StoreError]
busy_error: Final = partial(
    StoreBusy,
    "Others are writing to the reviews database; nothing was written.",
    "Try again in a moment.",
)
folder_gone_error: Final = partial(  # the folder is never created again
    StoreUnreachable,
    "The folder of the reviews database is no longer there; nothing was written.",
    "Put it back, or open the review set where it lies now.",
)
read_only_error: Final = partial(
    StoreUnreachable,
    "The reviews database may not be written to.",
    "Give the app the right to write to it and to its folder.",
)
_cannot_open: Final = partial(
    StoreUnreachable,
    "The reviews database cannot be opened.",
    "Check that its folder is there and that the app may write to it.",
)
_MORE_ROOM: Final = "Make room on it, or ask for a larger quota."
_SERVER: Final[tuple[tuple[tuple[str, ...], _Make], ...]] = (
    # lock_not_available, serialization_failure, deadlock_detected, too_many_connections,
    # query_canceled: the time limit
    (("55P03", "40001", "40P01", "53300", "57014"), busy_error),
    (
        ("53100", "53200", "53000"),  # disk_full, out_of_memory, no resources
        partial(
            StoreFull,
            "The database server has no room left; nothing was written.",
            "Ask whoever runs it to make room.",
        ),
    ),
    (
        ("42501", "25006"),  # insufficient_privilege, read-only
        partial(
            StoreUnreachable,
            "The database server does not let this app write.",
            "Ask whoever runs it for the right to create and write tables.",
        ),
    ),
    (
        # classes: connection, authorization, no such database, operator intervention, system error
        ("08", "28", "3D", "57", "58"),
        partial(
            StoreUnreachable,
            "The database server for reviews cannot be reached.",
            "Check that it runs and that the setting database_url is right.",
        ),
    ),
)
"""Server errors by the first characters of PostgreSQL's codes; the first match counts."""
_NO_CONNECTION: Final = "08"
_SQLITE_OURS: Final = {1, 18, 19, 20, 21, 25}  # ERROR, TOOBIG, CONSTRAINT, MISMATCH, MISUSE, RANGE
_SQLITE_ERROR: Final = 1
_NAMES_CHANGED: Final = ("no such column", "no such table", "has no column named")
"""All tables and columns existed when the file was opened, so a byte of their names has changed."""
_SQLITE_BUSY: Final = {5, 6}  # SQLITE_BUSY, SQLITE_LOCKED
_SQLITE_FULL: Final = 13
_SQLITE_IO: Final = 10
_SQLITE_NOT_TAKEN: Final = {778, 4874}  # SQLITE_IOERR_WRITE, SQLITE_IOERR_SHMSIZE
_SQLITE_READ_ONLY: Final = {3, 8, 23}  # SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH
_SQLITE_BROKEN: Final = {11, 26}  # SQLITE_CORRUPT, SQLITE_NOTADB
_LEAST_FREE: Final = 1_000_000  # bytes


def store_error(error: Exception, file: Path | None) -> StoreError | None:
    """Return the meaning of an error of SQLAlchemy or of the driver; None for a bug of ours.

    ``file`` is the SQLite file, None for a database server.
    """
    if isinstance(error, exc.TimeoutError):
        return busy_error()
    cause = (error.orig if isinstance(error, exc.DBAPIError) else error) or error
    if file is not None:
        code = getattr(cause, "sqlite_errorcode", None)
        if code == _SQLITE_ERROR and any(words in str(cause) for words in _NAMES_CHANGED):
            return damaged_error(file)
        return None if code is None else _sqlite_store_error(code, file)
    state = getattr(cause, "sqlstate", None)
    if state is None and isinstance(error, exc.OperationalError | exc.InterfaceError):
        state = _NO_CONNECTION  # the connection failed before the server could send a code
    return next((make() for codes, make in _SERVER if str(state).startswith(codes)), None)


def _sqlite_store_error(extended: int, file: Path) -> StoreError | None:
    code = extended & 0xFF
    if code in _SQLITE_OURS:
        return None
    if code in _SQLITE_BUSY:
        return busy_error()
    if code == _SQLITE_FULL or (code == _SQLITE_IO and not _has_room(file)):
        return StoreFull(
            "The disk with the reviews database is full; nothing was written.",
            "Make room on it.",
        )
    if extended in _SQLITE_NOT_TAKEN:  # an exhausted quota is not reported as a full disk
        return StoreFull(
            "The disk with the reviews database takes no more; nothing was written.", _MORE_ROOM
        )
    if code in _SQLITE_READ_ONLY:
        return read_only_error()
    return damaged_error(file) if code in _SQLITE_BROKEN else _cannot_open()


def damaged_error(file: Path) -> StoreUnreachable:
    """Return the error for a corrupt file."""
    return StoreUnreachable(
        f"The file {file.name} is damaged or is no database.",
        "Move it away and restore a backup (python -m rexview restore).",
    )


def creation_error(error: OSError) -> StoreError:
    """Return the error for a file that the system does not let us create."""
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None), errno.EFBIG):
        return StoreFull("The disk takes no reviews database; nothing was written.", _MORE_ROOM)
    is_refused = error.errno in (errno.EACCES, errno.EROFS, errno.EPERM)
    return read_only_error() if is_refused else _cannot_open()


def _has_room(file: Path) -> bool:
    try:
        return shutil.disk_usage(file.parent).free >= _LEAST_FREE
    except OSError:
        return True

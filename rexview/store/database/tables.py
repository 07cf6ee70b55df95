"""The table of the reviews database as it is now. Its making stands in ``migrations``."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    Text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from rexview.store.database.sqlite_file import TOLERANT_TEXT, open_file
from rexview.store.entry import Stored
from rexview.store.kinds import SHARED

# Whether a database is whole: SQLite's own check, and the checksum in each row of the history.
#
# SQLite finds pages and indexes that do not fit together. A changed letter in a comment, or a 4
# that became a 2, fits: the checksum of the row finds it. Rows from before there were checksums
# (version 0003 and older) have none and are taken as they are.

CHECKSUM: Final = "checksum"
_VERSION: Final = re.compile(r"\d{4}")
_WITH_CHECKSUMS: Final = "0004"
_NOT_COUNTED: Final = ("id", CHECKSUM)


class Damaged(Exception):
    """The database does not fit together. Never leaves the package: see :mod:`.errors`."""


@dataclass(frozen=True)
class ChangedEntry:
    """An entry that is not as it was written; what it says of itself may be wrong, too."""

    id: int
    kind: str
    person: str
    case: str
    at: str


def json_text(value: Any) -> str | None:
    """Return a value as it is kept; None stays None."""
    return None if value is None else json.dumps(value)


def moment_text(moment: datetime) -> str:
    """Return a moment as SQLite keeps it: UTC, to the microsecond, without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def checksum(row: Mapping[str, Any]) -> str:
    """Return the checksum of a row of the history.

    It is of everything but ``id``, which a row gets anew when a backup is restored, in the form in
    which SQLite keeps it, so that it is the same in either kind of database. Columns without a
    value do not count: a column added by a later version changes no checksum.
    """
    return _digest((name, _kept(value)) for name, value in row.items())


def _kept(value: Any) -> Any:
    if isinstance(value, datetime):
        return moment_text(value)
    return json_text(value) if isinstance(value, dict | list) else value


def _digest(pairs: Iterable[tuple[str, Any]]) -> str:
    parts = []
    for name, value in sorted(pairs):
        if value is None or name in _NOT_COUNTED:
            continue
        kind = "t" if isinstance(value, str) else "n" if isinstance(value, int) else "?"
        text = str(value)
        parts.append(f"{name}:{kind}{len(text)}:{text}")
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def is_intact(row: Mapping[str, Any]) -> bool:
    """Whether a row is as it was written, as far as its checksum tells."""
    return row[CHECKSUM] is None or row[CHECKSUM] == checksum(row)


def examine(file: Path) -> tuple[ChangedEntry, ...]:
    """Check a SQLite file as a whole; return the entries that are not as they were written.

    It takes about 2 s for 200,000 entries, so it is done when a file is opened and not on each run.

    Raises
    ------
    Damaged
        The file does not fit together: nothing in it is to be relied on.
    sqlite3.Error
    """
    with closing(open_file(file, wait_s=10)) as connection:
        try:
            if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
                raise Damaged
            if not _has_checksums(connection):
                return ()
            return tuple(_changed(connection))
        except UnicodeDecodeError as error:  # in the names of its tables and columns
            raise Damaged from error
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # a table or column is not there
                raise Damaged from error
            raise


def _has_checksums(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    tables = {name for (name,) in found}
    if not tables & {"history", "rexview_version"}:
        return False  # nothing has been made in it yet
    versions = connection.execute("SELECT version_num FROM rexview_version").fetchall()
    if len(versions) != 1 or not _VERSION.fullmatch(str(versions[0][0])):
        raise Damaged
    columns = {row[1] for row in connection.execute("PRAGMA table_info(history)")}
    wanted = {"id", "token", "at", "review_set", "person", "kind", "value", "previous", "via"}
    if not wanted <= columns:
        raise Damaged
    if versions[0][0] < _WITH_CHECKSUMS:
        return False
    if CHECKSUM not in columns:
        raise Damaged
    return True


def _changed(connection: sqlite3.Connection) -> Iterable[ChangedEntry]:
    rows = connection.execute("SELECT * FROM history ORDER BY id")
    names = [column[0] for column in rows.description]
    begun = False
    for row in rows:
        values = dict(zip(names, row, strict=True))
        given = values[CHECKSUM]
        # only rows from before the first checksum may be without one
        if (given is None and not begun) or given == _digest(values.items()):
            begun = begun or given is not None
            continue
        yield ChangedEntry(
            id=values["id"],
            kind=_word(values["kind"]),
            person=_word(values["person"]),
            case=_word(values["case_id"]),
            at=_word(values["at"]),
        )


def _word(value: Any) -> str:
    return "" if value is None else TOLERANT_TEXT(value) if isinstance(value, bytes) else str(value)


VERSION: Final = "0005"
"""The newest migration: what this code reads and writes."""
VERSION_TABLE: Final = "rexview_version"
_NAMING: Final = {"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_token"}


_UNREADABLE: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a moment that is damaged; the row's checksum tells."""


class UtcTime(TypeDecorator[datetime]):
    """A moment, given and got in UTC; SQLite has no zones and keeps it as text, without."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """In a file it is text that we read ourselves: damaged, it must not stop the query."""
        is_file = dialect.name == "sqlite"
        return dialect.type_descriptor(String() if is_file else DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Turn it into what the database keeps."""
        if value is None:
            return None
        return moment_text(value) if dialect.name == "sqlite" else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Turn what the database kept into a moment in UTC."""
        if value is None:
            return None
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        except (ValueError, TypeError):
            return _UNREADABLE
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


class JsonValue(TypeDecorator[Any]):
    """An object with fields; in a file it is text that may be damaged."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """As for :class:`UtcTime`."""
        is_file = dialect.name == "sqlite"
        return dialect.type_descriptor(Text() if is_file else JSON(none_as_null=True))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Turn it into what the database keeps."""
        return json_text(value) if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Turn what the database kept into an object."""
        if dialect.name != "sqlite" or value is None:
            return value
        try:
            return json.loads(value) if isinstance(value, str) else str(value)
        except (ValueError, TypeError, RecursionError):
            return str(value)  # no object: the row's checksum tells


METADATA: Final = MetaData(naming_convention=_NAMING)
HISTORY: Final = Table(
    "history",
    METADATA,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("token", String(36), nullable=False, unique=True),
    Column("at", UtcTime(), nullable=False),
    Column("review_set", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("case_id", Text),
    Column("model_id", Text),
    Column("subject", Text),
    Column("picture", Integer),
    Column("value", JsonValue()),
    Column("previous", JsonValue()),
    Column("via", Text, nullable=False),
    Column("person_name", Text),
    Column("person_role", Text),
    Column("answer_digest", Text),
    Column(CHECKSUM, Text),
    sqlite_autoincrement=True,
)
SECRETS: Final = Table(
    "secrets",
    METADATA,
    Column("review_set", Text, primary_key=True),
    Column("letters", Text, nullable=False),
)
"""What keys the letters of a set's answers, in hexadecimal digits; see ``letters``."""
ENDED_SIGN_INS: Final = Table(
    "ended_sign_ins",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("forgotten", UtcTime(), nullable=False),
)
"""Sign-ins that were ended, and until when each is remembered; see ``ended_sign_ins``."""
_SUBJECT_COLUMNS: Final = ("case_id", "model_id", "subject", "picture")


def subject_columns(kind: str) -> tuple[str, ...]:
    """Return the columns that say, beside set and kind, what an entry is about."""
    return _SUBJECT_COLUMNS if kind in SHARED else ("person", *_SUBJECT_COLUMNS)


def stored(row: Row[Any]) -> Stored:
    """Make the record of a row of the history.

    A row that is not as it was written has no value: neither what stands in it now nor what stood
    there before it may be taken for what somebody wrote.
    """
    fields: dict[str, Any] = {
        "token": row.token,
        "person": row.person,
        "person_name": row.person_name or row.person,
        "person_role": row.person_role or "",
        "kind": row.kind,
        "case": row.case_id,
        "model": row.model_id,
        "subject": row.subject,
        "via": row.via,
        "answer_digest": row.answer_digest,
    }
    if is_intact(row._asdict()):
        more = {"picture": row.picture, "value": row.value, "previous": row.previous}
        return Stored(id=row.id, at=row.at, **fields, **more)
    as_text: dict[str, Any] = {
        name: None if found is None else str(found) for name, found in fields.items()
    }
    picture = row.picture if isinstance(row.picture, int) else None
    return Stored(
        id=row.id,
        at=row.at,
        **as_text | {"person_role": "", "answer_digest": None},
        picture=picture,
        value=None,
        previous=None,
        intact=False,
    )

"""The tables of the reviews database in their present version, created by ``migrations``."""

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

from rexview.store.database.sqlite_file import TOLERANT_TEXT, open_sqlite_file
from rexview.store.entry import StoredEntry
from rexview.store.kinds import SHARED_KINDS

# Integrity of a database: SQLite's own check, and the checksum in each row of the history.
#
# SQLite finds inconsistent pages and indexes. It does not notice a changed letter in a comment, or
# a 4 that became a 2; the checksum of the row does. Rows older than checksums (version 0003 and
# older) have none and are trusted.

CHECKSUM: Final = "checksum"
_VERSION: Final = re.compile(r"\d{4}")
_WITH_CHECKSUMS: Final = "0004"
_NOT_COUNTED: Final = ("id", CHECKSUM)


class DatabaseDamaged(Exception):
    """The database is corrupt. Never leaves the package: see :mod:`.errors`."""


@dataclass(frozen=True)
class ChangedEntry:
    """An entry that was changed after it was written; these fields may be wrong, too."""

    id: int
    kind: str
    person: str
    case: str
    at: str


def json_text(value: Any) -> str | None:
    """Return a value as JSON text; None stays None."""
    return None if value is None else json.dumps(value)


def moment_text(moment: datetime) -> str:
    """Return a time in SQLite's form: UTC, to the microsecond, without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def checksum(row: Mapping[str, Any]) -> str:
    """Return the checksum of a row of the history.

    It covers all columns but ``id``, which changes when a backup is restored. Values are in
    SQLite's form, so the checksum is the same in either kind of database. Empty columns do not
    count: a column added by a later version changes no checksum.
    """
    return _digest((name, _sqlite_form(value)) for name, value in row.items())


def _sqlite_form(value: Any) -> Any:
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
    """True if a row matches its checksum, or has none."""
    return row[CHECKSUM] is None or row[CHECKSUM] == checksum(row)


def check_sqlite_file(file: Path) -> tuple[ChangedEntry, ...]:
    """Check a whole SQLite file; return the entries that were changed after they were written.

    This takes about 2 s for 200,000 entries, so it runs when a file is opened, not on each page
    run.

    Raises
    ------
    DatabaseDamaged
        The file is corrupt; nothing in it can be relied on.
    sqlite3.Error
    """
    with closing(open_sqlite_file(file, wait_s=10)) as connection:
        try:
            if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
                raise DatabaseDamaged
            if not _has_checksums(connection):
                return ()
            return tuple(_changed_entries(connection))
        except UnicodeDecodeError as error:  # in the names of its tables and columns
            raise DatabaseDamaged from error
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # a table or column is missing
                raise DatabaseDamaged from error
            raise


def _has_checksums(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    tables = {name for (name,) in found}
    if not tables & {"history", "rexview_version"}:
        return False  # it has no tables yet
    versions = connection.execute("SELECT version_num FROM rexview_version").fetchall()
    if len(versions) != 1 or not _VERSION.fullmatch(str(versions[0][0])):
        raise DatabaseDamaged
    columns = {row[1] for row in connection.execute("PRAGMA table_info(history)")}
    wanted = {"id", "token", "at", "review_set", "person", "kind", "value", "previous", "via"}
    if not wanted <= columns:
        raise DatabaseDamaged
    if versions[0][0] < _WITH_CHECKSUMS:
        return False
    if CHECKSUM not in columns:
        raise DatabaseDamaged
    return True


def _changed_entries(connection: sqlite3.Connection) -> Iterable[ChangedEntry]:
    rows = connection.execute("SELECT * FROM history ORDER BY id")
    names = [column[0] for column in rows.description]
    begun = False
    for row in rows:
        values = dict(zip(names, row, strict=True))
        given = values[CHECKSUM]
        # only rows older than the first checksum may lack one
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


SCHEMA_VERSION: Final = "0005"
"""The newest migration: the version that this code reads and writes."""
VERSION_TABLE: Final = "rexview_version"
_NAMING: Final = {"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_token"}


_UNREADABLE: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Replaces a damaged time; the row's checksum shows the damage."""


class UtcTime(TypeDecorator[datetime]):
    """A time, always in UTC; SQLite has no zones and stores it as text without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Use plain text in a file, so that a damaged value does not stop the query."""
        is_file = dialect.name == "sqlite"
        return dialect.type_descriptor(String() if is_file else DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Convert a time to its stored form."""
        if value is None:
            return None
        return moment_text(value) if dialect.name == "sqlite" else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Convert a stored value to a time in UTC."""
        if value is None:
            return None
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        except (ValueError, TypeError):
            return _UNREADABLE
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


class JsonValue(TypeDecorator[Any]):
    """A JSON object; in a file it is text that may be damaged."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Use plain text in a file, as :class:`UtcTime` does."""
        is_file = dialect.name == "sqlite"
        return dialect.type_descriptor(Text() if is_file else JSON(none_as_null=True))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Convert an object to its stored form."""
        return json_text(value) if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Convert a stored value to an object."""
        if dialect.name != "sqlite" or value is None:
            return value
        try:
            return json.loads(value) if isinstance(value, str) else str(value)
        except (ValueError, TypeError, RecursionError):
            return str(value)  # not an object: the row's checksum shows the damage


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
"""Blinding keys, by set, in hexadecimal digits; see :mod:`rexview.store.blinding_key`."""
ENDED_SIGN_INS: Final = Table(
    "ended_sign_ins",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("forgotten", UtcTime(), nullable=False),
)
"""Ended sign-ins, and until when each is remembered; see :mod:`.shared_state`."""
_SUBJECT_COLUMNS: Final = ("case_id", "model_id", "subject", "picture")


def subject_columns(kind: str) -> tuple[str, ...]:
    """Return the columns, besides set and kind, that identify what an entry is about."""
    return _SUBJECT_COLUMNS if kind in SHARED_KINDS else ("person", *_SUBJECT_COLUMNS)


def stored_entry(row: Row[Any]) -> StoredEntry:
    """Make a record from a row of the history.

    A changed row gets no value: neither its present content nor its ``previous`` can be taken for
    what somebody wrote.
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
        return StoredEntry(id=row.id, at=row.at, **fields, **more)
    as_text: dict[str, Any] = {
        name: None if found is None else str(found) for name, found in fields.items()
    }
    picture = row.picture if isinstance(row.picture, int) else None
    return StoredEntry(
        id=row.id,
        at=row.at,
        **as_text | {"person_role": "", "answer_digest": None},
        picture=picture,
        value=None,
        previous=None,
        intact=False,
    )

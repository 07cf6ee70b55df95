"""The table of the reviews database as it is now. Its making stands in ``migrations``."""

from __future__ import annotations

import json
from datetime import UTC, datetime
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

from rexview.store.database.integrity import CHECKSUM, is_intact, json_text, moment_text
from rexview.store.entry import Stored
from rexview.store.kinds import SHARED

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

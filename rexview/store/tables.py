"""The table of the reviews database as it is now. Its making stands in ``migrations``."""

from __future__ import annotations

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
    Select,
    String,
    Table,
    Text,
    func,
    select,
)
from sqlalchemy.types import TypeDecorator

from rexview.store.entry import SHARED, Stored

VERSION: Final = "0003"
"""The newest migration: what this code reads and writes."""
VERSION_TABLE: Final = "rexview_version"
_NAMING: Final = {"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_token"}


class UtcTime(TypeDecorator[datetime]):
    """A moment, given and got in UTC; SQLite has no zones and keeps it without."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn it into what the database keeps."""
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn what the database kept into a moment in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


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
    Column("value", JSON(none_as_null=True)),
    Column("previous", JSON(none_as_null=True)),
    Column("via", Text, nullable=False),
    Column("person_name", Text),
    Column("person_role", Text),
    Column("answer_digest", Text),
    sqlite_autoincrement=True,
)
SECRETS: Final = Table(
    "secrets",
    METADATA,
    Column("review_set", Text, primary_key=True),
    Column("letters", Text, nullable=False),
)
"""What keys the letters of a set's answers, in hexadecimal digits: see ``Reviews.letter_key``."""
_THING: Final = ("case_id", "model_id", "subject", "picture")


def same_thing(kind: str) -> tuple[str, ...]:
    """Return the columns that say, beside set and kind, what an entry is about."""
    return _THING if kind in SHARED else ("person", *_THING)


def current(review_set: str, kind: str) -> Select[Any]:
    """Select the newest row of each thing: the current state of one kind of entry."""
    newest = (
        select(func.max(HISTORY.c.id))
        .where(HISTORY.c.review_set == review_set, HISTORY.c.kind == kind)
        .group_by(*(HISTORY.c[name] for name in same_thing(kind)))
    )
    return select(HISTORY).where(HISTORY.c.id.in_(newest)).order_by(HISTORY.c.id)


def stored(row: Row[Any]) -> Stored:
    """Make the record of a row of the history."""
    return Stored(
        id=row.id,
        token=row.token,
        at=row.at,
        person=row.person,
        person_name=row.person_name or row.person,
        person_role=row.person_role or "",
        kind=row.kind,
        case=row.case_id,
        model=row.model_id,
        subject=row.subject,
        picture=row.picture,
        value=row.value,
        previous=row.previous,
        via=row.via,
        answer_digest=row.answer_digest,
    )

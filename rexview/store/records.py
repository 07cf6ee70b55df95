"""What the history says now, as records: assignments and comments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rexview.store.entry import Stored


@dataclass(frozen=True)
class Assignment:
    """A case given to a reader as ``first`` or ``second`` reader, by whom and when.

    ``name`` is the reader's, as far as whoever assigned it knew.
    """

    case: str
    reader: str
    order: str
    by: str
    at: datetime
    name: str | None = None


@dataclass(frozen=True)
class Comment:
    """A comment as it stands now.

    ``on`` says what it is on: ``{"what": "case" | "answer" | "box" | "span", …}``. ``edited`` is
    when its words were last changed, None when they never were; ``via`` is where they were given.
    """

    id: str
    case: str
    model: str | None
    person: str
    person_name: str
    at: datetime
    edited: datetime | None
    text: str
    on: dict[str, Any]
    reply_to: str | None
    resolved: bool
    resolved_by: str | None
    via: str = "app"


def comment_of(row: Stored, begun: datetime, settled: Stored | None) -> Comment:
    """Make a comment of its newest row, when it was begun, and whether it is settled."""
    value = row.value or {}
    is_resolved = bool(settled and settled.value and settled.value["resolved"])
    return Comment(
        id=row.subject or "",
        case=row.case or "",
        model=row.model,
        person=row.person,
        person_name=row.person_name,
        at=begun,
        edited=row.at if row.at != begun else None,
        text=value["text"],
        on=value["on"],
        reply_to=value["reply_to"],
        resolved=is_resolved,
        resolved_by=settled.person if settled and is_resolved else None,
        via=row.via,
    )

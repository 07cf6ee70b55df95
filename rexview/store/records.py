"""What the history says now, as records: assignments and comments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import polars as pl

from rexview.schema import ReviewSet
from rexview.store.current_state import CurrentState
from rexview.store.entry import Stored

FROM_FILE: Final = "file"


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

    ``on`` says what it is on: ``{"what": "case" | "answer" | "box" | "span", …}``. ``at`` is when
    it was begun, None where a file does not say; ``edited`` when its words were last changed, None
    when they never were; ``via`` is where they were given, ``file`` for the set's own files.
    """

    id: str
    case: str
    model: str | None
    person: str
    person_name: str
    at: datetime | None
    edited: datetime | None
    text: str
    on: dict[str, Any]
    reply_to: str | None
    resolved: bool
    resolved_by: str | None
    via: str = "app"


def comments_of(
    state: CurrentState, review_set: ReviewSet, case: str | None = None
) -> tuple[Comment, ...]:
    """Return the comments on one case or on all, in the order in which they were begun.

    Those of the set's own files come first, except those that were rewritten or removed here.
    """
    begun = state.comments_begun
    resolved = {row.subject: row for row in state.rows("resolve") if case in (None, row.case)}
    given = [
        settled(one, resolved.get(one.id))
        for one in _given(review_set, case)
        if one.id not in begun
    ]
    written = [
        comment_of(row, begun[row.subject or ""], resolved.get(row.subject))
        for row in state.rows("comment")
        if row.value is not None and case in (None, row.case)
    ]
    order = {comment: place for place, comment in enumerate(begun)}
    return (*given, *sorted(written, key=lambda one: order[one.id]))


def _given(review_set: ReviewSet, case: str | None) -> list[Comment]:
    """Return the comments of the set's own files, on one case or on all, oldest first."""
    rows = review_set.comments
    if rows.is_empty():
        return []
    names = review_set.reader_names
    of_case = rows if case is None else rows.filter(pl.col("case") == case)
    in_order = of_case.sort("created", maintain_order=True)
    return [given_comment(row, names) for row in in_order.iter_rows(named=True)]


def given_comment(row: Mapping[str, Any], names: Mapping[str, str]) -> Comment:
    """Make a comment of a row of the set's own table; ``names`` are those of people by id."""
    whole = {"what": "answer" if row["model"] else "case"}
    on = {name: value for name, value in (row["on"] or {}).items() if value not in (None, [])}
    return Comment(
        id=row["comment"],
        case=row["case"],
        model=row["model"],
        person=row["reader"],
        person_name=names.get(row["reader"], row["reader"]),
        at=row["created"],
        edited=row["edited"],
        text=row["text"],
        on=on if "what" in on else whole,
        reply_to=row["reply_to"],
        resolved=bool(row["resolved"]),
        resolved_by=row["resolved_by"] if row["resolved"] else None,
        via=FROM_FILE,
    )


def settled(comment: Comment, by: Stored | None) -> Comment:
    """Return a given comment as somebody has settled it since, or opened it again."""
    if by is None or not by.value:
        return comment
    is_resolved = bool(by.value["resolved"])
    return replace(comment, resolved=is_resolved, resolved_by=by.person if is_resolved else None)


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

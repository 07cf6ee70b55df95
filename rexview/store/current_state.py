"""The current state in memory, updated with the new rows of the history.

Querying the whole state takes longer the more was written, and pages need it after every entry.
This is the only place that decides which row of a thing is current.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final

import polars as pl
from sqlalchemy import Connection, func, select

from rexview import frames
from rexview.people import Person, read_role
from rexview.schema import ReviewSet
from rexview.store.database.connection import ReviewsDatabase
from rexview.store.database.tables import HISTORY, stored_entry
from rexview.store.entry import StoredEntry
from rexview.store.kinds import SHARED_KINDS

EntrySubject = tuple[str | None, str | None, str | None, int | None]
"""What an entry is about: case, model, subject and picture."""
_EMPTY: Mapping[EntrySubject, StoredEntry] = {}


@dataclass(frozen=True)
class CurrentState:
    """The newest row of each thing, and everybody who wrote, of one review set. Immutable.

    ``newest`` maps kind and person to rows; the person is None for the kinds in
    :data:`.SHARED_KINDS`. ``people`` maps each id to the person with their newest name
    and role. ``comments_begun`` maps each comment id to the time of its first version, oldest
    first. ``revision`` is the id of the newest row, ``count`` the number of all rows.

    Read values that combine several kinds from one such state. Two separate reads of the database
    may not match while others write.
    """

    revision: int = 0
    count: int = 0
    newest: Mapping[tuple[str, str | None], Mapping[EntrySubject, StoredEntry]] = field(
        default_factory=dict
    )
    people: Mapping[str, Person] = field(default_factory=dict)
    comments_begun: Mapping[str, datetime] = field(default_factory=dict)

    def rows(self, kind: str) -> list[StoredEntry]:
        """Return the rows of one kind, oldest first."""
        found = (
            row for (one, _), rows in self.newest.items() if one == kind for row in rows.values()
        )
        return sorted(found, key=lambda row: row.id)

    def of(self, kind: str, person: str) -> Mapping[EntrySubject, StoredEntry]:
        """Return the rows of one kind that make up a person's state, or the shared state."""
        return self.newest.get((kind, None if kind in SHARED_KINDS else person), _EMPTY)

    def after(self, rows: list[StoredEntry], revision: int, count: int) -> CurrentState:
        """Return the state after more rows of the history were added, oldest first."""
        newest, people, begun = dict(self.newest), dict(self.people), dict(self.comments_begun)
        copied: dict[tuple[str, str | None], dict[EntrySubject, StoredEntry]] = {}
        for row in rows:
            people[row.person] = Person(
                row.person, row.person_name, read_role(row.person_role or "viewer")
            )
            key = row.kind, None if row.kind in SHARED_KINDS else row.person
            if key not in copied:  # the previous state may still be in use
                newest[key] = copied[key] = dict(newest.get(key, _EMPTY))
            copied[key][row.case, row.model, row.subject, row.picture] = row
            if row.kind == "comment":
                begun.setdefault(row.subject or "", row.at)
        return CurrentState(revision, count, newest, people, begun)


class CurrentStateCache:
    """Cache of the current state of one review set, kept up to date."""

    def __init__(self, database: ReviewsDatabase) -> None:
        self._database = database
        self._lock = Lock()
        self._key, self._state = "", CurrentState()

    def read(self, key: str) -> CurrentState:
        """Return the current state of the set with this key.

        Raises
        ------
        StoreUnreachable, StoreBusy
        """
        with self._lock:
            if key != self._key:
                self._key, self._state = key, CurrentState()
            self._state = self._database.read(self._newer, CurrentState())
            return self._state

    def _newer(self, connection: Connection) -> CurrentState:
        """Add the rows that are new.

        If rows are missing (the file was replaced, or a backup restored), everything is read again.
        """
        before = self._state
        of_set = HISTORY.c.review_set == self._key
        numbers = select(func.coalesce(func.max(HISTORY.c.id), 0), func.count()).where(of_set)
        newest, count = connection.execute(numbers).one()
        if (newest, count) == (before.revision, before.count):
            return before
        rows = select(HISTORY).where(of_set).order_by(HISTORY.c.id)
        fresh: list[Any] = list(connection.execute(rows.where(HISTORY.c.id > before.revision)))
        if before.count + len(fresh) != count:
            before, fresh = CurrentState(), list(connection.execute(rows))
        found = list(map(stored_entry, fresh))
        self._database.note_changed(found)
        return before.after(found, newest, count)


# Current state as records: assignments and comments.

FROM_FILE: Final = "file"


@dataclass(frozen=True)
class Assignment:
    """A case given to a reader as ``first`` or ``second`` reader, by whom and when.

    ``name`` is the reader's name, if the person who assigned the case knew it.
    """

    case: str
    reader: str
    order: str
    by: str
    at: datetime
    name: str | None = None


@dataclass(frozen=True)
class Comment:
    """A comment in its current version.

    ``on`` is its place: ``{"what": "case" | "answer" | "box" | "span", …}``. ``at`` is the time of
    its first version, None if a file does not give it. ``edited`` is the time of the last change of
    its text, None if there was none. ``via`` is where it was written, ``file`` for the set's own
    files.
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


def current_comments(
    state: CurrentState, review_set: ReviewSet, case: str | None = None
) -> tuple[Comment, ...]:
    """Return the comments on one case or on all, in the order of their first versions.

    Comments from the set's own files come first, except those rewritten or removed in the app.
    """
    begun = state.comments_begun
    resolved = {row.subject: row for row in state.rows("resolve") if case in (None, row.case)}
    given = [
        apply_settlement(one, resolved.get(one.id))
        for one in _given_comments(review_set, case)
        if one.id not in begun
    ]
    written = [
        comment_from_row(row, begun[row.subject or ""], resolved.get(row.subject))
        for row in state.rows("comment")
        if row.value is not None and case in (None, row.case)
    ]
    order = {comment: place for place, comment in enumerate(begun)}
    return (*given, *sorted(written, key=lambda one: order[one.id]))


def _given_comments(review_set: ReviewSet, case: str | None) -> list[Comment]:
    """Return the comments from the set's own files, on one case or on all, oldest first."""
    rows = review_set.comments
    if rows.is_empty():
        return []
    names = review_set.reader_names
    of_case = rows if case is None else rows.filter(pl.col("case") == case)
    in_order = of_case.sort("created", maintain_order=True)
    return [comment_from_table(row, names) for row in in_order.iter_rows(named=True)]


def comment_from_table(row: Mapping[str, Any], names: Mapping[str, str]) -> Comment:
    """Make a comment from a row of the set's own table; ``names`` maps people's ids to names."""
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


def apply_settlement(comment: Comment, by: StoredEntry | None) -> Comment:
    """Return a given comment as it was later settled, or opened again."""
    if by is None or not by.value:
        return comment
    is_resolved = bool(by.value["resolved"])
    return replace(comment, resolved=is_resolved, resolved_by=by.person if is_resolved else None)


def comment_from_row(row: StoredEntry, begun: datetime, settled: StoredEntry | None) -> Comment:
    """Make a comment from its newest row, the time of its first version and its settling row."""
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


# History rows as table rows: what readers gave, and each consensus.

ORIGIN: Final = "app"
"""The ``_origin`` of rows written in the app."""
ADJUDICATIONS: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "dimension": pl.String(),
        "image": pl.Int64(),
        "score": pl.Int8(),
        "comment": pl.String(),
        "adjudicator": pl.String(),
        "created": pl.Datetime("us", "UTC"),
        "answer_digest": pl.String(),
    }
)
_FROM_ROW: Final = {
    "case": "case",
    "model": "model",
    "reader": "person",
    "adjudicator": "person",
    "dimension": "subject",
    "failure": "subject",
    "candidate": "subject",
    "meeting": "subject",
    "by": "person",
    "image": "picture",
    "created": "at",
    "answer_digest": "answer_digest",
}
"""Table columns by their names in the history; other columns are fields of the value."""


def scores_frame(rows: Iterable[StoredEntry]) -> pl.DataFrame:
    """Make a table of scores: columns :data:`rexview.frames.SCORES`."""
    return rows_frame(rows, frames.SCORES)


def flags_frame(rows: Iterable[StoredEntry]) -> pl.DataFrame:
    """Make a table of reader flags: columns :data:`rexview.frames.FLAGS`."""
    return rows_frame(rows, frames.FLAGS)


def parse_line_place(place: str) -> tuple[int, int]:
    """Return the line of a place in a report, and the number of the insertion after it (0: none).

    See :data:`rexview.store.kinds.LINE_PLACE`.

    >>> parse_line_place("4"), parse_line_place("4+12")
    ((4, 0), (4, 12))
    """
    line, _, added = place.partition("+")
    return int(line), int(added or 0)


def adjudications_frame(rows: Iterable[StoredEntry]) -> pl.DataFrame:
    """Make a table of consensus decisions: columns :data:`ADJUDICATIONS`."""
    return rows_frame(rows, ADJUDICATIONS)


def rows_frame(
    rows: Iterable[StoredEntry], schema: pl.Schema, of_value: Collection[str] = ()
) -> pl.DataFrame:
    """Make a table from rows of one kind of entry, with every column of ``schema``.

    Columns named in ``of_value`` are read from the value, even where other kinds store them
    elsewhere.
    """
    rows = list(rows)

    def column(name: str) -> list[Any]:
        if name in _FROM_ROW and name not in of_value:
            return [getattr(row, _FROM_ROW[name]) for row in rows]
        if name == "line":
            return [parse_line_place(row.subject or "0")[0] for row in rows]
        if name == "source":
            return ["reader"] * len(rows)
        if name == "due":
            return [_midnight((row.value or {}).get(name)) for row in rows]
        if name == "_row":
            return list(range(1, len(rows) + 1))
        if name == "_origin":
            return [ORIGIN] * len(rows)
        return [(row.value or {}).get(name) for row in rows]

    return pl.DataFrame({name: column(name) for name in schema}, schema=schema)


def decisions_frame(
    rows: Iterable[StoredEntry], meetings: Mapping[str, Mapping[str, Any] | None]
) -> pl.DataFrame:
    """Make a table of decisions, columns :data:`rexview.frames.DECISIONS`.

    ``meetings`` maps meeting ids to their values; for an unknown meeting its id is used.
    """
    found = rows_frame(rows, frames.DECISIONS, of_value=("failure",))
    ids = found["meeting"].to_list()
    of = [meetings.get(one) or {} for one in ids]
    return found.with_columns(
        pl.Series("meeting_name", [one.get("name") for one in of], dtype=pl.String()),
        pl.Series("held", [_midnight(one.get("held")) for one in of], dtype=found.schema["held"]),
    )


def _midnight(day: str | None) -> datetime | None:
    """Return the start of a day such as ``2026-12-01``, UTC."""
    return None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC)

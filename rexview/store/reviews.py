"""The reviews of one review set: write entries, read the history and the current state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import polars as pl
from sqlalchemy import Connection, Row, Select, insert, select

from rexview.answer_digest import by_answer
from rexview.errors import StoreOvertaken, StoreRefused
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.settings import Settings
from rexview.store.checks import check
from rexview.store.current_state import CurrentState, CurrentStateCache
from rexview.store.database.connection import Database, database_at
from rexview.store.database.integrity import CHECKSUM, checksum
from rexview.store.database.tables import HISTORY, stored, subject_columns
from rexview.store.entry import Entry, Stored
from rexview.store.history_rows import adjudications_frame, flags_frame, scores_frame
from rexview.store.letters import letter_key
from rexview.store.location import best_location, location_of
from rexview.store.records import Assignment, Comment, comments_of

_FIRST_ROWS: Final = 100
_REMEDY: Final = "Nothing was written. Reload the page and enter it again."


class Reviews:
    """What people wrote about one review set.

    Every method may raise :class:`rexview.errors.StoreUnreachable` or
    :class:`~rexview.errors.StoreBusy`. All reading is of the newest state. A ``dedicated``
    database is this set's alone.
    """

    def __init__(
        self, database: Database, review_set: ReviewSet, key: str, *, dedicated: bool
    ) -> None:
        self.database: Final = database
        self.review_set: Final = review_set
        self.dedicated: Final = dedicated
        self._key, self._known = key, not dedicated
        self._current_state = CurrentStateCache(database)

    @property
    def lock(self) -> str:
        """What whoever writes to the set holds."""
        return f"set {self.key}"

    @property
    def key(self) -> str:
        """What names the set in the database.

        In a database of its own, the key of the rows that are there: they stay with the set when
        its folder is moved or it gets an ``id``.
        """
        if not self._known:
            # of a row that was changed the set may be wrong
            first = select(HISTORY).order_by(HISTORY.c.id).limit(_FIRST_ROWS)
            rows = self.database.rows(first)
            row = next((row for row in rows if stored(row).intact), None)
            if row is not None:
                self._key, self._known = row.review_set, True
        return self._key

    @property
    def address(self) -> str:
        """Where the entries are kept, with the full path; of a server without its password."""
        file = self.database.file
        return str(file) if file is not None else str(self.database.url.set(query={}))

    def record(self, entries: Sequence[Entry], person: Person) -> tuple[Stored, ...]:
        """Write entries: all of them or none. What is returned is on the disk.

        An entry whose token was written before is not written again; its row is returned.

        Raises
        ------
        StoreRefused
            The person's role does not allow it, or a value or an id is not valid: every problem
            is named.
        StoreOvertaken
            Somebody else's value stands that an entry says was not seen; nothing was written.
        StoreBusy, StoreFull, StoreUnreachable
            Nothing was written; the same entries can be sent again.
        """
        checked, problems = check(entries, person, self.review_set, self._own_failures(entries))
        if problems:
            raise StoreRefused(problems, _REMEDY)
        if not checked:
            return ()
        key = self.key
        return self.database.write(
            lambda connection: _Writing(connection, key, person, self.review_set).write(checked),
            lock=self.lock,
        )

    def letter_key(self) -> bytes:
        """Return the secret that keys the letters of answers, see :mod:`rexview.store.letters`."""
        return letter_key(self.database, self.key, lock=self.lock)

    def revision(self, *, but: str | None = None) -> int:
        """Return the id of the newest row of the set, 0 without any: quick to ask.

        Rows of the kind ``but`` are passed over.
        """
        newest = select(HISTORY.c.id).where(HISTORY.c.review_set == self.key)
        if but is not None:
            newest = newest.where(HISTORY.c.kind != but)
        newest = newest.order_by(HISTORY.c.id.desc()).limit(1)
        return next((row[0] for row in self.database.rows(newest)), 0)

    def _own_failures(self, entries: Sequence[Entry]) -> frozenset[str]:
        """Return the names that failures in words have or had, for entries that may name one."""
        if all(entry.kind != "decide" for entry in entries):
            return frozenset()
        rows = self.history(kind="written_failure")
        return frozenset(str(row.value["name"]) for row in rows if row.value is not None)

    def history(
        self,
        *,
        case: str | None = None,
        person: str | None = None,
        kind: str | Collection[str] | None = None,
        limit: int | None = None,
    ) -> tuple[Stored, ...]:
        """Return rows of the history, newest first, at most ``limit``.

        ``kind`` may name several kinds; they are read at one moment.
        """
        wanted = {"case_id": case, "person": person}
        rows = self._all().order_by(HISTORY.c.id.desc()).limit(limit)
        if kind is not None:
            rows = rows.where(HISTORY.c.kind.in_([kind] if isinstance(kind, str) else kind))
        for name, value in wanted.items():
            if value is not None:
                rows = rows.where(HISTORY.c[name] == value)
        return self._stored(rows)

    def current(
        self, kind: str, *, person: str | None = None, case: str | None = None
    ) -> tuple[Stored, ...]:
        """Return the newest row of each thing of a kind: the current state, oldest first."""
        return tuple(
            row
            for row in self.current_state().rows(kind)
            if person in (None, row.person) and case in (None, row.case)
        )

    def current_state(self) -> CurrentState:
        """Return the current state, held in memory and brought up to date with what is new."""
        return self._current_state.read(self.key)

    def saved_tokens(self, tokens: Collection[str], person: str) -> frozenset[str]:
        """Return those of some tokens whose entries are a person's and in the database."""
        of_set = HISTORY.c.review_set == self.key
        theirs = select(HISTORY.c.token).where(of_set, HISTORY.c.person == person)
        rows = self.database.rows(theirs.where(HISTORY.c.token.in_(tokens))) if tokens else ()
        return frozenset(row[0] for row in rows)

    def scores(self, *, reader: str | None = None) -> pl.DataFrame:
        """Return the scores that stand, with the columns of :data:`rexview.frames.SCORES`.

        ``reader`` is the person's id. What was taken back or is of an earlier answer is left out.
        """
        rows = self.current("score", person=reader)
        found = scores_frame(row for row in rows if any((row.value or {}).values()))
        return by_answer(found, self.review_set)[0]

    def flags(self) -> pl.DataFrame:
        """Return the verdicts on answers as they are, columns :data:`rexview.frames.FLAGS`."""
        rows = self.current("verdict")
        found = flags_frame(row for row in rows if (row.value or {}).get("verdict"))
        return by_answer(found, self.review_set)[0]

    def adjudications(self) -> pl.DataFrame:
        """Return each consensus on an answer as it is, columns :data:`.ADJUDICATIONS`."""
        rows = self.current("adjudicate")
        found = adjudications_frame(row for row in rows if any((row.value or {}).values()))
        return by_answer(found, self.review_set)[0]

    def assignments(self, reader: str | None = None) -> tuple[Assignment, ...]:
        """Return who has been given which case, of one reader or of all, oldest first."""
        return tuple(
            Assignment(
                case=row.case or "",
                reader=row.subject or "",
                order=row.value["as"],
                by=row.person,
                at=row.at,
                name=row.value.get("name"),
            )
            for row in self.current("assign")
            if row.value and row.value["active"] and reader in (None, row.subject)
        )

    def comments(self, case: str | None = None) -> tuple[Comment, ...]:
        """Return the comments on one case or on all, see :func:`.comments_of`."""
        return comments_of(self.current_state(), self.review_set, case)

    def skips(self, reader: str) -> dict[str, str]:
        """Return the cases that a reader left out, each with the reason (may be empty)."""
        rows = self.current("skip", person=reader)
        return {row.case or "": row.value["reason"] or "" for row in rows if row.value}

    def revealed(self, reader: str, what: str) -> frozenset[str | None]:
        """Return the cases of which a reader was shown ``models`` or ``report``; None: of all."""
        rows = self.current("reveal", person=reader)
        return frozenset(row.case for row in rows if row.subject == what)

    def people(self) -> dict[str, Person]:
        """Return everybody who wrote, by id, under their newest name and role."""
        return dict(self.current_state().people)

    def _all(self) -> Select[Any]:
        return select(HISTORY).where(HISTORY.c.review_set == self.key)

    def _stored(self, rows: Select[Any]) -> tuple[Stored, ...]:
        found = tuple(map(stored, self.database.rows(rows)))
        self.database.note_changed(found)
        return found


class _Begun(NamedTuple):
    """What a comment is on, and who began it."""

    case: str | None
    model: str | None
    person: str


class _Writing:
    """The part of writing that needs the database, alone in its transaction."""

    def __init__(
        self, connection: Connection, key: str, person: Person, review_set: ReviewSet
    ) -> None:
        self.connection, self.key, self.person, self.set = connection, key, person, review_set
        self.at = datetime.now(UTC)

    def write(self, entries: Sequence[Entry]) -> tuple[Stored, ...]:
        named = HISTORY.c.token.in_([entry.token for entry in entries])
        known = {row.token: row for row in self.connection.execute(select(HISTORY).where(named))}
        problems: list[str] = []
        saved = []
        for entry in entries:
            entry = self._of_comment(entry, problems)
            row = known.get(entry.token)
            if row is None and not problems:
                row = known[entry.token] = self._insert(entry)
            elif row is not None and not self._is_same(entry, row):
                problems.append("A token was used for something else before.")
            if row is not None:
                saved.append(row)
        if problems:
            raise StoreRefused(dict.fromkeys(problems), _REMEDY)
        return tuple(map(stored, saved))

    def _is_same(self, entry: Entry, row: Row[Any]) -> bool:
        before = stored(row)
        names = ("kind", "case", "model", "subject", "picture")
        same = all(getattr(entry, name) == getattr(before, name) for name in names)
        return same and row.review_set == self.key and before.person == self.person.id

    def _insert(self, entry: Entry) -> Row[Any]:
        values = {
            "token": entry.token,
            "at": self.at,
            "review_set": self.key,
            "person": self.person.id,
            "person_name": self.person.name,
            "person_role": self.person.role,
            "kind": entry.kind,
            "case_id": entry.case,
            "model_id": entry.model,
            "subject": entry.subject,
            "picture": entry.picture,
            "value": None if entry.value is None else dict(entry.value),
            "via": entry.via,
            "answer_digest": entry.answer_digest,
        }
        same = [
            HISTORY.c[name].is_not_distinct_from(values[name])
            for name in subject_columns(entry.kind)
        ]
        found = self.connection.execute(
            select(HISTORY)
            .where(HISTORY.c.review_set == self.key, HISTORY.c.kind == entry.kind, *same)
            .order_by(HISTORY.c.id.desc())
            .limit(1)
        ).one_or_none()
        newest = stored(found) if found else None
        is_others = newest is not None and newest.person != self.person.id
        seen = None if entry.over is None else (*entry.over, values["value"])
        if newest and is_others and seen is not None and newest.value not in seen:
            raise StoreOvertaken("Somebody else was quicker.", "Nothing was written.")
        values["previous"] = newest.value if newest else None
        values[CHECKSUM] = checksum(values)
        return self.connection.execute(insert(HISTORY).values(values).returning(HISTORY)).one()

    def _of_comment(self, entry: Entry, problems: list[str]) -> Entry:
        """Check an entry against the comment that it names; an answer to it is on its place."""
        if entry.kind == "resolve":
            about = self._first_version(entry.subject)
            if about is None:
                problems.append("There is no such comment.")
                return entry
            return replace(entry, case=about.case, model=about.model)
        if entry.kind == "comment":
            before = self._first_version(entry.subject)
            if before is not None and before.person != self.person.id:
                problems.append("Only whoever wrote a comment may change it.")
            elif before is not None and before[:2] != (entry.case, entry.model):
                problems.append("A comment stays where it was made.")
            reply_to = (entry.value or {}).get("reply_to")
            if reply_to is not None:
                about = self._first_version(reply_to)
                if about is None or about.case != entry.case:
                    problems.append("There is no such comment to reply to.")
        return entry

    def _first_version(self, comment: str | None) -> _Begun | None:
        """Return what a comment was first made on and by whom: of the set's files, or written."""
        given = self.set.comments.filter(pl.col("comment") == comment)
        for row in given.select("case", "model", "reader").iter_rows():
            return _Begun(*row)
        first = self.connection.execute(
            select(HISTORY.c.case_id, HISTORY.c.model_id, HISTORY.c.person)
            .where(HISTORY.c.review_set == self.key, HISTORY.c.kind == "comment")
            .where(HISTORY.c.subject == comment)
            .order_by(HISTORY.c.id)
            .limit(1)
        ).one_or_none()
        return None if first is None else _Begun(*first)


def open_reviews(review_set: ReviewSet, settings: Settings) -> Reviews:
    """Return the reviews of a review set. Nothing is made on the disk before the first entry.

    Raises
    ------
    StoreUnreachable
        The database of the set may not be written to, or its address cannot be understood.
    """
    location = location_of(review_set, settings)
    return Reviews(
        database_at(location.url), review_set, location.key, dedicated=location.dedicated
    )


def open_best(review_set: ReviewSet, settings: Settings) -> Reviews:
    """Return the reviews of a set where they would best be kept, which others are joined into.

    Raises
    ------
    StoreUnreachable
        As for :func:`open_reviews`.
    """
    location = best_location(review_set, settings)
    return Reviews(
        database_at(location.url), review_set, location.key, dedicated=location.dedicated
    )

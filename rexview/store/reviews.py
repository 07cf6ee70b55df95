"""The reviews of one review set: write entries, read the history and the current state."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import polars as pl
from sqlalchemy import Connection, Row, Select, insert, select

from rexview.answer_digest import IS_DIGEST, digests_of, split_stale_rows
from rexview.columns.tables import NO_FAILURE
from rexview.errors import StoreOvertaken, StoreRefused
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.settings import Settings
from rexview.store.blinding_key import read_blinding_key
from rexview.store.current_state import (
    Assignment,
    Comment,
    CurrentState,
    CurrentStateCache,
    adjudications_frame,
    current_comments,
    flags_frame,
    scores_frame,
)
from rexview.store.database.connection import ReviewsDatabase, open_reviews_database
from rexview.store.database.tables import CHECKSUM, HISTORY, checksum, stored_entry, subject_columns
from rexview.store.database_location import find_best_location, find_location
from rexview.store.entry import (
    Entry,
    StoredEntry,
    check_choice,
    check_id,
    is_id,
    quote_input,
    storable_text,
)
from rexview.store.kinds import ENTRY_KINDS, EntryKind, may_write_kind
from rexview.vocab import FAILURES, IMAGE_DIMENSIONS

# Checks of entries before they are written: the person, the subject, the value. Every problem is
# reported.
#
# Input from a browser is not trusted. Ids must be those of the set. Values have exactly the fields
# that :data:`.ENTRY_KINDS` defines. Texts have a maximum length and contain nothing
# that a database or a table cannot store.


def check_entries(
    entries: Sequence[Entry],
    person: Person,
    review_set: ReviewSet,
    own_failures: Collection[str] = (),
) -> tuple[list[Entry], list[str]]:
    """Check entries without asking the database.

    ``own_failures`` are the names of failures that people described, now or earlier.

    Returns
    -------
    list of Entry
        The entries in one form: every field of the value present, invalid characters replaced.
    list of str
        Every problem, a sentence each; if there is any, nothing is to be written.
    """
    answers = _find_answers(entries, review_set)
    checked, problems = [], []
    if not is_id(person.id):
        problems.append("Whoever writes has no name that can be kept.")
    for number, entry in enumerate(entries, start=1):
        one = _EntryCheck(entry, review_set, answers, own_failures)
        if not isinstance(entry.kind, str) or entry.kind not in ENTRY_KINDS:
            one.problems.append(f"There is no kind of entry {quote_input(entry.kind)}.")
        elif not may_write_kind(person, entry.kind):
            one.problems.append(f"The role {person.role} may not write a {entry.kind}.")
        elif not _rule_allows(person, ENTRY_KINDS[entry.kind], review_set):
            one.problems.append(f"In this study readers may not write a {entry.kind}.")
        else:
            checked.append(one.checked(ENTRY_KINDS[entry.kind]))
        where = f"Entry {number}: " if len(entries) > 1 else ""
        problems += [where + problem for problem in one.problems]
    return checked, problems


def _rule_allows(person: Person, kind: EntryKind, review_set: ReviewSet) -> bool:
    """True if the study's rules let a person write a kind that their role may write."""
    is_left_to_rule = kind.reader_rule is not None and person.role == "reader"
    return not is_left_to_rule or bool(getattr(review_set.info.protocol, kind.reader_rule or ""))


def _find_answers(
    entries: Iterable[Entry], review_set: ReviewSet
) -> dict[tuple[str, str], _Answer]:
    """Look up the answers that entries name, with the parts that can be scored."""
    cases = {entry.case for entry in entries if isinstance(entry.case, str)}
    wanted = pl.Series(sorted(map(storable_text, cases)), dtype=pl.String)
    answers = review_set.index.answers_to(wanted, ["case", "model", "images", "boxes"])
    count = pl.col("images", "boxes").list.len().fill_null(0)
    rows = answers.select("case", "model", count).with_columns(pl.col("boxes") > 0)
    return {(case, model): (pictures, boxed) for case, model, pictures, boxed in rows.iter_rows()}


_Answer = tuple[int, bool]  # number of pictures, whether there are boxes


class _EntryCheck:
    """The check of one entry."""

    def __init__(
        self,
        entry: Entry,
        review_set: ReviewSet,
        answers: Mapping[tuple[str, str], _Answer],
        own_failures: Collection[str],
    ) -> None:
        self.entry, self.set, self.answers = entry, review_set, answers
        self.own_failures = own_failures
        self.problems: list[str] = []

    def checked(self, kind: EntryKind) -> Entry:
        """Check the entry; the returned entry is only valid if there are no problems."""
        entry = self.entry
        try:
            entry = replace(entry, token=str(UUID(entry.token)))
        except (ValueError, AttributeError, TypeError):
            self.problems.append("The token is no UUID.")
        for name in ("case", "model", "subject", "via"):
            check_id(name, getattr(entry, name), self.problems)
        if entry.picture is not None and not kind.pictured:
            self.problems.append(f"A {entry.kind} is not about a picture.")
        value: Any = entry.value
        if value is not None and not isinstance(value, Mapping):
            self.problems.append("The value is not an object with fields.")
        digest: Any = entry.answer_digest
        if digest is not None and not kind.judging:
            self.problems.append(f"A {entry.kind} is not of one answer only.")
        elif digest is not None and not (isinstance(digest, str) and IS_DIGEST.fullmatch(digest)):
            self.problems.append("The digest of the answer is none.")
        if self.problems:
            return entry
        if kind.about != "comment":
            self._check_about(kind)
        self._check_subject(kind)
        if kind.pictured:
            self._check_picture()
        if entry.value is not None or not kind.removable:
            entry = replace(entry, value=self._value(kind))
        if entry.kind in _CHECKS and entry.value is not None and not self.problems:
            entry = replace(entry, value=_CHECKS[entry.kind](self, dict(entry.value)))
        if kind.subject_of:
            entry = replace(entry, subject=kind.subject_of(entry.value or {}))
        if kind.judging and digest is None and entry.model is not None and not self.problems:
            digest = digests_of(self.set).of(entry.case or "", entry.model or "")
        return replace(entry, answer_digest=digest)

    def _check_about(self, kind: EntryKind) -> None:
        case, model = self.entry.case, self.entry.model
        if kind.about == "all":
            if case is not None or model is not None:
                self.problems.append(f"A {self.entry.kind} is about no case and no model.")
            return
        if case is None and kind.about != "case or all":
            self.problems.append(f"A {self.entry.kind} needs a case.")
        if case is not None and self.set.case(case) is None:
            self.problems.append(f"There is no case {quote_input(case)}.")
        elif model is None:
            if kind.about == "answer":
                self.problems.append(f"A {self.entry.kind} needs a model.")
        elif kind.about not in ("answer", "case or answer"):
            self.problems.append(f"A {self.entry.kind} is not about a model.")
        elif (case, model) not in self.answers and not kind.outlives:
            if model in self.set.model_names:
                self.problems.append(
                    f"There is no answer of {quote_input(model)} to {quote_input(case)}."
                )
            else:
                self.problems.append(f"There is no model {quote_input(model)}.")

    def _check_subject(self, kind: EntryKind) -> None:
        subject = self.entry.subject
        if kind.subject_of:
            if subject not in (None, kind.subject_of(self.entry.value or {})):
                self.problems.append(f"The subject of a {self.entry.kind} follows from its value.")
        elif kind.subject is None:
            if subject is not None:
                self.problems.append(f"A {self.entry.kind} has no subject.")
        elif not isinstance(kind.subject, str):
            name, words = kind.subject
            if not isinstance(words, re.Pattern):
                check_choice(subject, name, words, self.problems)
            elif not words.fullmatch(subject or ""):
                self.problems.append(f"The {name} {quote_input(subject)} is none.")
        elif not subject:
            self.problems.append(f"A {self.entry.kind} needs the {kind.subject} as its subject.")

    def _check_picture(self) -> None:
        entry = self.entry
        pictures, boxed = self.answers.get((entry.case or "", entry.model or ""), (0, True))
        picture = entry.picture
        if picture is not None and (isinstance(picture, bool) or not isinstance(picture, int)):
            self.problems.append("The picture is not a whole number.")
        elif entry.subject not in IMAGE_DIMENSIONS:
            if picture is not None:
                self.problems.append(f"A picture is named, but {entry.subject} is of the text.")
        elif picture is not None and not 0 <= picture < pictures:
            self.problems.append(f"The answer has no picture {picture}; the first is 0.")
        elif picture is None and not pictures and not boxed and entry.subject != "image_style":
            # Image Style may be scored without a box where boxes were asked for. The worklist knows
            # those answers, and the pages refuse the score on others.
            self.problems.append(f"The answer has no picture and no box for {entry.subject}.")

    def _value(self, kind: EntryKind) -> dict[str, Any]:
        """Return the value with exactly the fields of its kind, None for absent ones."""
        given = dict(self.entry.value or {})
        unknown = sorted(str(name) for name in given if name not in kind.fields)
        if unknown:
            self.problems.append(
                f"The value has a field {quote_input(unknown[0])} that is not known."
            )
        value = {
            name: field(given.get(name), self.entry, self.problems)
            for name, field in kind.fields.items()
        }
        return {
            name: kept
            for name, kept in value.items()
            if kept is not None or name not in kind.optional
        }

    def choice(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that an option is one of the case's options."""
        case = self.set.case(self.entry.case or "")
        options = case.options if case else ()
        choice, option = value["choice"], value["option"]
        if not options:
            self.problems.append(f"The case {quote_input(self.entry.case)} has no options.")
        elif choice is None:
            if option is not None:
                self.problems.append("No option is chosen, but words of one are given.")
        elif isinstance(choice, int) and not 0 <= choice < len(options):
            self.problems.append(f"There is no option {choice}; the first is 0.")
        elif option != options[choice]:
            self.problems.append("The words are not those of the option.")
        return value

    def pair(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that two answers of the case are named, and are the versions that were read."""
        case, sides = self.entry.case or "", ("first", "second")
        if value["first"] == value["second"]:
            self.problems.append("A report is compared with itself.")
        for side in sides:
            if (case, value[side]) not in self.answers:
                model = quote_input(value[side])
                self.problems.append(f"There is no answer of {model} to {quote_input(case)}.")
        if self.problems:
            return value
        found = {side: digests_of(self.set).of(case, value[side]) for side in sides}
        given = {side: value[f"{side}_digest"] for side in sides}
        return value | {f"{side}_digest": given[side] or found[side] for side in sides}

    def reference(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that a reference is not empty."""
        if not any((value[name] or "").strip() for name in ("findings", "impression")):
            self.problems.append("A reference without findings and impression says nothing.")
        return value

    def edit(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that the action on a line fits its place and its words."""
        inserted = value["action"] == "insert"
        if inserted != ("+" in (self.entry.subject or "")):
            self.problems.append("What is inserted stands after a line, all else on one.")
        if (value["action"] in ("insert", "substitute")) != bool((value["edited"] or "").strip()):
            self.problems.append("Words are needed where some are inserted or put in place.")
        return value

    def decide(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that a failure is one of ours, one in people's own words, or came with the set."""
        failure = value["failure"]
        known = failure in (None, NO_FAILURE, *FAILURES, *self.own_failures)
        if not known and failure not in self.set.decisions["failure"]:
            self.problems.append(f"The failure {quote_input(failure)} is not known.")
        return value


_CHECKS: Final[Mapping[str, Callable[[_EntryCheck, dict[str, Any]], dict[str, Any]]]] = {
    "choose": _EntryCheck.choice,
    "prefer": _EntryCheck.pair,
    "reference": _EntryCheck.reference,
    "edit": _EntryCheck.edit,
    "decide": _EntryCheck.decide,
}
"""Further checks of the value for some kinds, after the checks of its fields."""


_FIRST_ROWS: Final = 100
_REMEDY: Final = "Nothing was written. Reload the page and enter it again."


class Reviews:
    """The reviews that people wrote about one review set.

    Every method may raise :class:`rexview.errors.StoreUnreachable` or
    :class:`~rexview.errors.StoreBusy`. All reads return the newest state. A ``dedicated`` database
    belongs to this set only.
    """

    def __init__(
        self, database: ReviewsDatabase, review_set: ReviewSet, key: str, *, dedicated: bool
    ) -> None:
        self.database: Final = database
        self.review_set: Final = review_set
        self.dedicated: Final = dedicated
        self._key, self._known = key, not dedicated
        self._current_state = CurrentStateCache(database)

    @property
    def lock(self) -> str:
        """The lock that every writer to the set takes."""
        return f"set {self.key}"

    @property
    def key(self) -> str:
        """The set's key in the database.

        In a dedicated database this is the key of the rows it contains: they stay with the set when
        its folder is moved or it gets an ``id``.
        """
        if not self._known:
            # a changed row may name the wrong set
            first = select(HISTORY).order_by(HISTORY.c.id).limit(_FIRST_ROWS)
            rows = self.database.rows(first)
            row = next((row for row in rows if stored_entry(row).intact), None)
            if row is not None:
                self._key, self._known = row.review_set, True
        return self._key

    @property
    def address(self) -> str:
        """The place of the entries, with the full path; for a server without its password."""
        file = self.database.file
        return str(file) if file is not None else str(self.database.url.set(query={}))

    def record(self, entries: Sequence[Entry], person: Person) -> tuple[StoredEntry, ...]:
        """Write entries, all of them or none. Returned rows are on the disk.

        An entry whose token was already written is not written again; its row is returned.

        Raises
        ------
        StoreRefused
            The person's role does not allow it, or a value or an id is invalid. Every problem is
            reported.
        StoreOvertaken
            Somebody else has since written a value that the entry's author had not seen. Nothing
            was written.
        StoreBusy, StoreFull, StoreUnreachable
            Nothing was written; the same entries can be sent again.
        """
        checked, problems = check_entries(
            entries, person, self.review_set, self._own_failures(entries)
        )
        if problems:
            raise StoreRefused(problems, _REMEDY)
        if not checked:
            return ()
        key = self.key
        return self.database.write(
            lambda connection: _EntryWriter(connection, key, person, self.review_set).write(
                checked
            ),
            lock=self.lock,
        )

    def letter_key(self) -> bytes:
        """Return the blinding key of the answers' letters (:mod:`rexview.store.blinding_key`)."""
        return read_blinding_key(self.database, self.key, lock=self.lock)

    def revision(self, *, but: str | None = None) -> int:
        """Return the id of the newest row of the set, 0 without any. A cheap query.

        Rows of the kind ``but`` are ignored.
        """
        newest = select(HISTORY.c.id).where(HISTORY.c.review_set == self.key)
        if but is not None:
            newest = newest.where(HISTORY.c.kind != but)
        newest = newest.order_by(HISTORY.c.id.desc()).limit(1)
        return next((row[0] for row in self.database.rows(newest)), 0)

    def _own_failures(self, entries: Sequence[Entry]) -> frozenset[str]:
        """Return all names, now or earlier, of people's own failures, if an entry needs them."""
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
    ) -> tuple[StoredEntry, ...]:
        """Return rows of the history, newest first, at most ``limit``.

        ``kind`` may name several kinds; they are read from one state.
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
    ) -> tuple[StoredEntry, ...]:
        """Return the newest row of each thing of a kind, oldest first: the current state."""
        return tuple(
            row
            for row in self.current_state().rows(kind)
            if person in (None, row.person) and case in (None, row.case)
        )

    def current_state(self) -> CurrentState:
        """Return the current state, cached in memory and updated with new rows."""
        return self._current_state.read(self.key)

    def saved_tokens(self, tokens: Collection[str], person: str) -> frozenset[str]:
        """Return which tokens belong to a person's entries in the database."""
        of_set = HISTORY.c.review_set == self.key
        theirs = select(HISTORY.c.token).where(of_set, HISTORY.c.person == person)
        rows = self.database.rows(theirs.where(HISTORY.c.token.in_(tokens))) if tokens else ()
        return frozenset(row[0] for row in rows)

    def scores(self, *, reader: str | None = None) -> pl.DataFrame:
        """Return the current scores, with the columns of :data:`rexview.frames.SCORES`.

        ``reader`` is a person's id. Scores that were taken back or are stale are left out.
        """
        rows = self.current("score", person=reader)
        found = scores_frame(row for row in rows if any((row.value or {}).values()))
        return split_stale_rows(found, self.review_set)[0]

    def flags(self) -> pl.DataFrame:
        """Return the verdicts on the present answers, columns :data:`rexview.frames.FLAGS`."""
        rows = self.current("verdict")
        found = flags_frame(row for row in rows if (row.value or {}).get("verdict"))
        return split_stale_rows(found, self.review_set)[0]

    def adjudications(self) -> pl.DataFrame:
        """Return each consensus on a present answer, columns :data:`.ADJUDICATIONS`."""
        rows = self.current("adjudicate")
        found = adjudications_frame(row for row in rows if any((row.value or {}).values()))
        return split_stale_rows(found, self.review_set)[0]

    def assignments(self, reader: str | None = None) -> tuple[Assignment, ...]:
        """Return the assignments of cases, of one reader or of all, oldest first."""
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
        """Return the comments on one case or on all, see :func:`.current_comments`."""
        return current_comments(self.current_state(), self.review_set, case)

    def skips(self, reader: str) -> dict[str, str]:
        """Return the cases that a reader skipped, each with the reason (may be empty)."""
        rows = self.current("skip", person=reader)
        return {row.case or "": row.value["reason"] or "" for row in rows if row.value}

    def revealed(self, reader: str, what: str) -> frozenset[str | None]:
        """Return the cases whose ``models`` or ``report`` a reader saw; None means all."""
        rows = self.current("reveal", person=reader)
        return frozenset(row.case for row in rows if row.subject == what)

    def people(self) -> dict[str, Person]:
        """Return everybody who wrote, by id, with their newest name and role."""
        return dict(self.current_state().people)

    def _all(self) -> Select[Any]:
        return select(HISTORY).where(HISTORY.c.review_set == self.key)

    def _stored(self, rows: Select[Any]) -> tuple[StoredEntry, ...]:
        found = tuple(map(stored_entry, self.database.rows(rows)))
        self.database.note_changed(found)
        return found


class _FirstVersion(NamedTuple):
    """The case and model of a comment, and its author."""

    case: str | None
    model: str | None
    person: str


class _EntryWriter:
    """The part of writing that runs inside the database transaction."""

    def __init__(
        self, connection: Connection, key: str, person: Person, review_set: ReviewSet
    ) -> None:
        self.connection, self.key, self.person, self.set = connection, key, person, review_set
        self.at = datetime.now(UTC)

    def write(self, entries: Sequence[Entry]) -> tuple[StoredEntry, ...]:
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
        return tuple(map(stored_entry, saved))

    def _is_same(self, entry: Entry, row: Row[Any]) -> bool:
        before = stored_entry(row)
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
        newest = stored_entry(found) if found else None
        is_others = newest is not None and newest.person != self.person.id
        seen = None if entry.over is None else (*entry.over, values["value"])
        if newest and is_others and seen is not None and newest.value not in seen:
            raise StoreOvertaken("Somebody else was quicker.", "Nothing was written.")
        values["previous"] = newest.value if newest else None
        values[CHECKSUM] = checksum(values)
        return self.connection.execute(insert(HISTORY).values(values).returning(HISTORY)).one()

    def _of_comment(self, entry: Entry, problems: list[str]) -> Entry:
        """Check an entry against its comment; a ``resolve`` entry gets its case and model."""
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

    def _first_version(self, comment: str | None) -> _FirstVersion | None:
        """Return the case, model and author of a comment's first version, given or written."""
        given = self.set.comments.filter(pl.col("comment") == comment)
        for row in given.select("case", "model", "reader").iter_rows():
            return _FirstVersion(*row)
        first = self.connection.execute(
            select(HISTORY.c.case_id, HISTORY.c.model_id, HISTORY.c.person)
            .where(HISTORY.c.review_set == self.key, HISTORY.c.kind == "comment")
            .where(HISTORY.c.subject == comment)
            .order_by(HISTORY.c.id)
            .limit(1)
        ).one_or_none()
        return None if first is None else _FirstVersion(*first)


def open_reviews(review_set: ReviewSet, settings: Settings) -> Reviews:
    """Return the reviews of a review set. Nothing is created on disk before the first entry.

    Raises
    ------
    StoreUnreachable
        The database of the set cannot be written to, or its address is invalid.
    """
    location = find_location(review_set, settings)
    return Reviews(
        open_reviews_database(location.url), review_set, location.key, dedicated=location.dedicated
    )


def open_best_reviews(review_set: ReviewSet, settings: Settings) -> Reviews:
    """Return the reviews of a set in their best place, for others to be merged into.

    Raises
    ------
    StoreUnreachable
        As for :func:`open_reviews`.
    """
    location = find_best_location(review_set, settings)
    return Reviews(
        open_reviews_database(location.url), review_set, location.key, dedicated=location.dedicated
    )

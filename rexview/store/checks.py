"""Whether entries may be written: who, about what, with which value. Every problem is named.

What a browser sends is not trusted: ids must be those of the set, values have exactly the fields
that :data:`rexview.store.kinds.KINDS` gives them, texts have a greatest length and nothing in them
that a database or a table cannot hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import polars as pl

from rexview.answer_digest import IS_DIGEST, digests_of
from rexview.columns.meetings import NO_FAILURE
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store.entry import Entry, check_id, clean, is_id, one_of, quoted
from rexview.store.kinds import KINDS, Kind, may
from rexview.vocab import FAILURES, IMAGE_DIMENSIONS


def check(
    entries: Sequence[Entry],
    person: Person,
    review_set: ReviewSet,
    own_failures: Collection[str] = (),
) -> tuple[list[Entry], list[str]]:
    """Check entries before the database is asked.

    ``own_failures`` are names of failures that people put in words, now or before.

    Returns
    -------
    list of Entry
        In one spelling: every field of the value there, characters that cannot be kept replaced.
    list of str
        Every problem, a sentence each; with any, nothing is to be written.
    """
    answers = _answers(entries, review_set)
    checked, problems = [], []
    if not is_id(person.id):
        problems.append("Whoever writes has no name that can be kept.")
    for number, entry in enumerate(entries, start=1):
        one = _Check(entry, review_set, answers, own_failures)
        if not isinstance(entry.kind, str) or entry.kind not in KINDS:
            one.problems.append(f"There is no kind of entry {quoted(entry.kind)}.")
        elif not may(person, entry.kind):
            one.problems.append(f"The role {person.role} may not write a {entry.kind}.")
        elif not _rule_allows(person, KINDS[entry.kind], review_set):
            one.problems.append(f"In this study readers may not write a {entry.kind}.")
        else:
            checked.append(one.checked(KINDS[entry.kind]))
        where = f"Entry {number}: " if len(entries) > 1 else ""
        problems += [where + problem for problem in one.problems]
    return checked, problems


def _rule_allows(person: Person, kind: Kind, review_set: ReviewSet) -> bool:
    """Whether the rules of the study let a person write a kind that their role may."""
    is_left_to_rule = kind.reader_rule is not None and person.role == "reader"
    return not is_left_to_rule or bool(getattr(review_set.info.protocol, kind.reader_rule or ""))


def _answers(entries: Iterable[Entry], review_set: ReviewSet) -> dict[tuple[str, str], _Answer]:
    """Look up the answers that entries name, with what they have to be scored."""
    cases = {entry.case for entry in entries if isinstance(entry.case, str)}
    wanted = pl.Series(sorted(map(clean, cases)), dtype=pl.String)
    answers = review_set.index.answers_to(wanted, ["case", "model", "images", "boxes"])
    count = pl.col("images", "boxes").list.len().fill_null(0)
    rows = answers.select("case", "model", count).with_columns(pl.col("boxes") > 0)
    return {(case, model): (pictures, boxed) for case, model, pictures, boxed in rows.iter_rows()}


_Answer = tuple[int, bool]  # number of pictures, whether there are boxes


class _Check:
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

    def checked(self, kind: Kind) -> Entry:
        """Check the entry; what it returns is only of use without problems."""
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

    def _check_about(self, kind: Kind) -> None:
        case, model = self.entry.case, self.entry.model
        if kind.about == "all":
            if case is not None or model is not None:
                self.problems.append(f"A {self.entry.kind} is about no case and no model.")
            return
        if case is None and kind.about != "case or all":
            self.problems.append(f"A {self.entry.kind} needs a case.")
        if case is not None and self.set.case(case) is None:
            self.problems.append(f"There is no case {quoted(case)}.")
        elif model is None:
            if kind.about == "answer":
                self.problems.append(f"A {self.entry.kind} needs a model.")
        elif kind.about not in ("answer", "case or answer"):
            self.problems.append(f"A {self.entry.kind} is not about a model.")
        elif (case, model) not in self.answers and not kind.outlives:
            if model in self.set.model_names:
                self.problems.append(f"There is no answer of {quoted(model)} to {quoted(case)}.")
            else:
                self.problems.append(f"There is no model {quoted(model)}.")

    def _check_subject(self, kind: Kind) -> None:
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
                one_of(subject, name, words, self.problems)
            elif not words.fullmatch(subject or ""):
                self.problems.append(f"The {name} {quoted(subject)} is none.")
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
            # Image Style is scored without a box, too, where boxes were asked for: the worklist
            # knows where, and the pages refuse it elsewhere.
            self.problems.append(f"The answer has no picture and no box for {entry.subject}.")

    def _value(self, kind: Kind) -> dict[str, Any]:
        """Return the value with exactly the fields of its kind, None where they are absent."""
        given = dict(self.entry.value or {})
        unknown = sorted(str(name) for name in given if name not in kind.fields)
        if unknown:
            self.problems.append(f"The value has a field {quoted(unknown[0])} that is not known.")
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
        """Check that an option is one of the case's."""
        case = self.set.case(self.entry.case or "")
        options = case.options if case else ()
        choice, option = value["choice"], value["option"]
        if not options:
            self.problems.append(f"The case {quoted(self.entry.case)} has no options.")
        elif choice is None:
            if option is not None:
                self.problems.append("No option is chosen, but words of one are given.")
        elif isinstance(choice, int) and not 0 <= choice < len(options):
            self.problems.append(f"There is no option {choice}; the first is 0.")
        elif option != options[choice]:
            self.problems.append("The words are not those of the option.")
        return value

    def pair(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that two answers of the case are named; they are those that were read."""
        case, sides = self.entry.case or "", ("first", "second")
        if value["first"] == value["second"]:
            self.problems.append("A report is compared with itself.")
        for side in sides:
            if (case, value[side]) not in self.answers:
                model = quoted(value[side])
                self.problems.append(f"There is no answer of {model} to {quoted(case)}.")
        if self.problems:
            return value
        found = {side: digests_of(self.set).of(case, value[side]) for side in sides}
        given = {side: value[f"{side}_digest"] for side in sides}
        return value | {f"{side}_digest": given[side] or found[side] for side in sides}

    def reference(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that a reference says anything."""
        if not any((value[name] or "").strip() for name in ("findings", "impression")):
            self.problems.append("A reference without findings and impression says nothing.")
        return value

    def edit(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that what is done with a line fits its place and its words."""
        inserted = value["action"] == "insert"
        if inserted != ("+" in (self.entry.subject or "")):
            self.problems.append("What is inserted stands after a line, all else on one.")
        if (value["action"] in ("insert", "substitute")) != bool((value["edited"] or "").strip()):
            self.problems.append("Words are needed where some are inserted or put in place.")
        return value

    def decide(self, value: dict[str, Any]) -> dict[str, Any]:
        """Check that a failure is one of ours, in somebody's words, or came with the set."""
        failure = value["failure"]
        known = failure in (None, NO_FAILURE, *FAILURES, *self.own_failures)
        if not known and failure not in self.set.decisions["failure"]:
            self.problems.append(f"The failure {quoted(failure)} is not known.")
        return value


_CHECKS: Final[Mapping[str, Callable[[_Check, dict[str, Any]], dict[str, Any]]]] = {
    "choose": _Check.choice,
    "prefer": _Check.pair,
    "reference": _Check.reference,
    "edit": _Check.edit,
    "decide": _Check.decide,
}
"""What else is checked of the value of some kinds, its fields checked before."""

"""Whether entries may be written: who, about what, with which value. Every problem is named.

What a browser sends is not trusted: ids must be those of the set, values have exactly the fields of
their kind, texts have a greatest length and nothing in them that a database or a table cannot hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import polars as pl

from rexview.answer_digest import IS_DIGEST, digests_of
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store.entry import JUDGING, KINDS, Entry
from rexview.store.roles import may
from rexview.vocab import DIMENSIONS, FAILURES, IMAGE_DIMENSIONS, SCORE_MAX, SCORE_MIN, VERDICTS

LONGEST_TEXT: Final = 20_000
LONGEST_ID: Final = 300
_UNFIT: Final = re.compile("[\x00\ud800-\udfff]")
_ON: Final[Mapping[str, frozenset[str]]] = {
    "case": frozenset(),
    "answer": frozenset(),
    "box": frozenset({"image", "box", "label", "index"}),
    "span": frozenset({"field", "start", "end", "text"}),
}
"""What a comment can be on, and the fields that say where there."""


def check(
    entries: Sequence[Entry], person: Person, review_set: ReviewSet
) -> tuple[list[Entry], list[str]]:
    """Check entries before the database is asked.

    Returns
    -------
    list of Entry
        In one spelling: every field of the value there, characters that cannot be kept replaced.
    list of str
        Every problem, a sentence each; with any, nothing is to be written.
    """
    answers = _answers(entries, review_set)
    checked, problems = [], []
    if not person.id or _UNFIT.search(person.id) or len(person.id) > LONGEST_ID:
        problems.append("Whoever writes has no name that can be kept.")
    for number, entry in enumerate(entries, start=1):
        one = _Check(entry, review_set, answers)
        if not isinstance(entry.kind, str) or entry.kind not in KINDS:
            one.problems.append(f"There is no kind of entry {_quoted(entry.kind)}.")
        elif not may(person, entry.kind):
            one.problems.append(f"The role {person.role} may not write a {entry.kind}.")
        else:
            checked.append(one.checked())
        where = f"Entry {number}: " if len(entries) > 1 else ""
        problems += [where + problem for problem in one.problems]
    return checked, problems


def _answers(entries: Iterable[Entry], review_set: ReviewSet) -> dict[tuple[str, str], _Answer]:
    """Look up the answers that entries name, with what they have to be scored."""
    cases = {entry.case for entry in entries if isinstance(entry.case, str)}
    wanted = pl.Series(sorted(map(_clean, cases)), dtype=pl.String)
    boxes = pl.col("boxes").list.len().fill_null(0) > 0
    rows = review_set.answers.filter("_newest", pl.col("case").is_in(wanted.implode())).select(
        "case", "model", pl.col("images").list.len().fill_null(0), boxes
    )
    return {(case, model): (pictures, boxed) for case, model, pictures, boxed in rows.iter_rows()}


_Answer = tuple[int, bool]  # number of pictures, whether there are boxes


class _Check:
    """The check of one entry."""

    def __init__(
        self, entry: Entry, review_set: ReviewSet, answers: Mapping[tuple[str, str], _Answer]
    ) -> None:
        self.entry, self.set, self.answers = entry, review_set, answers
        self.problems: list[str] = []

    def checked(self) -> Entry:
        """Check the entry; what it returns is only of use without problems."""
        entry = self.entry
        try:
            entry = replace(entry, token=str(UUID(entry.token)))
        except (ValueError, AttributeError, TypeError):
            self.problems.append("The token is no UUID.")
        for name in ("case", "model", "subject", "via"):
            self._check_id(name, getattr(entry, name))
        if entry.picture is not None and entry.kind not in ("score", "adjudicate"):
            self.problems.append(f"A {entry.kind} is not about a picture.")
        value: Any = entry.value
        if value is not None and not isinstance(value, Mapping):
            self.problems.append("The value is not an object with fields.")
        digest: Any = entry.answer_digest
        if digest is not None and entry.kind not in JUDGING:
            self.problems.append(f"A {entry.kind} is not of one answer only.")
        elif digest is not None and not (isinstance(digest, str) and IS_DIGEST.fullmatch(digest)):
            self.problems.append("The digest of the answer is none.")
        if self.problems:
            return entry
        entry = _KINDS[entry.kind](self, entry)
        if entry.kind in JUDGING and digest is None and not self.problems:
            digest = digests_of(self.set).of(entry.case or "", entry.model or "")
        return replace(entry, answer_digest=digest)

    def _check_id(self, name: str, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, str) or _UNFIT.search(value) or not 0 < len(value) <= LONGEST_ID:
            self.problems.append(f"The {name} cannot be kept.")

    def _about(self, *, case: bool, model: bool | None) -> None:
        """Check what it is about; ``model``: True needs an answer, False none, None either."""
        entry = self.entry
        if case and entry.case is None:
            self.problems.append(f"A {entry.kind} needs a case.")
        if entry.case is not None and self._case_unknown(entry.case):
            self.problems.append(f"There is no case {_quoted(entry.case)}.")
            return
        if model and entry.model is None:
            self.problems.append(f"A {entry.kind} needs a model.")
        elif entry.model is not None and model is False:
            self.problems.append(f"A {entry.kind} is not about a model.")
        elif entry.model is not None and (entry.case, entry.model) not in self.answers:
            if entry.model in self.set.model_names:
                where = f" to {_quoted(entry.case)}"
                self.problems.append(f"There is no answer of {_quoted(entry.model)}{where}.")
            else:
                self.problems.append(f"There is no model {_quoted(entry.model)}.")

    def _case_unknown(self, case: Any) -> bool:
        return not isinstance(case, str) or self.set.case(case) is None

    def _no_subject(self) -> None:
        if self.entry.subject is not None:
            self.problems.append(f"A {self.entry.kind} has no subject.")

    def _fields(self, *names: str) -> dict[str, Any]:
        """Return the value with exactly these fields, None where they are absent."""
        given = dict(self.entry.value or {})
        unknown = sorted(str(name) for name in given if name not in names)
        if unknown:
            self.problems.append(f"The value has a field {_quoted(unknown[0])} that is not known.")
        return {name: given.get(name) for name in names}

    def _text(self, value: Any, name: str, *, required: bool = False) -> str | None:
        if value is None or value == "":
            if required:
                self.problems.append(f"The {name} is empty.")
            return None
        if not isinstance(value, str):
            self.problems.append(f"The {name} is not a text.")
            return None
        if len(value) > LONGEST_TEXT:
            self.problems.append(f"The {name} is longer than {LONGEST_TEXT:,} characters.")
        if required and not value.strip():
            self.problems.append(f"The {name} is empty.")
        return _clean(value)

    def _one_of(self, value: Any, name: str, words: Iterable[Any]) -> Any:
        if not isinstance(value, str | bool | None) or value not in list(words):
            self.problems.append(f"The {name} {_quoted(value)} is not known.")
        return value

    def score(self, entry: Entry) -> Entry:
        """A score or a consensus on one."""
        self._about(case=True, model=True)
        self._one_of(entry.subject, "dimension", DIMENSIONS)
        self._check_picture(entry)
        value = self._fields("score", "comment")
        score = value["score"]
        whole = isinstance(score, int) and not isinstance(score, bool)
        if score is not None and not (whole and SCORE_MIN <= score <= SCORE_MAX):
            self.problems.append(
                f"The score {_quoted(score)} is not a whole number from {SCORE_MIN} to {SCORE_MAX}."
            )
        value["comment"] = self._text(value["comment"], "comment")
        return replace(entry, value=value)

    def _check_picture(self, entry: Entry) -> None:
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

    def verdict(self, entry: Entry) -> Entry:
        """A verdict on a failure."""
        self._about(case=True, model=True)
        self._one_of(entry.subject, "failure", FAILURES)
        value = self._fields("verdict", "comment")
        self._one_of(value["verdict"], "verdict", (*VERDICTS, None))
        value["comment"] = self._text(value["comment"], "comment")
        return replace(entry, value=value)

    def comment(self, entry: Entry) -> Entry:
        """A comment, an edited one, or None for one that is removed."""
        self._about(case=True, model=None)
        self._needs_subject("id")
        if entry.value is None:
            return entry
        value = self._fields("text", "on", "reply_to")
        value["text"] = self._text(value["text"], "comment", required=True)
        self._check_id("comment that is replied to", value["reply_to"])
        value["on"] = self._place(value["on"], entry)
        return replace(entry, value=value)

    def _place(self, on: Any, entry: Entry) -> dict[str, Any]:
        what = on.get("what") if isinstance(on, Mapping) else None
        if not isinstance(on, Mapping) or not isinstance(what, str) or what not in _ON:
            self.problems.append(f"It is not said what the comment is on: {', '.join(_ON)}.")
            return {}
        if (what == "case") != (entry.model is None) and what != "span":
            self.problems.append(f"A comment on {what} has to name a model, on a case none.")
        place = {str(name): _plain(value) for name, value in on.items() if value is not None}
        if set(place) - _ON[what] - {"what"} or any(value is None for value in place.values()):
            self.problems.append(f"Where the comment on a {what} stands cannot be understood.")
        return place

    def resolve(self, entry: Entry) -> Entry:
        """Whether a comment is settled; whose case and model it is of is looked up later."""
        self._needs_subject("comment")
        value = self._fields("resolved")
        self._one_of(value["resolved"], "value of resolved", (True, False))
        return replace(entry, value=value)

    def assign(self, entry: Entry) -> Entry:
        """A case given to a reader."""
        self._about(case=True, model=False)
        self._needs_subject("reader")
        value = self._fields("as", "active", "name")
        value["name"] = self._text(value["name"], "name")
        if value["name"] is None:
            del value["name"]
        self._one_of(value["as"], "value of as", ("first", "second"))
        self._one_of(value["active"], "value of active", (True, False))
        return replace(entry, value=value)

    def skip(self, entry: Entry) -> Entry:
        """A case left out."""
        self._about(case=True, model=False)
        self._no_subject()
        if entry.value is None:
            return entry
        reason = self._text(self._fields("reason")["reason"], "reason")
        return replace(entry, value={"reason": reason})

    def reveal(self, entry: Entry) -> Entry:
        """Something hidden was shown: of one case, or of all."""
        self._about(case=False, model=False)
        value = self._fields("what", "accepted")
        what = self._one_of(value["what"], "value of what", ("models", "report", "unblinded"))
        if entry.subject not in (None, what):
            self.problems.append("The subject of a reveal is what was shown.")
        if value["accepted"] is None:
            return replace(entry, subject=what, value={"what": what})
        self._one_of(value["accepted"], "value of accepted", (True,) if what == "unblinded" else ())
        return replace(entry, subject=what, value={"what": what, "accepted": True})

    def done(self, entry: Entry) -> Entry:
        """A reader's case, or all of them, finished."""
        self._about(case=False, model=False)
        self._no_subject()
        value = self._fields("done")
        self._one_of(value["done"], "value of done", (True, False))
        return replace(entry, value=value)

    def _needs_subject(self, what: str) -> None:
        if not self.entry.subject:
            self.problems.append(f"A {self.entry.kind} needs the {what} as its subject.")


_KINDS: Final[Mapping[str, Callable[[_Check, Entry], Entry]]] = {
    "score": _Check.score,
    "adjudicate": _Check.score,
    "verdict": _Check.verdict,
    "comment": _Check.comment,
    "resolve": _Check.resolve,
    "assign": _Check.assign,
    "skip": _Check.skip,
    "reveal": _Check.reveal,
    "done": _Check.done,
}


def _plain(value: Any) -> Any:
    """Return a text, a finite number or a list of four of these, None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _clean(value) if len(value) <= LONGEST_TEXT else None
    if isinstance(value, int | float):
        return value if math.isfinite(value) and abs(value) < 1e9 else None
    if isinstance(value, list | tuple) and len(value) == 4:
        numbers = [_plain(part) for part in value]
        return None if any(not isinstance(part, int | float) for part in numbers) else numbers
    return None


def _clean(text: str) -> str:
    """Replace what neither a database nor a table can hold: NUL and halves of characters."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def _quoted(value: Any) -> str:
    text = _clean(str(value))
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"

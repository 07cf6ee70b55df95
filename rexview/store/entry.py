"""One row of the history: what is asked to be written, what was, and the kinds that there are.

A new kind of entry is one more :class:`Kind` in :data:`KINDS`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal
from uuid import uuid4

from rexview.people import Person, Role
from rexview.vocab import DIMENSIONS, FAILURES, SCORE_MAX, SCORE_MIN, VERDICTS


def new_token() -> str:
    """Return a name for an entry that has not been written yet."""
    return str(uuid4())


@dataclass(frozen=True)
class Entry:
    """Something to be written.

    Attributes
    ----------
    kind : str
        A key of :data:`KINDS`, which says what ``value`` has.
    case, model : str or None
        What it is about; a model stands for its answer to the case.
    subject : str or None
        The dimension, failure, comment id or reader id, by kind.
    picture : int or None
        Which of the answer's pictures, from 0; image dimensions only.
    value : mapping or None
    token : str
        A UUID made by whoever sends the entry: sent again, it is still one entry.
    via : str
        Where it was given, such as ``case page``.
    over : tuple of (mapping or None), optional
        The values on the same thing that whoever writes has seen (None: nothing there yet). Where
        somebody else's other value stands, the entry is not written. Absent: whatever stands.
    answer_digest : str, optional
        Digest (:mod:`rexview.answer_digest`) of the answer that was read, of a kind that judges
        answers. Absent: of the answer as it is when the entry is checked.
    """

    kind: str
    case: str | None = None
    model: str | None = None
    subject: str | None = None
    picture: int | None = None
    value: Mapping[str, Any] | None = None
    token: str = field(default_factory=new_token)
    via: str = "app"
    over: tuple[Mapping[str, Any] | None, ...] | None = None
    answer_digest: str | None = None


@dataclass(frozen=True)
class Stored:
    """A row of the history. ``previous`` is the value before it, for the same thing.

    ``person_name`` and ``person_role`` are those under which it was written. ``answer_digest`` is
    that of the answer that was read; None in rows from before it was kept, which count as of the
    answer as it is. ``intact`` is False for a row that was changed after it was written: it has no
    value.
    """

    id: int
    token: str
    at: datetime
    person: str
    person_name: str
    person_role: str
    kind: str
    case: str | None
    model: str | None
    subject: str | None
    picture: int | None
    value: Mapping[str, Any] | None
    previous: Mapping[str, Any] | None
    via: str
    answer_digest: str | None = None
    intact: bool = True


LONGEST_TEXT: Final = 20_000
LONGEST_ID: Final = 300
_UNFIT: Final = re.compile("[\x00\ud800-\udfff]")
Field = Callable[[Any, Entry, list[str]], Any]
"""Checks one field of an entry's value: adds to the problems, returns the value as it is kept."""


@dataclass(frozen=True)
class Kind:
    """One kind of entry: what it is about, what its value says, and who may write it."""

    meaning: str
    about: Literal["answer", "case", "case or answer", "case or all", "comment"]
    """What has to be named: case and model; a case and no model; a case and perhaps a model;
    perhaps a case and no model; a comment, from which case and model are taken."""
    fields: Mapping[str, Field]
    """Every field of the value, in the order in which it is kept."""
    roles: frozenset[Role]
    subject: str | tuple[str, Collection[str]] | None = None
    """A text that is needed, or one of some words; None: there is none."""
    subject_field: str | None = None
    """The field whose value is the subject, too."""
    optional: frozenset[str] = frozenset()
    """Fields that are left out of the value where they are None."""
    pictured: bool = False
    """Whether it may be about one of the answer's pictures."""
    removable: bool = False
    """Whether None as the value takes back what was there."""
    shared: bool = False
    """Whether there is one state for all; else everybody has a state of their own."""
    judging: bool = False
    """Whether it judges what an answer says: it is of the answer that was read and no later one."""


def _word(name: str, *words: Any) -> Field:
    def check(value: Any, _entry: Entry, problems: list[str]) -> Any:
        return one_of(value, name, words, problems)

    return check


def _text(name: str, *, required: bool = False) -> Field:
    def check(value: Any, _entry: Entry, problems: list[str]) -> str | None:
        if value is None or value == "":
            if required:
                problems.append(f"The {name} is empty.")
            return None
        if not isinstance(value, str):
            problems.append(f"The {name} is not a text.")
            return None
        if len(value) > LONGEST_TEXT:
            problems.append(f"The {name} is longer than {LONGEST_TEXT:,} characters.")
        if required and not value.strip():
            problems.append(f"The {name} is empty.")
        return clean(value)

    return check


def _score(value: Any, _entry: Entry, problems: list[str]) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (whole and SCORE_MIN <= value <= SCORE_MAX):
        problems.append(
            f"The score {quoted(value)} is not a whole number from {SCORE_MIN} to {SCORE_MAX}."
        )
    return value


def _replied_to(value: Any, _entry: Entry, problems: list[str]) -> Any:
    check_id("comment that is replied to", value, problems)
    return value


def _accepted(value: Any, entry: Entry, problems: list[str]) -> Any:
    if value is not None:  # only on a page that names the models there is something to accept
        is_unblinded = (entry.value or {}).get("what") == "unblinded"
        one_of(value, "value of accepted", (True,) if is_unblinded else (), problems)
    return value


_SPOTS: Final[Mapping[str, frozenset[str]]] = {
    "case": frozenset(),
    "answer": frozenset(),
    "box": frozenset({"image", "box", "label", "index"}),
    "span": frozenset({"field", "start", "end", "text"}),
}
"""What a comment can be on, and the fields that say where there."""


def _spot(on: Any, entry: Entry, problems: list[str]) -> dict[str, Any]:
    place = on.get("what") if isinstance(on, Mapping) else None
    if not isinstance(on, Mapping) or not isinstance(place, str) or place not in _SPOTS:
        problems.append(f"It is not said what the comment is on: {', '.join(_SPOTS)}.")
        return {}
    if (place == "case") != (entry.model is None) and place != "span":
        problems.append(f"A comment on {place} has to name a model, on a case none.")
    spot = {str(name): _plain(value) for name, value in on.items() if value is not None}
    if set(spot) - _SPOTS[place] - {"what"} or any(value is None for value in spot.values()):
        problems.append(f"Where the comment on a {place} stands cannot be understood.")
    return spot


def _plain(value: Any) -> Any:
    """Return a text, a finite number or a list of four of these, None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return clean(value) if len(value) <= LONGEST_TEXT else None
    if isinstance(value, int | float):
        return value if math.isfinite(value) and abs(value) < 1e9 else None
    if isinstance(value, list | tuple) and len(value) == 4:
        numbers = [_plain(part) for part in value]
        return None if any(not isinstance(part, int | float) for part in numbers) else numbers
    return None


_READERS: Final = frozenset[Role]({"reader", "lead"})
_ALL_WHO_WRITE: Final = frozenset[Role]({"reader", "adjudicator", "lead"})
_SCORE_FIELDS: Final[Mapping[str, Field]] = {"score": _score, "comment": _text("comment")}

# An adjudicator sees what readers gave, so does not score as one.
KINDS: Final[Mapping[str, Kind]] = {
    "score": Kind(
        "one dimension of an answer scored: `score` (1 to 5 or null), `comment`",
        about="answer",
        fields=_SCORE_FIELDS,
        roles=_READERS,
        subject=("dimension", DIMENSIONS),
        pictured=True,
        judging=True,
    ),
    "verdict": Kind(
        "a failure confirmed or rejected: `verdict` (null takes it back), `comment`",
        about="answer",
        fields={"verdict": _word("verdict", *VERDICTS, None), "comment": _text("comment")},
        roles=_ALL_WHO_WRITE,
        subject=("failure", FAILURES),
        judging=True,
    ),
    "comment": Kind(
        "words on something: `text`, `on` (what and where), `reply_to`; null: removed",
        about="case or answer",
        fields={"text": _text("comment", required=True), "on": _spot, "reply_to": _replied_to},
        roles=_ALL_WHO_WRITE,
        subject="id",
        removable=True,
    ),
    "resolve": Kind(
        "a comment settled: `resolved`",
        about="comment",
        fields={"resolved": _word("value of resolved", True, False)},
        roles=_ALL_WHO_WRITE,
        subject="comment",
        shared=True,
    ),
    "assign": Kind(
        "a case given to a reader: `as` (`first` or `second`), `active`, `name` if known",
        about="case",
        fields={
            "as": _word("value of as", "first", "second"),
            "active": _word("value of active", True, False),
            "name": _text("name"),
        },
        roles=frozenset[Role]({"lead"}),
        subject="reader",
        optional=frozenset({"name"}),
        shared=True,
    ),
    "adjudicate": Kind(
        "the consensus on a dimension of an answer: `score`, `comment`",
        about="answer",
        fields=_SCORE_FIELDS,
        roles=frozenset[Role]({"adjudicator", "lead"}),
        subject=("dimension", DIMENSIONS),
        pictured=True,
        shared=True,
        judging=True,
    ),
    "skip": Kind(
        "a case left out by a reader: `reason`; null: taken back",
        about="case",
        fields={"reason": _text("reason")},
        roles=_READERS,
        removable=True,
    ),
    "reveal": Kind(
        "a reader was shown what had been hidden: `what` (`models`, `report`, `unblinded`: "
        "the case on a page that names its models), `accepted`: they score it all the same",
        about="case or all",
        fields={
            "what": _word("value of what", "models", "report", "unblinded"),
            "accepted": _accepted,
        },
        roles=_READERS,
        subject_field="what",
        optional=frozenset({"accepted"}),
    ),
    "done": Kind(
        "a reader has finished a case: `done`",
        about="case or all",
        fields={"done": _word("value of done", True, False)},
        roles=_READERS,
    ),
}
SHARED: Final = frozenset(name for name, kind in KINDS.items() if kind.shared)
"""Kinds of which there is one state for all."""


def may(person: Person, kind: str) -> bool:
    """Whether a person may write entries of a kind; nobody may write an unknown one."""
    return kind in KINDS and person.role in KINDS[kind].roles


def one_of(value: Any, name: str, words: Collection[Any], problems: list[str]) -> Any:
    """Check that a value is one of some words, none of which is a number."""
    if not isinstance(value, str | bool | None) or value not in list(words):
        problems.append(f"The {name} {quoted(value)} is not known.")
    return value


def check_id(name: str, value: Any, problems: list[str]) -> None:
    """Check that an id, if there is one, can be kept."""
    if value is not None and not is_id(value):
        problems.append(f"The {name} cannot be kept.")


def is_id(value: Any) -> bool:
    """Whether a value is a text that can be kept as an id."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_ID and not _UNFIT.search(value)


def clean(text: str) -> str:
    """Replace what neither a database nor a table can hold: NUL and halves of characters."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def quoted(value: Any) -> str:
    """Return a value in quotation marks, cut where it is long."""
    text = clean(str(value))
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"

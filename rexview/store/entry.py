"""One row of the history: what is asked to be written, and what was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

KINDS: Final[Mapping[str, str]] = {
    "score": "one dimension of an answer scored: `score` (1 to 5 or null), `comment`",
    "verdict": "a failure confirmed or rejected: `verdict` (null takes it back), `comment`",
    "comment": "words on something: `text`, `on` (what and where), `reply_to`; null: removed",
    "resolve": "a comment settled: `resolved`",
    "assign": "a case given to a reader: `as` (`first` or `second`), `active`, `name` if known",
    "adjudicate": "the consensus on a dimension of an answer: `score`, `comment`",
    "skip": "a case left out by a reader: `reason`; null: taken back",
    "reveal": "a reader was shown what had been hidden: `what` (`models`, `report`, `unblinded`: "
    "the case on a page that names its models), `accepted`: they score it all the same",
    "done": "a reader has finished a case: `done`",
}
"""Every kind of entry, with the fields of its value."""
SHARED: Final = frozenset({"resolve", "assign", "adjudicate"})
"""Kinds of which there is one state for all; of the others everybody has a state of their own."""


JUDGING: Final = frozenset({"score", "verdict", "adjudicate"})
"""Kinds that judge what an answer says: they are of the answer that was read and no later one."""


def new_token() -> str:
    """Return a name for an entry that has not been written yet."""
    return str(uuid4())


@dataclass(frozen=True)
class Entry:
    """Something to be written.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`, which says what ``value`` has.
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
        Digest (:mod:`rexview.answer_digest`) of the answer that was read, of the kinds in
        :data:`JUDGING`. Absent: of the answer as it is when the entry is checked.
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

"""One row of the history, before and after it is written; see :mod:`rexview.store.kinds`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import uuid4


def new_token() -> str:
    """Return a new token for an entry that has not been written yet."""
    return str(uuid4())


@dataclass(frozen=True)
class Entry:
    """An entry to write.

    Attributes
    ----------
    kind : str
        A key of :data:`rexview.store.kinds.ENTRY_KINDS`, which defines the fields of ``value``.
    case, model : str or None
        What it is about; a model means its answer to the case.
    subject : str or None
        The dimension, failure, comment id, reader id or line, by kind.
    picture : int or None
        Which of the answer's pictures, from 0; image dimensions only.
    value : mapping or None
    token : str
        A UUID made by the sender; an entry sent twice is still one entry.
    via : str
        Where it was entered, such as ``case page``.
    over : tuple of (mapping or None), optional
        The values of the same thing that the author has seen (None: no value). If somebody else has
        since written another value, the entry is refused. Absent: it is written in any case.
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
class StoredEntry:
    """A row of the history. ``previous`` is the earlier value of the same thing.

    ``person_name`` and ``person_role`` are the author's at the time of writing. ``answer_digest``
    is the digest of the answer that was read. It is None in rows older than digests, which count as
    rows about the present answer. ``intact`` is False for a row that was changed after it was
    written; such a row has no value.
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


def check_choice(value: Any, name: str, words: Collection[Any], problems: list[str]) -> Any:
    """Check that a value is one of some words; a number never is."""
    if not isinstance(value, str | bool | None) or value not in list(words):
        problems.append(f"The {name} {quote_input(value)} is not known.")
    return value


def check_id(name: str, value: Any, problems: list[str]) -> None:
    """Check that an id, if given, can be stored."""
    if value is not None and not is_id(value):
        problems.append(f"The {name} cannot be kept.")


def is_id(value: Any) -> bool:
    """True if a value is a text that can be stored as an id."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_ID and not _UNFIT.search(value)


def storable_text(text: str) -> str:
    """Replace what neither a database nor a table can store: NUL and lone surrogates."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def quote_input(value: Any) -> str:
    """Return a value in quotation marks, shortened if long."""
    text = storable_text(str(value))
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"

"""Entries as a browser sends them, and the rule that keeps windows apart.

A browser is not trusted: every field is checked, here for its type, and for its meaning where the
database entry is made. An entry about an answer has the name of the answer that was seen
(``shown``): the set may have changed since the page was made, and then a letter can mean another
answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from rexview.analysis.query.study_tasks import Task
from rexview.errors import RexviewError
from rexview.store import Entry, StoredEntry
from rexview.store.kinds import ENTRY_KINDS
from rexview.ui.web.link.pages import (
    PAGE_ADJUDICATE,
    PAGE_CASE,
    PAGE_CURATE,
    PAGE_FAILURES,
    PAGE_MEETING,
    PAGE_SCORE,
)
from rexview.words import tr

SCORE_PAGE: Final = "score page"
CASE_PAGE: Final = "case page"
ADJUDICATE_PAGE: Final = "adjudicate page"
CURATE_PAGE: Final = "curate page"
MEETING_PAGE: Final = "meeting page"
"""Entries about meetings, also from a case or a list: pinned cases, decisions."""
FAILURES_PAGE: Final = "failures page"
"""The page for reading a sample of a judge's findings of a written failure."""
TASK_PAGES: Final[Mapping[str, Task]] = {
    "answer questions": "answer",
    "correct reports": "correct",
    "compare reports": "compare",
}
"""The task of the Score page for each page name of its other tasks."""
PAGE_FILES: Final[Mapping[str, str]] = {
    SCORE_PAGE: PAGE_SCORE,
    **dict.fromkeys(TASK_PAGES, PAGE_SCORE),
    CASE_PAGE: PAGE_CASE,
    ADJUDICATE_PAGE: PAGE_ADJUDICATE,
    CURATE_PAGE: PAGE_CURATE,
    MEETING_PAGE: PAGE_MEETING,
    FAILURES_PAGE: PAGE_FAILURES,
}
"""The app's page for each page name in entries."""
CHANGED: Final = tr(
    "The answers to this case, or where reviews are kept, were changed after you entered "
    "this. Check the current answers, and enter it again."
)
_STRING_FIELDS: Final = ("kind", "slot", "shown", "subject", "field")


class EntryRefused(RexviewError):
    """An entry that cannot be accepted; the message is for its writer."""


class EntryConflict(Exception):
    """An entry on a value changed elsewhere, unseen by its writer; it has the stored value."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        super().__init__()
        self.value = value


@dataclass(frozen=True)
class SentEntry:
    """One action of a person on a page.

    Attributes
    ----------
    token : str
        A UUID; an entry sent again with it is written only once.
    case, kind, page : str
        ``page`` is where the action was done, such as :data:`SCORE_PAGE`.
    slot, shown : str or None
        The answer's name on that page (a letter, or the model on the Case page), and the identity
        of that answer.
    subject : str or None
        Dimension, failure, id of a comment or candidate, or what to show, depending on the kind.
    picture : int or None
        Index of the answer's picture, from 0.
    field : str or None
        The changed part of a score: ``score`` or ``comment``.
    value, was : Any
        The new value, and the value that the writer saw before.
    seen : int
        The newest row of the history that the page knew: the writer has not seen newer rows.
        Browsers' clocks are not used. A consensus is compared by ``was`` alone.
    """

    token: str
    case: str
    kind: str
    page: str = SCORE_PAGE
    slot: str | None = None
    shown: str | None = None
    subject: str | None = None
    picture: int | None = None
    field: str | None = None
    value: Any = None
    was: Any = None
    seen: int = 0

    def check_unseen(self, row: StoredEntry | None, value: Any, stands: Mapping[str, Any]) -> None:
        """Check that the writer has seen the stored value.

        A delayed entry must not undo what another window or person has saved since.

        Parameters
        ----------
        row : Stored or None
            The newest row on the same subject.
        value : Any
            The row's value, to be compared with ``was`` and ``value``.
        stands : mapping
            The same value in the form for the writer.

        Raises
        ------
        EntryConflict
        """
        if row is not None and row.id > self.seen and value not in (self.was, self.value):
            raise EntryConflict(stands)

    def on_shown(self, value: Mapping[str, Any] | None) -> Entry:
        """Make the database entry, with a checked value, on the answer that was seen."""
        return Entry(
            self.kind,
            self.case,
            self.slot,
            self.subject,
            value=value,
            token=self.token,
            via=self.page,
            answer_digest=self.shown,
        )


def read_entry(raw: Any) -> SentEntry:
    """Read one entry as a browser sends it.

    Raises
    ------
    ValueError
        It has no token or no case, or is no entry.
    """
    if not isinstance(raw, Mapping) or not isinstance(raw.get("case"), str):
        raise ValueError("This is not an entry of ours.")
    try:
        usual = str(UUID(str(raw.get("token"))))
    except ValueError:
        raise ValueError("An entry has no token.") from None
    if usual != raw.get("token"):
        raise ValueError("A token is not in its usual spelling.")
    texts = {name: raw[name] if isinstance(raw.get(name), str) else None for name in _STRING_FIELDS}
    page = raw.get("page", SCORE_PAGE)  # pads of older versions do not send it
    return SentEntry(
        token=usual,
        case=raw["case"].encode("utf-8", "replace").decode(),  # an id has no lone surrogates
        page=page if isinstance(page, str) else "",
        picture=whole_number(raw.get("picture")),
        value=raw.get("value"),
        was=raw.get("was"),
        seen=whole_number(raw.get("seen")) or 0,
        kind=texts.pop("kind") or "",
        **texts,
    )


def whole_number(value: Any) -> int | None:
    """Return a whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def fields_of_kind(kind: str, given: Any) -> dict[str, Any] | None:
    """Return all fields of a kind, None for absent or empty ones; None if nothing is given.

    Raises
    ------
    EntryRefused
        The value has no fields.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise EntryRefused(tr("This request does not come from this page."))
    return {
        name: None if given.get(name) == "" else given.get(name)
        for name in ENTRY_KINDS[kind].fields
    }


def checked_text(value: Any, longest: int) -> str:
    """Return ``value`` if it is a text of at most ``longest`` characters.

    Raises
    ------
    EntryRefused
        It is no text, or is too long.
    """
    if not isinstance(value, str) or len(value) > longest:
        raise EntryRefused(tr("A text has at most {n:,} characters.").format(n=longest))
    return value


def reveal_entries(sent: SentEntry, cases: Iterable[str], value: Mapping[str, Any]) -> list[Entry]:
    """Make the entries that show a reader something in several cases with one press.

    The first has the press's own token, and the others have tokens derived from it, so that a
    repeated request writes them once.
    """
    seed = uuid5(NAMESPACE_URL, sent.token)
    return [
        Entry(
            "reveal",
            case,
            value=value,
            token=str(uuid5(seed, case)) if place else sent.token,
            via=sent.page,
        )
        for place, case in enumerate(cases)
    ]

"""One thing that a person did, as a browser sends it, and the rule that keeps windows apart.

A browser is not trusted: every field is checked, here for its type, and for what it means where it
becomes an entry of the database. What is about an answer carries the name of the answer that was
seen (``shown``): the set may have been changed since the page was made, and then a letter can stand
for another answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from rexview.analysis.query.study import Task
from rexview.errors import RexviewError
from rexview.store import Entry, Stored
from rexview.store.kinds import KINDS
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
"""What is written of meetings, also from a case or a list: pinned cases, decisions."""
FAILURES_PAGE: Final = "failures page"
"""Where a sample of what a judge found of a failure in words is read."""
TASK_PAGES: Final[Mapping[str, Task]] = {
    "answer questions": "answer",
    "correct reports": "correct",
    "compare reports": "compare",
}
"""The task of the Score page behind the names under which readers do other things there."""
PAGE_FILES: Final[Mapping[str, str]] = {
    SCORE_PAGE: PAGE_SCORE,
    **dict.fromkeys(TASK_PAGES, PAGE_SCORE),
    CASE_PAGE: PAGE_CASE,
    ADJUDICATE_PAGE: PAGE_ADJUDICATE,
    CURATE_PAGE: PAGE_CURATE,
    MEETING_PAGE: PAGE_MEETING,
    FAILURES_PAGE: PAGE_FAILURES,
}
"""The page of the app behind each name of a page that entries carry."""
CHANGED: Final = tr(
    "The answers to this case, or where reviews are kept, were changed after "
    "you gave this. Look at the answers as they are now, and give it again."
)
_STRING_FIELDS: Final = ("kind", "slot", "shown", "subject", "field")


class Refused(RexviewError):
    """An entry that cannot be taken: the reason, for its writer."""


class Overtaken(Exception):
    """An entry on something that was changed elsewhere, unseen by its writer: what stands there."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        super().__init__()
        self.value = value


@dataclass(frozen=True)
class SentEntry:
    """One thing that a person did on a page.

    Attributes
    ----------
    token : str
        A UUID: sent again under it, it is still one entry.
    case, kind, page : str
        ``page`` is where it was done, one of :data:`SCORE_PAGE` and its like.
    slot, shown : str or None
        The answer by its name on that page (a letter, or on the Case page the model), and which
        answer that was.
    subject : str or None
        Dimension, failure, id of a comment or candidate, or what is to be shown, by kind.
    picture : int or None
        Which of the answer's pictures, from 0.
    field : str or None
        What of a score is changed: ``score`` or ``comment``.
    value, was : Any
        What is given, and what the writer saw there before.
    seen : int
        The newest row of the history that the page knew of then. What is newer its writer had not
        seen. Clocks of browsers are not asked. A consensus goes by ``was`` alone.
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

    def check_unseen(self, row: Stored | None, value: Any, stands: Mapping[str, Any]) -> None:
        """Check that nothing was changed elsewhere without the writer having seen it.

        An entry that was on its way for long must not undo what another window, or somebody else,
        saved meanwhile.

        Parameters
        ----------
        row : Stored or None
            The newest row on the same thing.
        value : Any
            What it says, to be compared with ``was`` and ``value``.
        stands : mapping
            The same, for the writer.

        Raises
        ------
        Overtaken
        """
        if row is not None and row.id > self.seen and value not in (self.was, self.value):
            raise Overtaken(stands)

    def on_shown(self, value: Mapping[str, Any] | None) -> Entry:
        """Make its entry, with a checked value, on the answer that was seen."""
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
        It has no token or no case, or is something else altogether.
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
    page = raw.get("page", SCORE_PAGE)  # pads of older versions do not say so
    return SentEntry(
        token=usual,
        case=raw["case"].encode("utf-8", "replace").decode(),  # halves of characters are no id
        page=page if isinstance(page, str) else "",
        picture=whole(raw.get("picture")),
        value=raw.get("value"),
        was=raw.get("was"),
        seen=whole(raw.get("seen")) or 0,
        kind=texts.pop("kind") or "",
        **texts,
    )


def whole(value: Any) -> int | None:
    """Return a whole number, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def value_of(kind: str, given: Any) -> dict[str, Any] | None:
    """Return all fields of a kind, None for those that are absent or empty; None for nothing.

    Raises
    ------
    Refused
        It is no value with fields.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise Refused(tr("This is not something that the page sends."))
    return {name: None if given.get(name) == "" else given.get(name) for name in KINDS[kind].fields}


def text_of(value: Any, longest: int) -> str:
    """Return a text.

    Raises
    ------
    Refused
        It is none, or is too long.
    """
    if not isinstance(value, str) or len(value) > longest:
        raise Refused(tr("A text has at most {n:,} characters.").format(n=longest))
    return value


def reveals(sent: SentEntry, cases: Iterable[str], value: Mapping[str, Any]) -> list[Entry]:
    """Make the entries of what a reader is shown in some cases by one press.

    The first has the press's own token, the others tokens that follow from it: sent again they are
    the same.
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

"""What meetings decided, given with the set and written, as records: all, open, of one case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

import polars as pl

from rexview.answer_digest import digests_of
from rexview.columns.tables import NO_FAILURE
from rexview.schema import ReviewSet
from rexview.vocab import FAILURES, MEETING_DECISIONS
from rexview.words import tr

NOTHING_TO_DO: Final = "accept"
"""The decision after which nothing is left to do, unless somebody is to see to it."""


@dataclass(frozen=True)
class Decision:
    """What a meeting decided about a case, or about one model's answer to it, as it stands.

    ``failure`` is a key of :data:`rexview.vocab.FAILURES`, :data:`NO_FAILURE`, or
    another word that was given; ``severity`` 0 (none) to 4 (grave); ``decision`` a key of
    :data:`rexview.vocab.MEETING_DECISIONS` or the meeting's own words. ``by`` is the name of
    whoever wrote it down, ``digest`` that of the answer that was discussed, None where it is about
    the case or was not kept. ``replaced``: the answer has been changed since, or is not there.
    """

    meeting: str
    meeting_name: str
    held: date | None
    case: str
    model: str | None
    failure: str | None
    severity: int | None
    decision: str | None
    owner: str | None
    due: date | None
    done: bool
    comment: str | None
    by: str
    written: datetime | None
    digest: str | None = None
    replaced: bool = False

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        left = self.decision not in (None, NOTHING_TO_DO) or self.owner or self.due
        return bool(left) and not self.done

    @property
    def decision_words(self) -> str:
        """The decision in words, nothing where none was taken."""
        return decision_words(self.decision)

    @property
    def failure_words(self) -> str:
        """The failure in words, nothing where it was left open."""
        return failure_words(self.failure)

    def is_overdue(self, today: date) -> bool:
        """Whether it should have been done before this day."""
        return self.is_open and self.due is not None and self.due < today


def decision_words(decision: str | None) -> str:
    """Return a decision in words: of the list its name, else the meeting's own."""
    return MEETING_DECISIONS.get(decision or "", decision or "")


def failure_words(failure: str | None) -> str:
    """Return a failure that was agreed on in words."""
    if failure == NO_FAILURE:
        return tr("No failure")
    known = FAILURES.get(failure or "")
    return known.name if known else failure or ""


def decisions(review_set: ReviewSet, *, case: str | None = None) -> tuple[Decision, ...]:
    """Return what was decided, of one case or of all: the newest meeting first.

    ``review_set`` has what was written beside what was given (:func:`rexview.store.merged`).
    """
    rows = review_set.decisions
    if case is not None:
        rows = rows.filter(pl.col("case") == case)
    found = list(rows.iter_rows(named=True))
    pairs = [(row["case"], row["model"]) for row in found if row["model"] is not None]
    digests = digests_of(review_set).of_all(pairs)
    names = review_set.reader_names
    every = [
        _decision(row, names.get(row["reader"], row["reader"]), digests.get(_pair(row)))
        for row in found
    ]
    in_order = sorted(every, key=lambda one: (one.case, one.model or ""))
    return tuple(
        sorted(in_order, key=lambda one: (one.held or date.max, one.meeting), reverse=True)
    )


def open_decisions(every: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return those with something left to do: by their day, those without one last."""
    left = [one for one in every if one.is_open]
    return tuple(sorted(left, key=lambda one: one.due or date.max))


def _pair(row: dict[str, Any]) -> tuple[str, str]:
    return row["case"], row["model"]


def _decision(row: dict[str, Any], by: str, digest: str | None) -> Decision:
    is_of_answer = row["model"] is not None
    read = row["answer_digest"]
    return Decision(
        meeting=row["meeting"],
        meeting_name=row["meeting_name"] or row["meeting"],
        held=row["held"].date() if row["held"] else None,
        case=row["case"],
        model=row["model"],
        failure=row["failure"],
        severity=row["severity"],
        decision=row["decision"],
        owner=row["owner"],
        due=row["due"].date() if row["due"] else None,
        done=bool(row["done"]),
        comment=row["comment"],
        by=by,
        written=row["created"],
        digest=read,
        replaced=is_of_answer and (digest is None or read not in (None, digest)),
    )

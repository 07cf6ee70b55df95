"""What one person has written about one review set, folded from the history of the database.

Each new row is read once: asking again costs one small query, however long the history is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final

import polars as pl

from rexview import frames
from rexview.analysis.study.exposure import Exposures
from rexview.people import Person
from rexview.store import Reviews, Stored
from rexview.ui.server.one_per_key import OnePerKey

_AT_ONCE: Final = 1000
_KINDS: Final = frozenset({"score", "verdict", "skip", "reveal"})
ScoreOf = tuple[str, str, str, int | None]  # case, model, dimension, picture
FlagOf = tuple[str, str, str]  # case, model, failure


@dataclass(frozen=True)
class OwnScore:
    """A score as it stands, with the comment beside it; ``revision`` is the row's id."""

    score: int | None
    comment: str
    written: Stored


@dataclass(frozen=True)
class OwnWords:
    """The state of one person in one review set. Not to be changed; :meth:`after` makes a new one.

    ``revision`` is the newest row of the whole set that was read. ``revealed`` holds the cases of
    which the person was shown the models, ``reports`` those of which the report; None stands for
    all. ``tokens`` are those of every entry of the person.
    """

    revision: int = 0
    scores: Mapping[ScoreOf, OwnScore] = field(default_factory=dict)
    flags: Mapping[FlagOf, Stored] = field(default_factory=dict)
    skips: Mapping[str, Stored] = field(default_factory=dict)
    revealed: frozenset[str | None] = frozenset()
    reports: frozenset[str | None] = frozenset()
    tokens: frozenset[str] = frozenset()
    last_case: str | None = None
    exposures: Exposures = field(default_factory=Exposures)

    def after(self, rows: Iterable[Stored], person: str) -> OwnWords:
        """Return the state after more rows of the history, oldest first."""
        every = list(rows)
        own = [row for row in every if row.person == person and row.kind in _KINDS]
        revision = max((row.id for row in every), default=self.revision)
        if not own:
            return replace(self, revision=max(revision, self.revision))
        scores, flags, skips = dict(self.scores), dict(self.flags), dict(self.skips)
        shown: dict[str, set[str | None]] = {"models": set(), "report": set()}
        for row in own:
            case, model, subject = row.case or "", row.model or "", row.subject or ""
            value: Mapping[str, Any] = row.value or {}
            if row.kind == "score":
                score = OwnScore(value.get("score"), value.get("comment") or "", row)
                scores[case, model, subject, row.picture] = score
            elif row.kind == "verdict":
                flags[case, model, subject] = row
            elif row.kind == "skip":
                skips[case] = row
            elif value.get("what") in shown:
                shown[value["what"]].add(row.case)
        return OwnWords(
            revision=revision,
            scores=scores,
            flags=flags,
            skips=skips,
            revealed=self.revealed | shown["models"],
            reports=self.reports | shown["report"],
            tokens=self.tokens | {row.token for row in own},
            exposures=self.exposures.after(own),
            last_case=next((row.case for row in reversed(own) if row.case), self.last_case),
        )

    def is_revealed(self, case: str) -> bool:
        """Whether the person was shown which model gave which answer to a case."""
        return case in self.revealed or None in self.revealed

    def has_report(self, case: str) -> bool:
        """Whether the person asked for the report of a case."""
        return case in self.reports or None in self.reports

    def skipped(self) -> dict[str, str]:
        """Return the reason, by case, for every case that is skipped now."""
        found = {case: row.value for case, row in self.skips.items() if row.value}
        return {case: str(value.get("reason") or "") for case, value in found.items()}

    def verdict(self, case: str, model: str, failure: str) -> str | None:
        """Return what the person says of a failure, None for nothing."""
        row = self.flags.get((case, model, failure))
        return (row.value or {}).get("verdict") if row else None

    def score_frame(self) -> pl.DataFrame:
        """Return the scores with the columns of :data:`rexview.frames.SCORES`.

        Those of earlier answers are among them: :attr:`Study.scores` leaves them out.
        """
        rows = [
            {
                **dict.fromkeys(frames.SCORES),
                "case": case,
                "model": model,
                "reader": one.written.person,
                "dimension": dimension,
                "image": picture,
                "score": one.score,
                "comment": one.comment or None,
                "created": one.written.at,
                "answer_digest": one.written.answer_digest,
                "_origin": "app",
            }
            for (case, model, dimension, picture), one in self.scores.items()
        ]
        return pl.DataFrame(rows, schema=frames.SCORES)


class _Keeper:
    """Keeps the state of one person up to date."""

    def __init__(self) -> None:
        self.lock: Final = Lock()
        self.words = OwnWords()
        self.key = ""


_keeper: Final = OnePerKey(_Keeper, 512)
"""By address of the database, folder of the set and person."""


def own_words(reviews: Reviews, person: Person) -> OwnWords:
    """Return the state of a person as it stands in the database now.

    Raises
    ------
    StoreBusy, StoreUnreachable
    """
    address, folder = str(reviews.database.url), str(reviews.review_set.folder)
    keeper = _keeper(address, folder, person.id)
    with keeper.lock:
        key, newest = reviews.key, reviews.revision()
        if keeper.key != key or newest < keeper.words.revision:  # another database was put in place
            keeper.key, keeper.words = key, OwnWords()
        while keeper.words.revision < newest:
            rows = reviews.changes_since(keeper.words.revision, limit=_AT_ONCE)
            keeper.words = keeper.words.after(rows, person.id)
            if len(rows) < _AT_ONCE:
                break
        return keeper.words

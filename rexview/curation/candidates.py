"""Read candidate questions with their scores, tags, decisions and edits, and name them by ids."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from rexview.schema import ReviewSet
from rexview.vocab import CRITERIA

# Ids of candidate questions: a digest of their words.

_DIGITS: Final = 12


def open_id(question: str) -> str:
    """Return the id of an open question; spaces make no difference.

    >>> open_id("Is there an effusion?") == open_id(" Is there  an effusion? ")
    True
    """
    return f"q-{_digest(_plain(question))}"


def choice_id(question: str, options: Sequence[str]) -> str:
    """Return the id of a multiple choice question, from its words and its options in order.

    >>> choice_id("Which?", ["Left", "Right"]) == choice_id("Which?", ["Right", "Left"])
    False
    """
    return f"m-{_digest(json.dumps([_plain(question), *map(_plain, options)]))}"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


_READER: Final = "reader"
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
EDITED_AS: Final = "edited_as"
"""Field of ``extra`` with the id of the edited words that a model scored or tagged."""
Tags = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class CandidateRating:
    """Scores of a candidate by one person or model.

    ``scores`` has 1 to 5 or None for each of :data:`rexview.vocab.CRITERIA`. ``stated_total`` is
    the sum that a model stated, right or not. ``after_model`` is True if the person saw a model's
    scores before. ``edited_as`` is the id (:func:`open_id`) of the edited words that a model
    scored.
    """

    source: str
    by: str
    scores: Mapping[str, int | None]
    risk: bool | None = None
    after_model: bool | None = None
    stated_total: int | None = None
    comment: str | None = None
    prompt_id: str | None = None
    run_id: str | None = None
    created: datetime | None = None
    edited_as: str | None = None

    @property
    def total(self) -> int | None:
        """Sum of the four scores, 4 to 20, computed here; None while one is missing."""
        given = [score for score in self.scores.values() if score is not None]
        return sum(given) if len(given) == len(CRITERIA) else None

    @property
    def misstated(self) -> bool:
        """True if the sum that the model stated is wrong."""
        return None not in (self.total, self.stated_total) and self.total != self.stated_total


@dataclass(frozen=True)
class CandidateDecision:
    """Decision on a candidate; ``decision`` is None if it was only edited so far."""

    reader: str
    decision: str | None
    question: str | None = None
    boxes_question: str | None = None
    category: str | None = None
    comment: str | None = None
    created: datetime | None = None


@dataclass(frozen=True)
class CandidateSummary:
    """A candidate question of a study, with its scores, tags and decision.

    ``id`` is unique within ``case``; ``place`` is its position in the table. ``ratings`` are
    models' and people's scores, the newest last. ``tags`` are a person's if there are any, else a
    model's, and the newest of these; ``tagged_by`` is their author.
    """

    case: str
    id: str
    place: int
    proposed: str
    question_type: str = "open"
    proposed_category: str | None = None
    options: tuple[str, ...] = ()
    correct: int | None = None
    explanation: str | None = None
    statement: str | None = None
    difficulty: str | None = None
    source: str = "model"
    by: str = ""
    prompt_id: str | None = None
    run_id: str | None = None
    created: datetime | None = None
    ratings: tuple[CandidateRating, ...] = ()
    tags: Tags = field(default_factory=dict)
    tagged_by: str | None = None
    selection: CandidateDecision | None = None

    @property
    def question(self) -> str:
        """The edited question, or else the proposed one."""
        return (self.selection and self.selection.question) or self.proposed

    @property
    def edited(self) -> bool:
        """True if its words differ from those proposed."""
        return self.question.split() != self.proposed.split()

    @property
    def category(self) -> str | None:
        """The edited category, or else the proposed one."""
        return (self.selection and self.selection.category) or self.proposed_category

    @property
    def decision(self) -> str | None:
        """``chosen``, ``rejected`` or None: open."""
        return self.selection.decision if self.selection else None

    @property
    def model_rating(self) -> CandidateRating | None:
        """The newest scores by a model, for the current words if any, else for those proposed."""
        given = [
            rating
            for rating in self.ratings
            if rating.source != _READER and _is_of(rating.edited_as, self.question)
        ]
        return max(reversed(given), key=lambda one: one.edited_as is not None, default=None)

    @property
    def people(self) -> Mapping[str, CandidateRating]:
        """Scores by the id of the person who gave them."""
        return {rating.by: rating for rating in self.ratings if rating.source == _READER}


def summarize_candidates(
    review_set: ReviewSet, case: str | None = None
) -> dict[str, tuple[CandidateSummary, ...]]:
    """Return the candidates of a set, or of one case, by case; each in the order of the table."""
    about = pl.lit(True) if case is None else pl.col("case") == case
    ratings = _by_candidate(review_set.candidate_ratings.filter(about), _rating)
    tags = _by_candidate(review_set.candidate_tags.filter(about), dict)
    selections = _by_candidate(review_set.selections.filter(about), _decision)
    candidates = review_set.candidates.with_row_index("_place").filter(about)
    found = defaultdict(list)
    for row in candidates.iter_rows(named=True):
        key = row["case"], row["candidate"]
        selected = selections.get(key)
        now = (selected and selected[-1].question) or row["question"]
        of_now = (one for one in tags.get(key, ()) if _is_of(_edited_as(one), now))
        tagged = max(of_now, key=_counts_before, default=None)
        found[row["case"]].append(
            CandidateSummary(
                case=row["case"],
                id=row["candidate"],
                place=row["_place"],
                proposed=row["question"],
                question_type=row["question_type"] or "open",
                proposed_category=row["category"],
                options=tuple(row["options"] or ()),
                ratings=tuple(
                    sorted(ratings.get(key, ()), key=lambda one: sortable_date(one.created))
                ),
                tags=_tags(tagged["tags"]) if tagged else {},
                tagged_by=tagged["by"] if tagged else None,
                selection=selected[-1] if selected else None,
                **{name: row[name] for name in _AS_THEY_ARE},
            )
        )
    return {case: tuple(candidates) for case, candidates in found.items()}


def open_candidates(review_set: ReviewSet) -> list[CandidateSummary]:
    """Return the candidates of a set that are open questions, in the order of the table."""
    some = (one for candidates in summarize_candidates(review_set).values() for one in candidates)
    return sorted((one for one in some if one.question_type == "open"), key=lambda one: one.place)


def sort_by_model_sum(candidates: Iterable[CandidateSummary]) -> list[CandidateSummary]:
    """Sort candidates by the model's sum, the highest first and unscored ones last."""

    def order(one: CandidateSummary) -> tuple[int, int]:
        rating = one.model_rating
        return -((rating and rating.total) or 0), one.place

    return sorted(candidates, key=order)


def sortable_date(created: datetime | None) -> datetime:
    """Return a date to sort by; a missing date is the oldest."""
    return created or _LONG_AGO


_AS_THEY_ARE: Final = (
    *("correct", "explanation", "statement", "difficulty", "source", "by"),
    *("prompt_id", "run_id", "created"),
)


def _by_candidate(table: pl.DataFrame, make: Any) -> dict[tuple[str, str], list[Any]]:
    found = defaultdict(list)
    for row in table.iter_rows(named=True):
        found[row["case"], row["candidate"]].append(make(row))
    return found


def _rating(row: Mapping[str, Any]) -> CandidateRating:
    return CandidateRating(
        scores={name: row[name] for name in CRITERIA},
        edited_as=_edited_as(row),
        **{
            name: row[name]
            for name in (
                *("source", "by", "risk", "after_model", "stated_total", "comment"),
                *("prompt_id", "run_id", "created"),
            )
        },
    )


def _decision(row: Mapping[str, Any]) -> CandidateDecision:
    words: dict[str, Any] = {name: _words(row[name]) for name in ("question", "boxes_question")}
    others = {name: row[name] for name in ("reader", "decision", "category", "comment", "created")}
    return CandidateDecision(**words, **others)


def _words(text: str | None) -> str | None:
    """Return a text without surrounding spaces, None if nothing is left."""
    return (text or "").strip() or None


def _edited_as(row: Mapping[str, Any]) -> str | None:
    extra = json.loads(row["extra"] or "{}")
    return extra.get(EDITED_AS) if row["source"] != _READER else None


def _is_of(edited_as: str | None, question: str) -> bool:
    """True if a model's row is for the question as proposed, or as it is now."""
    return edited_as is None or edited_as == open_id(question)


def _counts_before(row: Mapping[str, Any]) -> tuple[bool, bool, datetime]:
    by_person = row["source"] == _READER
    return by_person, _edited_as(row) is not None, sortable_date(row["created"])


def _tags(given: Iterable[Mapping[str, Any]] | None) -> Tags:
    return {tag["name"]: tuple(tag["values"] or ()) for tag in given or ()}

"""Judges' opinions on the answers to one case, with the words that they quote."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from rexview.analysis.case.comments import find_quote
from rexview.analysis.query.engine import Engine, JudgeAgreement
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.judge_conditions import WrittenCondition
from rexview.analysis.written_results import JudgeResults, find_results_by_name
from rexview.schema import Answer, ReviewSet
from rexview.stats.judge_agreement import Judge
from rexview.vocab import DIMENSIONS, FAILURES


@dataclass(frozen=True, kw_only=True)
class QuotedReason:
    """The reason for an opinion, with the words that it quotes.

    ``start`` and ``end`` are the offsets of these words in the answer's text, None if they are not
    there. ``quote_known`` is true if the words are in the answer's explanation, or in the text that
    the judge received, where names of models are covered. Then their absence here means nothing.
    """

    reason: str
    quote: str = ""
    start: int | None = None
    end: int | None = None
    quote_known: bool = True

    @property
    def is_located(self) -> bool:
        """True if the quoted words can be marked in the text."""
        return self.start is not None

    @property
    def is_lost(self) -> bool:
        """True if the answer does not have the quoted words."""
        return bool(self.quote) and not self.is_located and not self.quote_known


def locate_quote(text: str, quote: str) -> tuple[int | None, int | None]:
    """Find quoted words in a text, ignoring spaces and capitals, like the reader of replies.

    >>> locate_quote("No effusion.  Heart  normal.", "heart normal")
    (14, 27)
    """
    if quote and (place := find_quote(text, quote, 0)):  # also with markup between its words
        return place.start, place.end
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE) if words else None
    return (found.start(), found.end()) if found else (None, None)


# A judge's opinions on the answers to one case, with the words that it quotes.


@dataclass(frozen=True, kw_only=True)
class FailureOpinion(QuotedReason):
    """A judge's verdict on one failure, with the reason."""

    failure: str
    present: bool


@dataclass(frozen=True)
class ScoreOpinion:
    """A judge's score of one dimension, 1 to 5, with the reason."""

    dimension: str
    score: int
    reason: str


@dataclass(frozen=True)
class AnswerOpinion:
    """A judge's opinions on one answer; ``stale`` opinions are on an earlier text."""

    failures: tuple[FailureOpinion, ...] = ()
    scores: tuple[ScoreOpinion, ...] = ()
    stale: int = 0


@dataclass(frozen=True)
class CaseOpinions:
    """A judge's opinions on the answers to a case, by model, and its agreement with readers."""

    agreement: JudgeAgreement
    by_model: Mapping[str, AnswerOpinion] = field(default_factory=dict)

    @property
    def judge(self) -> Judge:
        """The judge."""
        return self.agreement.judge

    def of(self, model: str) -> AnswerOpinion:
        """Return the opinions on one model's answer; empty if it was not judged."""
        return self.by_model.get(model, AnswerOpinion())


def collect_opinions(
    review_set: ReviewSet, engine: Engine, case: str, answers: tuple[Answer, ...], judge: Judge
) -> CaseOpinions:
    """Return a judge's opinions on the answers to a case, the newest on each subject."""
    wanted = {"case": case, "judge": judge.model, "prompt_id": judge.prompt_id}
    rows = review_set.opinions.filter(**wanted).sort("created", maintain_order=True)
    stale = review_set.stale_opinions.filter(**wanted).group_by("model").len()
    earlier = dict(stale.iter_rows())
    found = {
        answer.model: _answer_opinion(
            answer, rows.filter(pl.col("model") == answer.model), earlier.get(answer.model, 0)
        )
        for answer in answers
    }
    return CaseOpinions(engine.judge_agreement(judge), found)


def _answer_opinion(answer: Answer, rows: pl.DataFrame, stale: int) -> AnswerOpinion:
    failures: dict[str, FailureOpinion] = {}
    scores: dict[str, ScoreOpinion] = {}
    for row in rows.iter_rows(named=True):
        reason = (row["reason"] or "").strip()
        if row["failure"] is not None and row["present"] is not None:
            failures[row["failure"]] = _failure_opinion(answer, row, reason)
        elif row["dimension"] is not None and row["score"] is not None:
            scores[row["dimension"]] = ScoreOpinion(row["dimension"], int(row["score"]), reason)
    return AnswerOpinion(
        tuple(failures[name] for name in FAILURES if name in failures),
        tuple(scores[name] for name in DIMENSIONS if name in scores),
        stale,
    )


def _failure_opinion(answer: Answer, row: Mapping[str, Any], reason: str) -> FailureOpinion:
    quote = (row["quote"] or "").strip()
    start, end = locate_quote(answer.text or "", quote)
    explained, _ = locate_quote(answer.explanation or "", quote)
    return FailureOpinion(
        failure=row["failure"],
        present=bool(row["present"]),
        reason=reason,
        quote=quote,
        start=start,
        end=end,
        quote_known=_quote_was_sent(row["extra"]) or explained is not None,
    )


def _quote_was_sent(extra: str | None) -> bool:
    """True if the run found the quoted words in the text that the judge received."""
    beside = json.loads(extra) if extra else {}
    return isinstance(beside, dict) and beside.get("quote_found") is True


# Judges' results for failures in words on the answers to one case, for a filter.


@dataclass(frozen=True, kw_only=True)
class WrittenOpinion(QuotedReason):
    """A judge's result for one answer; ``said`` is ``unread`` if the reply cannot be read."""

    said: str


@dataclass(frozen=True)
class CaseWrittenOpinions:
    """One judge's results for one failure in words, by model."""

    title: str
    failure: str
    version: str
    judge: str
    by_model: dict[str, WrittenOpinion]


def collect_written_opinions(
    review_set: ReviewSet, case_filter: CaseFilter, case: str, answers: Sequence[Answer]
) -> tuple[CaseWrittenOpinions, ...]:
    """Return the results that a filter's conditions name, each failure and judge once."""
    asked = {
        (one.failure, one.version, one.judge): None
        for one in map(WrittenCondition.parse, case_filter.written)
    }
    found = (find_results_by_name(review_set, *one) for one in asked)
    return tuple(_opinions_of_result(one, case, answers) for one in found if one is not None)


def _opinions_of_result(
    found: JudgeResults, case: str, answers: Sequence[Answer]
) -> CaseWrittenOpinions:
    failure = found.prompt.id.partition(":")[2]
    said = {
        answer.model: opinion
        for answer in answers
        if (opinion := _written_opinion(found, case, answer)) is not None
    }
    return CaseWrittenOpinions(found.prompt.name, failure, found.version, found.judge, said)


def _written_opinion(found: JudgeResults, case: str, answer: Answer) -> WrittenOpinion | None:
    one = found.by_answer.get((case, answer.model))
    if one is None:
        reply = found.unread_of(case, answer.model)
        return None if reply is None else WrittenOpinion(said="unread", reason=reply.why)
    quote = (one.found.quote or "").strip()
    start, end = locate_quote(answer.text or "", quote)
    return WrittenOpinion(
        said=one.found.said,
        reason=one.found.reason or "",
        quote=quote,
        start=start,
        end=end,
        quote_known=one.quote_found is not False,
    )

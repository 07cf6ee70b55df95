"""What one judge said of the answers to one case, with the words that it quotes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from rexview.analysis.case.quoting import Quoting, place_of
from rexview.analysis.engine import Engine
from rexview.analysis.judge.engine import JudgeAgreement
from rexview.schema import Answer, ReviewSet
from rexview.stats.judges.opinions import Judge
from rexview.vocab import DIMENSIONS, FAILURES


@dataclass(frozen=True, kw_only=True)
class SaidFailure(Quoting):
    """Whether the judge sees a failure, and why."""

    failure: str
    present: bool


@dataclass(frozen=True)
class SaidScore:
    """The judge's score on a dimension, 1 to 5, and why."""

    dimension: str
    score: int
    reason: str


@dataclass(frozen=True)
class AnswerOpinion:
    """What the judge said of one answer; ``stale`` opinions are on an earlier text of it."""

    failures: tuple[SaidFailure, ...] = ()
    scores: tuple[SaidScore, ...] = ()
    stale: int = 0


@dataclass(frozen=True)
class CaseOpinions:
    """What one judge said of the answers to a case, by model, and how far it can be trusted."""

    agreement: JudgeAgreement
    by_model: Mapping[str, AnswerOpinion] = field(default_factory=dict)

    @property
    def judge(self) -> Judge:
        """Who said it."""
        return self.agreement.judge

    def of(self, model: str) -> AnswerOpinion:
        """Return what was said of one model's answer; nothing where it was not asked about."""
        return self.by_model.get(model, AnswerOpinion())


def opinions_on(
    review_set: ReviewSet, engine: Engine, case: str, answers: tuple[Answer, ...], judge: Judge
) -> CaseOpinions:
    """Gather what a judge said of the answers to a case; of the same the newest counts."""
    wanted = {"case": case, "judge": judge.model, "prompt_id": judge.prompt_id}
    rows = review_set.opinions.filter(**wanted).sort("created", maintain_order=True)
    stale = review_set.stale_opinions.filter(**wanted).group_by("model").len()
    earlier = dict(stale.iter_rows())
    found = {
        answer.model: _opinion(
            answer, rows.filter(pl.col("model") == answer.model), earlier.get(answer.model, 0)
        )
        for answer in answers
    }
    return CaseOpinions(engine.judge_agreement(judge), found)


def _opinion(answer: Answer, rows: pl.DataFrame, stale: int) -> AnswerOpinion:
    failures: dict[str, SaidFailure] = {}
    scores: dict[str, SaidScore] = {}
    for row in rows.iter_rows(named=True):
        reason = (row["reason"] or "").strip()
        if row["failure"] is not None and row["present"] is not None:
            failures[row["failure"]] = _failure(answer, row, reason)
        elif row["dimension"] is not None and row["score"] is not None:
            scores[row["dimension"]] = SaidScore(row["dimension"], int(row["score"]), reason)
    return AnswerOpinion(
        tuple(failures[name] for name in FAILURES if name in failures),
        tuple(scores[name] for name in DIMENSIONS if name in scores),
        stale,
    )


def _failure(answer: Answer, row: Mapping[str, Any], reason: str) -> SaidFailure:
    quote = (row["quote"] or "").strip()
    start, end = place_of(answer.text or "", quote)
    explained, _ = place_of(answer.explanation or "", quote)
    return SaidFailure(
        failure=row["failure"],
        present=bool(row["present"]),
        reason=reason,
        quote=quote,
        start=start,
        end=end,
        quote_known=_was_sent(row["extra"]) or explained is not None,
    )


def _was_sent(extra: str | None) -> bool:
    """Whether the quoted words were in what the judge read, as the run that asked it found."""
    beside = json.loads(extra) if extra else {}
    return isinstance(beside, dict) and beside.get("quote_found") is True

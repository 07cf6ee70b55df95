"""What a judge counts, beside readers: failures and scores. Each number opens its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rexview.analysis.engine import Engine
from rexview.analysis.failures.tables import base_of
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.judge_conditions import JudgeCondition
from rexview.analysis.filter.linked_count import ANY, Count, count_within, refined, with_all
from rexview.analysis.judge.engine import JudgeAgreement
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.failure_rates import NO_PATIENTS, Rate, rate
from rexview.stats.judges.agreement import FailureAgreement, ScoreAgreement
from rexview.stats.judges.opinions import Judge
from rexview.stats.summary import tally
from rexview.vocab import DIMENSIONS, FAILURES


@dataclass(frozen=True)
class JudgedFailure:
    """One failure of one model: the judge sees it in ``present`` of ``spoken`` answers."""

    failure: str
    model: str
    present: Count
    spoken: Count
    rate: Rate


@dataclass(frozen=True)
class JudgedScore:
    """One dimension of one model: the judge's scores, and the readers' final ones."""

    dimension: str
    model: str
    scored: Count
    mean: float | None
    by_readers: Count
    readers_mean: float | None


@dataclass(frozen=True, eq=False)
class JudgeTables:
    """What a judge says of the answers that a filter leaves; models in the set's order."""

    models: Mapping[str, str]
    agreement: JudgeAgreement
    failures: tuple[JudgedFailure, ...]
    scores: tuple[JudgedScore, ...]

    @property
    def judge(self) -> Judge:
        """Who says it."""
        return self.agreement.judge

    def failure_agreement(self, failure: str) -> FailureAgreement | None:
        """Return how far the judge agrees with readers on a failure."""
        return self.agreement.failures.get(failure)

    def score_agreement(self, dimension: str) -> ScoreAgreement | None:
        """Return how far the judge agrees with readers on a dimension."""
        return self.agreement.scores.get(dimension)


def judge_tables(
    engine: Engine, case_filter: CaseFilter, judge: Judge, *, resamples: int = RESAMPLES
) -> JudgeTables:
    """Count what a judge says of the answers that a filter leaves.

    As on the Failures page, what the filter says about failures is left out for failures.
    """
    models = engine.tally(base_of(case_filter)).names(engine.facts)
    return JudgeTables(
        models,
        engine.judge_agreement(judge),
        _failures(engine, base_of(case_filter), judge, models, resamples),
        _scores(engine, case_filter, judge, models),
    )


def _failures(
    engine: Engine, base: CaseFilter, judge: Judge, models: Mapping[str, str], resamples: int
) -> tuple[JudgedFailure, ...]:
    tallies = engine.judge_failures(base, judge)
    met = {failure for failure, _ in tallies}
    found = []
    for failure in (one for one in FAILURES if one in met):
        for model in models:
            share = rate(tallies.get((failure, model), NO_PATIENTS), resamples=resamples)
            found.append(
                JudgedFailure(
                    failure,
                    model,
                    _opened(base, model, JudgeCondition(failure, "yes", judge), share.flagged),
                    _opened(base, model, JudgeCondition(failure, "", judge), share.n),
                    share,
                )
            )
    return tuple(found)


def _scores(
    engine: Engine, case_filter: CaseFilter, judge: Judge, models: Mapping[str, str]
) -> tuple[JudgedScore, ...]:
    tallies = engine.judge_scores(case_filter, judge)
    met = {dimension for dimension, _ in tallies}
    finals = engine.score_tallies(case_filter)
    found = []
    for dimension in (one for one in DIMENSIONS if one in met):
        for model in models:
            mine = tallies.get((dimension, model), tally(np.empty(0)))
            theirs = finals.of(dimension, model)
            found.append(
                JudgedScore(
                    dimension,
                    model,
                    _opened(case_filter, model, JudgeCondition(dimension, "", judge), mine.n),
                    mine.mean,
                    _with_final(case_filter, model, dimension, theirs.n),
                    theirs.mean,
                )
            )
    return tuple(found)


def _with_final(base: CaseFilter, model: str, dimension: str, value: int) -> Count:
    """Join the number of final scores with the filter that opens their answers."""
    conditions: dict[str, Any] = {"models": model, dimension: ANY}
    return count_within(base, value, **conditions)


def _opened(base: CaseFilter, model: str, condition: JudgeCondition, value: int) -> Count:
    """Join a number with the filter that opens its answers."""
    own = refined(base, models=(model,)) or base
    return Count(value, with_all(own, "opinions", str(condition)))

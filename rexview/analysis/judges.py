"""The numbers of the Judges page, compared with those of readers, and their captions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rexview.analysis.failures import without_failure_conditions
from rexview.analysis.query.engine import Engine, JudgeAgreement
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.judge_conditions import JudgeCondition
from rexview.analysis.query.filter.linked_count import (
    ANY_NUMBER,
    LinkedCount,
    add_required_values,
    make_linked_count,
    refine_filter,
)
from rexview.stats.bootstrap import RESAMPLES, Interval
from rexview.stats.failure_rates import EMPTY_PATIENT_TALLY, Rate, measure_rate
from rexview.stats.judge_agreement import (
    MIN_COMPARED_ANSWERS,
    FailureAgreement,
    Judge,
    ScoreAgreement,
)
from rexview.stats.score_summaries import tally_values
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS, FAILURES
from rexview.words import counted, tr


@dataclass(frozen=True)
class JudgedFailure:
    """One failure of one model: the judge finds it in ``present`` of ``spoken`` answers."""

    failure: str
    model: str
    present: LinkedCount
    spoken: LinkedCount
    rate: Rate


@dataclass(frozen=True)
class JudgedScore:
    """One dimension of one model: the judge's scores, and the readers' final ones."""

    dimension: str
    model: str
    scored: LinkedCount
    mean: float | None
    by_readers: LinkedCount
    readers_mean: float | None


@dataclass(frozen=True, eq=False)
class JudgeTables:
    """A judge's opinions of the answers that match a filter; models in the set's order."""

    models: Mapping[str, str]
    agreement: JudgeAgreement
    failures: tuple[JudgedFailure, ...]
    scores: tuple[JudgedScore, ...]

    @property
    def judge(self) -> Judge:
        """The judge."""
        return self.agreement.judge

    def failure_agreement(self, failure: str) -> FailureAgreement | None:
        """Return the judge's agreement with readers on a failure."""
        return self.agreement.failures.get(failure)

    def score_agreement(self, dimension: str) -> ScoreAgreement | None:
        """Return the judge's agreement with readers on a dimension."""
        return self.agreement.scores.get(dimension)


def build_judge_tables(
    engine: Engine, case_filter: CaseFilter, judge: Judge, *, resamples: int = RESAMPLES
) -> JudgeTables:
    """Count a judge's opinions of the answers that match a filter.

    For failures, the filter's conditions on failures are ignored, as on the Failures page.
    """
    models = engine.tally(without_failure_conditions(case_filter)).names(engine.facts)
    return JudgeTables(
        models,
        engine.judge_agreement(judge),
        _failures(engine, without_failure_conditions(case_filter), judge, models, resamples),
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
            share = measure_rate(
                tallies.get((failure, model), EMPTY_PATIENT_TALLY), resamples=resamples
            )
            found.append(
                JudgedFailure(
                    failure,
                    model,
                    _opinion_count(
                        base, model, JudgeCondition(failure, "yes", judge), share.flagged
                    ),
                    _opinion_count(base, model, JudgeCondition(failure, "", judge), share.n),
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
            mine = tallies.get((dimension, model), tally_values(np.empty(0)))
            theirs = finals.of(dimension, model)
            found.append(
                JudgedScore(
                    dimension,
                    model,
                    _opinion_count(
                        case_filter, model, JudgeCondition(dimension, "", judge), mine.n
                    ),
                    mine.mean,
                    _final_score_count(case_filter, model, dimension, theirs.n),
                    theirs.mean,
                )
            )
    return tuple(found)


def _final_score_count(base: CaseFilter, model: str, dimension: str, value: int) -> LinkedCount:
    """Return the number of final scores with the filter that opens their answers."""
    conditions: dict[str, Any] = {"models": model, dimension: ANY_NUMBER}
    return make_linked_count(base, value, **conditions)


def _opinion_count(
    base: CaseFilter, model: str, condition: JudgeCondition, value: int
) -> LinkedCount:
    """Return a number of opinions with the filter that opens their answers."""
    own = refine_filter(base, models=(model,)) or base
    return LinkedCount(value, add_required_values(own, "opinions", str(condition)))


# Captions for a judge's opinions. All are plain text.

OPINION_NOTE: Final = tr("a language model’s opinion")
NEVER_COMPARED_NOTE: Final = tr("never compared with readers")


def describe_failure_agreement(found: FailureAgreement | None) -> str:
    """Return a judge's agreement with readers on one failure as text.

    Example: ``agreement with readers: kappa 0.41 (0.20 to 0.60), 38 answers; precision 60% (31% to
    83%), recall 50% (25% to 75%)``.
    """
    if found is None:
        return NEVER_COMPARED_NOTE
    shares = ", ".join(
        f"{name} {one.share:.0%}{_describe_limits(one.interval, '.0%')}"
        for name, one in (("precision", found.precision), ("recall", found.recall))
        if one.share is not None
    )
    words = _describe_kappa(found.n, "kappa", found.kappa, found.interval)
    return f"{words}; {shares}" if shares else words


def describe_score_agreement(found: ScoreAgreement | None) -> str:
    """Return a judge's agreement with readers' final scores on one dimension as text."""
    if found is None:
        return NEVER_COMPARED_NOTE
    return _describe_kappa(found.n, tr("weighted kappa"), found.qwk, found.qwk_interval)


def _describe_kappa(n: int, name: str, kappa: float | None, around: Interval) -> str:
    if not n:
        return NEVER_COMPARED_NOTE
    if n < MIN_COMPARED_ANSWERS:
        return tr("compared with readers on {counted}: too few to tell").format(
            counted=counted(n, "answer")
        )
    if kappa is None:
        return tr(
            "no kappa with readers, {counted}: one side always gives the same opinion"
        ).format(counted=counted(n, "answer"))
    limits = _describe_limits(around, ".2f")
    return tr("agreement with readers: {name} {kappa:.2f}{limits}, {counted}").format(
        name=name, kappa=kappa, limits=limits, counted=counted(n, "answer")
    )


def _describe_limits(around: Interval, form: str) -> str:
    if around.low is None or around.high is None:
        return ""
    low, high = format(around.low, form), format(around.high, form)
    return f" ({tr('{low} to {high}').format(low=low, high=high)})"


def judge_filter_captions(engine: Engine, case_filter: CaseFilter) -> tuple[str, ...]:
    """Return a caption for each condition on a judge, with that judge's agreement with readers."""
    found = []
    for asked in map(JudgeCondition.parse, case_filter.opinions):
        if asked.judge not in engine.facts.judges:
            continue
        agreement = engine.judge_agreement(asked.judge)
        if asked.about in FAILURES:
            name = FAILURES[asked.about].name
            words = describe_failure_agreement(agreement.failures.get(asked.about))
        else:
            name = DIMENSION_NAMES[asked.about]
            words = describe_score_agreement(agreement.scores.get(asked.about))
        found.append(
            tr("{name}, judge {name_2}: {opinion}; {words}.").format(
                name=name, name_2=asked.judge.name, opinion=OPINION_NOTE, words=words
            )
        )
    return tuple(dict.fromkeys(found))


def _stale_caption(agreement: JudgeAgreement) -> str:
    """Return a caption on opinions on earlier texts and on a changed prompt; may be empty."""
    parts = []
    if agreement.stale:
        n = counted(agreement.stale, "opinion")
        parts.append(tr("{n} on earlier texts of answers are not counted.").format(n=n))
    if agreement.wordings > 1:
        parts.append(
            tr(
                "The wording {prompt_id} was changed but kept its name: opinions in its "
                "{wordings} versions are pooled."
            ).format(prompt_id=agreement.judge.prompt_id, wordings=agreement.wordings)
        )
    return " ".join(parts)


def failures_caption(agreement: JudgeAgreement) -> str:
    """Return a caption on the numbers in the table of failures."""
    parts = [
        tr("Judge {name}: {opinion}, not part of any other number on this page.").format(
            name=agreement.judge.name, opinion=OPINION_NOTE
        ),
        tr(
            "Agreement with readers is over all answers of the set, regardless of the "
            "filter: Cohen’s kappa; precision, the share of failures the judge sees that "
            "readers see, too; recall, the share of failures readers see that the judge "
            "sees. Readers see a failure that one of them confirmed; they do not see one "
            "that they rejected, or left alone on an answer that they scored while they "
            "mark failures on others."
        ),
        tr(
            "95% intervals resample patients; with fewer than {fewest} answers there are no "
            "numbers."
        ).format(fewest=MIN_COMPARED_ANSWERS),
        _stale_caption(agreement),
    ]
    return " ".join(filter(None, parts))


def scores_caption(agreement: JudgeAgreement, *, more: bool = False) -> str:
    """Return a caption on the numbers in the tables of scores; ``more`` covers more than kappa."""
    others = tr(
        "MAD: mean absolute difference, points. Same score: exactly the same one. Readers "
        "among themselves: kappa over all pairs of scores that two readers gave to one of "
        "these answers."
    )
    parts = [
        tr("Judge {name}: {opinion}, not part of any other number on this page.").format(
            name=agreement.judge.name, opinion=OPINION_NOTE
        ),
        tr(
            "Agreement is over all answers of the set that both scored, regardless of the "
            "filter: quadratic-weighted kappa of the judge’s score and the final score, "
            "which is not rounded."
        ),
        others if more else "",
        tr(
            "95% intervals resample patients; with fewer than {fewest} answers there are no "
            "numbers."
        ).format(fewest=MIN_COMPARED_ANSWERS),
        _stale_caption(agreement),
    ]
    return " ".join(filter(None, parts))

"""Judges beside readers as rows of plain data: two lists of ``stats --json``, and their tables."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.failure_rates import Rate
from rexview.stats.judges.agreement import (
    FEWEST,
    FailureAgreement,
    ScoreAgreement,
    failure_agreements,
    score_agreements,
)
from rexview.stats.judges.opinions import opinions_in, readers_say
from rexview.stats.report.cells import Columns, limits, number, word
from rexview.vocab import DIMENSION_NAMES, FAILURES

LISTS: Final = ("judge_failures", "judge_scores")
METHODS: Final[dict[str, str]] = {
    "judge_failures": "a judge's opinions against the readers' verdicts: Cohen's kappa "
    "(sklearn.metrics.cohen_kappa_score), precision and recall. Readers see a failure that one of "
    "them confirmed; they do not see one that all rejected, or that a reader who marks failures "
    "left alone on an answer whose scores they gave",
    "judge_scores": "a judge's scores against final scores: quadratic-weighted kappa, final scores "
    "not rounded (then it is Lin's concordance correlation); exact: the very same score",
    "judge_interval": f"BCa bootstrap of patients; none below {FEWEST} answers. With more than 500 "
    "patients that differ in their counts fewer resamples are drawn for kappa, never below 999",
}
Row = dict[str, Any]


def judge_lists(
    review_set: ReviewSet, verdicts: pl.DataFrame | None, *, resamples: int = RESAMPLES
) -> dict[str, list[Row]]:
    """Work out both lists; empty for a set without opinions.

    ``verdicts`` are the readers' newest ones, as :func:`.opinions.readers_say` takes them; without
    them failures are compared with nothing.
    """
    if review_set.opinions.is_empty():
        return {name: [] for name in LISTS}
    opinions = opinions_in(review_set)
    failures: list[Row] = []
    if verdicts is not None:
        read = readers_say(review_set, verdicts)
        found = failure_agreements(opinions, read, resamples=resamples)
        failures = list(map(_failure_row, found))
    scores = score_agreements(opinions, review_set, resamples=resamples)
    return {"judge_failures": failures, "judge_scores": list(map(_score_row, scores))}


def _failure_row(found: FailureAgreement) -> Row:
    return {
        "judge": found.judge.model,
        "prompt_id": found.judge.prompt_id,
        "failure": found.failure,
        "opinions": found.opinions,
        "present": found.present,
        "n": found.n,
        "patients": found.patients,
        "silent": found.silent,
        "both": found.both,
        "only_judge": found.only_judge,
        "only_readers": found.only_readers,
        "neither": found.neither,
        "kappa": found.kappa,
        "ci_low": found.interval.low,
        "ci_high": found.interval.high,
        **_share("precision", found.precision),
        **_share("recall", found.recall),
        "why": found.why or found.precision.interval.why or found.recall.interval.why,
    }


def _share(name: str, found: Rate) -> Row:
    return {
        name: found.share,
        f"{name}_n": found.n,
        f"{name}_ci_low": found.interval.low,
        f"{name}_ci_high": found.interval.high,
    }


def _score_row(found: ScoreAgreement) -> Row:
    return {
        "judge": found.judge.model,
        "prompt_id": found.judge.prompt_id,
        "dimension": found.dimension,
        "opinions": found.opinions,
        "n": found.n,
        "patients": found.patients,
        "judge_mean": found.judge_mean,
        "readers_mean": found.readers_mean,
        "qwk": found.qwk,
        "qwk_ci_low": found.qwk_interval.low,
        "qwk_ci_high": found.qwk_interval.high,
        "mad": found.mad,
        "mad_ci_low": found.mad_interval.low,
        "mad_ci_high": found.mad_interval.high,
        "exact": found.exact,
        "exact_ci_low": found.exact_interval.low,
        "exact_ci_high": found.exact_interval.high,
        "readers_n": found.readers_n,
        "readers_qwk": found.readers_qwk,
        "why": found.why,
    }


_WHO: Final[Columns] = {"judge": word("judge"), "prompt": word("prompt_id")}
JUDGE_TABLES: Final[tuple[tuple[str, str, Columns], ...]] = (
    (
        "Judges beside readers: failures (a language model's opinion)",
        "judge_failures",
        {
            "failure": lambda row: FAILURES[row["failure"]].name,
            **_WHO,
            "said present": number("present", "d"),
            "of": number("opinions", "d"),
            "n": number("n", "d"),
            "kappa": number("kappa"),
            "95% CI": limits(),
            "precision": number("precision", ".0%"),
            "CI of it": limits("precision_ci_", ".0%"),
            "recall": number("recall", ".0%"),
            "CI of that": limits("recall_ci_", ".0%"),
        },
    ),
    (
        "Judges beside readers: scores (a language model's opinion)",
        "judge_scores",
        {
            "dimension": lambda row: DIMENSION_NAMES[row["dimension"]],
            **_WHO,
            "scored": number("opinions", "d"),
            "n": number("n", "d"),
            "mean": number("judge_mean"),
            "readers": number("readers_mean"),
            "QWK": number("qwk"),
            "95% CI": limits("qwk_ci_"),
            "MAD": number("mad"),
            "exact": number("exact", ".0%"),
            "readers' QWK": number("readers_qwk"),
        },
    ),
)

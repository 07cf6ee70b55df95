"""The failure rates of the report as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.failure_rates import JUDGED, clusters_of, failure_rates, failure_tests
from rexview.vocab import FAILURES

Row = dict[str, Any]


def failure_rows(
    judged: pl.DataFrame, cases: pl.DataFrame, models: Sequence[str], resamples: int = RESAMPLES
) -> tuple[list[Row], list[Row]]:
    """Work out the rates of all failures, and the tests between models.

    Parameters
    ----------
    judged : polars.DataFrame
        As :func:`rexview.detect.judged_answers` lists them.
    cases : polars.DataFrame
        Columns :data:`rexview.frames.CASES`.
    models : sequence of str
    resamples : int

    Returns
    -------
    list of dict, list of dict
        Rows of ``failures`` and of ``failure_tests``, see ``docs/statistics.md``. Failures that
        nothing can be judged for are left out.
    """
    rule, reader = pl.col("detected"), pl.col("marked")
    flagged = judged.with_columns(flagged=rule | reader)
    counts = {
        (failure, model): numbers
        for failure, model, *numbers in flagged.group_by("failure", "model")
        .agg(
            (rule & ~reader).sum(),
            (reader & ~rule).sum().alias("only_reader"),
            (rule & reader).sum().alias("both"),
            (pl.col("hinted") & ~rule & ~reader).sum(),
        )
        .iter_rows()
    }
    met = set(flagged["failure"].unique())
    failures = [failure for failure in FAILURES if failure in met]
    wanted, clusters = flagged.select(list(JUDGED)), clusters_of(cases)
    rates = failure_rates(wanted, clusters, models, failures, resamples=resamples)
    tests = failure_tests(wanted, clusters, models, failures, resamples=resamples)
    rows: list[Row] = []
    for row in rates:
        only_rule, only_reader, both, hinted = counts.get((row.failure, row.model), (0, 0, 0, 0))
        rows.append(
            {
                "failure": row.failure,
                "model": row.model,
                "n": row.rate.n,
                "flagged": row.rate.flagged,
                "share": row.rate.share,
                "ci_low": row.rate.interval.low,
                "ci_high": row.rate.interval.high,
                "interval": row.rate.method,
                "patients": row.rate.clusters,
                "rule_only": only_rule,
                "reader_only": only_reader,
                "rule_and_reader": both,
                "possible": hinted,
                "why": row.rate.interval.why,
            }
        )
    compared = [
        {
            "failure": test.failure,
            "model_a": test.model_a,
            "model_b": test.model_b,
            "n_pairs": test.n_pairs,
            "only_a": test.only_a,
            "only_b": test.only_b,
            "both": test.both,
            "difference": test.difference,
            "ci_low": test.interval.low,
            "ci_high": test.interval.high,
            "p": test.p,
            "p_adj": test.p_adj,
            "left_out": test.left_out,
            "why": test.why or test.interval.why,
        }
        for test in tests
    ]
    return rows, compared

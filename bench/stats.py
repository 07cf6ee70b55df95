"""Measure the statistics against scipy, scikit-learn and pandas: ``bench stats``.

The alternative follows the libraries' manuals: ``scipy.stats.bootstrap`` over the raw scores,
``scipy.stats.wilcoxon`` for each pair, ``cohen_kappa_score`` for each pair of readers, ``groupby``
in pandas, all from the same scores. Both sides compute the same numbers; if they differ by more
than Monte-Carlo error, the benchmark fails. The whole report has no alternative; it has goals. The
caches of earlier runs are emptied before each run.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from bench.measure import Goal, Measured, Row, at_most, in_turn, milliseconds, result
from bench.serving import ROOT
from rexview import frames
from rexview.schema import Model, ReviewSet, SetInfo
from rexview.stats import bootstrap
from rexview.stats.bootstrap import RESAMPLES, Floats, Interval
from rexview.stats.paired_tests import compare_all_models
from rexview.stats.reader_agreement import count_pair_tables, measure_pair_agreements
from rexview.stats.report.document import build_statistics_report
from rexview.stats.score_finals import TEXT_SCORES, Finals, list_single_scores, load_finals
from rexview.stats.score_summaries import (
    summarise_gaps,
    summarise_scores,
    tally_scores,
    tally_values,
)
from rexview.vocab import TEXT_DIMENSIONS

ROUNDS: Final = 3
SMALL: Final = (100, 2)
"""Cases and models that must finish within :data:`SMALL_GOAL`."""
SMALL_GOAL: Final = at_most(2_000)
LARGE: Final = ((50_000, 2), (5_000, 20))
"""The same for 100,000 answers and :data:`LARGE_GOAL`."""
LARGE_GOAL: Final = at_most(10_000)
MANY: Final = (100, 20)
MEANS: Final = (5_000, 20)
"""Cases and models of the plain means."""
ONE: Final = 2_000
_READERS: Final = ("reader_a", "reader_b")
_SLACK: Final = 0.05
"""Limits of intervals may differ by this many points when 100 cases are resampled."""


def run() -> Measured:
    """Measure every table and size.

    Raises
    ------
    AssertionError
        Our numbers differ from those of the alternative.
    """
    small = _review_set(*SMALL)
    scores, models = load_finals(small), _models(SMALL[1])
    rows = [_loading()]
    _same(_tables(scores, models), _plain(scores, models))
    of_small = "{} cases, {} models".format(*SMALL)
    rows.append(
        _beside(
            f"scores, gaps and tests, {of_small}",
            lambda: _tables(load_finals(small), models),
            lambda: _plain(load_finals(small), models),
            "scipy bootstrap and wilcoxon",
            SMALL_GOAL,
        )
    )
    rows += [_one_interval(), _means(), _kappas(small, of_small)]
    for size in (SMALL, MANY, *LARGE):
        what = "whole report, {:,} cases, {} models".format(*size)
        goal = {SMALL: SMALL_GOAL, MANY: None}.get(size, LARGE_GOAL)
        made = _review_set(*size)
        (took,) = in_turn(_forgetting(partial(_report, made)), rounds=ROUNDS)
        rows.append(result(what, took, "ms", goal=goal))
    return Measured(rows)


def _report(made: ReviewSet) -> None:
    build_statistics_report(replace(made), gap_threshold=2)  # a new object without cached results


def _forgetting(work: Callable[[], object]) -> Callable[[], float]:
    """Return a measure of the work without the caches of earlier runs."""
    measure = milliseconds(work)

    def anew() -> float:
        bootstrap.clear_draws()
        return measure()

    return anew


def _beside(
    what: str,
    ours: Callable[[], object],
    plain: Callable[[], object],
    name: str,
    goal: Goal | None = None,
) -> Row:
    mine, theirs = in_turn(_forgetting(ours), milliseconds(plain), rounds=ROUNDS)
    return result(what, mine, "ms", alternative=theirs, name=name, goal=goal)


def _one_interval() -> Row:
    """Time one interval of a mean over :data:`ONE` scores, ours and scipy's."""
    scores = np.random.default_rng(1).integers(1, 6, ONE).astype(np.float64)
    ours, plain = tally_values(scores).interval(), _limits(scores)
    assert ours.low is not None and ours.high is not None, "ours is undefined"  # noqa: PT018
    assert np.allclose((ours.low, ours.high), plain, rtol=0, atol=_SLACK), "the interval differs"
    what = f"one interval of a mean of {ONE:,} scores, {RESAMPLES:,} resamples"
    return _beside(
        what, lambda: tally_values(scores).interval(), lambda: _limits(scores), "scipy bootstrap"
    )


def _means() -> Row:
    """Time means of every dimension and model from the given scores, ours and pandas'."""
    made, models = _review_set(*MEANS), _models(MEANS[1])
    frame = made.scores.select("case", "model", "dimension", "score").to_pandas()

    def ours() -> dict[tuple[str, str], float | None]:
        values = load_finals(replace(made))
        tallied = tally_scores(values).values
        return {
            (dimension, model): tallied[dimension][model].mean
            for dimension in TEXT_DIMENSIONS
            for model in models
        }

    def plain() -> dict[Any, float]:
        answers = frame.groupby(["dimension", "model", "case"])["score"].mean()
        found: dict[Any, float] = answers.groupby(["dimension", "model"]).mean().to_dict()
        return found

    mine, theirs = ours(), plain()
    assert all(np.isclose(mine[key] or 0, theirs[key]) for key in mine), "the means differ"
    what = "final scores and means, {:,} cases, {} models, two readers".format(*MEANS)
    return _beside(what, ours, plain, "pandas groupby, means of the text dimensions only")


def _kappas(made: ReviewSet, of: str) -> Row:
    """Time quadratic-weighted kappa of two readers on every dimension, ours and scikit-learn's."""
    scores = list_single_scores(made)

    def ours() -> list[float | None]:
        tables = count_pair_tables(scores, _READERS, dimensions=TEXT_DIMENSIONS)
        found = measure_pair_agreements(tables, _READERS, dimensions=TEXT_DIMENSIONS, resamples=0)
        return [one.qwk for one in found]

    def plain() -> list[float]:
        from sklearn.metrics import cohen_kappa_score

        wide = made.scores.to_pandas().pivot_table(
            index=["dimension", "case", "model"], columns="reader", values="score"
        )
        return [
            float(cohen_kappa_score(*wide.loc[dimension].to_numpy().T, weights="quadratic"))
            for dimension in TEXT_DIMENSIONS
        ]

    assert np.allclose(np.array(ours(), dtype=np.float64), plain()), "kappa differs"
    return _beside(f"kappa of two readers, {of}", ours, plain, "scikit-learn and pandas")


def _limits(sample: Floats) -> tuple[float, float]:
    """Compute an interval of the mean with scipy, from raw values."""
    from scipy.stats import bootstrap as resampled

    found = resampled((sample,), np.mean, n_resamples=RESAMPLES, rng=1).confidence_interval
    return float(found.low), float(found.high)


def _loading() -> Row:
    """Time the import of what the statistics need, in a separate process."""
    code = (
        "import time, polars, numpy; start = time.perf_counter(); "
        "import scipy.stats, sklearn.metrics; print(time.perf_counter() - start)"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return result("loading scipy.stats and scikit-learn", 1000 * float(done.stdout), "ms")


def _models(models: int) -> list[str]:
    return [f"model-{number:02d}" for number in range(models)]


def _review_set(cases: int, models: int) -> ReviewSet:
    """Make a set in which two readers scored every answer; the same in every run."""
    random = np.random.default_rng(20_250_101)
    names = _models(models)
    pairs = pl.DataFrame(
        {
            "case": np.repeat([f"case-{number}" for number in range(cases)], models),
            "model": np.tile(names, cases),
        }
    )
    answers = pairs.with_columns(text=pl.lit("An answer."), _newest=pl.lit(True))
    quality = np.tile(np.linspace(2.6, 4.4, models), cases)
    scores = [
        pairs.with_columns(
            pl.Series("score", np.clip(np.round(random.normal(quality, 1.1)), 1, 5), pl.Int8),
            reader=pl.lit(reader),
            dimension=pl.lit(dimension),
        )
        for dimension in TEXT_DIMENSIONS
        for reader in _READERS
    ]
    empty = {name: pl.DataFrame(schema=schema) for name, schema in frames.TABLES.items()}
    return ReviewSet(
        folder=Path("nowhere"),
        info=SetInfo("Bench", models=tuple(Model(name, name) for name in names)),
        cases=empty["cases"],
        answers=_filled(answers, frames.ANSWERS),
        scores=_filled(pl.concat(scores), frames.SCORES),
        flags=empty["flags"],
        metrics=empty["metrics"],
        edits=empty["edits"],
    )


def _filled(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    missing = [name for name in schema if name not in frame.columns]
    nulls = [pl.lit(None, schema[name]).alias(name) for name in missing]
    return frame.with_columns(nulls).select(schema.names())


def _tables(values: Finals, models: list[str]) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Compute all tables with our functions, as (mean, low, high) and (p, low, high) by name."""
    given: dict[tuple[str, ...], tuple[float | None, Interval]] = {}
    counted = tally_scores(values)
    for score in summarise_scores(counted, models):
        given[score.dimension, score.model] = (score.mean, score.interval)
    for gap in summarise_gaps(counted, models, threshold=2):
        given["gap", gap.model] = (gap.mean, gap.interval)
    for test in compare_all_models(values.by_answer, models).tests:
        given[test.dimension, test.model_a, test.model_b] = (test.p, test.interval)
    return {
        name: tuple(np.array([number, interval.low, interval.high], dtype=np.float64))
        for name, (number, interval) in given.items()
    }


def _plain(values: Finals, models: list[str]) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Compute the same numbers as a manual would: from raw values, one by one."""
    from scipy.stats import wilcoxon

    given: dict[tuple[str, ...], tuple[float, ...]] = {}
    for dimension in (*TEXT_SCORES, "gap"):
        frame = values.of(dimension).to_pandas()
        wide = frame.pivot(index="case", columns="model", values="value")
        for model in models:
            sample = wide[model].dropna().to_numpy()
            given[dimension, model] = (float(sample.mean()), *_limits(sample))
        for a, b in combinations(models, 2):
            if dimension != "gap":
                differences = (wide[a] - wide[b]).dropna().round(9).to_numpy()
                p = float(wilcoxon(differences).pvalue)
                given[dimension, a, b] = (p, *_limits(differences))
    return given


def _same(
    ours: dict[tuple[str, ...], tuple[float, ...]], plain: dict[tuple[str, ...], tuple[float, ...]]
) -> None:
    assert ours.keys() == plain.keys()
    for name, (number, *limits) in ours.items():
        assert np.isclose(number, plain[name][0], rtol=1e-9, atol=1e-12), f"{name} differs"
        assert np.allclose(limits, plain[name][1:], rtol=0, atol=_SLACK), f"{name} differs"

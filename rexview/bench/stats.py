"""How long the statistics take, and how long the plain way would take: side by side.

The plain way is what the libraries' manuals show: ``scipy.stats.bootstrap`` over the raw scores and
``scipy.stats.wilcoxon`` once a pair, from the same final scores. Both draw as many resamples and
are asked for the same numbers; where they differ by more than Monte-Carlo error, the bench fails.
Seconds are those of the clock, for which the targets stand, and beside them those of the processor,
which a busy machine changes less. Loading the libraries has a row of its own; the caches of earlier
runs are emptied.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import polars as pl

from rexview import frames
from rexview.bench.serving import ROOT
from rexview.schema import Model, ReviewSet, SetInfo
from rexview.stats import bootstrap
from rexview.stats.bootstrap import RESAMPLES, Floats, Interval
from rexview.stats.paired import compare
from rexview.stats.report.document import report
from rexview.stats.summary import gap_summaries, score_tallies, summaries, tally
from rexview.stats.values import TESTED_TOGETHER, Finals, finals
from rexview.vocab import TEXT_DIMENSIONS

ROUNDS: Final = 3
SMALL: Final = (100, 2)
"""Cases and models that have to be done within :data:`SMALL_TARGET` seconds."""
SMALL_TARGET: Final = 2.0
LARGE: Final = ((50_000, 2), (5_000, 20))
"""The same for 100,000 answers and :data:`LARGE_TARGET` seconds."""
LARGE_TARGET: Final = 10.0
MANY: Final = (100, 20)
ONE: Final = 2_000
Result = TypeVar("Result")
_READERS: Final = ("reader_a", "reader_b")
_SLACK: Final = 0.05
"""Limits of intervals may differ by so many points where 100 cases are resampled."""


class Timing(NamedTuple):
    """Seconds of the clock and of the processor, over all threads."""

    seconds: float
    processor: float


def run() -> list[dict[str, Any]]:
    """Measure; one row a table and size: seconds, target, and the plain way's seconds and ratio.

    Raises
    ------
    AssertionError
        When our numbers and those of the plain way differ.
    """
    small = _review_set(*SMALL)
    rows = [_loading()]
    tables, seconds = _timed(lambda: _tables(finals(small), _models(SMALL[1])))
    plain, plain_seconds = _timed(lambda: _plain(finals(small), _models(SMALL[1])))
    _same(tables, plain)
    rows.append(_row("scores, gaps and tests", *SMALL, seconds, SMALL_TARGET, plain_seconds))
    rows.append(_one_interval())
    for cases, models in (SMALL, MANY, *LARGE):
        made = _review_set(cases, models)
        target = {SMALL: SMALL_TARGET, MANY: None}.get((cases, models), LARGE_TARGET)
        _, seconds = _timed(lambda: report(replace(made), gap_threshold=2))  # noqa: B023 (another object, of which nothing is remembered)
        rows.append(_row("whole report", cases, models, seconds, target))
    return rows


def _row(
    statistic: str,
    cases: int,
    models: int,
    ours: Timing,
    target: float | None,
    plain: Timing | None = None,
) -> dict[str, Any]:
    return {
        "what": statistic,
        "cases": cases,
        "models": models,
        "resamples": RESAMPLES,
        "seconds": round(ours.seconds, 3),
        "processor": round(ours.processor, 3),
        "target": target,
        "reached": None if target is None else ("yes" if ours.seconds < target else "no"),
        "plain seconds": None if plain is None else round(plain.seconds, 3),
        "ratio": None if plain is None else round(plain.seconds / ours.seconds, 1),
    }


def _one_interval() -> dict[str, Any]:
    """Time one interval of a mean over :data:`ONE` scores, ours and scipy's."""
    scores = np.random.default_rng(1).integers(1, 6, ONE).astype(np.float64)
    ours, seconds = _timed(lambda: tally(scores).interval())
    plain, plain_seconds = _timed(lambda: _limits(scores))
    assert ours.low is not None and ours.high is not None, "ours is undefined"  # noqa: PT018
    assert np.allclose((ours.low, ours.high), plain, rtol=0, atol=_SLACK), "the interval differs"
    return _row("one interval of a mean", ONE, 1, seconds, None, plain_seconds)


def _limits(sample: Floats) -> tuple[float, float]:
    """Work out an interval of the mean by scipy, from raw values."""
    from scipy.stats import bootstrap as resampled

    found = resampled((sample,), np.mean, n_resamples=RESAMPLES, rng=1).confidence_interval
    return float(found.low), float(found.high)


def _loading() -> dict[str, Any]:
    """Time the import of what the statistics need, in a process of its own."""
    code = (
        "import time, polars, numpy; start = time.perf_counter(); "
        "import scipy.stats, sklearn.metrics; print(time.perf_counter() - start)"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    seconds = float(done.stdout)
    return {"what": "loading scipy.stats and scikit-learn", "seconds": round(seconds, 3)}


def _timed(work: Callable[[], Result]) -> tuple[Result, Timing]:
    """Return what the work gives, and the time of the fastest of several runs."""
    timings = []
    for _ in range(ROUNDS):
        bootstrap.forget()
        processor, start = time.process_time(), time.perf_counter()
        result = work()
        timings.append(Timing(time.perf_counter() - start, time.process_time() - processor))
    return result, min(timings)


def _models(models: int) -> list[str]:
    return [f"model-{number:02d}" for number in range(models)]


def _review_set(cases: int, models: int) -> ReviewSet:
    """Make a set where two readers scored every answer; the same for every run."""
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
    """Ask our functions for all tables; give (mean, low, high) and (p, low, high) by name."""
    given: dict[tuple[str, ...], tuple[float | None, Interval]] = {}
    counted = score_tallies(values)
    for score in summaries(counted, models):
        given[score.dimension, score.model] = (score.mean, score.interval)
    for gap in gap_summaries(counted, models, threshold=2):
        given["gap", gap.model] = (gap.mean, gap.interval)
    for test in compare(values.by_answer, models).tests:
        given[test.dimension, test.model_a, test.model_b] = (test.p, test.interval)
    return {
        name: tuple(np.array([number, interval.low, interval.high], dtype=np.float64))
        for name, (number, interval) in given.items()
    }


def _plain(values: Finals, models: list[str]) -> dict[tuple[str, ...], tuple[float, ...]]:
    """The same numbers as a manual would have them worked out: from raw values, one by one."""
    from scipy.stats import wilcoxon

    given: dict[tuple[str, ...], tuple[float, ...]] = {}
    for dimension in (*TESTED_TOGETHER, "gap"):
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

"""Measure the board of generated reports: ``bench reports``.

The set has the size of ReXrank's largest public one: 2,347 studies, 5 models, 8 metrics. The
interval of one mean is compared with ``scipy.stats.bootstrap`` on the same sums, and must be equal.
The board has all 40 intervals, with ranks, from the same draws. The page is the app's own, run like
a visitor's script (Streamlit's AppTest, without a browser), while the app compares the reports
itself in the background.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.made_set.writing import METRICS, make_reports
from bench.measure import (
    Measured,
    Row,
    at_most,
    in_turn,
    processor_milliseconds,
    result,
)
from bench.serving import ROOT
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.report_generation import build_report_groups, build_report_tables
from rexview.harm import load_harm
from rexview.metrics.worker import Generated, compute
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.report_metrics import PatientSums, compute_column_means
from rexview.text.findings.mention_finder import clear_caches

STUDIES: Final = 2_347
MODELS: Final = 5
GOAL: Final = at_most(2_000)
_ROUNDS: Final = 3
_LIMIT_S: Final = 600
_COMPARED: Final = 100
"""Number of cases whose reports are compared."""
_SLACK: Final = 0.002
"""Limits of a mean of about 0.2 may differ by this much between resamplings."""


def run() -> Measured:
    """Measure the interval of a mean, the board, its parts and the page.

    Raises
    ------
    AssertionError
        Our interval differs from scipy's, or the page shows an error.
    """
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as parent:
        folder = Path(parent) / "set"
        make_reports(folder, STUDIES, MODELS)
        review_set = load_review_set(folder)
        engine = build_memory_engine(review_set)
        tables = build_report_tables(engine, resamples=0)
        assert len(tables.metrics) == len(METRICS), "a metric is missing"
        tally = engine.metric_tally(CaseFilter(), tables.metrics)
        rows = [_one_interval(tally.by_patient.only([0]))]
        by = next(one for one in engine.facts.properties if one.key == "site")
        metric = tables.metrics[0]
        of = f"{STUDIES:,} studies, {MODELS} models, {len(METRICS)} metrics"
        works: dict[str, Any] = {
            f"board: means, intervals and places, {of}": lambda: build_report_tables(engine),
            "one metric by site, with places": lambda: build_report_groups(
                engine, CaseFilter(), by, metric
            ),
            "box plots": lambda: engine.metric_spreads(CaseFilter(), tables.metrics),
            "correlations of 8 metrics with intervals, Spearman": lambda: (
                engine.metric_correlations(CaseFilter(), tables.metrics, "spearman")
            ),
        }
        for what, work in works.items():
            (took,) = in_turn(processor_milliseconds(work), rounds=_ROUNDS)
            goal = GOAL if what.startswith("board") else None
            rows.append(result(f"{what} (of the processor)", took, "ms", goal=goal))
        rows.append(_own_metrics(review_set))
        rows.append(_page(folder))
    notes = "Correlations are worked out when somebody asks for them, once for each filter."
    return Measured(rows, notes=notes)


def _one_interval(given: PatientSums) -> Row:
    """Time the interval of one mean, ours and scipy's."""
    from scipy.stats import bootstrap

    sums, counts = given.sums[:, 0], given.counts[:, 0]

    def plain() -> tuple[float, float]:
        found = bootstrap(
            (sums, counts),
            lambda sums, counts, axis: sums.sum(axis=axis) / counts.sum(axis=axis),
            paired=True,
            vectorized=True,
            batch=500,
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(1),
        ).confidence_interval
        return float(found.low), float(found.high)

    (ours,) = compute_column_means(given).intervals
    assert ours.low is not None, "ours is undefined"
    assert ours.high is not None, "ours is undefined"
    assert np.allclose((ours.low, ours.high), plain(), rtol=0, atol=_SLACK), "intervals differ"
    mine, theirs = in_turn(
        processor_milliseconds(lambda: compute_column_means(given)),
        processor_milliseconds(plain),
        rounds=_ROUNDS,
    )
    what = f"one interval of a mean, {len(sums):,} patients (of the processor)"
    return result(what, mine, "ms", alternative=theirs, name="scipy bootstrap, BCa")


def _own_metrics(review_set: ReviewSet) -> Row:
    """Time the app's own metrics of one report, starting without known sentences."""
    cases = [review_set.case(one) for one in review_set.cases["id"].head(_COMPARED)]
    batch = [Generated(case, review_set.answers_of(case.id)) for case in cases if case]
    harm = load_harm()

    def work() -> None:
        clear_caches()
        compute(batch, harm)

    (took,) = in_turn(processor_milliseconds(work), rounds=_ROUNDS)
    n = sum(len(answers) for _, answers in batch)
    what = "BLEU-2 and finding-level agreement of a report, two scopes (of the processor)"
    return result(what, took / n, "ms")


def _page(folder: Path) -> Row:
    """Time the page for the first visitor, without caches."""
    from rexview.ui.web.streamlit_adapter.without_browser import app_without_browser

    os.environ["REXVIEW_SET"] = str(folder)
    sys.argv = ["app.py"]
    logging.disable(logging.WARNING)  # Streamlit warns that there is no server
    app = app_without_browser(ROOT / "app.py", _LIMIT_S)
    app.switch_page(str(ROOT / "pages" / "browse.py"))
    app.run()  # open the set first, as on the way to the page
    app.switch_page(str(ROOT / "pages" / "report_generation.py"))
    took = processor_milliseconds(app.run)()
    said = [*app.exception, *app.error]
    assert not said, said
    return result("page, first visitor (of the processor)", took, "ms", goal=GOAL)

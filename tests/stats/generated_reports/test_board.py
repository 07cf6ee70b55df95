"""A board of a small set, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made_rows.reports import BLEU, MODELS, TABLES

from rexview.metrics.identity import known_metric
from rexview.stats.report_metrics import (
    NO_DIRECTION_REASON,
    NO_VALUE,
    Leaderboard,
    build_board,
    collect_report_values,
)

BLEU_2 = ("bleu_2", "radeval", "2.0", "findings")
RADCLIQ = ("radcliq_v1", "radeval", "2.0", "findings")


def made(tables: dict[str, Any], make_set: Any, *metrics: Any) -> Leaderboard:
    values = collect_report_values(make_set(**tables))
    return build_board(
        values.by_patient(metrics, MODELS), metrics, MODELS, known_metric, resamples=500
    )


def test_means_reciprocals_and_ranks(make_set: Any) -> None:
    found = made(TABLES, make_set, BLEU_2, RADCLIQ)
    for model in MODELS:
        cell = found.cells[BLEU_2, model]
        assert cell.mean == cell.shown == pytest.approx(np.mean(BLEU[model]))
        assert cell.n == len(BLEU[model])
    radcliq = found.cells[RADCLIQ, "b"]
    assert (radcliq.mean, radcliq.shown) == (2.0, 0.5)  # 1 / mean
    assert found.ranked(BLEU_2) == ("a", "b", "c")
    assert found.ranked(RADCLIQ) == ("a", "c", "b")  # lower is better, higher its reciprocal
    best = found.cells[BLEU_2, "a"].rank
    assert best is not None
    assert (best.place, best.low) == (1, 1)
    assert found.resamples == 500


def test_the_limits_of_a_reciprocal_are_those_of_the_mean(make_set: Any) -> None:
    rows = [
        {**row, "value": row["value"] + 0.1 * (row["case"] in ("r3", "r4"))}
        for row in TABLES["metrics"]
        if row["metric"] == "radcliq_v1"
    ]
    cell = made({**TABLES, "metrics": rows}, make_set, RADCLIQ).cells[RADCLIQ, "a"]
    assert cell.mean is not None
    assert cell.interval.low
    assert cell.interval.high
    assert cell.shown == 1 / cell.mean
    assert cell.shown_interval.low == 1 / cell.interval.high
    assert cell.shown_interval.high == 1 / cell.interval.low
    assert cell.shown_interval.low < cell.shown < cell.shown_interval.high


def test_a_metric_that_nobody_knows_is_averaged_and_not_ranked(make_set: Any) -> None:
    rows = [{**row, "metric": "my_own"} for row in TABLES["metrics"] if row["metric"] == "bleu_2"]
    own = ("my_own", "radeval", "2.0", "findings")
    found = made({**TABLES, "metrics": rows}, make_set, own)
    cell = found.cells[own, "a"]
    assert cell.mean == pytest.approx(0.7)
    assert (cell.rank, cell.why) == (None, NO_DIRECTION_REASON)


def test_a_model_without_values_has_no_mean(make_set: Any) -> None:
    rows = [row for row in TABLES["metrics"] if row["model"] != "c"]
    cell = made({**TABLES, "metrics": rows}, make_set, BLEU_2).cells[BLEU_2, "c"]
    assert (cell.n, cell.mean, cell.rank, cell.why) == (0, None, None, NO_VALUE)

"""The paper's figures as the page reads them, and our own beside them."""

from __future__ import annotations

from typing import Any

import pytest

from rexview.analysis.published.rexecution import (
    QUANTITIES,
    measured_rates,
    published_rates,
    published_scores,
)
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.scores import build_score_tables
from rexview.stats.score_finals import SCORE_ORDER


def test_the_means_are_those_of_the_paper() -> None:
    found = {(score.dimension, score.model): score for score in published_scores()}
    assert len(found) == 12
    content = found["content", "ChatGPT-o3"]
    assert (content.n, content.mean, content.sd, content.p_adj) == (100, 2.71, 1.31, 0.52)
    assert found["image_style", "ChatGPT-o3"].p_adj is None
    assert {dimension for dimension, _ in found} == set(SCORE_ORDER)


def test_the_rates_are_shares_or_points() -> None:
    found = {(rate.quantity, rate.model): rate for rate in published_rates()}
    assert {quantity for quantity, _ in found} == set(QUANTITIES)
    assert found["no_answer_token_limit", "MedGemma"].percent == 19.0
    gap = found["process_minus_execution_mean", "ChatGPT-o3"]
    assert (gap.percent, gap.points) == (None, 1.27)
    assert "34.57" in found["execution_below_3", "MedGemma"].note


def test_our_own_rates_by_hand(make_set: Any) -> None:
    marks = {"process": (5, 2), "execution": (2, 2), "synthesis": (5, 5), "language": (5, 4)}
    review_set = make_set(
        cases=[{"id": "c1"}, {"id": "c2"}, {"id": "c3"}],
        answers=[
            {"case": "c1", "model": "g"},
            {"case": "c2", "model": "g"},
            {"case": "c3", "model": "g", "finish_reason": "length"},
        ],
        scores=[
            {"case": case, "model": "g", "reader": "r", "dimension": name, "score": score}
            for name, scores in marks.items()
            for case, score in zip(("c1", "c2"), scores, strict=True)
        ],
    )
    tables = build_score_tables(build_memory_engine(review_set), resamples=0)
    rates = {rate.quantity: rate for rate in measured_rates(tables)}
    shares = {
        name: (rate.count.value, rate.count.of)
        for name, rate in rates.items()
        if rate.points is None
    }
    assert shares == {
        "content_equals_5": (0, 2),
        "language_equals_5": (1, 2),
        "process_below_3": (1, 2),
        "execution_below_3": (2, 2),
        "no_answer_token_limit": (1, 3),
    }
    assert rates["process_minus_execution_mean"].points == pytest.approx(1.5)

"""Scores over time: blocks of days worked by hand."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from rexview.stats.reader_drift import ScoreDrift, count_score_days, measure_drift
from rexview.stats.score_finals import SINGLE_SCORE_COLUMNS

START = date(2026, 3, 1)


def marks_of(*rows: tuple[str, str, int, int | None], dimension: str = "process") -> pl.DataFrame:
    """Marks from (case, reader, score, day counted from 1 March 2026)."""
    given: list[tuple[Any, ...]] = []
    for case, reader, score, day in rows:
        created = None
        if day is not None:
            created = datetime(2026, 3, 1, 23, 59, tzinfo=UTC) + timedelta(days=day)
        given.append((case, "m", None, dimension, reader, score, created, None))
    return pl.DataFrame(given, schema=SINGLE_SCORE_COLUMNS, orient="row")


def drifting(
    marks: pl.DataFrame, dimension: str, reader: str, other: str | None = None, **more: Any
) -> ScoreDrift:
    return measure_drift(
        count_score_days(marks, dimension, reader, other), dimension, reader, other, **more
    )


def spans(found: Any) -> list[tuple[int, int, int]]:
    return [
        ((block.first - START).days, (block.last - START).days, block.n) for block in found.blocks
    ]


def test_days_are_put_together_until_a_block_is_full() -> None:
    # Scores a day: 2, 1, 4, 1, 1, 1 with blocks of at least 3: days 0-1 have 3, day 2 has 4,
    # days 3-5 have 3.
    days = [0, 0, 1, 2, 2, 2, 2, 3, 4, 5]
    marks = marks_of(*((f"c{n}", "a", 3, day) for n, day in enumerate(days)))
    assert spans(drifting(marks, "process", "a", smallest=3)) == [(0, 1, 3), (2, 2, 4), (3, 5, 3)]


def test_a_rest_joins_the_last_block() -> None:
    days = [0, 0, 0, 4, 4, 4, 9, 9]
    marks = marks_of(*((f"c{n}", "a", 3, day) for n, day in enumerate(days)))
    assert spans(drifting(marks, "process", "a", smallest=3)) == [(0, 0, 3), (4, 9, 5)]


def test_means_and_differences_by_hand() -> None:
    marks = marks_of(
        *(("c1", "a", 5, 0), ("c2", "a", 4, 0), ("c3", "a", 3, 0)),  # mean 4
        *(("c4", "a", 2, 6), ("c5", "a", 1, 6), ("c6", "a", 1, 6)),  # mean 4/3
        *(("c1", "b", 3, 40), ("c2", "b", 4, None), ("c4", "b", 4, 0), ("c9", "b", 1, 0)),
    )
    found = drifting(marks, "process", "a", "b", smallest=3)
    early, late = found.blocks
    assert (early.n, early.mean, early.shared) == (3, 4.0, 2)
    assert early.difference == 1.0  # (5 - 3 + 4 - 4) / 2
    assert (late.n, late.shared, late.difference) == (3, 1, -2.0)
    assert late.mean == pytest.approx(4 / 3)
    assert early.interval.low < 4 < early.interval.high
    assert late.difference_interval.low is None
    assert late.difference_interval.why
    assert found.why is None


def test_days_give_back_the_scores_of_their_block() -> None:
    dice = random.Random(2)
    rows = [(f"c{n}", "a", dice.randint(1, 5), dice.choice([None, *range(30)])) for n in range(300)]
    marks = marks_of(*rows)
    found = drifting(marks, "process", "a", resamples=0)
    assert 2 <= len(found.blocks) <= 12
    assert found.undated == sum(row[3] is None for row in rows)
    assert sum(block.n for block in found.blocks) == found.n - found.undated
    for block in found.blocks:
        inside = [
            score
            for _, _, score, day in rows
            if day is not None and block.first <= START + timedelta(days=day) <= block.last
        ]
        assert len(inside) == block.n >= 10
        assert sum(inside) / len(inside) == pytest.approx(block.mean)


@pytest.mark.parametrize(
    ("days", "why"),
    [
        ([], "There are no scores."),
        ([None, None], "No score has a date."),
        ([3] * 30, "All scores with a date were given on one day"),
        ([1, 2, 3], "There are too few scores for two blocks of at least 10."),
    ],
)
def test_too_little_is_explained(days: list[int | None], why: str) -> None:
    marks = marks_of(*((f"c{n}", "a", 3, day) for n, day in enumerate(days)))
    found = drifting(marks, "process", "a")
    assert found.why is not None
    assert found.why.startswith(why)
    assert len(found.blocks) < 2


def test_without_another_reader_there_is_no_difference() -> None:
    marks = marks_of(*((f"c{n}", "a", 3, n) for n in range(30)))
    for block in drifting(marks, "process", "a").blocks:
        assert (block.shared, block.difference) == (0, None)
        assert block.interval.why  # all scores alike

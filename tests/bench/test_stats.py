"""The bench of the statistics, on sizes that take no time."""

import numpy as np
import pytest

from bench import stats


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stats, "ROUNDS", 1)
        patch.setattr(stats, "SMALL", (30, 2))
        patch.setattr(stats, "ONE", 200)
        patch.setattr(stats, "_SLACK", 0.2)
        patch.setattr(stats, "MANY", (10, 4))
        patch.setattr(stats, "MEANS", (15, 4))
        patch.setattr(stats, "LARGE", ((40, 2), (20, 3)))
        return stats.run().rows


def test_every_size_has_a_row_and_the_asked_ones_a_goal(rows):
    reports = {row.what: row.goal for row in rows if row.what.startswith("whole report")}
    assert reports == {
        "whole report, 30 cases, 2 models": "ours <= 2000",
        "whole report, 10 cases, 4 models": None,
        "whole report, 40 cases, 2 models": "ours <= 10000",
        "whole report, 20 cases, 3 models": "ours <= 10000",
    }
    assert all(row.ours > 0 for row in rows)


def test_every_library_stands_beside(rows):
    beside = " ".join(row.name for row in rows if row.ratio is not None)
    assert {"scipy", "pandas", "scikit-learn"} <= set(beside.split())


def test_numbers_that_differ_are_an_error():
    ours = {("content", "a"): (3.0, 2.5, 3.5)}
    stats._same(ours, {("content", "a"): (3.0, 2.51, 3.49)})
    for other in ((3.01, 2.5, 3.5), (3.0, 2.3, 3.5), (np.nan, 2.5, 3.5)):
        with pytest.raises(AssertionError, match="content"):
            stats._same(ours, {("content", "a"): other})

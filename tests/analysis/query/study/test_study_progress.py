"""Progress of readers: counts of cases, whatever they gave."""

from datetime import UTC, datetime

import polars as pl
import pytest

from rexview import frames
from rexview.analysis.query.memory.study_engine import MemoryStudyEngine, list_required_scores
from rexview.analysis.query.study_tasks import (
    WorklistProgress,
    count_readers_progress,
    find_started_cases,
)
from rexview.store import Assignment

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def review_set(make_set):
    return make_set(
        cases=[{"id": f"c{number}"} for number in range(1, 5)],
        answers=[{"case": f"c{number}", "model": "g"} for number in range(1, 5)],
    )


def written(review_set, **cases):
    """Scores of readers: all that a case wants, or the first only where it ends with ``-``."""
    rows = []
    for reader, names in cases.items():
        for name in names:
            wanted = list_required_scores(review_set).filter(pl.col("case") == name.rstrip("-"))
            for item in wanted.head(1 if name.endswith("-") else len(wanted)).iter_rows(named=True):
                row = {"reader": reader, "score": 4, "image": item.pop("picture"), **item}
                rows.append({**dict.fromkeys(frames.SCORES), **row})
    return pl.DataFrame(rows, schema=frames.SCORES)


def given(*names):
    return [Assignment(case, reader, order, "lead", NOW) for case, reader, order in names]


def test_counts_of_what_was_assigned(review_set):
    assignments = given(
        ("c1", "ann", "first"),
        ("c2", "ann", "first"),
        ("c3", "ann", "second"),
        ("c3", "bob", "first"),
        ("c4", "bob", "first"),
    )
    scores = written(review_set, ann=["c1", "c2-", "c4"], cem=["c4-"])
    engine = MemoryStudyEngine(review_set)
    ann, bob, cem = count_readers_progress(engine, assignments, scores, {"bob": ["c3"], "ann": []})
    assert (ann.reader, ann.first, ann.second, ann.begun) == ("ann", 2, 1, 1)
    assert ann.progress == WorklistProgress(1, 0, 3), "what was not assigned does not count"
    assert (bob.first, bob.second, bob.progress) == (2, 0, WorklistProgress(0, 1, 2))
    assert (cem.first, cem.begun, cem.progress.total) == (0, 1, 1)
    assert find_started_cases("ann", scores, {"ann": ["c3"]}) == {"c1", "c2", "c3", "c4"}


def test_without_assignments_everything_is_everybodys(review_set):
    engine = MemoryStudyEngine(review_set)
    (ann,) = count_readers_progress(engine, [], written(review_set, ann=["c1"]), {})
    assert (ann.first, ann.second, ann.progress) == (0, 0, WorklistProgress(1, 0, 4))
    assert count_readers_progress(engine, [], written(review_set), {}) == ()

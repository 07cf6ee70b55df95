"""Content in the other order: the same table as one made with it from the start."""

from __future__ import annotations

from typing import Any

import pytest

from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.schema import ReviewSet

MARKS = {  # reader: process, execution, synthesis
    ("c1", "a"): (5, 1, 4),
    ("c1", "b"): (2, 5, 4),
    ("c2", "a"): (3, 3, 3),
}


@pytest.fixture(name="review_set", scope="module")
def review_set_fixture(make_set: Any) -> ReviewSet:
    scores = [
        {"case": case, "model": "g", "reader": reader, "dimension": name, "score": mark}
        for (case, reader), marks in MARKS.items()
        for name, mark in zip(("process", "execution", "synthesis"), marks, strict=True)
    ]
    # no reader of c3 scored all three parts
    scores += [
        {"case": "c3", "model": "g", "reader": reader, "dimension": name, "score": 2}
        for reader, name in (("a", "process"), ("a", "execution"), ("b", "synthesis"))
    ]
    answers = [{"case": f"c{number}", "model": "g"} for number in (1, 2, 3)]
    cases = [{"id": f"c{number}"} for number in (1, 2, 3, 4)]
    made: ReviewSet = make_set(cases=cases, answers=answers, scores=scores)
    return made


def test_the_other_order_changes_content_and_what_follows_from_it(review_set: ReviewSet) -> None:
    usual = build_memory_engine(review_set)
    other = usual.in_content_order("minimum_first")
    assert usual.table.rows["content"].to_list() == [3.0, 3.0, 2.0, None]
    assert other.table.rows["content"].to_list() == [1.5, 3.0, None, None]
    assert (usual.table.rows["weakest"][2], other.table.rows["weakest"][2]) == (
        "all_equal",
        None,
    )
    assert other.table.rows["severity"][0] == usual.table.rows["severity"][0] + 1.5
    made = build_memory_engine(review_set, content_order="minimum_first")
    assert other.table.rows.equals(made.table.rows)
    assert other.table.rows.schema == made.table.rows.schema
    assert other.facts.content_order == made.facts.content_order == "minimum_first"
    assert usual.in_content_order("mean_first") is usual


def test_one_case_has_the_same_content_as_the_table(review_set: ReviewSet) -> None:
    for order, expected in (("mean_first", 3.0), ("minimum_first", 1.5)):
        page = build_case_page(
            review_set, "c1", build_memory_engine(review_set).in_content_order(order)
        )
        assert page is not None
        assert page.finals["g"].content == expected

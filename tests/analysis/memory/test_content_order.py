"""Content in the other order: the same table as one made with it from the start."""

from __future__ import annotations

from typing import Any

import pytest

from rexview.analysis import answer_table
from rexview.analysis.case.record import gather_case
from rexview.analysis.memory.content_order import in_content_order
from rexview.detect import survey
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
    usual = answer_table(review_set)
    other = in_content_order(usual, review_set, "minimum_first")
    assert usual.rows["content"].to_list() == [3.0, 3.0, 2.0, None]
    assert other.rows["content"].to_list() == [1.5, 3.0, None, None]
    assert (usual.rows["weakest"][2], other.rows["weakest"][2]) == (
        "all_equal",
        None,
    )
    assert other.rows["severity"][0] == usual.rows["severity"][0] + 1.5
    made = answer_table(review_set, content_order="minimum_first")
    assert other.rows.equals(made.rows)
    assert other.rows.schema == made.rows.schema
    assert other.content_order == made.content_order == "minimum_first"
    assert in_content_order(usual, review_set, "mean_first") is usual


def test_one_case_has_the_same_content_as_the_table(review_set: ReviewSet) -> None:
    for order, expected in (("mean_first", 3.0), ("minimum_first", 1.5)):
        page = gather_case(review_set, "c1", survey(review_set), content_order=order)
        assert page is not None
        assert page.finals["g"].content == expected

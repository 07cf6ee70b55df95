"""Answers by number stand in the order of cases and models, the newest run only."""

import polars as pl

from rexview.frames import number_answers


def test_numbers_go_by_case_and_model():
    cases = pl.DataFrame({"id": ["c2", "c1", "empty"]})
    answers = pl.DataFrame(
        {
            "case": ["c1", "c2", "c1", "c2", "c1"],
            "model": ["b", "b", "a", "a", "a"],
            "_newest": [True, True, False, True, True],
        }
    )
    rows = number_answers(cases, answers, ["b", "a"])
    assert rows.case.tolist() == [0, 0, 1, 1]
    assert rows.model.tolist() == [0, 1, 0, 1]
    assert rows.row.tolist() == [1, 3, 0, 4]
    assert rows.starts.tolist() == [0, 2, 4, 4]
    assert rows.of_case(1) == range(2, 4)
    assert rows.number(1, 1) == 3
    assert rows.number(2, 0) is None


def test_numbers_of_named_answers(make_set):
    answers = [
        {"case": case, "model": model} for case, model in [("a", "m"), ("c", "g"), ("c", "x")]
    ]
    review_set = make_set(cases=[{"id": name} for name in "abc"], answers=answers)
    named = pl.DataFrame(
        {"case": ["c", "a", "b", "c", "z", "a"], "model": ["x", "m", "g", "g", "g", "nobody"]}
    )
    assert review_set.numbers_of(named).tolist() == [2, 0, -1, 1, -1, -1]
    assert review_set.numbers_of(named.clear()).tolist() == []
    assert make_set(cases=[{"id": "c"}]).numbers_of(named).tolist() == [-1] * 6

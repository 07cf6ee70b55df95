"""Detectors' flags and readers' words together."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import polars as pl

from rexview import frames
from rexview.detect import (
    DETECTORS,
    FLAG_TABLE,
    find_flags,
    find_flags_for_answers,
    flag_rows,
    judged_answers,
    survey,
)
from rexview.schema import ReviewSet
from rexview.vocab import FAILURES, READER_ONLY_FAILURES


def word(reader: str, verdict: str, failure: str = "token_limit", **more: Any) -> dict[str, Any]:
    return {
        "case": "c",
        "model": "g",
        "reader": reader,
        "failure": failure,
        "verdict": verdict,
        **more,
    }


def cut_set(make_set: Any, *words: dict[str, Any]) -> ReviewSet:
    """One case; model g was cut off, model m answered."""
    review_set: ReviewSet = make_set(
        cases=[{"id": "c"}],
        answers=[
            {"case": "c", "model": "m"},
            {"case": "c", "model": "g", "finish_reason": "length"},
        ],
        flags=words,
    )
    return review_set


def test_every_failure_has_a_detector() -> None:
    assert {detector.failure for detector in DETECTORS} == set(FAILURES) - READER_ONLY_FAILURES


def test_the_frame_has_its_columns_even_when_empty(make_set: Any) -> None:
    flags = find_flags(make_set())
    assert flags.schema == FLAG_TABLE
    assert flags.is_empty()
    assert judged_answers(survey(make_set())).columns[:3] == ["case", "model", "failure"]


def test_the_message_of_the_frame_can_be_found_again(make_set: Any) -> None:
    review_set = cut_set(make_set)
    row = find_flags(review_set).row(0, named=True)
    assert (row["failure"], row["source"], row["kind"]) == (
        "token_limit",
        "detector",
        "finish_reason",
    )
    assert row["stands"] is True
    case = review_set.case("c")
    assert case is not None
    (flag,) = find_flags_for_answers(case, review_set.answers_of("c"), review_set.scores_of("c"))
    assert (flag.model, flag.verdict) == ("g", None)


class TestReadersWord:
    def test_a_rejection_takes_the_detector_s_flag_out(self, make_set: Any) -> None:
        review_set = cut_set(make_set, word("a", "rejected"))
        flags = find_flags(review_set)
        assert flags["source"].to_list() == ["detector", "reader"]
        assert flags["stands"].to_list() == [False, False]
        assert flag_rows(review_set) == []

    def test_a_confirmation_marks_it(self, make_set: Any) -> None:
        review_set = cut_set(make_set, word("a", "confirmed", comment="Stops mid-word."))
        rows = flag_rows(review_set)
        assert [(row["source"], row["verdict"]) for row in rows] == [
            ("detector", "confirmed"),
            ("reader", "confirmed"),
        ]
        assert rows[1]["message"] == "Stops mid-word."
        assert rows[1]["reader"] == "a"

    def test_one_confirmation_outweighs_a_rejection(self, make_set: Any) -> None:
        review_set = cut_set(make_set, word("a", "confirmed"), word("b", "rejected"))
        stands = find_flags(review_set).select("source", "reader", "stands").rows()
        assert stands == [
            ("detector", None, True),
            ("reader", "a", True),
            ("reader", "b", False),
        ]

    def test_the_newest_word_of_a_reader_counts(self, make_set: Any) -> None:
        late, early = (datetime(2025, month, 1, tzinfo=UTC) for month in (2, 1))
        review_set = cut_set(
            make_set,
            word("a", "rejected", created=late),
            word("a", "confirmed", created=early),
        )
        assert find_flags(review_set)["verdict"].to_list() == ["rejected", "rejected"]
        assert flag_rows(review_set) == []

    def test_a_failure_that_only_a_reader_saw(self, make_set: Any) -> None:
        review_set = cut_set(make_set, word("a", "confirmed", "omission"))
        rows = flag_rows(review_set)
        assert [(row["failure"], row["source"]) for row in rows] == [
            ("token_limit", "detector"),
            ("omission", "reader"),
        ]
        assert rows[1]["message"] == "Missed finding: marked by a reader."

    def test_a_word_on_an_answer_that_is_not_there_is_left_out(self, make_set: Any) -> None:
        review_set = cut_set(make_set, {**word("a", "confirmed"), "model": "nobody"})
        assert find_flags(review_set)["source"].to_list() == ["detector"]

    def test_readers_add_to_what_was_judged(self, make_set: Any) -> None:
        review_set = cut_set(make_set, word("a", "rejected", "omission"))
        judged = judged_answers(survey(review_set)).filter(pl.col("failure") == "omission")
        assert judged.select("case", "model").rows() == [("c", "g")]


def test_rows_are_json_in_the_order_of_cases_and_models(make_set: Any) -> None:
    image = {"id": "i", "path": "i.png", "view": "PA", "width": 100, "height": 100}
    wrong = {"image": "i", "label": "left effusion", "box": [10.0, 40.0, 20.0, 20.0]}
    review_set = make_set(
        cases=[{"id": "z", "images": [image]}, {"id": "a"}],
        answers=[
            {"case": "a", "model": "m", "finish_reason": "length"},
            {"case": "a", "model": "g", "finish_reason": "length"},
            {
                "case": "z",
                "model": "m",
                "finish_reason": "length",
                "boxes": [wrong],
                "text": "A left effusion. The heart is",
            },
            {"case": "z", "model": "g", "finish_reason": "length", "_newest": False},
        ],
    )
    rows = json.loads(json.dumps(flag_rows(review_set)))
    assert [(row["case"], row["model"], row["failure"]) for row in rows] == [
        ("z", "m", "laterality_error"),
        ("z", "m", "token_limit"),
        ("a", "g", "token_limit"),
        ("a", "m", "token_limit"),
    ]
    first = rows[0]
    assert set(first) == {"case", "model", "failure", "source", "kind", "message", "evidence"}
    assert first["evidence"][1] == {
        "where": "box",
        "start": None,
        "end": None,
        "text": "left effusion",
        "field": "box",
        "side": "right",
        "image": "i",
        "box": [10.0, 40.0, 20.0, 20.0],
    }
    assert {row["failure"] for row in rows} <= set(FAILURES)


def test_the_gap_threshold_is_passed_on(make_set: Any) -> None:
    given = [
        {"case": "c", "model": "m", "reader": "a", "dimension": name, "score": score}
        for name, score in (("process", 5), ("execution", 4))
    ]
    review_set = make_set(cases=[{"id": "c"}], answers=[{"case": "c", "model": "m"}], scores=given)
    assert review_set.scores.schema == frames.SCORES
    assert flag_rows(review_set) == []
    assert [row["failure"] for row in flag_rows(review_set, gap_threshold=1)] == ["execution_gap"]

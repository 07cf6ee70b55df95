"""Final scores in the units that are counted, and single scores as given."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from rexview.stats import (
    SINGLE_SCORE_COLUMNS,
    compute_answer_finals,
    list_single_scores,
    load_finals,
)

MAY, JUNE = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


def scored(case, dimension, *by_reader, model="g", **more):
    """One score row for each reader, a first; None is not scored."""
    return [
        {"case": case, "model": model, "dimension": dimension, "reader": reader, "score": score}
        | more
        for reader, score in zip("abc", by_reader, strict=False)
    ]


def rows(frame):
    return frame.rows()


@pytest.fixture
def review_set(make_set):
    answers = [{"case": case, "model": "g"} for case in ("c1", "c2", "c3")]
    return make_set(
        answers=[
            *answers,
            {"case": "c1", "model": "m", "finish_reason": "length"},
            {"case": "c2", "model": "m", "_newest": False},
            {"case": "c2", "model": "m"},
        ],
        scores=[
            *scored("c1", "process", 5, 4),
            *scored("c1", "execution", 2, 3),
            *scored("c1", "synthesis", 3, 3),
            *scored("c2", "process", 4),
            *scored("c1", "process", 1, model="m"),  # of an answer that never came
            *scored("c2", "language", 2, model="m"),
            *scored("c9", "language", 2),  # of no answer at all
            *scored("c1", "image_content", 5, 4, image=0),
            *scored("c1", "image_content", 1, image=1),
            *scored("c2", "image_style", 3),
        ],
    )


def test_every_answer_that_came_has_a_row_and_no_other(review_set):
    answers = load_finals(review_set).answers
    assert rows(answers.select("case", "model")) == [
        ("c1", "g"),
        ("c2", "g"),
        ("c3", "g"),
        ("c2", "m"),
    ]
    first = answers.row(0, named=True)
    # process (5 + 4) / 2, execution (2 + 3) / 2, synthesis 3; the smallest is execution
    assert (first["process"], first["execution"], first["content"]) == (4.5, 2.5, 2.5)
    assert first["gap"] == 2.0
    assert answers.row(2, named=True)["process"] is None


def test_a_dimension_leaves_missing_scores_out(review_set):
    values = load_finals(review_set)
    assert rows(values.of("process")) == [("c1", "g", 4.5), ("c2", "g", 4.0)]
    assert rows(values.of("content")) == [("c1", "g", 2.5)]
    assert rows(values.of("gap")) == [("c1", "g", 2.0)]
    assert rows(values.of("language")) == [("c2", "m", 2.0)]


def test_image_scores_are_counted_by_picture(review_set):
    values = load_finals(review_set)
    # picture 0: (5 + 4) / 2; picture 1: one reader; the third names no picture
    assert rows(values.of("image_content")) == [("c1", "g", 0, 4.5), ("c1", "g", 1, 1.0)]
    assert rows(values.of("image_style")) == [("c2", "g", None, 3.0)]


def test_only_keeps_given_answers_and_their_pictures(review_set):
    left = load_finals(review_set).only(pl.DataFrame({"case": ["c1"], "model": ["g"]}))
    assert rows(left.of("process")) == [("c1", "g", 4.5)]
    assert len(left.pictures) == 2
    assert left.of("image_style").is_empty()


def test_the_other_order_of_content_is_another_set_of_values(review_set):
    other = load_finals(review_set, content_order="minimum_first")
    # reader a: min(5, 2, 3) = 2; reader b: min(4, 3, 3) = 3
    assert rows(other.of("content")) == [("c1", "g", 2.5)]
    assert load_finals(review_set) is load_finals(review_set)
    assert load_finals(review_set) is not other


def test_marks_are_the_scores_as_given(review_set):
    marks = list_single_scores(review_set)
    assert marks.schema == SINGLE_SCORE_COLUMNS
    assert len(marks) == 12
    assert set(marks["case"]) == {"c1", "c2"}
    assert marks is list_single_scores(review_set)


def test_of_several_scores_of_one_reader_the_newest_counts_everywhere(make_set):
    review_set = make_set(
        answers=[{"case": "c", "model": "g"}],
        scores=[
            *scored("c", "process", 2, created=JUNE, comment="second thought"),
            *scored("c", "process", 5, created=MAY),
            *scored("c", "image_content", 1, image=0, created=JUNE),
            *scored("c", "image_content", 5, image=0, created=MAY),
            *scored("c", "image_content", 4, image=1, created=MAY),
        ],
    )
    marks = list_single_scores(review_set)
    assert rows(marks.select("dimension", "image", "score", "comment")) == [
        ("process", None, 2, "second thought"),
        ("image_content", 0, 1, None),
        ("image_content", 1, 4, None),
    ]
    values = load_finals(review_set)
    assert rows(values.of("process")) == [("c", "g", 2.0)]
    assert rows(values.of("image_content")) == [("c", "g", 0, 1.0), ("c", "g", 1, 4.0)]


def test_pictures_average_to_the_answer_when_every_reader_scored_all(make_set):
    made = make_set(
        answers=[{"case": "c", "model": "g"}],
        scores=[
            *scored("c", "image_style", 5, 2, image=0),
            *scored("c", "image_style", 4, 1, image=1),
        ],
    )
    of_answer = compute_answer_finals(made.scores_of("c")).by_dimension["image_style"]
    assert load_finals(made).of("image_style")["value"].mean() == of_answer == 3.0

"""Final scores against tables worked by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from rexview import frames
from rexview.schema import answer_from_row, score_from_row
from rexview.stats import (
    answer_status_expression,
    compute_answer_finals,
    compute_final_scores,
    find_status,
    weakest_link_expression,
)
from rexview.vocab import CONTENT_PARTS, DIMENSIONS


def score_table(*rows: tuple[str, str, str, str, int | None], **common: Any) -> pl.DataFrame:
    names = ("case", "model", "reader", "dimension", "score")
    given = [{**dict(zip(names, row, strict=True)), **common} for row in rows]
    return _table(given, frames.SCORES)


def answer_table(*rows: dict[str, Any]) -> pl.DataFrame:
    return _table([{"_newest": True, **row} for row in rows], frames.ANSWERS)


def _table(rows: list[dict[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def one(table: pl.DataFrame) -> dict[str, Any]:
    assert len(table) == 1
    return table.row(0, named=True)


class TestFinalScores:
    def test_two_readers_are_averaged_and_the_weakest_part_is_content(self) -> None:
        final = one(
            compute_final_scores(
                score_table(
                    ("c1", "m", "a", "process", 5),
                    ("c1", "m", "b", "process", 4),  # mean 4.5
                    ("c1", "m", "a", "execution", 2),
                    ("c1", "m", "b", "execution", 3),  # mean 2.5
                    ("c1", "m", "a", "synthesis", 3),  # one reader: 3
                    ("c1", "m", "a", "language", 4),
                    ("c1", "m", "b", "language", 1),  # mean 2.5, 3 apart
                )
            )
        )
        assert final["process"] == 4.5
        assert final["execution"] == 2.5
        assert final["synthesis"] == 3.0
        assert final["content"] == 2.5
        assert final["gap"] == 2.0
        assert final["spread"] == 3.0
        assert final["n_readers"] == 2
        assert final["image_content"] is None

    def test_content_needs_all_three_parts(self) -> None:
        final = one(compute_final_scores(score_table(("c", "m", "a", "process", 5))))
        assert final["content"] is None
        assert final["gap"] is None
        assert final["spread"] is None

    def test_a_null_score_is_missing_not_zero(self) -> None:
        table = score_table(("c", "m", "a", "process", 4), ("c", "m", "b", "process", None))
        final = one(compute_final_scores(table))
        assert final["process"] == 4.0
        assert final["n_readers"] == 1

    def test_the_order_of_minimum_and_mean_matters(self) -> None:
        table = score_table(
            ("c", "m", "a", "process", 5),
            ("c", "m", "a", "execution", 1),
            ("c", "m", "a", "synthesis", 5),  # reader a: smallest 1
            ("c", "m", "b", "process", 2),
            ("c", "m", "b", "execution", 5),
            ("c", "m", "b", "synthesis", 5),  # reader b: smallest 2
        )
        assert one(compute_final_scores(table))["content"] == 3.0  # means 3.5, 3, 5
        assert one(compute_final_scores(table, content_order="minimum_first"))["content"] == 1.5

    def test_thirds_do_not_spoil_the_gap(self) -> None:
        rows = [
            ("c", "m", reader, dimension, score)
            for dimension, scores in (("process", (4, 4, 5)), ("execution", (2, 2, 3)))
            for reader, score in zip("abc", scores, strict=True)
        ]
        assert one(compute_final_scores(score_table(*rows)))["gap"] == 2.0  # 13/3 - 7/3

    def test_a_reader_of_several_pictures_counts_once(self) -> None:
        first = score_table(("c", "m", "a", "image_content", 1), image=0)
        second = score_table(("c", "m", "a", "image_content", 2), image=1)  # reader a: 1.5
        other = score_table(("c", "m", "b", "image_content", 4), image=0)
        final = one(compute_final_scores(pl.concat([first, second, other])))
        assert final["image_content"] == 2.75
        assert final["spread"] == 2.5

    def test_the_newest_of_a_reader_s_scores_counts(self) -> None:
        late = score_table(("c", "m", "a", "process", 2), created=datetime(2025, 2, 1, tzinfo=UTC))
        early = score_table(("c", "m", "a", "process", 5), created=datetime(2025, 1, 1, tzinfo=UTC))
        undated = score_table(("c", "m", "a", "process", 4))
        assert one(compute_final_scores(pl.concat([late, early, undated])))["process"] == 2.0
        later_in_file = score_table(("c", "m", "a", "process", 3))
        assert one(compute_final_scores(pl.concat([undated, later_in_file])))["process"] == 3.0

    def test_an_answer_that_never_came_has_no_scores(self) -> None:
        scores = score_table(
            ("c1", "m", "a", "process", 5),
            ("c2", "m", "a", "process", 1),
            ("c3", "m", "a", "process", 1),  # no such answer
        )
        answers = answer_table(
            {"case": "c1", "model": "m", "text": "Clear.", "finish_reason": "stop"},
            {"case": "c2", "model": "m", "text": "The lungs", "finish_reason": "length"},
        )
        assert compute_final_scores(scores, answers)["case"].to_list() == ["c1"]

    def test_the_order_of_first_appearance_is_kept(self) -> None:
        scores = score_table(*((case, "m", "a", "process", 3) for case in ("z", "b", "y", "a")))
        assert compute_final_scores(scores)["case"].to_list() == ["z", "b", "y", "a"]

    def test_no_scores_give_an_empty_table(self) -> None:
        assert compute_final_scores(score_table()).is_empty()


class TestWeakestLink:
    @pytest.mark.parametrize(
        ("process", "execution", "synthesis", "expected"),
        [
            (5, 2, 3, "execution"),
            (2, 2, 4, "process_and_execution"),
            (3, 3, 3, "all_equal"),
            (5, 5, 5, "all_equal"),
            (4, 4, 1, "synthesis"),
            (4, 1, None, None),
        ],
    )
    def test_names_ties(
        self, process: int, execution: int, synthesis: int | None, expected: str | None
    ) -> None:
        parts = zip(CONTENT_PARTS, (process, execution, synthesis), strict=True)
        final = compute_final_scores(
            score_table(*(("c", "m", "a", part, value) for part, value in parts))
        )
        assert final.select(weakest_link_expression()).item() == expected


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from([*DIMENSIONS, "charm"]),
            st.none() | st.integers(1, 5),
            st.none() | st.integers(0, 1),
            st.none() | st.integers(0, 3),
        ),
        max_size=25,
    ),
    st.sampled_from(["mean_first", "minimum_first"]),
)
def test_one_answer_gives_the_same_numbers_as_the_table(rows: list[Any], order: Any) -> None:
    table = _table(
        [
            {
                "case": "c",
                "model": "m",
                "reader": reader,
                "dimension": dimension,
                "score": score,
                "image": image,
                "created": None if day is None else datetime(2025, 1, 1 + day, tzinfo=UTC),
            }
            for reader, dimension, score, image, day in rows
        ],
        frames.SCORES,
    )
    records = [score_from_row(row) for row in table.iter_rows(named=True)]
    ours = compute_answer_finals(records, content_order=order)
    wide = compute_final_scores(table, content_order=order)
    if wide.is_empty():
        assert ours.n_readers == 0
        assert not ours.by_dimension
        return
    expected = one(wide)
    assert ours.n_readers == expected["n_readers"]
    for name, value in (("content", ours.content), ("gap", ours.gap), ("spread", ours.spread)):
        assert value == (None if expected[name] is None else pytest.approx(expected[name])), name
    for dimension in DIMENSIONS:
        value = ours.by_dimension.get(dimension)
        assert value == (
            None if expected[dimension] is None else pytest.approx(expected[dimension])
        )


@each_row(
    ("row", "expected"),
    [
        ({"text": "Clear lungs.", "finish_reason": "stop"}, "answered"),
        ({"text": "Clear lungs."}, "answered"),
        ({"text": "Clear", "finish_reason": "length"}, "token_limit"),
        (
            {"text": "Clear", "finish_reason": "stop", "output_tokens": 9, "max_output_tokens": 9},
            "token_limit",
        ),
        ({"text": "ok", "output_tokens": 8, "max_output_tokens": 9}, "answered"),
        ({"text": "ok", "output_tokens": 0, "max_output_tokens": 0}, "answered"),
        ({"text": None, "error": "HTTP 500"}, "error"),
        ({"text": "", "error": " ", "finish_reason": "stop"}, "empty"),
        ({"text": "I cannot help.", "finish_reason": "content_filter"}, "refused"),
        ({"text": " \n", "finish_reason": "stop"}, "empty"),
        ({"text": None, "choice": 0}, "answered"),
        ({"text": None, "images": ["drawn.png"]}, "answered"),
    ],
)
def test_status(row: dict[str, Any], expected: str) -> None:
    table = answer_table({"case": "c", "model": "m", "finish_reason": "unknown", **row})
    assert table.select(answer_status_expression()).item() == expected
    assert find_status(answer_from_row(table.row(0, named=True))) == expected

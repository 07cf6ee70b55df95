"""How single values are read, in a table: what is given, in which kind of column, what becomes."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import polars as pl
import pytest
from support.rows import each_row

from rexview.columns import DeclaredColumn
from rexview.reviewset.tables import values as scalars
from rexview.reviewset.tables.source import ColumnLocation, TableSource

NAN = float("nan")
NOON = datetime(2025, 1, 31, 12, 0, tzinfo=UTC)
INTEGER = DeclaredColumn("n", "integer", "", low=1, high=5)
WORD = DeclaredColumn("w", "word", "", vocabulary=("broad_look", "narrow_look"))
OPEN_WORD = DeclaredColumn("w", "word", "", vocabulary=("easy", "hard"), open_vocabulary=True)


def conform(values, column):
    """Convert; return the values, and severity and row of each problem."""
    source = TableSource("answers", "answers.jsonl")
    location = ColumnLocation(source, column.name, np.arange(1, len(values) + 1))
    series = scalars.conform_plain_column(values, column, location)
    assert series.dtype == column.dtype
    return series.to_list(), [(problem.severity, problem.row) for problem in source.problems.all()]


def kind(name, **changes):
    return DeclaredColumn("x", name, "", **changes)


FITTING = [
    ("text", ["a", None, ""], ["a", None, None]),
    ("text", [" kept as it is "], [" kept as it is "]),
    ("text", [1, 2.0, 2.5, True, "x"], ["1", "2", "2.5", "true", "x"]),
    ("text", [NAN, "a"], [None, "a"]),
    ("text", [NAN, 1.0], [None, "1"]),
    ("id", [" c1 ", "c2"], ["c1", "c2"]),
    ("id", [1, 10**25], ["1", "10000000000000000000000000"]),
    ("integer", [1, None, 5], [1, None, 5]),
    ("integer", ["1", " 5 ", "", "NaN", "N/A", "none"], [1, 5, None, None, None, None]),
    ("integer", [1.0, NAN, "2", "3.0"], [1, None, 2, 3]),
    ("integer", ["9007199254740993"], [9007199254740993]),
    ("number", [1, 2.5, NAN, "3e-2", None], [1.0, 2.5, None, 0.03, None]),
    ("yes_no", [True, False, None], [True, False, None]),
    ("yes_no", ["Yes", "no", "TRUE", "0", "", "NaN"], [True, False, True, False, None, None]),
    ("yes_no", [1, 0, None], [True, False, None]),
    ("yes_no", [1.0, 0.0, NAN], [True, False, None]),
    ("date", ["2025-01-31T12:00:00Z", "2025-01-31 12:00", None, ""], [NOON, NOON, None, None]),
    ("date", ["2025-01-31T14:00:00+02:00", "2025-01-31T12:00:00.000000"], [NOON, NOON]),
    ("date", ["2025-01-31"], [NOON - timedelta(hours=12)]),
    ("date", [1738324800, "1738324800.5"], [NOON, NOON + timedelta(seconds=0.5)]),
    ("date", [1738324800], [NOON]),
    ("date", [1738324800.25, NAN], [NOON + timedelta(seconds=0.25), None]),
]


@each_row(("name", "given", "expected"), FITTING)
def test_values_that_fit(name, given, expected):
    assert conform(given, kind(name)) == (expected, [])


WRONG = [
    ("text", ["a", ["b"], {"c": 1}], ["a", None, None], [2, 3]),
    ("integer", [1, "four", 2.5], [1, None, None], [2, 3]),
    ("integer", [2.5, 1.0], [None, 1], [1]),
    ("integer", [True], [None], [1]),
    ("integer", [10**30, 1], [None, 1], [1]),
    ("number", ["3,5", 1], [None, 1.0], [1]),
    ("yes_no", ["maybe", 2], [None, None], [1, 2]),
    ("date", ["31.01.2025", "yesterday", "2025-13-01"], [None, None, None], [1, 2, 3]),
    ("date", [5, True], [None, None], [1, 2]),
    ("date", [5], [None], [1]),
    ("date", [True], [None], [1]),
]


@pytest.mark.parametrize(("name", "given", "expected", "rows"), WRONG)
def test_values_that_do_not_fit_are_errors(name, given, expected, rows):
    assert conform(given, kind(name)) == (expected, [("error", row) for row in rows])


class TestRange:
    def test_zero_is_never_a_score(self):
        assert conform([0, 1, 5, 6, -1], INTEGER) == (
            [None, 1, 5, None, None],
            [("error", 1), ("error", 4), ("error", 5)],
        )

    def test_a_fraction_is_not_a_score(self):
        assert conform(["4.5", "4"], INTEGER) == ([None, 4], [("error", 1)])

    def test_an_infinite_number_is_a_warning(self):
        values = [float("inf"), 1.0, "-inf"]
        assert conform(values, kind("number")) == (
            [None, 1.0, None],
            [("warning", 1), ("warning", 3)],
        )


class TestWords:
    def test_case_spaces_and_hyphens_do_not_matter(self):
        given = ["Broad Look", "NARROW-LOOK", " broad_look ", None, "", "NaN"]
        expected = ["broad_look", "narrow_look", "broad_look", None, None, None]
        assert conform(given, WORD) == (expected, [])

    def test_a_closed_list_takes_no_other(self):
        assert conform(["wide_look", "broad_look"], WORD) == ([None, "broad_look"], [("error", 1)])

    def test_an_open_list_keeps_others_as_they_are(self):
        given = ["Very Hard", "HARD"]
        assert conform(given, OPEN_WORD) == (["Very Hard", "hard"], [("warning", 1)])


class TestRequired:
    @pytest.mark.parametrize(
        ("name", "given"),
        [
            ("id", [None, "", "  "]),
            ("text", [None, ""]),
            ("id", [NAN, None]),
            ("integer", [None, "NaN", ""]),
        ],
    )
    def test_nothing_is_an_error(self, name, given):
        _, problems = conform([*given, "1"], kind(name, required=True))
        assert problems == [("error", row) for row in range(1, len(given) + 1)]

    def test_what_is_given_wrongly_is_reported_once(self):
        column = DeclaredColumn("w", "word", "", vocabulary=("a",), required=True)
        assert conform(["b"], column) == ([None], [("error", 1)])


class TestTypedColumns:
    """As Parquet gives them."""

    @pytest.mark.parametrize(
        ("series", "name", "expected"),
        [
            (pl.Series(["a", "b"], dtype=pl.Categorical), "text", ["a", "b"]),
            (pl.Series([1, 2], dtype=pl.UInt64), "id", ["1", "2"]),
            (pl.Series([1.0, 2.0, None]), "id", ["1", "2", None]),
            (pl.Series([1, 2], dtype=pl.Int8), "integer", [1, 2]),
            (pl.Series([1.5], dtype=pl.Float32), "number", [1.5]),
            (pl.Series([None, None], dtype=pl.Null), "integer", [None, None]),
            (pl.Series([None], dtype=pl.Null), "date", [None]),
            (pl.Series([NOON.date()]), "date", [NOON - timedelta(hours=12)]),
            (pl.Series([NOON.replace(tzinfo=None)], dtype=pl.Datetime("ns")), "date", [NOON]),
            (
                pl.Series([NOON.astimezone(timezone(timedelta(0)))]).dt.convert_time_zone(
                    "Asia/Tokyo"
                ),
                "date",
                [NOON],
            ),
        ],
    )
    def test_types_that_fit(self, series, name, expected):
        assert conform(series, kind(name)) == (expected, [])

    def test_an_integer_beyond_64_bits_is_an_error(self):
        series = pl.Series([2**64 - 1, 1], dtype=pl.UInt64)
        assert conform(series, kind("integer")) == ([None, 1], [("error", 1)])

    @pytest.mark.parametrize(
        "series", [pl.Series([[1], None]), pl.Series([{"a": 1}, None]), pl.Series([b"x", None])]
    )
    def test_lists_objects_and_bytes_are_errors(self, series):
        assert conform(series, kind("text")) == ([None, None], [("error", 1)])

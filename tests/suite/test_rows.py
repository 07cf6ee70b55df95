"""Rows asked in one test."""

import inspect

import pytest
from support.rows import each_row


def test_all_rows_that_fail_are_named_with_what_was_wrong():
    asked = []

    @each_row(("number", "word"), [(1, "a"), pytest.param(2, "b", id="second"), (3, "c")])
    def odd(number, word, tmp_path):
        asked.append((number, word, tmp_path))
        if number == 3:
            pytest.fail("three is told too")
        assert number % 2, f"{word} is not odd"

    assert list(inspect.signature(odd).parameters) == ["tmp_path"]
    with pytest.raises(AssertionError, match=r"^2 of 3:\n") as told:
        odd(tmp_path="here")
    assert asked == [(1, "a", "here"), (2, "b", "here"), (3, "c", "here")]
    assert "row 1 (second) {'number': 2, 'word': 'b'}: AssertionError: b is not odd" in str(
        told.value
    )
    assert "row 2 {'number': 3, 'word': 'c'}: Failed: three is told too" in str(told.value)


def test_rows_of_rows_are_all_asked_and_one_name_takes_whole_rows():
    asked = []

    @each_row("pair", [(1, 2), (3, 4)], ids=str)
    @each_row("side", ["left", "right"], ids=["l", "r"])
    def ask(side, pair):
        asked.append((side, pair))

    ask()
    assert len(asked) == 4
    assert ("right", (3, 4)) in asked


def test_no_rows_and_ids_that_are_not_one_for_each_are_refused():
    with pytest.raises(AssertionError, match="no row"):
        each_row("x", [])
    with pytest.raises(AssertionError, match="an id for each row"):
        each_row("x", [1, 2], ids=["one"])
    with pytest.raises(ValueError, match="zip"):
        each_row("x, y", [(1, 2, 3)])

import pytest

from rexview.detect.core.precision import _FILE, _read, precision_of
from rexview.vocab import FAILURES


def test_the_file_is_about_failures_and_its_numbers_fit():
    assert set(_read(_FILE)) <= set(FAILURES)


def test_a_failure_without_numbers_is_not_measured(tmp_path):
    file = tmp_path / "precision.yaml"
    file.write_text(
        "a: {flags: null, right: null, texts: x}\nb: {flags: 100, right: 97, texts: pairs}\n"
    )
    found = _read(file)
    assert list(found) == ["b"]
    assert found["b"].sentence == "In tests 97 of 100 such flags were right."
    assert precision_of("no such failure") is None


def test_more_right_than_flags_is_refused(tmp_path):
    file = tmp_path / "precision.yaml"
    file.write_text("b: {flags: 1, right: 2, texts: x}\n")
    with pytest.raises(ValueError, match="2 right of 1"):
        _read(file)

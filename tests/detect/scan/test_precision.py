import pytest

from rexview.detect.precision import _FILE, _read, find_precision
from rexview.stats.failure_rates import wilson_interval
from rexview.vocab import FAILURES


def test_the_file_is_about_failures_and_its_numbers_fit():
    assert {name.partition("/")[0] for name in _read(_FILE)} <= set(FAILURES)
    assert find_precision("omission").suggests
    assert not find_precision("omission", "contradiction").suggests


@pytest.mark.parametrize("failure", _read(_FILE))
def test_the_interval_in_the_file_is_wilsons(failure):
    found = find_precision(*failure.split("/"))
    limits = wilson_interval(found.right, found.flags)
    assert (found.low, found.high) == pytest.approx((limits.low, limits.high), abs=0.0006)


def test_a_failure_without_numbers_is_not_measured(tmp_path):
    file = tmp_path / "precision.yaml"
    file.write_text(
        "a: {flags: null, right: null, texts: x}\n"
        "b: {flags: 100, right: 97, low: 0.915, high: 0.99, texts: pairs}\n"
    )
    found = _read(file)
    assert list(found) == ["b"]
    assert found["b"].sentence == "In tests 97 of 100 such flags were right (92% to 99%)."
    assert find_precision("no such failure") is None


def test_more_right_than_flags_is_refused(tmp_path):
    file = tmp_path / "precision.yaml"
    file.write_text("b: {flags: 1, right: 2, texts: x}\n")
    with pytest.raises(ValueError, match="2 right of 1"):
        _read(file)

"""What the benches of a team work out from what they saw."""

import os

import pytest

from bench.team import (
    Held,
    _Found,
    _memory_rows,
    _page_rows,
    _score_rows,
    _work_rows,
    growth,
    held_mb,
    processor_s,
)
from bench.team_server import configuration


def found(together, mb=(), **more):
    held = Held(0, at=[60.0 * minute for minute in range(len(mb))], mb=list(mb))
    given = {"failed": [], "confirmed": 0, "stored": 0, "before_mb": 100.0, "after_mb": 100.0}
    return _Found(
        alone={"a page": [1.0, 2.0, 3.0]}, together=together, held=held, **{**given, **more}
    )


def test_a_page_is_held_against_one_persons():
    together = {"a page": [float(ms) for ms in range(1, 101)], "new": [5.0]}
    rows = {row.what: row for row in _page_rows(found(together), 20)}
    median = rows["a page, 20 people, median"]
    assert (median.ours, median.alternative, median.ratio, median.met) == (50.0, 2.0, 25.0, False)
    assert rows["a page, 20 people, 95 of 100"].ours == 95.0
    assert rows["new, 20 people, median"].ratio is None


def test_growth_is_of_the_minutes_after_the_first_third():
    assert growth([100.0] * 7) is None, "too few"
    slope, low, high = growth([500.0, 900.0, 50.0] + [100.0] * 6)
    assert (slope, low, high) == (0.0, 0.0, 0.0)
    slope, low, high = growth([100.0 + 2 * minute for minute in range(30)])
    assert slope == pytest.approx(2)
    assert low <= slope <= high


def test_memory_is_told_by_person():
    rows = {row.what: row for row in _memory_rows(found({}, mb=[200.0, 300.0, 300.0]), 20)}
    assert rows["memory a person"].ours == 10.0
    assert rows["growth a minute"].ours is None, "too few minutes"
    rows = {row.what: row for row in _memory_rows(found({}, mb=range(100, 130)), 20)}
    assert rows["growth a minute"].met is False


def test_what_was_confirmed_and_is_not_there_is_lost():
    lost = _score_rows(found({}, confirmed=7, stored=5))[0]
    assert (lost.ours, lost.met) == (2.0, False)
    assert _score_rows(found({}, confirmed=5, stored=7))[0].met is True, "the reply was lost"


def test_the_processor_is_told_by_person_and_minute():
    (row,) = _work_rows(found({}, minutes=2.0, processor_s=60.0), 20)
    assert row.ours == 1500
    assert "0.50 of one core" in row.note
    assert _work_rows(found({}), 20) == []
    spent = processor_s(os.getpid())
    assert spent is None or spent > 0


def test_this_process_holds_memory():
    held = held_mb(os.getpid())
    assert held is None or held > 1
    assert held_mb(2**31 - 1) is None


def test_nginx_stays_with_the_server_that_answered(tmp_path):
    text = configuration(tmp_path, 1000, [1001, 1002])
    assert "~:1001$ s1; ~:1002$ s2;" in text
    assert "http_503 non_idempotent" in text

"""The benches that look at pages, on sets that take no time."""

import json

import pytest

from bench import start, viewer
from bench import viewer as next_case
from bench.measure import Measured, document
from rexview.settings import DEMO_FOLDER

pytestmark = pytest.mark.browser


def assert_measured(rows, name):
    json.dumps(document(name, Measured(rows)), allow_nan=False)
    for row in rows:
        assert row.unit == "ms"
        assert row.ours > 0
        if row.goal:
            of, _, limit = row.goal.partition(" <= ")
            assert row.met is (getattr(row, of) <= float(limit))
    assert any(row.ratio for row in rows)


def test_start_measures_launches_and_loads_beside_plain_pages(browser):
    rows = start.rows(browser, cases=60, rounds=1, scored=True)
    assert [row.what for row in rows] == [
        "launch to the first radiograph, 60 cases, scored, never opened",
        "launch to the first radiograph, 60 cases, scored, again",
        "Case loads, 60 cases, scored",
        "Overview loads, 60 cases, scored",
        "Browse loads, 60 cases, scored, to the first thumbnail",
        "Browse, from a filter to the page drawn anew, 60 cases, scored",
    ]
    assert {row.name for row in rows} == {"plain Streamlit page", "empty Streamlit app", None}
    assert_measured(rows, "start")


def test_viewer_measures_steps_and_reruns(browser, monkeypatch):
    for name, little in {"_BURSTS": 2, "PRESSES": 4, "_LOOK_MS": 500, "_STILL_MS": 1000}.items():
        monkeypatch.setattr(next_case, name, little)
    rows = viewer.viewer_rows(browser, DEMO_FOLDER, rounds=1)
    measured = {row.what for row in rows}
    assert {"toggle a model's boxes", "one window step", "next case, prefetched"} <= measured
    assert_measured(rows, "viewer")

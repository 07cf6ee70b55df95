"""The benches that look at pages, on sets that take no time."""

import json

import pytest

from rexview.bench import next_case, start, viewer
from rexview.bench.measure import Measured, document
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
    rows = start.rows(browser, cases=60, rounds=1)
    assert [row.what for row in rows] == [
        "launch to the first radiograph, 60 cases, never opened",
        "launch to the first radiograph, 60 cases, again",
        "Case loads, 60 cases",
        "Overview loads, 60 cases",
        "Browse loads, 60 cases, to the first thumbnail",
    ]
    assert {row.name for row in rows} == {"plain Streamlit page", "empty Streamlit app"}
    assert_measured(rows, "start")


def test_viewer_measures_steps_and_reruns(browser, monkeypatch):
    for name, little in {"_BURSTS": 2, "PRESSES": 4, "_LOOK_MS": 500, "_STILL_MS": 1000}.items():
        monkeypatch.setattr(next_case, name, little)
    rows = viewer.rows(browser, DEMO_FOLDER, rounds=1)
    measured = {row.what for row in rows}
    assert {"toggle a model's boxes", "one window step", "next case, prefetched"} <= measured
    assert_measured(rows, "viewer")

"""What ``bench reliability`` says of its runs."""

import json

from bench import reliability
from bench.measure import document
from bench.reliability.damage import flip_bytes

CLEAN = {"run": "killed", "entries": 12, "kills": 3, "lost": 0, "missing": 0, "refused": 0}


def test_runs_become_rows_that_have_to_be_0(monkeypatch):
    lost = {**CLEAN, "run": "locked", "lost": 2, "missing": 3}
    absent = {"run": "PostgreSQL: no server here, not measured"}
    monkeypatch.setattr(reliability, "_runs", lambda: iter([CLEAN, lost, absent]))
    given = document("reliability", reliability.run())
    found = {row["what"]: (row["ours"], row["met"], row["note"]) for row in given["rows"]}
    assert found == {
        "wrong at the end: killed": (0, True, "12 entries"),
        "wrong at the end: locked": (5, False, "12 entries"),
        "PostgreSQL: no server here, not measured": (None, None, "not measured here"),
    }
    assert given["details"]["killed"] == [CLEAN]
    json.dumps(given, allow_nan=False)


def test_a_real_run_counts_what_has_to_be_0(tmp_path):
    run = flip_bytes(tmp_path / "flipped", 12, seed=1)
    assert run["refused"] > 0
    row = reliability._outcome(run)
    assert (row.ours, row.met, row.note) == (0, True, "12 files")

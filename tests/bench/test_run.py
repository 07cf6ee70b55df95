"""What a run costs, on a set that takes no time."""

import json

from bench import run
from bench.measure import document


def test_a_run_is_measured_beside_a_loop():
    measured = run.run(cases=6, at_once=3, rounds=1)
    ours, clock, own = measured.rows
    assert all(row.ours > 0 and row.alternative > 0 for row in (ours, clock))
    assert own.goal == "ours <= 10"
    assert own.met is not None
    json.dumps(document("run", measured), allow_nan=False)

"""The bench of failures in words, on a set that takes no time."""

import json

from bench import written
from bench.measure import document


def test_reading_what_a_judge_found_is_measured_beside_a_loop():
    measured = written.run(cases=6, failures=2, rounds=1)
    read, asked = measured.rows[:4], measured.rows[4:]
    assert all(row.alternative > 0 and row.ours >= 0 for row in read)
    assert read[0].what == "the first failure that is shown, 12 answers"
    assert [row.name for row in asked] == [None, None]
    json.dumps(document("written", measured), allow_nan=False)

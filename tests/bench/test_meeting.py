"""Following a meeting is measured on a real server."""

import json

from bench import meeting
from bench.measure import document


def test_a_small_meeting_is_measured_through_drops_and_a_killed_server():
    measured = meeting.run(followers=3, states=5, drops=1)
    found = {row.what: row for row in measured.rows}
    assert found["states there within 500 ms"].goal == "ours >= 0.95"
    assert all(row.ours is not None for row in measured.rows if row.unit != "ms" or row.goal)
    assert all(row.ours > 0 for row in measured.rows if row.ours is not None)
    json.dumps(document("meeting", measured), allow_nan=False)

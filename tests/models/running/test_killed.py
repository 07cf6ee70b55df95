"""A run that is killed at any moment loses nothing and asks nothing twice that it has."""

from support import model_server
from support.runs.killed_run import killed_run

from rexview.reviewset import load_review_set

AT_ONCE = 6


def test_kill_and_resume(tmp_path):
    with model_server.started_apart(delay_s=0.1) as server:
        folder = tmp_path / "set"
        left = killed_run(folder, server, cases=30, kills=3, at_once=AT_ONCE)
    names = {f"c{number:04}" for number in range(1, 31)}
    assert left.status == 0
    assert left.rows == left.replied == dict.fromkeys(names, 1)
    assert left.asked.keys() == names
    assert left.billed - 30 <= left.kills * AT_ONCE
    assert len(list(folder.glob("runs/*"))) == 1
    answers = load_review_set(folder).answers
    assert answers["_newest"].sum() == 30

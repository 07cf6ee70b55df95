"""A set that grows while it is open: by a run of a model, a line at a time."""

import json
import threading
import time

import pytest
from support.small_set import write_set

from rexview.errors import ReviewSetError
from rexview.ui.web.server import open_sets
from rexview.ui.web.server.open_sets import is_outdated, load_state, state_in_memory
from rexview.ui.web.server.review_sets import is_newest, open_set

PATIENCE_S = 30.0


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    folder = write_set(tmp_path / "set")
    (folder / "answers").mkdir()
    return folder


def add(folder, run, text, end="\n"):
    """Let a run write one answer."""
    row = {"case": "c3", "model": "m", "text": text, "run_id": f"{run} {text}"}
    with (folder / "answers" / f"{run}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + end)


def answers(folder, wait_s=PATIENCE_S):
    return open_set(folder, wait_s=wait_s).answers.height


def test_answers_that_were_added_are_there_at_the_next_page(folder, monkeypatch):
    monkeypatch.setattr(open_sets, "LEAST_S", 0.0)
    monkeypatch.setattr(open_sets, "SHARE", 0)
    before = answers(folder)
    for number in range(3):
        add(folder, "run", f"text {number}")
        assert answers(folder) == before + 1 + number
    add(folder, "other", "in a part of its own")
    assert answers(folder) == before + 4


def test_it_is_not_read_again_for_every_line(folder):
    before = open_set(folder)
    for number in range(3):
        add(folder, "run", f"text {number}")
        assert open_set(folder, wait_s=PATIENCE_S) is before
        assert is_newest(before)  # so that nothing is drawn anew for it
        assert is_outdated(before)
    assert not [one for one in threading.enumerate() if one.name == "read what was added"]


def test_after_the_pause_it_is_read_once(folder, monkeypatch):
    monkeypatch.setattr(open_sets, "LEAST_S", 0.2)
    monkeypatch.setattr(open_sets, "SHARE", 0)
    before = open_set(folder)
    add(folder, "run", "text")
    time.sleep(0.3)
    after = open_set(folder, wait_s=PATIENCE_S)
    assert after.answers.height == before.answers.height + 1
    assert not is_newest(before)
    assert not is_outdated(after)
    assert load_state(folder, before.fingerprint) is before  # for who still looks at it
    assert open_set(folder) is after


def test_the_pause_is_longer_where_pages_take_long(folder, monkeypatch):
    monkeypatch.setattr(open_sets, "LEAST_S", 0.0)
    before = open_set(folder)
    open_sets.note_cost(folder, 10.0)
    add(folder, "run", "text")
    assert open_set(folder, wait_s=PATIENCE_S) is before
    monkeypatch.setattr(open_sets, "MOST_S", 0.0)
    open_sets.note_cost(folder, 10.0)
    assert open_set(folder, wait_s=PATIENCE_S) is not before


def test_whoever_does_not_wait_sees_the_state_before(folder, monkeypatch):
    monkeypatch.setattr(open_sets, "LEAST_S", 0.0)
    monkeypatch.setattr(open_sets, "SHARE", 0)
    before, goes_on = open_set(folder), threading.Event()
    read = open_sets.reviewset.load
    monkeypatch.setattr(
        open_sets.reviewset, "load", lambda one, told: goes_on.wait(PATIENCE_S) and read(one)
    )
    add(folder, "run", "text")
    assert open_set(folder) is before
    goes_on.set()
    assert answers(folder) == before.answers.height + 1


@pytest.mark.parametrize("name", ["scores.csv", "answers.jsonl", "reviewset.yaml"])
def test_any_other_change_is_seen_at_once(folder, name):
    before = open_set(folder)
    add(folder, "run", "text")
    path = folder / name
    path.write_text(path.read_text() + "\n")
    after = open_set(folder)
    assert after is not before
    assert after.answers.height == before.answers.height + 1


def test_what_is_wrong_in_added_answers_is_told(folder, monkeypatch):
    monkeypatch.setattr(open_sets, "LEAST_S", 0.0)
    monkeypatch.setattr(open_sets, "SHARE", 0)
    open_set(folder)
    (folder / "answers" / "run.jsonl").write_text('{"case": 1}\nno json\n')
    with pytest.raises(ReviewSetError):
        open_set(folder, wait_s=PATIENCE_S)
    (folder / "answers" / "run.jsonl").unlink()
    assert answers(folder) == 3


def test_a_state_that_is_no_longer_in_memory_is_that_which_is_shown(folder, monkeypatch):
    monkeypatch.setattr(open_sets, "LEAST_S", 0.0)
    monkeypatch.setattr(open_sets, "SHARE", 0)
    first = open_set(folder)
    for number in range(3):
        add(folder, "run", f"text {number}")
        last = open_set(folder, wait_s=PATIENCE_S)
    assert load_state(folder, first.fingerprint) is last
    assert state_in_memory(folder) == last.fingerprint

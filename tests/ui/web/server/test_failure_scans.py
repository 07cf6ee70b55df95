"""The search for failures in an open set: one for all visitors, in snapshots with numbers."""

import threading
import time

import pytest
from support.opened_app import server_for
from support.small_set import write_set

from rexview.detect.scan import worker
from rexview.detect.scan.background_scan import BackgroundScan
from rexview.detect.scan.batch import run_detectors
from rexview.ui.web.server import failure_scans, review_sets, server_state


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small set that is looked at in the background all the same."""
    monkeypatch.setattr(failure_scans, "FEW_ANSWERS", 0)
    monkeypatch.setattr(failure_scans, "_YOUNG_S", 0)
    monkeypatch.setattr(failure_scans, "_SHARE", 0)
    folder = write_set(tmp_path / "set")
    with server_for(folder, tmp_path, monkeypatch):
        monkeypatch.setattr(failure_scans, "MAX_SCAN_WAIT_S", 0)
        yield folder


@pytest.fixture
def found(folder, monkeypatch):
    """A search that was stopped before it began: it finds only what a test lets it look at."""
    begin = BackgroundScan.start

    def start(background):
        background.stop()
        begin(background)

    with monkeypatch.context() as only_here:
        only_here.setattr(BackgroundScan, "start", start)
        found = review_sets.get_failure_scan(review_sets.open_set(folder))
    found.background.wait_for_kept(60)
    yield found
    found.close()


def test_a_snapshot_stays_as_it_is_and_the_latest_are_kept(found, monkeypatch):
    monkeypatch.setattr(failure_scans, "_KEPT", 2)
    number, first = found.snapshot()
    assert found.snapshot(number) == (number, first)
    assert found.snapshot() == (number, first), "nothing is new"
    found.background.look_at(0)
    second, _ = found.snapshot()
    assert second != number
    assert found.snapshot(number) == (number, first), "somebody still looks at it"
    found.background.look_at(1)
    newest, scan = found.snapshot()
    assert scan.is_complete
    assert not first.state.any()
    assert found.snapshot(number) == (number, first)
    assert found.snapshot(second)[0] == newest, "used longest ago: no longer kept"


def test_others_get_a_snapshot_that_is_young_and_who_asks_the_newest(found, monkeypatch):
    number, _ = found.snapshot()
    monkeypatch.setattr(failure_scans, "_YOUNG_S", 3600)
    found.background.look_at(0)
    assert found.snapshot()[0] == number
    assert found.take_snapshot() == number + 1
    assert found.snapshot()[0] == number + 1


def test_there_is_one_search_for_all_and_another_when_the_files_change(found, folder):
    given = review_sets.open_set(folder)
    assert review_sets.get_failure_scan(given) is found
    found.resume()
    with (folder / "answers.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"case": "c2", "model": "n", "text": "A left effusion."}')
    changed = review_sets.open_set(folder)
    other = review_sets.get_failure_scan(changed)
    try:
        assert other is not found
        assert found.progress.state in ("stopped", "finished")
        assert other.background.wait(60)
        assert (other.progress.looked, other.progress.answers) == (4, 4)
    finally:
        other.close()


def test_a_search_that_nobody_needs_ends_its_processes(found):
    found.resume()
    deadline = time.monotonic() + 60
    while not found.background._processes and time.monotonic() < deadline:
        time.sleep(0.01)
    found.close()
    assert all(not one.is_alive() for one in found.background._threads)


@pytest.fixture
def looking(monkeypatch):
    """The threads in which answers are looked at, one entry a batch."""
    threads = []

    def noted(batch, detectors):
        threads.append(threading.current_thread())
        return run_detectors(batch, detectors)

    monkeypatch.setattr(worker, "run_detectors", noted)
    return threads


def test_few_answers_are_looked_at_beside_the_page(folder, looking, monkeypatch):
    monkeypatch.setattr(failure_scans, "FEW_ANSWERS", 200)
    monkeypatch.setattr(failure_scans, "MAX_SCAN_WAIT_S", 60)
    small = failure_scans.FailureScan(review_sets.open_set(folder))
    assert small.progress.state == "finished"
    assert small.snapshot()[1].is_complete
    assert looking
    assert threading.current_thread() not in looking
    assert server_state.settings().review_set == folder


def test_the_second_start_reads_no_text(folder, looking, monkeypatch):
    monkeypatch.setattr(failure_scans, "FEW_ANSWERS", 200)
    monkeypatch.setattr(failure_scans, "MAX_SCAN_WAIT_S", 60)
    given = review_sets.open_set(folder)
    before = failure_scans.FailureScan(given).snapshot()[1]
    looking.clear()
    again = failure_scans.FailureScan(given).snapshot()[1]
    assert again.is_complete
    assert not looking
    assert again.flags.sort("answer", "failure").equals(before.flags.sort("answer", "failure"))
    assert again.judged.tolist() == before.judged.tolist()

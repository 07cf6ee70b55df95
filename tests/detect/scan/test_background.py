"""The scan in the background: real processes, real kills, and the same outcome as in one go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import ROOT
from support.spread.fragile import Fragile

from rexview.detect import DETECTORS, name_flags, survey, survey_scan
from rexview.detect.scan import detector_process
from rexview.detect.scan.background_scan import BackgroundScan
from rexview.detect.scan.scan import Scan, scan
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER

_SHOWN = ["case", "model", "failure", "source", "kind", "reader", "verdict", "stands", "hint"]
_LONG = 120.0


@pytest.fixture(scope="module")
def demo() -> ReviewSet:
    return load_review_set(DEMO_FOLDER)


@pytest.fixture(autouse=True)
def findable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes import the detector of the tests."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT / "tests"), str(ROOT))))


@contextmanager
def scanning(review_set: ReviewSet, *detectors: Any, **more: Any) -> Iterator[BackgroundScan]:
    given = BackgroundScan(review_set, detectors or DETECTORS, **{"workers": 2, **more})
    try:
        yield given
    finally:
        given.close()


def finished(background: BackgroundScan) -> Scan:
    background.start()
    assert background.wait(_LONG), background.progress
    assert background.progress.state == "finished", background.progress
    return background.scan


def same(one: Scan, other: Scan) -> None:
    first, second = (name_flags(survey_scan(found)).sort(_SHOWN) for found in (one, other))
    assert first.equals(second)
    assert one.judged.tolist() == other.judged.tolist()
    assert one.state.tolist() == other.state.tolist()
    said = [
        {
            (int(text), found.index.phrases[place])
            for text, place in zip(found.index.texts, found.index.phrase_places, strict=True)
        }
        for found in (one, other)
    ]
    assert said[0] == said[1]


def many(make_set: Any, texts: list[str], models: str = "gm") -> ReviewSet:
    made: ReviewSet = make_set(
        cases=[{"id": f"c{n}", "report": {"findings": "No effusion."}} for n in range(len(texts))],
        answers=[
            {"case": f"c{n}", "model": model, "text": f"{text} {model}"}
            for n, text in enumerate(texts)
            for model in models
        ],
    )
    return made


def test_the_outcome_is_that_of_one_process(demo: ReviewSet) -> None:
    with scanning(demo) as background:
        assert background.scan.state.tolist() == [0] * len(demo.newest)
        assert not background.scan.is_complete
        found = finished(background)
        assert found.is_complete
        whole = scan(demo, DETECTORS)
        same(found, whole)
        for row in range(len(demo.cases)):
            assert found.flags_of_case(row) == whole.flags_of_case(row)
        assert background.scan is background.scan
        done = background.progress
        assert (done.looked, done.answers, done.failed) == (len(demo.newest), len(demo.newest), 0)
        assert done.message == ""


def test_what_is_preferred_comes_first(make_set: Any) -> None:
    review_set = many(make_set, ["slow"] * 100)
    with scanning(review_set, Fragile(), workers=1) as background:
        background.prefer([90])
        background.prefer([70, 71])
        background.start()
        end = time.monotonic() + _LONG
        while not background.scan.state.any() and time.monotonic() < end:
            time.sleep(0.01)
        first = set(background.scan.review_set.newest.case[background.scan.state > 0])
        assert first == {70, 71}


def test_a_case_can_be_looked_at_now(make_set: Any) -> None:
    review_set = many(make_set, ["An effusion."] * 10)
    with scanning(review_set) as background:  # which has not begun
        background.look_at(7)
        state = background.scan.state
        assert state.tolist() == [int(case == 7) for case in review_set.newest.case]
        before = background.scan
        found = finished(background)
        same(found, scan(review_set, DETECTORS))
        assert before.state.sum() == 2, "a snapshot never changes"


def test_it_can_be_stopped_and_go_on(make_set: Any) -> None:
    review_set = many(make_set, ["slow"] * 40)
    with scanning(review_set, Fragile(), workers=1) as background:
        background.prefer(range(40))
        background.start()
        while not background.progress.looked:
            time.sleep(0.01)
        background.stop()
        assert background.progress.state == "stopped"
        time.sleep(4)  # the batch that was begun is ended
        looked = background.progress.looked
        time.sleep(1)
        assert background.progress.looked == looked < 80
        background.resume()
        assert background.progress.state == "running"


def test_a_detector_that_raises_costs_its_own_answer(
    make_set: Any, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["Left effusion.", "raise Left effusion.", "Left effusion."]
    review_set = many(make_set, texts, "g")
    found = scan(review_set, (Fragile(), *DETECTORS))
    assert found.state.tolist() == [1, 2, 1]
    assert (found.judged & 1).tolist() == [1, 0, 1], "not judged is not: no failure"
    assert found.judged[1] + 1 == found.judged[0], "what the other detectors say stands"
    assert (
        found.flags.filter(answer=1)
        .drop("answer")
        .equals(found.flags.filter(answer=0).drop("answer"))
    )
    (record,) = caplog.records
    assert "token_limit" in record.getMessage()
    assert "number 1" in record.getMessage()
    assert "effusion" not in caplog.text


def test_an_answer_that_kills_is_found_and_given_up(make_set: Any) -> None:
    texts = ["Fine."] * 20 + ["die"] + ["Fine."] * 20
    review_set = many(make_set, texts)
    with scanning(review_set, Fragile(), *DETECTORS[2:]) as background:
        found = finished(background)
        kills = review_set.newest.case == 20
        assert (found.state[kills] == 2).all()
        assert (found.state[~kills] == 1).all()
        assert found.flags_of_case(20) == {}
        assert background.progress.failed == 2


def test_a_process_that_is_killed_is_begun_again(make_set: Any) -> None:
    review_set = many(make_set, ["slow"] * 40)
    with scanning(review_set, Fragile()) as background:
        background.prefer(range(40))
        background.start()
        killed: list[int] = []
        while len(killed) < 2 and not background.wait(0.1):
            for process in background._processes:
                if process.pid and process.pid not in killed and background.progress.looked:
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
        assert len(killed) == 2
        assert background.wait(_LONG)
        assert background.scan.state.tolist() == [1] * 80


def test_the_processes_end_with_the_program_that_began_them(tmp_path: Path) -> None:
    program = f"""
import sys, time
sys.path[:0] = {[str(ROOT), str(ROOT / "tests")]!r}
from rexview.detect import DETECTORS
from rexview.detect.scan.background_scan import BackgroundScan
from rexview.reviewset import load_review_set
from support.spread.fragile import Fragile
background = BackgroundScan(load_review_set({str(DEMO_FOLDER)!r}), (Fragile(),), workers=2)
background.start()
while sum(bool(one.pid) for one in background._processes) < 2:
    time.sleep(0.05)
print(*(one.pid for one in background._processes), flush=True)
time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        pids = [int(pid) for pid in run.stdout.readline().split()]
        assert len(pids) == 2
        run.kill()
    end = time.monotonic() + _LONG
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_closing_ends_the_processes(make_set: Any) -> None:
    with scanning(many(make_set, ["slow"] * 40), Fragile()) as background:
        background.start()
        while not (pids := [one.pid for one in background._processes if one.pid]):
            time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert background.progress.state == "stopped"


def test_no_process_can_be_started(make_set: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with scanning(many(make_set, ["Fine."] * 3)) as background:
        background.start()
        assert background.wait(_LONG)
        assert background.progress.state == "broken"
        assert "No process can be started" in background.progress.message
        background.look_at(0)  # what somebody looks at is still looked at
        assert background.scan.state.tolist() == [1, 1, 0, 0, 0, 0]


def test_what_broke_can_be_begun_again(make_set: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    review_set = many(make_set, ["An effusion."] * 30)
    python = sys.executable
    with scanning(review_set, gives_way=lambda: 0.0) as background:
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        background.start()
        assert background.wait(_LONG)
        assert background.progress.state == "broken"
        assert background.scan.not_yet_of_case(0) == {0, 1}
        monkeypatch.setattr(sys, "executable", python)
        background.begin_again()
        assert background.progress.state == "running"
        same(finished(background), scan(review_set, DETECTORS))


def test_no_batch_is_begun_while_somebody_waits_for_a_page(make_set: Any) -> None:
    asked, waits = [], True

    def gives_way() -> float:
        asked.append(waits)
        return 0.2 if waits else 0.0

    review_set = many(make_set, ["Fine."] * 10)
    with scanning(review_set, gives_way=gives_way) as background:
        background.start()
        while len(asked) < 20:
            assert not [one for one in background._processes if one.pid]
            assert not background.progress.looked
            time.sleep(0.05)
        waits = False
        assert background.wait(_LONG)
        assert background.progress.looked == 20


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="another system")
def test_processes_of_a_server_have_only_time_that_nobody_else_wants(make_set: Any) -> None:
    review_set = many(make_set, ["slow"] * 20)
    for gives_way, policy in ((None, os.SCHED_OTHER), (lambda: 0.0, os.SCHED_IDLE)):
        with scanning(review_set, Fragile(), workers=1, gives_way=gives_way) as background:
            background.prefer(range(20))
            background.start()
            while not background.progress.looked:
                time.sleep(0.05)
            (pid,) = [one.pid for one in background._processes if one.pid]
            assert os.sched_getscheduler(pid) == policy
            assert os.getpriority(os.PRIO_PROCESS, pid) >= 10


def test_a_case_that_is_opened_comes_from_a_process_of_its_own(make_set: Any) -> None:
    review_set = many(make_set, ["Left effusion."] * 10)
    with scanning(review_set, gives_way=lambda: 0.0) as background:  # which has not begun
        shown, whole = background.scan, scan(review_set, DETECTORS)
        end = time.monotonic() + _LONG
        while shown.not_yet_of_case(7) and time.monotonic() < end:
            time.sleep(0.01)
        assert shown.not_yet_of_case(7) == frozenset()
        assert shown.flags_of_case(7) == whole.flags_of_case(7) != {}
        assert background._asked is not None
        pid = background._asked.pid
        assert pid not in (None, os.getpid())
        assert background.progress.looked == 0
    assert not Path(f"/proc/{pid}").exists()


def test_a_case_that_hangs_holds_nothing_up(make_set: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector_process, "_SECONDS", 2)
    review_set = many(make_set, ["Fine."] * 3 + ["endless"] + ["Fine."] * 3, "g")
    with scanning(review_set, Fragile(), *DETECTORS[2:], gives_way=lambda: 0.0) as background:
        shown = background.scan
        while shown.not_yet_of_case(0):
            time.sleep(0.01)
        asked = background._asked
        assert asked is not None
        waited, wait_for = [], asked._changed.wait_for

        def noting(predicate: Any, seconds: float) -> bool:
            if threading.current_thread() is threading.main_thread():
                waited.append(seconds)
            return wait_for(predicate, seconds)

        monkeypatch.setattr(asked._changed, "wait_for", noting)
        assert shown.not_yet_of_case(3) == {3}, "not looked at is not: no failure"
        assert shown.flags_of_case(3) == {}
        assert len(waited) <= 2, "who asks waits once"
        assert set(waited) <= {detector_process._WAITS_S}, "and for a moment only"
        end = time.monotonic() + _LONG
        while shown.not_yet_of_case(5) and time.monotonic() < end:
            time.sleep(0.05)
        assert shown.not_yet_of_case(5) == frozenset(), "another process looks at the others"
        assert shown.not_yet_of_case(3) == {3}


def test_what_the_search_gives_up_is_told_to_who_has_the_case_open(make_set: Any) -> None:
    review_set = make_set(
        cases=[{"id": "c0", "report": {"findings": "No effusion."}}],
        answers=[
            {"case": "c0", "model": model, "text": text}
            for model, text in (("g", "Left effusion."), ("m", "die"))
        ],
    )
    with scanning(review_set, Fragile(), *DETECTORS[2:], gives_way=lambda: 0.0) as background:
        shown = background.scan
        assert shown.not_yet_of_case(0) == {0, 1}
        finished(background)
        end = time.monotonic() + _LONG
        while shown.not_yet_of_case(0) and time.monotonic() < end:
            time.sleep(0.05)
        assert not shown.found.state.any(), "it is a snapshot of before"
        assert shown.not_judged_of_case(0) == {1}
        assert shown.flags_of_case(0) == background.scan.flags_of_case(0) != {}


def test_new_scores_are_taken_while_it_runs(demo: ReviewSet) -> None:
    bare = replace(demo, scores=demo.scores.clear())
    with scanning(bare) as background:
        finished(background)
        background.rescore(demo)
        same(background.scan, scan(demo, DETECTORS))


def test_a_scan_goes_on_from_another(demo: ReviewSet, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scan(demo, DETECTORS)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # no process is needed
    with scanning(demo, before=whole) as background:
        same(finished(background), whole)


def test_the_survey_of_a_part_says_nothing_of_the_rest(demo: ReviewSet) -> None:
    with scanning(
        replace(demo, scores=demo.scores.clear(), flags=demo.flags.clear())
    ) as background:
        background.look_at(3)
        part = survey_scan(background.scan)
        numbers = demo.newest.of_case(3)
        assert set(part.flags["answer"]) <= set(numbers)
        judged = [number for number, bits in enumerate(part.judged) if bits]
        assert set(judged) <= set(numbers)
        whole = survey(background.scan.review_set)
        inside = pl.col("answer").is_between(numbers.start, numbers.stop, closed="left")
        assert part.flags.height == whole.flags.filter(inside).height

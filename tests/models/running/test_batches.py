"""Runs by the Batch API, against a real server: whatever happens, each case is answered once."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest
from support import ROOT, model_server
from support.runs.killed_run import MODEL, command, environment, run, write_cases
from support.runs.plain_asking import PRICE, questions, spec_of, work

from rexview.models.backend import Card
from rexview.models.endpoints import batch_api
from rexview.models.running import model_run as batches
from rexview.models.running.run_journal import read_json_lines
from rexview.models.running.run_progress import send_run_command
from rexview.models.running.run_spec import RunBudget

SOONER = """
import sys
from rexview.cli import main
from rexview.models.endpoints import batch
batch._FIRST_WAIT_S = 0.3
sys.exit(main())
"""
"""The command line, looking at its batches after 0.3 seconds instead of 2."""
OF_THE_RUN = ("created", "latency_s", "run_id")


@pytest.fixture
def server():
    with model_server.started(batch_polls=1) as running:
        yield running


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(batch_api, "_FIRST_WAIT_S", 0.05)
    monkeypatch.setattr(batches, "_CHECK_INTERVAL_S", 0.02)


@pytest.fixture
def small(monkeypatch):
    """Files of five requests."""
    made = batch_api.BatchClient.__init__

    def five(self, *args, **more):
        made(self, *args, **more, most_requests=5)

    monkeypatch.setattr(batch_api.BatchClient, "__init__", five)


def rows_of(run):
    return [line for _, line in read_json_lines(run.rows)]


def events(run, word):
    return [line for _, line in read_json_lines(run.log) if line["event"] == word]


def by_case(rows):
    found = {}
    for row in rows:
        extra = {name: value for name, value in row["extra"].items() if name != "request_id"}
        kept = {name: value for name, value in row.items() if name not in OF_THE_RUN}
        found[row["case"], row["repeat"]] = {**kept, "extra": extra}
    return found


def test_rows_are_the_same_as_without(tmp_path, server, small):
    cases = questions(12)
    server.script([{"match": "c0003", "turns": [{"refusal": "I cannot."}]}])
    _, alone = work(tmp_path / "alone", cases, spec_of(cases, server, repeats=2))
    server.reset()
    spec = spec_of(cases, server, repeats=2, batch=True)
    ended, run = work(tmp_path / "batch", cases, spec)
    assert (ended.state, ended.done, ended.in_flight) == ("finished", 24, 0)
    assert len(events(run, "batch_created")) == 5
    assert by_case(rows_of(run)) == by_case(rows_of(alone))
    requests = events(run, "batch_request")
    assert {one["key"] for one in requests} == {one["key"] for one in events(alone, "sent")}
    assert ended.spent["input"] == server.ledger()["totals"]["input"]
    assert len(server.requests()) == 24


def test_what_is_waited_for_is_told(tmp_path, server, small):
    seen = []
    server.options(batch_polls=6)
    cases = questions(12)
    work(tmp_path, cases, spec_of(cases, server, batch=True), told=seen.append)
    waits = [one for one in seen if one.state == "waiting"]
    assert any("3 of 3 batches at the server" in (one.waiting_for or "") for one in waits)
    assert any("0 of 12 requests done" in (one.waiting_for or "") for one in waits)
    assert all(one.waiting_until for one in waits)
    assert any(one.in_flight == 12 for one in waits)
    assert seen[-1].waiting_for is None


def test_what_expired_is_asked_again(tmp_path, server):
    server.options(batch_polls=1, batch_done=5)
    cases = questions(12)
    ended, run = work(tmp_path, cases, spec_of(cases, server, batch=True))
    assert (ended.state, ended.done, ended.failed) == ("finished", 12, {})
    assert [one["status"] for one in events(run, "batch_ended")] == [
        "expired",
        "expired",
        "completed",
    ]
    assert Counter(row["case"] for row in rows_of(run)) == dict.fromkeys(cases, 1)
    assert len(server.requests()) == 12


def test_cancelling_stops_the_server_and_collects_what_is_done(tmp_path, server):
    server.options(batch_polls=10_000)
    cases = questions(12)

    def told(progress):
        if progress.in_flight:
            send_run_command(runs[0]._run, "cancel")

    runs = []
    spec = spec_of(cases, server, batch=True)
    ended, run = work(tmp_path, cases, spec, told=told, given=runs.append)
    assert (ended.state, ended.done, ended.failed) == ("cancelled", 6, {})
    assert server._call("/v1/batches")["data"][0]["status"] == "cancelled"
    server.options(batch_polls=1)
    ended, run = work(tmp_path, cases, spec_of(cases, server, batch=True), resume=True)
    assert (ended.state, ended.done) == ("finished", 12)
    assert Counter(row["case"] for row in rows_of(run)) == dict.fromkeys(cases, 1)
    assert len(server.requests()) == 12


def test_nothing_is_sent_while_paused_and_what_is_there_is_collected(tmp_path, server):
    server.options(batch_polls=10_000)
    cases = questions(12)
    runs, paused = [], []

    def told(progress):
        if progress.in_flight == 12 and progress.state != "paused":
            send_run_command(runs[0]._run, "pause")
        elif progress.in_flight == 12:
            server.options(batch_polls=1, batch_done=5)
        elif progress.state == "paused" and progress.done == 5 and not progress.in_flight:
            paused.append(len(server.requests()))
            if len(paused) == 3:
                send_run_command(runs[0]._run, "run")

    spec = spec_of(cases, server, batch=True)
    ended, _ = work(tmp_path, cases, spec, told=told, given=runs.append)
    assert paused[:3] == [5, 5, 5]
    assert (ended.state, ended.done) == ("finished", 12)
    assert len(server.requests()) == 12


def test_a_budget_bounds_what_is_submitted(tmp_path, server):
    cases = questions(12)
    spec = spec_of(cases, server, batch=True, budget=RunBudget(400, "tokens"))
    ended, run = work(tmp_path, cases, spec)
    assert ended.state == "cancelled"
    assert "Budget reached" in ended.message
    sent = events(run, "batch_request")
    first = [one["expected"] for one in sent[: len(events(run, "batch_planned")[0]["names"])]]
    assert 0 < sum(one["input"] + one["output"] for one in first) <= 400
    assert 0 < ended.done < 12


def test_a_server_without_batches_says_so(tmp_path, server):
    server.options(batches=False)
    cases = questions(3)
    ended, _run = work(tmp_path, cases, spec_of(cases, server, batch=True))
    assert (ended.state, ended.done) == ("broken", 0)
    assert "has no Batch API" in ended.message
    assert "--batch" in ended.message
    assert not any("still at the server" in line for line in ended.lines)
    assert server.requests() == []


def test_a_batch_that_the_server_lost_is_told_and_asked_again_by_going_on(tmp_path, server):
    cases = questions(4)
    server.options(batch_polls=10_000)
    runs = []

    def told(progress):
        if progress.in_flight:
            runs[0].cancel()

    spec = spec_of(cases, server, batch=True)
    ended, _ = work(tmp_path, cases, spec, told=told, given=runs.append)
    assert any("1 batch still at the server" in line for line in ended.lines)
    server.options(batch_polls=1, batches_known=False)
    ended, _ = work(tmp_path, cases, spec_of(cases, server, batch=True), resume=True)
    assert (ended.state, ended.done, ended.failed) == ("finished", 0, {"server": 4})
    assert ended.unsure["input"] > 0
    assert any("does not know the batch" in line for line in ended.lines)
    server.options(batch_polls=1)
    ended, _run = work(tmp_path, cases, spec_of(cases, server, batch=True), resume=True)
    assert (ended.state, ended.done) == ("finished", 4)
    assert ended.unsure["input"] > 0


def test_a_case_that_changed_meanwhile_is_said(tmp_path, server):
    cases = questions(3)
    server.options(batch_polls=10_000)
    changed = replace(cases["c0002"], question="Question of case c0002: another one?")

    def told(progress):
        if progress.in_flight:
            cases["c0002"] = changed
            server.options(batch_polls=1)

    ended, run = work(tmp_path, cases, spec_of(cases, server, batch=True), told=told)
    assert (ended.state, ended.done) == ("finished", 3)
    noted = {row["case"]: row["extra"].get("notes") for row in rows_of(run)}
    assert [case for case, notes in noted.items() if notes] == ["c0002"]
    assert "have changed" in noted["c0002"][0]


def test_no_price_by_batch_is_the_full_price(tmp_path, server):
    cases = questions(3)
    spec = spec_of(cases, server, batch=True, card=Card((MODEL,), price=PRICE))
    ended, _ = work(tmp_path, cases, spec)
    totals = server.ledger()["totals"]
    assert ended.spent["usd"] == pytest.approx((totals["input"] + 10 * totals["output"]) / 1e6)


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_killed_at_any_step_and_resumed(tmp_path, api):
    """Killed as soon as the log has each of these: what is at the server is not asked twice."""
    folder = write_cases(tmp_path / "set", 12)
    names = {f"c{number:04}" for number in range(1, 13)}
    with model_server.started_apart(batch_polls=1, batch_done=7) as server:
        more = ("--batch", "--api", api, "--resume", "--json")
        arguments = command(folder, server, *more)[3:]
        for word in ("batch_request", "batch_planned", "batch_created", "replied", "batch_ended"):
            process = subprocess.Popen(
                [sys.executable, "-c", SOONER, *arguments],
                cwd=ROOT,
                env=environment(folder),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while process.poll() is None and not _has(folder, word):
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            process.wait()
        last = run(folder, server, *more)
        assert last.returncode == 0, last.stderr
        told = json.loads(last.stdout)
        assert (told["done"], told["total"], told["failed"]) == (12, 12, {})
        requests = server.requests()
        assert Counter(one["text"].split("Question of case ")[1][:5] for one in requests) == (
            dict.fromkeys(names, 1)
        )
        totals = server.ledger()["totals"]
    assert (told["spent"]["input"], told["spent"]["output"]) == (totals["input"], totals["output"])
    assert len(list(folder.glob("runs/*"))) == 1
    rows = [line for path in folder.glob("answers/*") for _, line in read_json_lines(path)]
    assert Counter(row["case"] for row in rows) == dict.fromkeys(names, 1)


def _has(folder, word):
    return any(f'"{word}"' in path.read_text() for path in folder.glob("runs/*/log.jsonl"))

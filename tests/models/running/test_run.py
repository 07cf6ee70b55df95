"""Runs against a real server that does as it is told."""

import json
from collections import Counter

import pytest
from support.runs.plain_asking import MODEL, failures_of, questions, rows_of, spec_of, work

from rexview.models.running.run_journal import read_json_lines
from rexview.models.running.run_progress import read_progress, read_run_command, send_run_command
from rexview.models.running.run_spec import RunBudget, read_run_spec


def events(run, word):
    return [line for _, line in read_json_lines(run.log) if line["event"] == word]


def test_every_case_is_asked_once_and_has_a_row(tmp_path, server):
    cases = questions(10)
    ended, run = work(tmp_path, cases, spec_of(cases, server, repeats=2))
    assert (ended.state, ended.done, ended.total, ended.failed) == ("finished", 20, 20, {})
    assert ended.outcomes == {"answered": 20}
    asked = server.requests()
    assert len(asked) == 20
    rows = rows_of(run)
    wanted = {(case, repeat) for case in cases for repeat in (1, 2)}
    assert {(row["case"], row["repeat"]) for row in rows} == wanted
    assert len(rows) == 20
    row = rows[0]
    assert (row["model"], row["run_id"], row["prompt_id"]) == (MODEL, run.id, "plain-1")
    assert row["text"].strip()
    extra = row["extra"]
    assert (extra["outcome"], extra["model_asked"], extra["model_served"]) == (
        "answered",
        MODEL,
        MODEL,
    )
    assert extra["request_id"].startswith("req_")
    totals = server.ledger()["totals"]
    assert ended.spent["input"] == totals["input"]
    assert ended.spent["output"] == totals["output"]
    in_usd = (totals["input"] * 1.0 + totals["output"] * 10.0) / 1e6
    assert ended.spent["usd"] == pytest.approx(in_usd)
    assert sum(row["extra"]["cost_usd"] for row in rows) == pytest.approx(in_usd)
    assert read_progress(run) == ended
    assert read_run_spec(run).cases == tuple(cases)


def test_a_complete_run_sends_nothing_more(tmp_path, server):
    cases = questions(3)
    _, run = work(tmp_path, cases, spec_of(cases, server))
    ended, again = work(tmp_path, cases, spec_of(cases, server), resume=True)
    assert again.id == run.id
    assert (ended.state, ended.done) == ("finished", 3)
    assert len(server.requests()) == 3


def test_new_cases_and_repeats_are_added_to_a_run(tmp_path, server):
    cases = questions(3)
    _, run = work(tmp_path, cases, spec_of(cases, server))
    more = questions(5)
    ended, again = work(tmp_path, more, spec_of(more, server), resume=True)
    assert (again.id, ended.done, ended.total) == (run.id, 5, 5)
    assert read_run_spec(run).cases == tuple(more)


@pytest.mark.parametrize(
    "changes", [{"prompt": "other"}, {"parameters": {"temperature": 0.5}}, {"api": "chat"}]
)
def test_another_way_of_asking_is_another_run(tmp_path, server, changes):
    from dataclasses import replace

    cases = questions(2)
    spec = spec_of(cases, server)
    _, run = work(tmp_path, cases, spec)
    other = spec_of(cases, server)
    if "prompt" in changes:
        other = replace(other, prompt=replace(other.prompt, hash="1" * 64))
    elif "api" in changes:
        other = replace(other, parameters=replace(other.parameters, api="chat"))
    else:
        other = replace(other, parameters=replace(other.parameters, temperature=0.5))
    ended, again = work(tmp_path, cases, other, resume=True)
    assert again.id != run.id
    assert ended.done == 2
    assert len(server.requests()) == 4


def test_every_outcome_is_an_answer(tmp_path, server):
    cases = questions(6)
    server.script(
        [
            {"match": "c0001", "turns": [{"refusal": "I cannot help with that."}]},
            {"match": "c0002", "turns": [{"filtered": True, "text": ""}]},
            {"match": "c0003", "turns": [{"text": ""}]},
            {"match": "c0004", "turns": [{"no_usage": True}]},
            {"match": "c0005", "turns": [{"huge": 3_000_000}]},
        ]
    )
    ended, run = work(tmp_path, cases, spec_of(cases, server))
    assert ended.state == "finished"
    assert ended.done == ended.total == 6
    rows = {row["case"]: row for row in rows_of(run)}
    assert rows["c0001"]["extra"]["outcome"] == "refused"
    assert rows["c0002"]["extra"]["outcome"] == "filtered"
    assert rows["c0003"]["extra"]["outcome"] == "empty"
    assert len(rows["c0005"]["text"]) >= 2_900_000
    assert ended.unsure["output"] == 30  # the one that was not counted, as it was expected


def test_a_busy_server_slows_down_the_whole_run(tmp_path, server):
    """Every request is refused once; without a rest for all, eight would knock in a row."""
    cases = questions(16)
    busy = {"error": {"status": 429, "code": "rate_limit_exceeded", "retry_after": 0.4}}
    server.script([{"match": "", "count": "rule", "turns": [busy, {}]}])
    ended, run = work(tmp_path, cases, spec_of(cases, server, concurrency=1))
    assert (ended.state, ended.done) == ("finished", 16)
    asked = server.requests()
    assert Counter(one["status"] for one in asked) == {429: 1, 200: 16}
    assert asked[1]["time"] - asked[0]["time"] >= 0.4
    failed = events(run, "failed")
    assert [(one["kind"], one["final"]) for one in failed] == [("rate_limit", False)]


def test_limits_in_headers_are_kept_to(tmp_path, server):
    """120 fit at once, then two a second: who heeds the headers is hardly ever refused."""
    cases = questions(126)
    server.options(requests_a_minute=120)
    ended, _ = work(tmp_path, cases, spec_of(cases, server, concurrency=4))
    assert ended.done == 126
    assert sum(one["status"] == 429 for one in server.requests()) <= 2


def test_a_long_wait_is_told(tmp_path, server):
    cases = questions(2)
    busy = {"error": {"status": 429, "code": "rate_limit_exceeded", "retry_after": 75}}
    server.script([{"turns": [busy, {}], "count": "rule"}])
    seen = []

    def told(progress):
        seen.append(progress)
        if progress.waiting_for:
            runs[0].cancel()

    runs = []
    ended, run = work(
        tmp_path, cases, spec_of(cases, server, concurrency=1), told=told, given=runs.append
    )
    assert ended.state == "cancelled"
    waiting = next(one for one in seen if one.waiting_for)
    assert waiting.state == "waiting"
    assert "takes no more requests" in waiting.waiting_for
    assert any(line.startswith("Waiting until ") for line in waiting.lines)
    assert len(events(run, "waiting")) == 1


def test_a_server_that_fails_now_and_then_is_asked_again(tmp_path, server):
    cases = questions(5)
    server.script([{"turns": [{"error": {"status": 500}}, {"cut": "middle"}, {}]}])
    ended, run = work(tmp_path, cases, spec_of(cases, server))
    assert (ended.state, ended.done, ended.failed) == ("finished", 5, {})
    assert {one["attempt"] for one in events(run, "sent")} == {1, 2, 3}
    assert ended.unsure["output"] == 5 * 30  # those that were cut may have been billed


def test_one_case_that_always_fails_does_not_stop_the_others(tmp_path, server):
    cases = questions(8)
    server.script([{"match": "c0001", "turns": [{"error": {"status": 500}}]}])
    ended, run = work(tmp_path, cases, spec_of(cases, server))
    assert (ended.state, ended.done, ended.failed) == ("finished", 7, {"server": 1})
    assert [(one.item.case, one.kind) for one in failures_of(run)] == [("c0001", "server")]
    assert sum("c0001" in one["text"] for one in server.requests()) == 6
    server.script([])
    ended, _ = work(tmp_path, cases, spec_of(cases, server), resume=True)
    assert (ended.done, ended.failed) == (8, {})
    assert failures_of(run) == []
    assert sum(one["status"] == 200 for one in server.requests()) == 8


def test_a_server_that_is_gone_stops_the_run(tmp_path, server):
    cases = questions(200)
    spec = spec_of(cases, server)
    away = {"error": {"status": 503}}
    server.script([{"turns": [away]}])
    ended, _ = work(tmp_path, cases, spec)
    assert ended.state == "broken"
    assert ended.done == 0
    assert "--resume" in ended.message
    assert len(server.requests()) < 60


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"keys": ["sk-other"]}, "key", "did not accept the key"),
        ({"models": ["gpt-6"]}, "model", f"does not know the model {MODEL}"),
    ],
)
def test_what_fails_for_all_stops_at_once(tmp_path, server, options, kind, words):
    cases = questions(200)
    server.options(**options)
    ended, run = work(tmp_path, cases, spec_of(cases, server))
    assert ended.state == "broken"
    assert words in ended.message
    assert set(ended.failed) == {kind}
    assert len(events(run, "sent")) <= 4
    assert "sk-test" not in run.log.read_text() + run.progress.read_text()


def test_the_budget_is_kept(tmp_path, server):
    cases = questions(50)
    spec = spec_of(cases, server, budget=RunBudget(1200, "tokens"))
    ended, _ = work(tmp_path, cases, spec)
    assert ended.state == "cancelled"
    assert ended.message == "Budget reached (1,200 tokens)."
    each = max(one["input"] + one["output"] for one in server.requests())
    billed = server.ledger()["totals"]
    assert 1200 - 2 * each < billed["input"] + billed["output"] <= 1200 + 4 * each
    assert 0 < ended.done < 50
    more = spec_of(cases, server, budget=RunBudget(1_000_000, "tokens"))
    done = ended.done
    ended, _ = work(tmp_path, cases, more, resume=True)
    assert (ended.state, ended.done) == ("cancelled", done)  # the run's own budget still holds


def test_a_case_that_cannot_be_asked_fails_alone(tmp_path, server):
    from rexview.models.backend import AttemptFailed, ModelRequest

    cases = questions(4)
    spec = spec_of(cases, server)

    def build(case, repeat):
        if case.id == "c0002":
            raise AttemptFailed("image", "pa.png cannot be read: put the file there.")
        if case.id == "c0003":
            raise ZeroDivisionError
        return ModelRequest(case.id, repeat, "", (case.question,), spec.parameters, "p", "h")

    ended, run = work(tmp_path, cases, spec, build=build)
    assert (ended.state, ended.done, ended.failed) == ("finished", 2, {"image": 1, "setup": 1})
    assert any("c0002: pa.png cannot be read" in line for line in ended.lines)
    assert len(server.requests()) == 2
    assert {one.item.case for one in failures_of(run)} == {"c0002", "c0003"}


def test_a_reply_that_cannot_be_read_is_kept_as_it_came(tmp_path, server):
    cases = questions(2)

    def read(request, reply, case):
        raise ZeroDivisionError

    ended, run = work(tmp_path, cases, spec_of(cases, server), read=read)
    assert ended.done == 2
    for row in rows_of(run):
        assert row["text"].strip()
        assert "could not be read" in row["extra"]["notes"][0]


def test_pause_lets_what_is_under_way_finish(tmp_path, server):
    cases = questions(40)
    server.options(delay_s=0.1)
    at = {}

    def told(progress):
        if progress.done and "paused" not in at:
            send_run_command(folder[0], "pause")
            at["paused"] = True
        if progress.state == "paused" and not progress.in_flight:
            if "count" not in at:
                at["count"] = len(server.requests())
            elif "checked" not in at:
                assert len(server.requests()) == at["count"] == progress.done
                at["checked"] = True
                send_run_command(folder[0], "run")

    folder = []
    ended, run = work(
        tmp_path,
        cases,
        spec_of(cases, server),
        told=told,
        given=lambda one: folder.append(one._run),
    )
    assert at["checked"]
    assert at["count"] < 40
    assert (ended.state, ended.done) == ("finished", 40)
    assert read_run_command(run) == "run"


def test_cancel_waits_for_what_is_under_way_and_the_run_goes_on_later(tmp_path, server):
    cases = questions(40)
    server.options(delay_s=0.2)

    def told(progress):
        if progress.done:
            send_run_command(folder[0], "cancel")

    folder = []
    ended, _ = work(
        tmp_path,
        cases,
        spec_of(cases, server),
        told=told,
        given=lambda one: folder.append(one._run),
    )
    assert ended.state == "cancelled"
    assert len(server.requests()) == ended.done < 40
    ended, _ = work(tmp_path, cases, spec_of(cases, server), resume=True)
    assert (ended.state, ended.done) == ("finished", 40)
    assert len(server.requests()) == 40


def test_keys_stand_in_no_file(tmp_path, server):
    cases = questions(3)
    wrong = {"error": {"status": 400, "message": "Your key {key} is odd."}}
    server.script([{"match": "c0001", "turns": [wrong]}, {"turns": [{"text": "It is {key}."}]}])
    _, run = work(tmp_path, cases, spec_of(cases, server))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert run.log in written
    for path in written:
        assert b"sk-test-0123456789" not in path.read_bytes(), path


def test_what_came_is_in_the_log_as_it_came(tmp_path, server):
    cases = questions(1)
    server.script([{"turns": [{"text": 'He said "a\nb\\ é \u2028".'}]}])
    _, run = work(tmp_path, cases, spec_of(cases, server))
    [replied] = events(run, "replied")
    assert replied["reply"]["text"] == 'He said "a\nb\\ é \u2028".'
    assert replied["reply"]["raw"]["id"].startswith("resp_")
    [sent] = events(run, "sent")
    assert len(sent["key"]) == 64
    assert rows_of(run) == [replied["row"]]
    assert json.loads(run.rows.read_text())["text"] == replied["reply"]["text"]


def test_a_run_by_batches_is_collected_by_going_on(tmp_path, server, monkeypatch):
    """Cancelled while the batch is at the server: going on collects it, and sends nothing."""
    from rexview.models.endpoints import batch_api

    monkeypatch.setattr(batch_api, "_FIRST_WAIT_S", 0.1)
    cases = questions(12)
    server.options(batch_polls=5)

    def told(progress):
        if any("at the server" in line for line in progress.lines):
            runs[0].cancel()

    runs = []
    spec = spec_of(cases, server, batch=True)
    monkeypatch.setattr(batch_api, "_FIRST_WAIT_S", 5.0)
    ended, run = work(tmp_path, cases, spec, told=told, given=runs.append)
    assert (ended.state, ended.done) == ("cancelled", 0)
    assert len(events(run, "batch_created")) == 1
    monkeypatch.setattr(batch_api, "_FIRST_WAIT_S", 0.1)
    again = spec_of(cases, server, batch=True)
    ended, run = work(tmp_path, cases, again, resume=True)
    assert (ended.state, ended.done) == ("finished", 12)
    assert len(events(run, "batch_created")) == 1
    assert len(rows_of(run)) == 12
    assert len(server.requests()) == 12
    assert ended.spent["input"] == server.ledger()["totals"]["input"]


def test_a_case_that_cannot_be_asked_is_left_out_of_the_batch(tmp_path, server, monkeypatch):
    from rexview.models.endpoints import batch_api

    monkeypatch.setattr(batch_api, "_FIRST_WAIT_S", 0.1)
    cases = questions(3)
    spec = spec_of([*cases, "gone"], server, batch=True)
    ended, run = work(tmp_path, cases, spec)
    assert (ended.done, ended.failed) == (3, {"setup": 1})
    assert [one.item.case for one in failures_of(run)] == ["gone"]

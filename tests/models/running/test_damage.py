"""What a server, a log or rexview itself does that no run may hang or lose answers for."""

import json

import pytest
from support.runs.plain_asking import failures_of, questions, rows_of, spec_of, work

from rexview.models.running.run_journal import read_json_lines


def rewrite(run, change):
    """Write the log anew, each line as ``change`` has it."""
    lines = [change(line) for line in run.log.read_text().splitlines()]
    run.log.write_text("".join(f"{line}\n" for line in lines))


def test_a_fault_of_our_own_ends_the_run_and_does_not_hang_it(tmp_path, server):
    cases = questions(8)

    def counted(request):
        if request.case == "c0003":
            raise ZeroDivisionError
        return 10

    ended, run = work(tmp_path, cases, spec_of(cases, server), input_tokens=counted)
    assert ended.state == "broken"
    assert "ZeroDivisionError" in ended.message
    assert "--resume" in ended.message
    ended, _ = work(tmp_path, cases, spec_of(cases, server), resume=True)
    assert (ended.state, ended.done) == ("finished", 8)
    assert len(rows_of(run)) == 8


@pytest.mark.parametrize("wait", ["99999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "9" * 400 + "s"])
def test_a_server_may_ask_for_a_rest_of_ages(tmp_path, server, wait):
    """No clock holds it: it is told and can be cancelled like any other rest."""
    cases = questions(3)
    server.script([{"turns": [{"error": {"status": 429, "headers": {"retry-after": wait}}}]}])
    runs = []

    def told(progress):
        if progress.state == "waiting" and any("Waiting until" in line for line in progress.lines):
            runs[0].cancel()

    ended, _ = work(tmp_path, cases, spec_of(cases, server), told=told, given=runs.append)
    assert (ended.state, ended.done) == ("cancelled", 0)


def test_a_damaged_log_line_costs_nothing_where_the_row_is_there(tmp_path, server):
    cases = questions(3)
    _, run = work(tmp_path, cases, spec_of(cases, server))
    rewrite(run, lambda line: line[:-9] if '"replied"' in line and '"c0002"' in line else line)
    ended, _ = work(tmp_path, cases, spec_of(cases, server), resume=True)
    assert (ended.state, ended.done) == ("finished", 3)
    assert len(server.requests()) == 3
    assert len(rows_of(run)) == 3


def test_a_logged_reply_without_its_row_is_asked_again(tmp_path, server):
    cases = questions(3)
    _, run = work(tmp_path, cases, spec_of(cases, server))

    def without_row(line):
        held = json.loads(line)
        held.pop("row", None)
        return json.dumps(held) if held.get("case") == "c0002" else line

    rewrite(run, without_row)
    rows = [json.dumps(row) for row in rows_of(run) if row["case"] != "c0002"]
    run.rows.write_text("".join(f"{row}\n" for row in rows))
    ended, _ = work(tmp_path, cases, spec_of(cases, server), resume=True)
    assert (ended.state, ended.done) == ("finished", 3)
    assert sorted(row["case"] for row in rows_of(run)) == ["c0001", "c0002", "c0003"]


def test_an_answer_of_any_size_leaves_a_row_that_a_set_takes(tmp_path, server):
    """A line of a table has at most 16 MB: the whole text stays in the log."""
    cases = questions(1)
    server.script([{"turns": [{"huge": 20_000_000}]}])
    ended, run = work(tmp_path, cases, spec_of(cases, server))
    assert ended.done == 1
    assert run.rows.stat().st_size < 16_000_000
    row = rows_of(run)[0]
    assert any("log" in note for note in row["extra"]["notes"])
    logged = next(line for _, line in read_json_lines(run.log) if line["event"] == "replied")
    assert len(logged["reply"]["text"]) == 20_000_000


def test_counts_that_no_table_holds_are_no_counts(tmp_path, server):
    cases = questions(2)
    body = {
        "id": "r",
        "status": "completed",
        "model": "m",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "No."}]}],
        "usage": {"input_tokens": 10**30, "output_tokens": 7},
    }
    server.script([{"turns": [{"body": body}]}])
    ended, run = work(tmp_path, cases, spec_of(cases, server))
    assert (ended.state, ended.done) == ("finished", 2)
    assert "input_tokens" not in rows_of(run)[0]["usage"]


def test_more_cached_than_came_in_is_no_income(tmp_path, server):
    cases = questions(1)
    body = {
        "id": "r",
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "No."}]}],
        "usage": {
            "input_tokens": 10,
            "output_tokens": 0,
            "input_tokens_details": {"cached_tokens": 10_000_000},
        },
    }
    server.script([{"turns": [{"body": body}]}])
    ended, _ = work(tmp_path, cases, spec_of(cases, server))
    assert ended.spent["usd"] >= 0


def test_a_batch_is_collected_though_a_case_is_gone_since(tmp_path, server, monkeypatch):
    """It is paid for: its raw text is kept, and the others are not held up."""
    from rexview.models.endpoints import batch_api

    cases = questions(4)
    server.options(batch_polls=3)
    runs = []

    def told(progress):
        if any("at the server" in line for line in progress.lines):
            runs[0].cancel()

    monkeypatch.setattr(batch_api, "_FIRST_WAIT_S", 5.0)
    spec = spec_of(cases, server, batch=True)
    work(tmp_path, cases, spec, told=told, given=runs.append)
    monkeypatch.setattr(batch_api, "_FIRST_WAIT_S", 0.1)
    left = {one: case for one, case in cases.items() if one != "c0002"}
    ended, run = work(tmp_path, left, spec_of(left, server, batch=True), resume=True)
    assert (ended.state, ended.done) == ("finished", 3)
    assert len(server.requests()) == 4
    assert sorted(row["case"] for row in rows_of(run)) == sorted(left)
    assert failures_of(run) == []
    # a set is not opened with an answer to no case; when the case is there again, so is its answer
    ended, _ = work(tmp_path, cases, spec_of(cases, server, batch=True), resume=True)
    rows = {row["case"]: row for row in rows_of(run)}
    assert (ended.done, sorted(rows)) == (4, sorted(cases))
    assert rows["c0002"]["text"].strip()
    assert "no longer in the review set" in rows["c0002"]["extra"]["notes"][0]
    assert len(server.requests()) == 4


def test_going_on_writes_no_row_of_a_case_that_is_gone(tmp_path, server):
    """Its row was taken out with it; the log still has both."""
    cases = questions(3)
    _, run = work(tmp_path, cases, spec_of(cases, server))
    rows = [json.dumps(row) for row in rows_of(run) if row["case"] != "c0002"]
    run.rows.write_text("".join(f"{row}\n" for row in rows))
    left = {one: case for one, case in cases.items() if one != "c0002"}
    ended, _ = work(tmp_path, left, spec_of(left, server), resume=True)
    assert (ended.state, ended.done) == ("finished", 2)
    assert sorted(row["case"] for row in rows_of(run)) == sorted(left)

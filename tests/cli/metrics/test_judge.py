"""FineRadScore by a judge: asked over real HTTP, kept, told, gone on with."""

import json
import subprocess
import sys
import time

import pytest
from support import ROOT
from support.reports.compared_reports import write_reports

from rexview.cli import main
from rexview.reviewset import load_review_set

pytestmark = pytest.mark.usefixtures("asks_models")

JUDGE = "gpt-5-mini"
SIDE = {
    "line": 1,
    "action": "substitute",
    "text": "Small right pleural effusion.",
    "kind": "location",
    "severity": 3,
    "comment": "The effusion is on the right.",
}
ERROR = {"json": {"corrections": [SIDE]}}
NO_ERROR = {"json": {"corrections": []}}
RULES = [{"match": "[1] Small left", "turns": [ERROR]}, {"turns": [NO_ERROR]}]


@pytest.fixture
def folder(tmp_path):
    return write_reports(tmp_path / "set")


def judged(folder, server, *more):
    about = ("--metric", "fineradscore", "--judge", JUDGE, "--base-url", server.base_url)
    return main(["metrics", str(folder), *about, *more])


def scores(folder, scope="findings"):
    rows = load_review_set(folder).metrics.iter_rows(named=True)
    found = [row for row in rows if row["scope"] == scope]
    assert {
        tuple(row[name] for name in ("metric", "implementation", "version")) for row in found
    } <= {("fineradscore", "rexview", f"1 {JUDGE}")}
    return {(row["case"], row["model"]): row["value"] for row in found}


def edits(folder):
    return list(load_review_set(folder).edits.iter_rows(named=True))


def test_corrections_and_the_number_are_kept_in_the_set(folder, server, capsys):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert judged(folder, server) == 0
    captured = capsys.readouterr()
    assert f"FineRadScore (rexview 1 {JUDGE}, findings)" in captured.out
    assert "2 corrections: edits/" in captured.out
    assert "2 reports left out: no findings in the answer." in captured.err
    assert scores(folder) == {("r1", "a"): 0, ("r2", "a"): 3, ("r3", "a"): 0, ("r1", "b"): 3}
    rows = edits(folder)
    assert {row["reader"] for row in rows} == {f"fineradscore:{JUDGE}"}
    [first] = [row for row in rows if (row["case"], row["model"], row["line"]) == ("r2", "a", 1)]
    assert (first["action"], first["kind"], first["severity"]) == ("substitute", "location", 3)
    assert (first["original"], first["edited"]) == ("Small left pleural effusion.", SIDE["text"])
    assert first["comment"] == SIDE["comment"]
    # a report without an error was gone over, too
    assert [row["action"] for row in rows if (row["case"], row["model"]) == ("r1", "a")] == [
        *("keep", "keep")
    ]
    assert {path: path.read_bytes() for path in before} == before
    assert not load_review_set(folder).warnings
    assert load_review_set(folder).stale_edits.is_empty()


def test_corrections_of_an_answer_that_changed_count_nowhere(folder, server):
    judged(folder, server)
    answers = folder / "answers.jsonl"
    answers.write_text(answers.read_text().replace("Heart is normal", "Heart is large"))
    changed = load_review_set(folder)
    assert set(changed.edits["case"]) == {"r1", "r3"}
    assert set(changed.stale_edits["case"]) == {"r1", "r2"}
    asked = len(server.requests())
    assert judged(folder, server) == 0  # and only those are asked about again
    assert len(server.requests()) == asked + 2
    assert load_review_set(folder).stale_edits.is_empty()


def test_nothing_is_asked_twice(folder, server, capsys):
    assert judged(folder, server) == 0
    asked = len(server.requests())
    capsys.readouterr()
    for more in ((), ("--resume",), ("--again",)):
        assert judged(folder, server, *more) == 0
        assert "4 reports judged before by gpt-5-mini" in capsys.readouterr().err
    assert len(server.requests()) == asked == 4
    assert len(scores(folder)) == 4


def test_another_scope_has_values_of_its_own_and_its_corrections_stand_once(folder, server):
    assert judged(folder, server) == 0
    narrow = len(edits(folder))
    assert judged(folder, server, "--scope", "findings+impression") == 0
    assert len(scores(folder, "findings+impression")) == 3
    assert len(scores(folder)) == 4
    lines = [(row["case"], row["model"], row["line"]) for row in edits(folder)]
    assert len(lines) == len(set(lines)) == narrow + 3  # the lines of three impressions
    assert judged(folder, server) == 0
    assert len(edits(folder)) == narrow + 3


@pytest.mark.parametrize(
    ("turn", "outcome", "why"),
    [
        ({"text": "There is one error."}, "malformed", "no JSON object"),
        ({"json": {"corrections": [{**SIDE, "severity": 9}]}}, "malformed", "the severity 9"),
        ({"json": {"corrections": [{**SIDE, "line": 7}]}}, "malformed", "no line 7"),
        ({"refusal": "I cannot judge this."}, "refused", ""),
        ({"text": json.dumps(ERROR["json"]), "filtered": True}, "filtered", ""),
    ],
)
def test_what_cannot_be_read_is_kept_told_and_asked_again_on_request(
    folder, server, capsys, turn, outcome, why
):
    server.script([{"match": "[1] Small left", "turns": [turn, turn, ERROR]}, *RULES])
    assert judged(folder, server, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert {(one["case"], one["model"]) for one in told["unreadable"]} == {("r2", "a"), ("r1", "b")}
    assert {one["outcome"] for one in told["unreadable"]} == {outcome}
    assert all(why in one["why"] for one in told["unreadable"])
    assert set(scores(folder)) == {("r1", "a"), ("r3", "a")}
    asked = len(server.requests())
    assert judged(folder, server, "--resume") == 1
    assert len(server.requests()) == asked
    assert judged(folder, server, "--again") in (0, 1)
    assert len(server.requests()) == asked + 2
    assert judged(folder, server, "--again") == 0
    assert len(scores(folder)) == 4


def test_an_answer_that_is_cut_off_is_not_read(folder, server, capsys):
    assert judged(folder, server, "--max-output-tokens", "16", "--model", "b", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["outcome"] for one in told["unreadable"]] == ["cut_off"]
    assert scores(folder) == {}
    assert edits(folder) == []


def test_a_budget_stops_and_resume_goes_on(folder, server, capsys):
    more = ("--concurrency", "1", "--json")
    assert judged(folder, server, "--budget", "1500tokens", *more) == 1
    told = json.loads(capsys.readouterr().out)
    done = told["run"]["done"]
    assert 0 < done < 4
    assert "Budget reached" in told["run"]["message"]
    assert told["unasked"] == 4 - done == 4 - len(scores(folder))
    assert judged(folder, server, "--resume", "--budget", "100000tokens", *more) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["run"]["run"] == told["run"]["run"]
    assert len(server.requests()) == len(scores(folder)) == 4


def test_a_killed_run_is_gone_on_with_and_pays_nothing_twice(folder, server, tmp_path):
    server.script([{"match": "", "turns": [{**NO_ERROR, "delay_s": 0.4}]}])
    about = ("--metric", "fineradscore", "--judge", JUDGE, "--base-url", server.base_url)
    command = [sys.executable, "-m", "rexview", "metrics", str(folder), *about]
    process = subprocess.Popen(
        [*command, "--concurrency", "1"], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 60
    while (
        sum(path.read_text().count('"replied"') for path in folder.glob("judging/*/log.jsonl")) < 2
    ):
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not (folder / "edits").exists()
    assert judged(folder, server, "--resume") == 0
    assert len(list((folder / "judging").iterdir())) == 1
    assert len(server.requests()) <= 5  # the one that was under way may have been asked again
    assert len(scores(folder)) == 4


def test_corrected_references_are_judged_under_a_scope_of_their_own(folder, server):
    references = "case,reader,findings,impression\nr1,ra,Small left pleural effusion.,\n"
    (folder / "references.csv").write_text(references)
    assert judged(folder, server) == 0
    before = edits(folder)
    assert judged(folder, server, "--reference", "corrected") == 0
    of_given = [row for row in edits(folder) if row["reader"] == f"fineradscore:{JUDGE}"]
    assert [row["original"] for row in of_given] == [row["original"] for row in before]
    assert {row["case"] for row in edits(folder) if row not in of_given} == {"r1"}
    assert set(scores(folder, "findings, corrected")) == {("r1", "a"), ("r1", "b")}
    assert "Reference report:\nSmall left pleural effusion.\n" in server.requests()[4]["text"]


def test_a_busy_server_is_asked_later(folder, server):
    busy = {"error": {"status": 429, "message": "Slow down."}}
    server.script([{"match": "[1] Small left", "turns": [busy, ERROR]}, *RULES])
    assert judged(folder, server) == 0
    assert len(scores(folder)) == 4


def test_a_dry_run_sends_and_writes_nothing(folder, server, capsys):
    before = sorted(folder.rglob("*"))
    assert judged(folder, server, "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["estimate"]["requests"] == 4
    assert "Reference report" in told["first_request"]["parts"][0]["text"]
    assert sorted(folder.rglob("*")) == before
    assert server.requests() == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--out", "x.csv"], "leave --out away"),
        (["--resume", "20260101-000000-gone-0000"], "no run 20260101-000000-gone-0000"),
        (["--budget", "5EUR"], "5USD or 200000tokens"),
        (["--scope", "history"], "no scope history"),
    ],
)
def test_what_cannot_be_asked_is_told(folder, server, capsys, more, words):
    assert judged(folder, server, *more) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "judging").exists()
    assert server.requests() == []
    assert main(["metrics", str(folder), "--metric", "fineradscore"]) == 2


def test_a_run_of_judging_is_no_run_of_the_set(folder, server, capsys):
    assert judged(folder, server) == 0
    [run] = (folder / "judging").iterdir()
    about = ("--base-url", server.base_url)
    assert main(["run", str(folder), "--resume", run.name, *about]) == 2
    assert "There is no run" in capsys.readouterr().err
    assert not (folder / "answers").exists()
    assert "a-key-of-a-test" not in "".join(
        path.read_text() for path in run.iterdir() if path.is_file()
    )

"""A judge's second opinion: asked over real HTTP, kept, told, gone on with."""

import json
import shutil
import signal
import subprocess
import sys
import time

import pytest
from support import ROOT
from support.judge.set_to_judge import HIDDEN, REPORT, opinion, write_judged
from support.models.tiny_model import make_tiny_model

from rexview.cli import main
from rexview.reviewset import load_review_set

pytestmark = pytest.mark.usefixtures("asks_models")

JUDGE = "gpt-5-mini"
SIDE = {"json": opinion({"laterality_error": "left pleural effusion"}, scores=2)}
NOTHING = {"json": opinion(scores=5)}
RULES = [{"match": "I see a LEFT", "turns": [SIDE]}, {"turns": [NOTHING]}]
FOUR = {("case-1", "zebu-7b"), ("case-1", "okapi"), ("case-2", "zebu-7b"), ("case-3", "okapi")}


@pytest.fixture
def folder(tmp_path):
    return write_judged(tmp_path / "set")


def judged(folder, server, *more):
    return main(["judge", str(folder), "--judge", JUDGE, "--base-url", server.base_url, *more])


def opinions(folder):
    return list(load_review_set(folder).opinions.iter_rows(named=True))


def answers_of(rows):
    return {(row["case"], row["model"]) for row in rows}


def test_what_a_judge_says_is_kept_in_the_set(folder, server, capsys):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    warned = load_review_set(folder).warnings
    assert judged(folder, server) == 0
    told = capsys.readouterr().out
    assert f"28 opinions on 4 answers by {JUDGE} (judge-2): opinions/" in told
    assert "1 answer never came" in told
    rows = opinions(folder)
    assert answers_of(rows) == FOUR
    assert {(row["judge"], row["prompt_id"]) for row in rows} == {(JUDGE, "judge-2")}
    [run] = {row["run_id"] for row in rows}
    assert (folder / "opinions" / f"{run}.jsonl").is_file()
    assert (folder / "judging" / run / "log.jsonl").is_file()
    one = {
        row["failure"] or row["dimension"]: row
        for row in rows
        if row["model"] == "zebu-7b" and row["case"] == "case-1"
    }
    side, process = one["laterality_error"], one["process"]
    assert (side["present"], side["score"], side["quote"]) == (True, None, "left pleural effusion")
    assert json.loads(side["extra"]) == {"quote_found": True}  # over a line's end, in capitals
    assert (process["present"], process["score"], process["extra"]) == (None, 2, None)
    assert one["omission"]["present"] is False
    assert all(len(row["answer_digest"]) == len(row["prompt_hash"]) == 64 for row in rows)
    assert {path: path.read_bytes() for path in before} == before
    assert load_review_set(folder).warnings == warned
    assert load_review_set(folder).stale_opinions.is_empty()


@pytest.mark.parametrize("rule", ["on_request", "never"])
def test_the_judge_is_told_nothing_that_is_hidden_from_a_blinded_reader(tmp_path, server, rule):
    folder = write_judged(tmp_path / "set", protocol={"report": rule})
    assert judged(folder, server) == 0
    # and not what was said before, by itself or another judge
    assert main(["judge", str(folder), "--judge", "gpt-5", "--base-url", server.base_url]) == 0
    requests = server.requests()
    assert len(requests) == 8
    for request in requests:
        del request["headers"]  # their names alone
        sent = json.dumps(request, ensure_ascii=False).lower()
        found = [word for word in HIDDEN if word.lower() in sent]
        assert not found
        assert (REPORT["findings"].lower() in sent) is (rule != "never")
        assert "of laterality_error." not in sent
        marks = ("i see a left", "normal, says", "the heart is\\n", "b, as i said")
        assert sum(mark in sent for mark in marks) == 1  # no other model's answer
        assert len(request["pictures"]) == 1


def test_a_judge_without_eyes_is_sent_no_picture(folder, server):
    (folder / "models.yaml").write_text("models: [{match: [gpt-5-mini], images: 0}]\n")
    assert judged(folder, server) == 0
    assert all(not request["pictures"] for request in server.requests())


def test_nothing_is_asked_twice(folder, server, capsys):
    assert judged(folder, server) == 0
    before = opinions(folder)
    for more in ((), ("--resume",), ("--again",), ("--failures",), ("--scores",)):
        capsys.readouterr()
        assert judged(folder, server, *more) == 0
        assert "answers judged before by gpt-5-mini" in capsys.readouterr().err
    assert len(server.requests()) == 4
    assert opinions(folder) == before


def test_only_what_is_missing_is_asked(folder, server):
    assert judged(folder, server, "--failures") == 0
    assert {row["dimension"] for row in opinions(folder)} == {None}
    assert "Score the answer" not in server.requests()[0]["text"]
    server.reset()
    assert judged(folder, server) == 0  # of the cut answer everything is known
    requests = server.requests()
    assert len(requests) == 3
    assert all("Say of each" not in request["text"] for request in requests)
    assert len(opinions(folder)) == 28
    assert len(list((folder / "opinions").iterdir())) == 2


def test_cases_and_models_are_chosen(folder, server):
    assert judged(folder, server, "--cases", "case-1", "--model", "okapi") == 0
    assert answers_of(opinions(folder)) == {("case-1", "okapi")}
    assert judged(folder, server, "--filter", "?model=zebu-7b&failure=token_limit") == 0
    assert ("case-2", "zebu-7b") in answers_of(opinions(folder))


def test_answers_that_changed_are_asked_again_and_until_then_stale(folder, server):
    judged(folder, server)
    path = folder / "answers.jsonl"
    given = path.read_text()
    path.write_text(given.replace("Normal, says", "Abnormal, says"))
    assert ("case-1", "okapi") not in answers_of(opinions(folder))
    assert answers_of(load_review_set(folder).stale_opinions.iter_rows(named=True)) == {
        ("case-1", "okapi")
    }
    server.reset()
    assert judged(folder, server) == 0
    assert len(server.requests()) == 1
    assert len(opinions(folder)) == 28
    assert load_review_set(folder).stale_opinions.is_empty()
    # and what was said of the first text counts again where that is back
    path.write_text(given)
    assert judged(folder, server) == 0
    assert len(server.requests()) == 1
    assert answers_of(opinions(folder)) == FOUR


@pytest.mark.parametrize(
    ("turn", "outcome", "why"),
    [
        ({"text": "The side is wrong."}, "malformed", "no JSON object"),
        ({"json": opinion(scores=6)}, "malformed", "process: the score 6"),
        ({"json": {"scores": {}}}, "malformed", "no failures"),
        ({"refusal": "I cannot judge this."}, "refused", ""),
        ({"text": ""}, "empty", ""),
        ({"text": json.dumps(opinion()), "filtered": True}, "filtered", ""),
        ({"text": json.dumps(opinion()), "incomplete": "max_output_tokens"}, "cut_off", ""),
    ],
)
def test_what_cannot_be_read_is_kept_told_and_asked_again_on_request(
    folder, server, capsys, turn, outcome, why
):
    server.script([{"match": "I see a LEFT", "turns": [turn, turn, SIDE]}, *RULES])
    assert judged(folder, server, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    [one] = told["unreadable"]
    assert (one["case"], one["model"], one["outcome"]) == ("case-1", "zebu-7b", outcome)
    assert why in one["why"]
    assert told["unasked"] == 0
    assert ("case-1", "zebu-7b") not in answers_of(opinions(folder))
    assert len(opinions(folder)) == 20
    for more in ((), ("--resume",)):
        assert judged(folder, server, *more) == 1
        assert "1 answer cannot be read: --again asks again." in capsys.readouterr().out
    assert len(server.requests()) == 4
    assert judged(folder, server, "--again") == 1
    assert judged(folder, server, "--again") == 0
    assert len(server.requests()) == 6
    assert len(opinions(folder)) == 28


def test_what_was_read_once_and_no_longer_is_told_and_asked_again(folder, server, capsys):
    assert judged(folder, server) == 0
    [log] = folder.glob("judging/*/log.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    row = next(one["row"] for one in lines if one.get("event") == "replied")
    row["text"] = f"For example:\n{row['text']}"  # as an earlier version has taken it
    log.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    assert judged(folder, server) == 1
    assert "1 answer cannot be read: --again asks again." in capsys.readouterr().out
    assert len(answers_of(opinions(folder))) == 3
    assert judged(folder, server, "--again") == 0
    assert answers_of(opinions(folder)) == FOUR


def test_a_quote_that_is_not_in_the_answer_is_said(folder, server, capsys):
    invented = opinion({"laterality_error": "right effusion", "hallucination": "[model] I see"})
    server.script([{"match": "I see a LEFT", "turns": [{"json": invented}]}, *RULES])
    assert judged(folder, server) == 0
    assert "1 of 2 quotes not in the answer" in capsys.readouterr().out
    found = {row["quote"]: row["extra"] for row in opinions(folder) if row["quote"]}
    assert {quote: json.loads(extra) for quote, extra in found.items()} == {
        "right effusion": {"quote_found": False},
        "[model] I see": {"quote_found": True},  # as it was sent
    }


def test_a_budget_stops_and_resume_goes_on(folder, server, capsys):
    more = ("--concurrency", "1", "--json")
    assert judged(folder, server, "--budget", "5000tokens", *more) == 1
    told = json.loads(capsys.readouterr().out)
    done = told["run"]["done"]
    assert 0 < done < 4
    assert "Budget reached" in told["run"]["message"]
    assert told["unasked"] == 4 - done == 4 - len(answers_of(opinions(folder)))
    assert judged(folder, server, "--resume", "--budget", "100000tokens", *more) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["run"]["run"] == told["run"]["run"]
    assert len(server.requests()) == 4 == len(answers_of(opinions(folder)))


def stopped_after_two(folder, server, number):
    """Run the command in a process of its own until two replies are kept, and end it."""
    server.script([{"turns": [{**NOTHING, "delay_s": 0.4}]}])
    command = [sys.executable, "-m", "rexview", "judge", str(folder), "--judge", JUDGE]
    process = subprocess.Popen(
        [*command, "--base-url", server.base_url, "--concurrency", "1"],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 120
    while (
        sum(path.read_text().count('"replied"') for path in folder.glob("judging/*/log.jsonl")) < 2
    ):
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(number)
    return process.wait()


def test_a_killed_run_is_gone_on_with_and_pays_nothing_twice(folder, server):
    stopped_after_two(folder, server, signal.SIGKILL)
    assert not (folder / "opinions").exists()
    assert judged(folder, server, "--resume") == 0
    assert len(list((folder / "judging").iterdir())) == 1
    assert len(server.requests()) <= 5  # the one that was under way may have been asked again
    assert answers_of(opinions(folder)) == FOUR
    assert len(opinions(folder)) == 28


def test_a_cancelled_run_keeps_what_came(folder, server):
    assert stopped_after_two(folder, server, signal.SIGTERM) == 1
    came = answers_of(opinions(folder))
    assert 2 <= len(came) < 4
    assert judged(folder, server, "--resume") == 0
    assert len(server.requests()) == 4
    assert len(opinions(folder)) == 28


def test_two_judges_and_two_wordings_stand_side_by_side(folder, server):
    own = folder / "prompts" / "judge" / "strict.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("name: Strict\nversion: 1\nsystem: Be strict.\n")
    assert judged(folder, server) == 0
    assert judged(folder, server, "--prompt", "strict") == 0
    assert "Be strict." in server.requests()[-1]["text"]
    said = {row["prompt_id"] for row in opinions(folder)}
    assert said == {"judge-2", "strict"}
    assert len(opinions(folder)) == 56
    # edited, it is another wording: what it says takes the place of what was said
    own.write_text("name: Strict\nversion: 2\nsystem: Be very strict.\n")
    assert judged(folder, server, "--prompt", "strict") == 0
    assert len(server.requests()) == 12
    assert len(opinions(folder)) == 56
    assert len({row["prompt_hash"] for row in opinions(folder)}) == 2


def test_opinions_of_other_files_are_left_as_they_are_and_not_paid_for(tmp_path, server, capsys):
    given = [
        {"case": "case-1", "model": "okapi", "judge": JUDGE, "prompt_id": "judge-2"}
        | {"failure": "omission", "present": True}
    ]
    folder = write_judged(tmp_path / "set", opinions=given)
    assert judged(folder, server) == 0
    assert "1 opinion given by other files, not asked for" in capsys.readouterr().out
    assert judged(folder, server) == 0
    asked = [one["text"] for one in server.requests() if "Normal, says" in one["text"]]
    assert len(asked) == 1
    assert '"omission":' not in asked[0]
    rows = [row for row in opinions(folder) if row["failure"] == "omission"]
    assert [row["present"] for row in rows if row["model"] == "okapi"].count(True) == 1
    assert len(opinions(folder)) == 28


def test_a_dry_run_sends_and_writes_nothing(folder, server, capsys):
    before = sorted(folder.rglob("*"))
    assert judged(folder, server, "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["estimate"]["requests"] == 4
    assert "Question 1" in told["first_request"]["parts"][-1]["text"]
    assert sorted(folder.rglob("*")) == before
    assert server.requests() == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--cases", "gone"], "not in the review set: gone"),
        (["--model", "gone"], "there is no model 'gone'"),
        (["--prompt", "gone"], "no wording 'gone' for judges"),
        (["--resume", "20260101-000000-gone-0000"], "no run 20260101-000000-gone-0000"),
        (["--budget", "5EUR"], "5USD or 200000tokens"),
        (["--filter", "?failure=unheard"], "--filter"),
    ],
)
def test_what_cannot_be_asked_is_told(folder, server, capsys, more, words):
    assert judged(folder, server, *more) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "judging").exists()
    assert server.requests() == []


def test_a_set_that_takes_no_opinions_is_told_before_anything_is_paid(folder, server, capsys):
    (folder / "opinions").write_text("")
    assert judged(folder, server) in (1, 2)
    assert "opinions" in capsys.readouterr().err
    assert server.requests() == []


def test_a_model_that_writes_nonsense_has_no_opinion(tmp_path, folder, capsys):
    for package in ("torch", "transformers"):
        pytest.importorskip(package)
    model = make_tiny_model(tmp_path / "gemma-3-tiny")
    local = ("--api", "transformers", "--max-output-tokens", "8", "--cases", "case-1", "--json")
    assert main(["judge", str(folder), "--judge", str(model), "--failures", *local]) == 1
    told = json.loads(capsys.readouterr().out)
    assert len(told["unreadable"]) == 2
    assert {one["outcome"] for one in told["unreadable"]} <= {"malformed", "cut_off", "empty"}
    assert opinions(folder) == []
    assert len(list((folder / "judging").iterdir())) == 1


def test_opinions_whose_log_is_gone_stay_and_without_both_all_is_judged_anew(folder, server):
    assert judged(folder, server) == 0
    before = opinions(folder)
    shutil.rmtree(folder / "judging")
    assert judged(folder, server) == 0
    assert len(server.requests()) == 4
    assert opinions(folder) == before
    for name in ("judging", "opinions"):
        shutil.rmtree(folder / name, ignore_errors=True)
    assert judged(folder, server) == 0
    assert len(server.requests()) == 8
    assert len(opinions(folder)) == 28


def test_what_was_said_of_a_case_that_is_gone_is_not_written_again(folder, server):
    assert judged(folder, server) == 0
    [part] = (folder / "opinions").iterdir()
    for path in (folder / "cases.jsonl", folder / "answers.jsonl", part):
        kept = [line for line in path.read_text().splitlines() if "case-3" not in line]
        path.write_text("\n".join(kept))
    assert judged(folder, server) == 0
    assert answers_of(opinions(folder)) == FOUR - {("case-3", "okapi")}

"""``python -m rexview run``: what it takes, what it prints, how it ends."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support import ROOT, model_server
from support.review_folder import write_review_set
from support.runs.killed_run import MODEL, command, environment, run, write_cases
from support.small_disk import mounted

from rexview.cli import main


@pytest.fixture
def folder(tmp_path):
    return write_cases(tmp_path / "set", 4)


@pytest.fixture
def server():
    with model_server.started() as running:
        yield running


@pytest.fixture(autouse=True)
def plain_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def rexview_run(folder, server, *more):
    return main(["run", str(folder), "--model", MODEL, "--base-url", server.base_url, *more])


def answers(folder):
    return [
        json.loads(line)
        for path in folder.glob("answers/*.jsonl")
        for line in path.read_text().splitlines()
    ]


def logged(folder):
    return [
        json.loads(line)
        for path in folder.glob("runs/*/log.jsonl")
        for line in path.read_text().splitlines()
    ]


def test_it_says_how_it_ended(folder, server, capsys):
    assert rexview_run(folder, server, "--json") == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert (told["exit"], told["state"]) == (0, "finished")
    assert (told["done"], told["total"]) == (4, 4)
    assert " of 4" in captured.err
    assert rexview_run(folder, server, "--resume") == 0
    captured = capsys.readouterr()
    assert f"Going on with {told['run']}: 0 to go." in captured.err
    assert "4 of 4, finished" in captured.out
    assert len(server.requests()) == 4
    assert (folder / "runs" / told["run"] / "lock").read_text() == ""


def test_a_dry_run_sends_nothing_and_writes_nothing(folder, server, capsys):
    before = {path.relative_to(folder) for path in folder.rglob("*")}
    assert rexview_run(folder, server, "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["estimate"]["requests"] == told["cases"] == 4
    assert set(told["estimate"]["from"]) == {"input_tokens", "output_tokens", "usd"}
    first = told["first_request"]
    picture = next(part for part in first["parts"] if "image" in part)
    assert (picture["width"], picture["height"], len(picture["sha256"])) == (100, 120, 64)
    assert "c0001" in json.dumps(first["parts"])
    assert rexview_run(folder, server, "--dry-run") == 0
    assert "4 requests: about" in capsys.readouterr().out
    assert server.requests() == []
    assert {path.relative_to(folder) for path in folder.rglob("*")} == before


def test_the_dry_runs_request_is_the_one_that_is_sent(folder, server, capsys):
    rexview_run(folder, server, "--cases", "c0003", "--dry-run", "--json")
    first = json.loads(capsys.readouterr().out)["first_request"]
    assert rexview_run(folder, server, "--cases", "c0003") == 0
    [asked] = server.requests()
    texts = [part["text"] for part in first["parts"] if "text" in part]
    assert all(text in asked["text"] for text in texts)
    assert [one["sha256"] for one in asked["pictures"]] == [
        part["sha256"] for part in first["parts"] if "image" in part
    ]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--cases", "c0001,c0009"], "not in the review set: c0009"),
        (["--cases", ","], "there is no id"),
        (["--cases", "@none.txt"], "cannot be read"),
        (["--budget", "5EUR"], "5USD or 200000tokens"),
        (["--model", "nobody-knows-it", "--budget", "5USD"], "its price in models.yaml"),
        (["--prompt", "no-such-prompt"], "no-such-prompt"),
        (["--filter", "failure=nonsense"], "nonsense"),
        (["--resume", "20260101-000000-gone-0000"], "no run 20260101-000000-gone-0000"),
        (["--resume", "../../etc"], "There is no run"),
        (["--base-url", "ftp://there/v1"], "https:// or http://"),
        (["--base-url", "https://me:secret@there.example/v1"], "a name or a password"),
        (["--base-url", "https://there.example/v1"], "OPENAI_API_KEY"),
        (["--concurrency", "100000"], "at once"),
    ],
)
def test_what_cannot_be_run_is_told_in_one_line(folder, server, capsys, more, words):
    assert rexview_run(folder, server, *more) == 2
    said = capsys.readouterr().err.strip()
    assert words in said
    assert "\n" not in said
    assert "secret" not in said
    assert not (folder / "runs").exists()
    assert server.requests() == []


def test_the_command_line_itself_is_checked(folder, server):
    for wrong in (["--repeats", "0"], ["--concurrency", "x"], ["--cases", "a", "--filter", "b"]):
        with pytest.raises(SystemExit) as ended:
            rexview_run(folder, server, *wrong)
        assert ended.value.code == 2
    assert main(["run", str(folder)]) == 2


def test_cases_come_from_a_list_a_file_or_a_filter(folder, server, tmp_path):
    named = tmp_path / "ids.txt"
    named.write_text("c0002\n\n c0003 \n")
    for more, wanted in (
        (["--cases", "c0001"], {"c0001"}),
        (["--cases", f"@{named}"], {"c0002", "c0003"}),
        (["--filter", "?q=c0004&sort=order"], {"c0004"}),
    ):
        before = len(server.requests())
        assert rexview_run(folder, server, *more) == 0
        asked = {
            one["text"].split("Question of case ")[1][:5] for one in server.requests()[before:]
        }
        assert asked == wanted


def test_a_run_of_some_cases_goes_on_with_those(folder, server, capsys):
    assert rexview_run(folder, server, "--cases", "c0001,c0002") == 0
    assert rexview_run(folder, server, "--resume") == 0
    assert len(server.requests()) == 2
    assert rexview_run(folder, server, "--resume", "--cases", "c0002,c0003", "--repeats", "2") == 0
    found = [(row["case"], row["repeat"]) for row in answers(folder)]
    assert sorted(found) == [("c0001", 1), ("c0002", 1), ("c0002", 2), ("c0003", 1), ("c0003", 2)]
    assert len(list(folder.glob("runs/*"))) == 1


def test_without_resume_a_new_run_begins(folder, server):
    for _ in range(2):
        assert rexview_run(folder, server, "--cases", "c0001") == 0
    assert len(list(folder.glob("runs/*"))) == len(answers(folder)) == 2


def test_errors_are_asked_again_alone(folder, server, capsys):
    server.script([{"match": "c0002", "turns": [{"error": {"status": 400}}]}])
    # one at a time: the case before shows that the server takes schemas, so that it is not that
    assert rexview_run(folder, server, "--json", "--concurrency", "1") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["done"], told["failed"], told["state"]) == (3, {"request": 1}, "finished")
    server.script([])
    assert main(["run", str(folder), "--resume", told["run"]]) == 0
    assert len(server.requests()) == 5
    assert sorted(row["case"] for row in answers(folder)) == ["c0001", "c0002", "c0003", "c0004"]


@pytest.mark.parametrize("damage", ["missing", "broken"])
def test_an_image_that_cannot_be_read_costs_its_case_only(folder, server, capsys, damage):
    lines = (folder / "cases.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    first["images"][0]["path"] = f"{damage}.png"
    lines[0] = json.dumps(first)
    (folder / "cases.jsonl").write_text("\n".join(lines))
    (folder / "images" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    assert rexview_run(folder, server, "--dry-run") == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("c0001 cannot be asked: ")
    assert "c0002" in captured.out
    assert rexview_run(folder, server) == 1
    captured = capsys.readouterr()
    assert "3 of 4, 1 failed" in captured.out
    assert any(line.startswith("c0001: ") for line in captured.err.splitlines())
    assert [one["kind"] for one in logged(folder) if one["event"] == "failed"] == ["image"]


@pytest.mark.skipif(not hasattr(os, "getpgid"), reason="no process groups here")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_what_is_under_way_finish(folder, server, number):
    server.options(delay_s=1.0)
    process = subprocess.Popen(
        command(folder, server, "--concurrency", "2"),
        cwd=ROOT,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(server.requests()) < 2:
        time.sleep(0.02)
    assert os.getpgid(process.pid) == process.pid
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "2 of 4, cancelled" in out
    assert len(answers(folder)) == len(server.requests()) == 2
    server.options()
    assert rexview_run(folder, server, "--resume") == 0
    assert len(answers(folder)) == len(server.requests()) == 4


def test_two_signals_wait_for_nothing(folder, server):
    server.options(delay_s=60)
    process = subprocess.Popen(
        command(folder, server),
        cwd=ROOT,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(server.requests()) < 4:
        time.sleep(0.02)
    process.terminate()
    time.sleep(0.5)
    process.terminate()
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "0 of 4, cancelled" in out


def test_a_run_that_somebody_works_on_is_left_alone(folder, server):
    server.options(delay_s=300)
    process = subprocess.Popen(
        command(folder, server),
        cwd=ROOT,
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not server.requests():
        time.sleep(0.02)
    other = run(folder, server, "--resume")
    assert other.returncode == 2
    assert f"Process {process.pid} on " in other.stderr
    process.kill()
    process.wait()
    assert len(server.requests()) == 4


def test_keys_come_from_the_environment_and_stand_nowhere(folder, server, capsys, monkeypatch):
    key = "sk-a-test-key-0123456789"
    server.options(keys=[key])
    server.script([{"turns": [{"text": f"The key is {key}."}]}])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-987654")
    assert rexview_run(folder, server) == 1
    assert len(server.requests()) == 0  # refused before they count as asked
    monkeypatch.setenv("OPENAI_API_KEY", key)
    assert rexview_run(folder, server) == 0
    assert answers(folder)[0]["text"] == "The key is [key]."
    said = capsys.readouterr()
    assert "did not accept the key" in said.err
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert key.encode() not in content
            assert b"sk-another" not in content
    assert "sk-" not in said.out + said.err


def test_a_full_disk_stops_the_run_and_it_goes_on_later(tmp_path, server, capsys):
    with mounted(tmp_path / "small", "512k") as small:
        folder = write_cases(small / "set", 40)
        filler = small / "filler"
        free = os.statvfs(small)
        filler.write_bytes(b"x" * (free.f_bavail * free.f_bsize - 60_000))
        assert rexview_run(folder, server) == 1
        assert "There is no room left on the disk: make room" in capsys.readouterr().err
        asked = len(server.requests())
        assert 0 < asked < 40
        filler.unlink()
        assert rexview_run(folder, server, "--resume") == 0
        assert sorted(row["case"] for row in answers(folder)) == [
            f"c{number:04}" for number in range(1, 41)
        ]
        assert len(server.requests()) <= 40 + 4  # what was in flight when the disk was full


def test_a_terminal_shows_one_line(folder, server):
    ours, theirs = os.openpty()
    server.options(delay_s=0.7)
    done = subprocess.run(
        command(folder, server, "--concurrency", "1"),
        cwd=ROOT,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
        timeout=60,
    )
    os.close(theirs)
    said = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "\r\033[K" in said
    assert "\n" not in said
    assert b"4 of 4, finished" in done.stdout


def test_help_names_every_option():
    done = subprocess.run(
        [sys.executable, "-m", "rexview", "run", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for option in ("--model", "--base-url", "--api", "--budget", "--resume", "--dry-run"):
        assert option in done.stdout


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize("model", ["gpt-5-mini", "gpt-5", "gpt-4o"])
def test_the_estimate_is_near_to_what_the_server_bills(tmp_path, server, capsys, api, model):
    """Films of four sizes; how long answers are is known from an earlier run of some cases."""
    sizes = {"a": (2500, 2048), "b": (1024, 1024), "c": (700, 1900), "d": (120, 100)}
    folder = write_review_set(
        tmp_path / "films",
        info={"name": "Films"},
        pictures={f"{name}.png": np.full(size, 90, np.uint8) for name, size in sizes.items()},
        cases=[
            {
                "id": f"{name}{number}",
                "question": f"Question {number}: is there a pleural effusion? " * number,
                "images": [{"id": "i", "path": f"{name}.png", "view": "PA"}],
            }
            for name in sizes
            for number in (1, 2, 3)
        ],
    )
    asked = ["run", str(folder), "--base-url", server.base_url, "--model", model, "--api", api]
    assert main([*asked, "--cases", "a1,b2,c3"]) == 0
    server.reset()
    capsys.readouterr()
    assert main([*asked, "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["estimate"]
    assert told["from"]["output_tokens"] == "mean of 3 earlier answers"
    assert main([*asked, "--json", "--budget", "9USD"]) == 0
    ended = json.loads(capsys.readouterr().out)
    billed = server.ledger()["totals"]
    assert told["input_tokens"] == pytest.approx(billed["input"], rel=0.15)
    assert told["output_tokens"] == pytest.approx(billed["output"], rel=0.15)
    assert told["usd"] == pytest.approx(ended["spent"]["usd"], rel=0.15)


def test_where_nothing_is_known_the_estimate_says_so(folder, server, capsys):
    """With a limit, that; else a guess."""
    for more, words in (([], "a guess"), (["--max-output-tokens", "700"], "the limit")):
        rexview_run(folder, server, "--model", "nobody-knows-it", "--dry-run", "--json", *more)
        told = json.loads(capsys.readouterr().out)["estimate"]
        assert told["from"]["output_tokens"].startswith(words)
        assert told["usd"] is None
        assert "no price" in told["from"]["usd"]
    assert told["output_tokens"] == 4 * 700


def test_a_batch_costs_half(folder, server, capsys):
    spent = {}
    for more in ([], ["--batch"]):
        assert rexview_run(folder, server, *more, "--json") == 0
        spent[bool(more)] = json.loads(capsys.readouterr().out)["spent"]
    assert spent[True]["usd"] == pytest.approx(spent[False]["usd"] / 2)
    assert spent[True]["input"] == spent[False]["input"]
    assert rexview_run(folder, server, "--cases", "c0001") == 0
    assert rexview_run(folder, server, "--resume", "--batch", "--cases", "c0001,c0002") == 2
    assert "begun without --batch" in capsys.readouterr().err

"""``python -m rexview curated``: what it writes and says, and that models can be asked about it."""

import json

import pytest
from support import model_server
from support.curation.candidate_set import SELECTIONS, write_candidate_set

from rexview.cli import main


@pytest.fixture(autouse=True)
def plain_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def folder(tmp_path):
    blocked = {"case": "c1", "candidate": "q-compare", "reader": "anna", "decision": "chosen"}
    return write_candidate_set(tmp_path / "set", selections=[*SELECTIONS, blocked])


def test_it_says_what_it_wrote_and_what_it_left_out(folder, tmp_path, capsys):
    assert main(["curated", str(folder), "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr()
    assert told.out == "1 question of 1 study written. 3 studies without one.\n"
    assert "Left out: q-compare of c1: Asks for a comparison" in told.err
    assert main(["check", str(tmp_path / "out")]) == 0
    assert "0 errors" in capsys.readouterr().out


def test_as_json(folder, tmp_path, capsys):
    assert main(["curated", str(folder), "--out", str(tmp_path / "out"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cases"], told["studies"], told["studies_without"]) == (1, 1, 3)
    assert [one["candidate"] for one in told["left_out"]] == ["q-compare"]


def test_a_folder_with_something_in_it_is_left_alone(folder, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    assert main(["curated", str(folder), "--out", str(tmp_path / "out")]) == 1
    assert "not empty" in capsys.readouterr().err
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_without_checks_there_are_no_multiple_choice_questions(folder, tmp_path, capsys):
    assert main(["curated", str(folder), "--choice", "--out", str(tmp_path / "out")]) == 1
    assert "No multiple choice question of this set has passed" in capsys.readouterr().err


def test_models_are_asked_the_chosen_questions(folder, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["curated", str(folder), "--out", str(out)]) == 0
    with model_server.started() as server:
        asked = ["run", str(out), "--model", "gpt-5-mini", "--base-url", server.base_url]
        assert main([*asked, "--json"]) == 0
        sent = json.dumps(list(server.requests()), default=str)
    assert "Which costophrenic angle is blunted" in sent
    answers = [
        json.loads(line)
        for path in out.glob("answers/*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert [one["case"] for one in answers] == ["c1-q-high"]
    capsys.readouterr()

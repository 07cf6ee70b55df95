"""The three steps with a model on this machine: its nonsense is kept, and is in no table."""

import json

import pytest
from support.models.tiny_model import make_tiny_model
from support.review_folder import write_review_set

from rexview.cli import main
from rexview.reviewset import load_review_set


def test_a_tiny_random_model_does_all_three_steps(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch", reason="models on this machine are not installed")
    pytest.importorskip("transformers", reason="models on this machine are not installed")
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    model = make_tiny_model(tmp_path / "gemma-3-tiny")
    case = {"id": "c", "question": "?x", "report": {"findings": "Small left effusion."}}
    candidate = {
        "case": "c",
        "candidate": "1",
        "source": "model",
        "by": "another",
        "question": "Is the left angle blunted?",
    }
    folder = write_review_set(
        tmp_path / "set", info={"name": "Local"}, cases=[case], candidates=[candidate]
    )
    about = ("--model", str(model), "--api", "transformers", "--max-output-tokens", "12", "--yes")
    capsys.readouterr()
    assert main(["curate", str(folder), *about, "--json"]) == 1
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert [one["step"] for one in steps] == ["propose", "rate", "tag"]
    for one in steps:
        assert one["unasked"] == 0
        [unread] = one["unreadable"]
        assert unread["outcome"] in ("malformed", "cut_off", "empty")
        assert one["run"]["state"] == "finished"
    kept = load_review_set(folder)
    assert (kept.candidates.height, kept.candidate_ratings.height) == (1, 0)
    assert kept.candidate_tags.is_empty()
    logs = [path.read_text() for path in folder.glob("curating/*/log.jsonl")]
    assert len(logs) == 3
    assert all('"event":"replied"' in log for log in logs)

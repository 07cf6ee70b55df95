"""Runs in a process of their own: begun, watched, gone on with; what keeps them from beginning."""

import json
import os
import time
from pathlib import Path

import pytest
from support import model_server
from support.runs.killed_run import MODEL, write_cases

from rexview.analysis.run_models.jobs import (
    missing_requirements,
    read_current_progress,
    resume_run,
    start_detached_run,
)
from rexview.analysis.run_models.run_request import RunRequest, plan_run
from rexview.errors import RunRefused
from rexview.models.endpoints.server_addresses import check_base_url, confirm_server_address
from rexview.models.running.model_run import unanswered_cases
from rexview.models.running.run_folder import write_json_atomically
from rexview.reviewset import load_review_set

KEY = "sk-secret-of-the-secrets-0002"
LIMIT_S = 90


@pytest.fixture(autouse=True)
def plain_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def server(plain_environment):
    """A server that this user has confirmed, as the page does when its button is pressed."""
    with model_server.started(keys=[KEY]) as running:
        confirm_server_address(check_base_url(running.base_url))
        yield running


def planned(folder, **more):
    wanted = {"model": MODEL, "api": "chat", **more}
    return plan_run(load_review_set(folder), RunRequest(**wanted))


def ended(run):
    limit = time.monotonic() + LIMIT_S
    while (found := read_current_progress(run)).at_work and time.monotonic() < limit:
        time.sleep(0.1)
    return found


def test_a_run_is_at_work_from_its_beginning_and_the_key_is_nowhere(tmp_path, server):
    server.options(keys=[KEY], delay_s=0.5)
    folder = write_cases(tmp_path / "set", 3)
    plan = planned(folder, base_url=server.base_url)
    start_detached_run(plan, {"OPENAI_API_KEY": KEY})
    first = read_current_progress(plan.run)
    assert (first.state, first.total) == ("starting", 3)
    with pytest.raises(RunRefused, match="already in progress"):
        resume_run(plan.run, plan.spec, first, {})
    while read_current_progress(plan.run).state == "starting":
        time.sleep(0.05)
    pid = read_current_progress(plan.run).pid
    assert os.getsid(pid) == pid  # nobody's child when this process ends
    assert KEY.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    found = ended(plan.run)
    assert (found.state, found.done) == ("finished", 3)
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert KEY.encode() not in kept
    assert "OPENAI_API_KEY" not in os.environ


def test_what_the_process_says_before_it_begins_is_told(tmp_path, server):
    folder = write_cases(tmp_path / "set", 3)
    plan = planned(folder, base_url=server.base_url)
    (folder / "reviewset.yaml").write_text("format: [", encoding="utf-8")
    start_detached_run(plan, {"OPENAI_API_KEY": KEY})
    found = ended(plan.run)
    assert found.state == "broken"
    assert "reviewset.yaml" in (found.message or "")
    (folder / "reviewset.yaml").write_text("format: 1\nname: Run\n", encoding="utf-8")
    resume_run(plan.run, plan.spec, found, {"OPENAI_API_KEY": KEY})
    assert ended(plan.run).done == 3


def test_one_that_never_came_to_work_is_broken_after_a_while(tmp_path):
    folder = write_cases(tmp_path / "set", 1)
    plan = planned(folder, base_url="http://127.0.0.1:9/v1")
    plan.run.path.mkdir(parents=True)
    told = {"state": "starting", "updated": "2026-01-01T00:00:00+00:00"}
    write_json_atomically(plan.run.progress, told)
    found = read_current_progress(plan.run)
    assert (found.state, found.at_work) == ("broken", False)
    write_json_atomically(plan.run.progress, {**told, "updated": "nonsense"})
    assert read_current_progress(plan.run).state == "broken"


def test_a_new_budget_lets_a_run_go_on(tmp_path, server):
    folder = write_cases(tmp_path / "set", 3)
    plan = planned(folder, base_url=server.base_url, budget="1tokens")
    start_detached_run(plan, {"OPENAI_API_KEY": KEY})
    found = ended(plan.run)
    assert (found.state, found.done) == ("cancelled", 0)
    resume_run(plan.run, plan.spec, found, {"OPENAI_API_KEY": KEY}, budget="1000000tokens")
    assert ended(plan.run).done == 3
    assert json.loads(plan.run.spec.read_text())["budget"]["amount"] == 1_000_000


NO_KEY = "There is no key for api.openai.com: the administrator sets it (OPENAI_API_KEY)."


@pytest.mark.parametrize(
    ("base_url", "keys", "words"),
    [
        (None, {}, NO_KEY),
        (None, {"OPENAI_API_KEY": KEY}, None),
        ("https://there.example/v1", {"OTHER": KEY}, "There is no key for there.example"),
        ("http://localhost:9/v1", {}, None),
    ],
)
def test_what_is_missing_is_said_before(tmp_path, base_url, keys, words):
    spec = planned(write_cases(tmp_path / "set", 1), base_url=base_url).spec
    said = missing_requirements(spec, keys)
    assert said is None if words is None else (said or "").startswith(words)


def test_a_local_model_that_is_not_there_is_said_before(tmp_path):
    folder = write_cases(tmp_path / "set", 1)
    gone = str(tmp_path / "no-model")
    spec = planned(folder, model=gone, api="transformers").spec
    said = missing_requirements(spec, {}) or ""
    assert "no-model" in said or "requirements-models.txt" in said


def test_cases_without_an_answer_of_a_model(tmp_path, server):
    folder = write_cases(tmp_path / "set", 3)
    rows = [{"case": "c0002", "model": MODEL, "text": "a"}, {"case": "c0001", "model": "b"}]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    review_set = load_review_set(folder)
    assert unanswered_cases(review_set, MODEL) == ("c0001", "c0003")
    assert unanswered_cases(review_set, "another") == ("c0001", "c0002", "c0003")

"""Commands that begin runs themselves, typed into a process: begun, watched, gone on with."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import ROOT, model_server
from support.judge.set_to_judge import opinion, write_judged

from rexview.analysis.run_models import jobs
from rexview.analysis.run_models.jobs import (
    is_job_running,
    list_jobs,
    new_job,
    preview_job,
    read_current_progress,
    read_job_result,
    request_arguments,
    resume_job,
    start_job,
)
from rexview.analysis.run_models.run_request import (
    RunRequest,
    describe_subject,
    find_run_kind,
    list_runs_of_set,
)
from rexview.errors import RunError, RunRefused
from rexview.models.running.run_folder import (
    CURATING_FOLDER,
    JUDGING_FOLDER,
    RunFolder,
    write_json_atomically,
)
from rexview.models.running.run_progress import send_run_command
from rexview.models.running.run_spec import read_run_spec
from rexview.reviewset import load_review_set
from rexview.vocab import CRITERIA, QUESTION_TAGS

KEY = "sk-secret-of-the-secrets-0003"
VARIABLE = "OPENAI_API_KEY"
MODEL = "gpt-5-mini"
LIMIT_S = 120
PROPOSED = {
    "questions": [
        {"question": "Where does the effusion lie?", "category": "broad_abnormality"},
        {"question": "Which cause fits the effusion?", "category": "diagnostic_reasoning"},
    ]
}
RATED = {
    **{name: {"score": 4, "reason": "Fine."} for name in CRITERIA},
    "risk": {"flag": False, "reason": "None."},
    "total": 16,
}
TAGGED = {name: ["pleura"] for name in QUESTION_TAGS}
RULES = [
    {"match": "Score the question", "turns": [{"json": RATED}]},
    {"match": "Tag it on eight", "turns": [{"json": TAGGED}]},
    {"match": "a LEFT", "turns": [{"json": opinion(scores=2)}]},
    {"match": "second opinion", "turns": [{"text": "I cannot say."}, {"json": opinion(scores=4)}]},
    {"match": "spread over these", "turns": [{"json": PROPOSED}]},
]


@pytest.fixture(autouse=True)
def plain_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("POLARS_MAX_THREADS", "1")
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def server():
    with model_server.started(RULES, keys=[KEY]) as running:
        yield running


@pytest.fixture
def folder(tmp_path):
    return write_judged(tmp_path / "set")


def job_of(folder, server, command="curate", *own):
    asked = RunRequest(model=MODEL, base_url=server.base_url, api="chat")
    return new_job(folder, command, MODEL, [*own, *request_arguments(asked)], "Anna Lead")


def begin(job, **more):
    start_job(job, VARIABLE, {VARIABLE: KEY}, **more)


def until(condition):
    limit = time.monotonic() + LIMIT_S
    while not (found := condition()):
        assert time.monotonic() < limit, "took too long"
        time.sleep(0.1)
    return found


def ended(job):
    until(lambda: not is_job_running(job))
    return read_job_result(job)


def kinds_of(folder):
    runs = list_runs_of_set(load_review_set(folder))
    return [find_run_kind(run, read_run_spec(run)).name for run in runs]


def test_all_steps_are_done_by_one_job_and_the_key_is_nowhere(folder, server):
    server.options(keys=[KEY], delay_s=0.3)
    job = job_of(folder, server, "curate", "--candidates=2")
    begin(job)
    assert is_job_running(job)
    assert list_jobs(load_review_set(folder)) == [job]
    with pytest.raises(RunRefused, match="already running"):
        begin(job_of(folder, server))
    first = until(lambda: list_runs_of_set(load_review_set(folder)))[0]
    pid = until(lambda: read_current_progress(first).pid)
    assert os.getsid(pid) == pid  # nobody's child when this process ends
    assert KEY.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    found = ended(job)
    assert found.complete
    assert [line.partition(":")[0] for line in found.lines] == ["propose", "rate", "tag"]
    assert kinds_of(folder) == ["Questions tagged", "Questions scored", "Questions proposed"]
    review_set = load_review_set(folder)
    assert review_set.candidates.height > 0
    assert review_set.candidate_ratings.height == review_set.candidate_tags.height
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert KEY.encode() not in kept
    assert VARIABLE not in os.environ


def test_a_job_outlives_the_process_that_began_it(folder, server):
    server.options(keys=[KEY], delay_s=1.0)
    job = job_of(folder, server, "curate", "--step=propose")
    write_json_atomically(
        folder.parent / "begun.json", {"id": job.folder.id, "arguments": [*job.arguments]}
    )
    begins = (
        "import json, sys; from pathlib import Path; from dataclasses import replace;"
        "from rexview.analysis.run_models.jobs import start_job, new_job;"
        "from rexview.models.running.run_folder import RunFolder, CURATING_FOLDER;"
        "told = json.loads((Path(sys.argv[1]).parent / 'begun.json').read_text());"
        "job = new_job(Path(sys.argv[1]), 'curate', sys.argv[2], told['arguments']);"
        "job = replace(job, folder=RunFolder(Path(sys.argv[1]), told['id'], CURATING_FOLDER));"
        f"start_job(job, {VARIABLE!r}, {{{VARIABLE!r}: {KEY!r}}})"
    )
    subprocess.run([sys.executable, "-c", begins, str(folder), MODEL], cwd=ROOT, check=True)
    assert is_job_running(job)
    assert ended(job).complete
    assert load_review_set(folder).candidates.height > 0


def test_what_cannot_be_read_is_told_and_asked_again(folder, server):
    job = job_of(folder, server, "judge", "--scores", "--model=okapi")
    begin(job)
    found = ended(job)
    assert (found.unreadable, found.complete) == (2, False)
    assert kinds_of(folder) == ["Second opinion"]
    assert load_review_set(folder).opinions.is_empty()
    begin(job, again="--again")
    again = ended(job)
    assert again.complete
    assert "opinions on 2 answers" in again.lines[0]
    assert set(load_review_set(folder).opinions["model"]) == {"okapi"}
    assert len(list_jobs(load_review_set(folder))) == 1


def test_a_cancelled_job_is_resumed_and_so_is_a_run(folder, server):
    server.options(keys=[KEY], delay_s=3.0)  # longer than it takes to say that it shall end
    job = job_of(folder, server, "curate", "--step=propose,tag", "--concurrency=1")
    begin(job)
    first = until(lambda: list_runs_of_set(load_review_set(folder)))[0]
    until(lambda: read_current_progress(first).state == "running")
    send_run_command(first, "cancel")
    found = ended(job)
    assert not found.complete
    assert found.left > 0
    server.options(keys=[KEY])
    alone = resume_job(first, read_run_spec(first))
    assert alone.command == "curate"
    begin(alone)  # as of a run that was begun on the command line
    ended(alone)
    assert read_current_progress(first).state == "finished"
    begin(job, again="--resume")
    assert ended(job).complete
    assert kinds_of(folder) == ["Questions tagged", "Questions proposed"]


def test_a_job_that_ended_between_its_steps_is_not_complete(folder, server):
    server.options(keys=[KEY])
    job = job_of(folder, server, "curate", "--step=propose,tag")
    begin(job)
    assert ended(job).complete
    told = job.folder.path / jobs._RESULT_FILE
    values = json.loads(told.read_text("utf-8"))
    told.write_text(json.dumps({**values, "steps": values["steps"][:1], "begun": False}))
    found = ended(job)
    assert (found.complete, found.left, found.message) == (False, 0, None)
    assert found.lines[-1] == "The steps after it were not started: resume it."


def test_why_a_job_did_not_begin_is_told(folder, server):
    (folder / "reviewset.yaml").write_text("format: [", encoding="utf-8")
    job = job_of(folder, server)
    begin(job)
    found = ended(job)
    assert "reviewset.yaml" in (found.message or "")
    assert not found.complete


def test_what_would_be_sent_is_worked_out_and_nothing_is_sent(folder, server):
    keys = {VARIABLE: KEY}
    sends = preview_job(job_of(folder, server, "curate", "--step=propose"), VARIABLE, keys)
    assert sends.total("requests") == len(sends.steps[0]["first_request"]) > 0 or sends.first
    assert sends.total("input_tokens") > 0
    judged = preview_job(job_of(folder, server, "judge"), VARIABLE, keys)
    assert judged.total("requests") == 4
    assert "LEFT" in json.dumps(judged.first)
    with pytest.raises(RunError, match="no model 'nobody'"):
        preview_job(job_of(folder, server, "judge", "--model=nobody"), VARIABLE, keys)
    assert server.requests() == []
    assert not (folder / CURATING_FOLDER).exists()
    assert not (folder / JUDGING_FOLDER).exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"command": "import"},
        {"command": "judge"},  # whose folder is another one
        {"arguments": ["--download"]},
        {"arguments": ["/etc/passwd"]},
        {"arguments": [3]},
        {"arguments": "--step=propose"},
        {"model": None},
        {"arguments": ["--base-url=http://a\0b"]},  # which no system takes
        {"model": "\ud800"},
    ],
)
def test_a_record_that_no_page_wrote_is_none(folder, changed):
    record = {"command": "curate", "model": MODEL, "arguments": [], "created": "", "by": ""}
    run = RunFolder(folder, "20260101-000000-a-0000", CURATING_FOLDER)
    run.path.mkdir(parents=True)
    write_json_atomically(run.path / "job.json", record)
    assert len(list_jobs(load_review_set(folder))) == 1
    write_json_atomically(run.path / "job.json", {**record, **changed})
    assert list_jobs(load_review_set(folder)) == []


def test_what_cannot_be_typed_is_refused_and_leaves_nothing(folder):
    with pytest.raises(RunRefused, match="characters"):
        begin(new_job(folder, "curate", MODEL, ["--validator=a\0b"]))
    assert not (folder / CURATING_FOLDER).exists()


@pytest.mark.parametrize(
    "told",
    [
        '{"exit": 0, "unreadable": [], "unasked": Infinity}',
        '{"exit": 0, "steps": [{"step": "rate", "answered": "1", "asked_about": 1}]}',
        '{"exit": 0, "steps": [3]}',
        '{"exit": 0}',
    ],
)
def test_an_end_that_no_command_told_is_told_as_such(folder, told):
    job = new_job(folder, "curate", MODEL, [])
    job.folder.path.mkdir(parents=True)
    (job.folder.path / "told.json").write_text(told, encoding="utf-8")
    assert "cannot be read" in (read_job_result(job).message or "")


@pytest.mark.parametrize(
    ("asked", "case", "more"),
    [
        ("c1", "c1", ""),
        ('["c1", "q-0123456789ab", "0123456789abcdef"]', "c1", "q-0123456789ab"),
        ('["c1", "okapi", "findings", "0123456789abcdef"]', "c1", "okapi, findings"),
        ('["c1", "okapi", "0123456789abcdef", ["omission"]]', "c1", "okapi"),
        ("[", "[", ""),
        ("[3]", "[3]", ""),
    ],
)
def test_what_was_asked_is_named_by_its_case(asked, case, more):
    assert describe_subject(asked) == (case, more)

"""What others see of a run, and what a damaged file makes them see."""

import json

import pytest

from rexview.errors import RunError
from rexview.models.running.run_folder import (
    RunFolder,
    RunLock,
    find_run_folder,
    list_runs,
    new_run_id,
)
from rexview.models.running.run_progress import (
    RunProgress,
    read_progress,
    read_run_command,
    send_run_command,
    write_progress,
)


@pytest.fixture
def run(tmp_path):
    found = RunFolder(tmp_path, "20261123-101500-gpt-5-mini-a1b2")
    found.path.mkdir(parents=True)
    found.spec.write_text("{}")
    return found


def test_a_run_at_work_is_told_from_one_whose_process_died(run):
    write_progress(run, RunProgress(run.id, "m", "running", done=3, total=9, in_flight=2))
    lock = RunLock(run)
    assert read_progress(run).state == "running"
    lock.release()
    died = read_progress(run)
    assert (died.state, died.in_flight, died.done) == ("broken", 0, 3)
    assert "resume" in died.message
    write_progress(run, RunProgress(run.id, "m", "finished", done=9, total=9))
    assert read_progress(run).state == "finished"


def test_another_user_can_see_how_a_run_is(run):
    write_progress(run, RunProgress(run.id, "m", "running"))
    lock = RunLock(run)
    for path in (run.progress, run.lock):
        assert path.stat().st_mode & 0o777 == 0o644
    run.lock.chmod(0o444)
    assert read_progress(run).state == "running"
    lock.release()


def test_a_run_that_has_not_said_anything_yet_is_starting(run):
    lock = RunLock(run)
    assert read_progress(run).state == "starting"
    lock.release()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"outcomes": {"answered": "x"}, "spent": {"usd": []}}',
        '{"state": "dancing", "done": -4, "outcomes": [], "lines": 7}',
        "\0" * 100,
    ],
)
def test_a_damaged_progress_says_nothing(run, content):
    run.progress.write_text(content)
    seen = read_progress(run)
    assert (seen.state, seen.done, seen.total, seen.lines) == ("broken", 0, 0, ())


def test_what_is_wanted_of_a_run(run):
    assert read_run_command(run) == "run"
    for wish in ("pause", "cancel", "run"):
        send_run_command(run, wish)
        assert read_run_command(run) == wish
    run.control.write_text(json.dumps({"wish": "explode"}))
    assert read_run_command(run) == "run"


def test_runs_are_found_by_names_that_are_theirs(run, tmp_path):
    (tmp_path / "runs" / "notes").mkdir()
    later = RunFolder(tmp_path, "20261124-101500-gpt-5-mini-ffff")
    later.path.mkdir()
    later.spec.write_text("{}")
    (tmp_path / "runs" / "20261125-101500-linked-ffff").symlink_to(later.path)
    assert [one.id for one in list_runs(tmp_path)] == [later.id, run.id]
    assert list_runs(tmp_path / "none") == []
    for name in ("../set", "20261125-101500-linked-ffff", "20261123-101500-gone-a1b2", "", "a/b"):
        with pytest.raises(RunError, match="There is no run"):
            find_run_folder(tmp_path, name)


@pytest.mark.parametrize(
    "model", ["gpt-5-mini", "google/medgemma-1.5-4b-it", "../..", "模型", "x" * 300]
)
def test_a_run_is_named_safely_whatever_the_model_is_called(tmp_path, model):
    from datetime import UTC, datetime

    found = RunFolder(tmp_path, new_run_id(model, datetime.now(UTC)))
    found.path.mkdir(parents=True)
    found.spec.write_text("{}")
    assert found.path.parent == tmp_path / "runs"
    assert find_run_folder(tmp_path, found.id).id == found.id

"""Exports beside the pages: two at once, cancelled, told when they fail, gone after their time."""

import shutil
import threading
import time

import pytest
from support.exports.exported_set import exported, write_exported_set

from rexview.errors import ExportRefused, NotAdmitted
from rexview.export.export_formats import EXPORT_FORMATS
from rexview.ui import export as export_jobs
from rexview.ui.export import ExportJobs

CSV = EXPORT_FORMATS["csv"]


@pytest.fixture
def make(tmp_path):
    folder = write_exported_set(tmp_path / "set")
    return lambda check: exported(folder, pseudonyms=True, check=check)


def ended(job):
    for _ in range(1200):
        if not job.is_live:
            return job
        time.sleep(0.05)
    pytest.fail("The export did not end.")


def test_a_file_with_its_key_and_how_far_it_is(make, tmp_path):
    jobs = ExportJobs(tmp_path / "exports")
    job = ended(jobs.begin("3 cases", CSV, make))
    assert job.state == "done"
    assert (job.done, job.total) == (3, 3)
    assert job.file.name == "cases.csv"
    assert "study,ACC-77001,study-001" in job.key
    assert any("pseudonyms" in note for note in job.notes)
    jobs.drop(job)
    assert job.file is None
    assert not job.folder.exists()


def test_two_at_once_and_a_waiting_one_can_be_cancelled(make, tmp_path):
    jobs, go = ExportJobs(tmp_path / "exports"), threading.Event()

    def held(check):
        go.wait(60)
        return make(check)

    begun = [jobs.begin(str(number), CSV, held) for number in range(3)]
    for _ in range(200):
        if sorted(job.state for job in begun) == ["waiting", "working", "working"]:
            break
        time.sleep(0.05)
    waiting = next(job for job in begun if job.state == "waiting")
    assert sum(job.state == "working" for job in begun) == 2
    jobs.drop(waiting)
    go.set()
    states = [ended(job).state for job in begun if job is not waiting]
    assert states == ["done", "done"]
    assert ended(waiting).state == "cancelled"
    assert not waiting.folder.exists()


def test_one_that_fails_says_why_and_leaves_nothing(tmp_path):
    def refused(check):
        raise ExportRefused("No case matches the filter.")

    def broken(check):
        raise ValueError("secret")

    jobs = ExportJobs(tmp_path / "exports")
    job = ended(jobs.begin("none", CSV, refused))
    assert (job.state, job.said) == ("failed", "No case matches the filter.")
    job = ended(jobs.begin("none", CSV, broken))
    assert job.state == "failed"
    assert "secret" not in job.said
    assert not job.folder.exists()


def test_too_many_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(export_jobs, "_MOST_JOBS", 1)
    jobs, go = ExportJobs(tmp_path / "exports"), threading.Event()

    def held(check):
        go.wait(60)
        raise ExportRefused("Enough.")

    first = jobs.begin("one", CSV, held)
    with pytest.raises(ExportRefused, match="Too many"):
        jobs.begin("two", CSV, held)
    go.set()
    ended(first)


def test_a_file_goes_after_its_time(make, monkeypatch, tmp_path):
    monkeypatch.setattr(export_jobs, "_KEPT_S", 0.05)
    jobs = ExportJobs(tmp_path / "exports")
    job = ended(jobs.begin("3 cases", CSV, make))
    for _ in range(200):
        if not job.folder.exists():
            break
        time.sleep(0.05)
    assert job.file is None
    assert not job.folder.exists()


def test_a_folder_that_another_server_tidied_away_is_made_again(make, tmp_path):
    jobs = ExportJobs(tmp_path / "exports")
    shutil.rmtree(tmp_path / "exports")
    assert ended(jobs.begin("3 cases", CSV, make)).state == "done"
    shutil.rmtree(tmp_path / "exports")
    (tmp_path / "exports").write_text("in the way", encoding="utf-8")
    with pytest.raises(ExportRefused, match="no room"):
        jobs.begin("3 cases", CSV, make)


def test_one_ends_with_what_allowed_it(make, tmp_path):
    jobs, is_signed_in = ExportJobs(tmp_path / "exports"), threading.Event()
    is_signed_in.set()

    def check():
        if not is_signed_in.is_set():
            raise NotAdmitted("You have signed out.")

    def signs_out_meanwhile(go_on):
        is_signed_in.clear()
        return make(go_on)

    job = ended(jobs.begin("3 cases", CSV, signs_out_meanwhile, check))
    assert (job.state, job.said, job.file) == ("failed", "You have signed out.", None)
    assert not job.folder.exists()

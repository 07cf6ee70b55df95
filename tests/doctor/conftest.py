"""Folders of the test's own, and one check asked at a time."""

import pytest
from support.small_set import write_set

from rexview.doctor.examination import CHECKS, run_checks
from rexview.doctor.finding import CheckContext
from rexview.reviewset import load_with_problems
from rexview.settings import Settings


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    return write_set(tmp_path / "set")


@pytest.fixture
def look(tmp_path):
    """Return a function that asks one check: what it found, by what it is about."""

    def look(part, limit=30, ask="", **given):
        known = CheckContext(Settings(cache_folder=tmp_path / "cache", **given), ask=ask)
        if part == "storage":
            known.opened.set_result(load_with_problems(known.settings.review_set)[0])
        findings, _ = run_checks(known, limit, {part: CHECKS[part]})
        return {one.about: one for one in findings}

    return look

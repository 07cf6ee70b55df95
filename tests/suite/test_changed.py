"""Which tests a change touches."""

import subprocess

import pytest
from support import ROOT

from tools import changed
from tools.changed import changed_since, touched_tests

TESTS = ROOT / "tests"


def chosen(*names):
    found = touched_tests(ROOT / name for name in names)
    return {path.relative_to(TESTS).as_posix() for path in found}


def test_a_module_is_tested_by_what_imports_it_directly_or_through_others():
    found = chosen("rexview/stats/reader_agreement.py")
    assert "stats/test_agreement.py" in found
    assert "cli/test_export.py" in found, "the command line imports it through others"
    assert "test_geometry.py" not in found


def test_a_page_is_tested_by_what_opens_it():
    found = chosen("pages/browse.py")
    assert {"browser/test_browse.py", "pages/test_browse_page.py"} <= found
    assert "browser/test_scores.py" not in found
    assert chosen("rexview/ui/browse/case_list.py") >= found, "which imports the page's widgets"


def test_a_script_or_a_style_counts_as_the_modules_beside_it():
    assert "browser/test_browse.py" in chosen("rexview/ui/browse/browse.css")


def test_what_tests_share_touches_those_that_import_it():
    found = chosen("tests/support/small_disk.py")
    assert "cli/test_export.py" in found
    assert "test_geometry.py" not in found


def test_a_changed_test_is_run_and_a_text_is_not_tested():
    assert chosen("tests/test_geometry.py", "CHANGELOG.md") == {"test_geometry.py"}
    assert chosen() == set()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")

    def git(*arguments):
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    (tmp_path / "old.py").write_text("a = 1\n", encoding="utf-8")
    (tmp_path / "same.py").write_text("b = 1\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("out\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-m", "First")
    return tmp_path


def test_what_git_does_not_know_yet_is_a_change(repository):
    assert changed_since() == set()
    (repository / "old.py").write_text("a = 2\n", encoding="utf-8")
    (repository / "new.py").write_text("c = 1\n", encoding="utf-8")
    (repository / "out").write_text("ignored", encoding="utf-8")
    assert changed_since() == {repository / "old.py", repository / "new.py"}

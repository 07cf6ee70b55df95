"""A process that dies while tests run side by side: the others end, and nothing is left out."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
DIES = "import os\n\ndef test_first():\n    pass\n\ndef test_dies():\n    os._exit(1)\n"
PASSES = "def test_one():\n    pass\n\ndef test_two():\n    pass\n"
HOOK = f"""
import sys

sys.path.insert(0, {str(TESTS)!r})
from support.whole_files import WholeFiles


def pytest_xdist_make_scheduler(config, log):
    return WholeFiles(config, log)
"""


@pytest.mark.parametrize(
    ("files", "failed", "passed"),
    [
        ((DIES + PASSES, PASSES), 1, 5),
        ((PASSES, PASSES, DIES), 1, 5),
        ((DIES, DIES + PASSES), 2, 4),
        ((DIES, PASSES, DIES.replace("test_first", "_none")), 2, 3),
    ],
)
def test_what_a_dead_process_left_is_done_once(tmp_path, files, failed, passed):
    (tmp_path / "conftest.py").write_text(HOOK, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for number, text in enumerate(files):
        (tmp_path / f"test_{number}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    options = ["--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder"]
    ended = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=200
    )
    assert ended.returncode == 1
    assert f"{failed} failed, {passed} passed" in ended.stdout, ended.stdout

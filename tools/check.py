"""The one check: lint, format, types of Python and JavaScript, tests.

``python -m tools.check [--fast]``.

It first finds a browser for the browser tests, or installs one (:mod:`tools.browser`), installs
what runs models on this machine, and gets the CT from which a part of the demonstration set is made
again; without it that test skips. Browser tests that fail beside others are run once more, one at a
time, and named: a busy machine can be too slow for two of them. What fails alone, too, fails the
check.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tools.browser import BrowserMissing, ensure_browser
from tools.demo.body import source

_PYTEST = (sys.executable, "-m", "pytest", "-q")
_SIDE_BY_SIDE = ("--numprocesses=auto", "--dist=loadfile")
_TESTS_FAILED = 1
_LOCAL_MODELS = ("torch==2.13.0", "-r", "requirements-models.txt", "accelerate>=1.15,<2")
"""Not in the lock file: wheels of torch, which all need, differ by processor and graphics card
under one version. ``transformers serve``, which tests ask, needs accelerate."""
_ONE_THREAD_EACH = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""For tests that run side by side: the cores are theirs already."""
ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> int:
    """Run every step, go on after a failed one, and return 1 if any failed."""
    fast = "--fast" in arguments
    steps = [
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
        [sys.executable, "-m", "mypy"],
        [sys.executable, "-m", "tools.javascript.check"],
        # in their order: the longest tests are no file's many, and stand far from the end
        [*_PYTEST, "-m", "not browser", *_SIDE_BY_SIDE, "--no-loadscope-reorder"],
    ]
    environment = {**_ONE_THREAD_EACH, **os.environ}
    failed = []
    if not fast:
        try:
            environment["REXVIEW_CHROMIUM"] = str(ensure_browser())
        except BrowserMissing as error:
            print(f"browser: {error}", file=sys.stderr)
            failed.append("browser")
        if _run([sys.executable, "-m", "pip", "install", "-q", *_LOCAL_MODELS], environment):
            failed.append("packages for models on this machine")
        _get_ct()
    for step in steps:
        if _run(step, environment):
            failed.append(step[2])
    if not fast and not _browser_tests(environment):
        failed.append("browser tests")
    print(f"--- failed: {', '.join(failed)}" if failed else "--- all checks passed")
    return 1 if failed else 0


def _get_ct() -> None:
    work = source.work_folder()
    try:
        source.find(work)
    except source.SourceMissing:
        try:
            source.fetch(work)
        except subprocess.CalledProcessError as error:
            print(f"The CT could not be had, so one test skips: {error}", file=sys.stderr)


def _browser_tests(environment: dict[str, str]) -> bool:
    """Run the browser tests side by side, then alone those that failed; say whether all passed."""
    tests = [*_PYTEST, "-m", "browser"]
    status = _run([*tests, *_SIDE_BY_SIDE], environment)
    if status == _TESTS_FAILED:
        print("--- once more, one at a time: what failed beside others", flush=True)
        status = _run([*tests, "--last-failed"], environment)
    return status == 0


def _run(step: list[str], environment: dict[str, str]) -> int:
    """Run one step, say what it is and how long it took, and return its exit status."""
    print(f"--- {' '.join(step[1:])}", flush=True)
    began = time.monotonic()
    status = subprocess.run(step, cwd=ROOT, env=environment, check=False).returncode
    print(f"--- {time.monotonic() - began:.0f} s", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The one check: lint, format, types, tests. ``python -m tools.check [--fast]``.

It first finds a browser for the browser tests, or installs one (:mod:`tools.browser`). Browser
tests that fail beside others are run once more, one at a time, and named: a busy machine can be too
slow for two of them. What fails alone, too, fails the check.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.browser import BrowserMissing, ensure_browser

_PYTEST = (sys.executable, "-m", "pytest", "-q")
_SIDE_BY_SIDE = ("--numprocesses=auto", "--dist=loadfile")
_TESTS_FAILED = 1
ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> int:
    """Run every step, go on after a failed one, and return 1 if any failed."""
    fast = "--fast" in arguments
    steps = [
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
        [sys.executable, "-m", "mypy"],
        [*_PYTEST, "-m", "not browser", *_SIDE_BY_SIDE],
    ]
    environment = dict(os.environ)
    failed = []
    if not fast:
        try:
            environment["REXVIEW_CHROMIUM"] = str(ensure_browser())
        except BrowserMissing as error:
            print(f"browser: {error}", file=sys.stderr)
            failed.append("browser")
    for step in steps:
        name = step[2]
        print(f"--- {' '.join(step[1:])}", flush=True)
        if subprocess.run(step, cwd=ROOT, env=environment, check=False).returncode:
            failed.append(name)
    if not fast and not _browser_tests(environment):
        failed.append("browser tests")
    print(f"--- failed: {', '.join(failed)}" if failed else "--- all checks passed")
    return 1 if failed else 0


def _browser_tests(environment: dict[str, str]) -> bool:
    """Run the browser tests side by side, then alone those that failed; say whether all passed."""
    tests = [*_PYTEST, "-m", "browser"]
    print("--- -m pytest -m browser", flush=True)
    found = subprocess.run([*tests, *_SIDE_BY_SIDE], cwd=ROOT, env=environment, check=False)
    if found.returncode == _TESTS_FAILED:
        print("--- once more, one at a time: what failed beside others", flush=True)
        found = subprocess.run([*tests, "--last-failed"], cwd=ROOT, env=environment, check=False)
    return found.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

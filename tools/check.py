"""The one check: lint, format, types, tests. ``python -m tools.check [--fast]``.

It first finds a browser for the browser tests, or installs one (:mod:`tools.browser`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.browser import BrowserMissing, ensure_browser

_PYTEST = (sys.executable, "-m", "pytest", "-q", "--numprocesses=auto", "--dist=loadfile")
ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> int:
    """Run every step, go on after a failed one, and return 1 if any failed."""
    fast = "--fast" in arguments
    steps = [
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
        [sys.executable, "-m", "mypy"],
        [*_PYTEST, "-m", "not browser"],
    ]
    if not fast:
        steps.append([*_PYTEST, "-m", "browser"])
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
    print(f"--- failed: {', '.join(failed)}" if failed else "--- all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

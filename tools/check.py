"""The one check: lint, format, types of Python and JavaScript, tests.

``python -m tools.check [--fast | --all | --changed [COMMIT]]``

``--fast`` leaves out the browser and installs nothing. ``--all`` adds what takes minutes and rarely
breaks (``tests/support/slow.py``), all browser tests beside one walk of each flow
(``tests/support/browser/walks.py``), and 500 examples of each property in place of 20: for a
release, and at the end of larger work. ``--changed`` runs the tests of what differs from a
commit, by default the last one (:mod:`tools.changed`), and installs nothing.

The check first finds a browser, or installs one (:mod:`tools.browser`), and programs that tests
need (:mod:`tools.programs`). ``--all`` also installs torch and the packages of
``requirements-dev-all.lock``, and gets the CT that a part of the demonstration set is made of.
Tests skip where a package, a program or the CT that they need is missing.
Types, style and JavaScript are checked meanwhile. Tests begin with the longest files, so that no
processor waits at the end. Nothing is tried a second time. The time that each part took is printed
at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.browser import BrowserMissing, ensure_browser, find_browser
from tools.changed import changed_since, touched_tests
from tools.demo.body import source
from tools.programs import ensure_programs

_PYTEST = (sys.executable, "-m", "pytest", "-q")
_PROCESSES = (os.cpu_count() or 1) + 1
"""One more than there are processors: with one each these stood idle for a quarter of the time, as
tests wait for servers and pages. On two, 461 browser tests took 228 s instead of 264 s."""
_SIDE_BY_SIDE = (f"--numprocesses={_PROCESSES}", "--dist=loadfile", "--no-loadscope-reorder")
"""Files in the order of :func:`tests.conftest.pytest_collection_modifyitems`: the longest first, by
what :mod:`tools.test_times` kept."""
_BROWSER_TEST_S = 300
"""The longest takes 100 s beside much else; what hangs ends and is named."""
_ALL_PACKAGES = ("-r", "requirements-dev-all.lock")
_LOCAL_MODELS = ("torch==2.13.0", "-r", "requirements-models.txt", "accelerate>=1.15,<2")
"""Not in the lock file: wheels of torch, which all need, differ by processor and graphics card
under one version. ``transformers serve``, which tests ask, needs accelerate."""
_ONE_THREAD_EACH = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""For tests that run side by side: the cores are theirs already."""
ROOT = Path(__file__).resolve().parents[1]
_TOOK: list[tuple[str, float]] = []
"""What each step took, in seconds."""


def main(arguments: list[str]) -> int:
    """Run every step, go on after a failed one, and return 1 if any failed."""
    fast = "--fast" in arguments
    only, everything = "--changed" in arguments, "--all" in arguments
    environment = {**_ONE_THREAD_EACH, **os.environ}
    # the tests start the app and the command line hundreds of times: compiled once, not each time
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if everything:
        environment.setdefault("HYPOTHESIS_PROFILE", "explore")
    normal = "" if everything else " and not slow"
    needs_no_packages = [
        [sys.executable, "-m", "mypy"],  # the longest
        [sys.executable, "-m", "tools.javascript.check"],
        [sys.executable, "-m", "tools.javascript.unit_tests"],
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
    ]
    failed = []
    with ThreadPoolExecutor(max_workers=1) as beside:
        looked_at = beside.submit(_failed, needs_no_packages, dict(environment))
        if only:
            failed += _test_changed(arguments, environment)
        else:
            if not fast:
                failed += _get_ready(environment, everything)
            failed += _failed(
                [[*_PYTEST, "-m", f"not browser{normal}", *_SIDE_BY_SIDE]], environment
            )
        failed += looked_at.result()
    if not (fast or only):
        # of the folder only: the rest takes long to collect
        browser = [*_PYTEST, "-m", f"browser{normal}", "tests/browser", *_SIDE_BY_SIDE]
        failed += _failed([[*browser, "-o", f"timeout={_BROWSER_TEST_S}"]], environment)
    print("\n".join(["--- seconds by part", *(f"{took:6.0f}  {what}" for what, took in _TOOK)]))
    print(f"--- failed: {', '.join(failed)}" if failed else "--- all checks passed")
    return 1 if failed else 0


def _test_changed(arguments: list[str], environment: dict[str, str]) -> list[str]:
    """Run the tests of what differs from a commit; return what failed."""
    after = arguments[arguments.index("--changed") + 1 :]
    files = [str(path.relative_to(ROOT)) for path in touched_tests(changed_since(*after[:1]))]
    print(f"--- {len(files)} test files import what changed", flush=True)
    if not files:
        return []
    browser = find_browser()
    if browser is not None:
        environment["REXVIEW_CHROMIUM"] = str(browser)
    return _failed([[*_PYTEST, "-m", "not slow", *_SIDE_BY_SIDE, *files]], environment)


def _get_ready(environment: dict[str, str], everything: bool) -> list[str]:
    """Install what the tests need besides the lock file; return what could not be installed."""
    missing = []
    compiling = _compile_tests(environment)
    try:
        environment["REXVIEW_CHROMIUM"] = str(ensure_browser())
    except BrowserMissing as error:
        print(f"browser: {error}", file=sys.stderr)
        missing.append("browser")
    print(f"programs {ensure_programs()}", flush=True)
    if everything:
        for packages in (_ALL_PACKAGES, _LOCAL_MODELS):
            if _run([sys.executable, "-m", "pip", "install", "-q", *packages], environment):
                missing.append(f"packages {' '.join(packages)}")
        _get_ct()
    compiling.wait()
    return missing


def _compile_tests(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Begin to collect the tests: compiled once for all processes, while others are waited for."""
    collect = [*_PYTEST, "--collect-only"]
    return subprocess.Popen(collect, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)


def _get_ct() -> None:
    work = source.work_folder()
    try:
        source.find(work)
    except source.SourceMissing:
        try:
            source.fetch(work)
        except subprocess.CalledProcessError as error:
            print(f"The CT could not be had, so one test skips: {error}", file=sys.stderr)


def _failed(steps: list[list[str]], environment: dict[str, str]) -> list[str]:
    """Run steps one after another, all of them, and return the names of those that failed."""
    return [step[2] for step in steps if _run(step, environment)]


def _run(step: list[str], environment: dict[str, str]) -> int:
    """Run one step, say what it is and how long it took, and return its exit status.

    Each line is written in one go: another step may be writing, too.
    """
    print(f"--- {' '.join(step[1:])}\n", end="", flush=True)
    began = time.monotonic()
    status = subprocess.run(step, cwd=ROOT, env=environment, check=False).returncode
    _TOOK.append((" ".join(step[2:7]), time.monotonic() - began))
    print(f"--- {_TOOK[-1][1]:.0f} s: {' '.join(step[1:])}\n", end="", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

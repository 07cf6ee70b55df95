"""Run all checks: lint, format, types of Python and JavaScript, tests.

``python -m tools.check [--fast | --all | --changed [COMMIT]]``

``--fast`` leaves out the browser and installs nothing. ``--all`` is for releases and the end of
larger work. It adds slow tests that rarely fail (``tests/support/slow.py``), all browser tests
instead of one walk of each flow (``tests/support/browser/walks.py``), and 500 examples of each
property instead of 20. ``--changed`` runs the tests of what differs from a commit, by default the
last one (:mod:`tools.changed`), and installs nothing.

The check first finds or installs a browser (:mod:`tools.browser`) and programs that tests need
(:mod:`tools.programs`). ``--all`` also installs torch and the packages of
``requirements-dev-all.lock``, and fetches the CT behind a part of the demonstration set. Tests skip
if a package, a program or the CT is missing. Types, style, JavaScript and the tests with a browser
run beside the other tests; alone, browser tests leave processors idle while they wait for pages.
The output of such a step is printed when it ends. The longest test files start first. Nothing is
retried. The time of each part is printed at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryFile

from tools.browser import BrowserMissing, ensure_browser, find_browser
from tools.changed import changed_since, touched_tests
from tools.demo.body import source
from tools.programs import ensure_programs

_PYTEST = (sys.executable, "-m", "pytest", "-q")
_PROCESSORS = os.cpu_count() or 1
_WHOLE_FILES = ("--dist=loadfile", "--no-loadscope-reorder")
"""Files in the order of :func:`tests.conftest.pytest_collection_modifyitems`: the longest first, by
the times stored by :mod:`tools.test_times`."""
_SIDE_BY_SIDE = (f"--numprocesses={_PROCESSORS + 1}", *_WHOLE_FILES)
"""One more than processors: with one each, these idled for a quarter of the time."""
_BROWSERS_SIDE_BY_SIDE = (f"--numprocesses={_PROCESSORS}", *_WHOLE_FILES)
"""Processes of their own: a browser keeps the event loop of the process that drives it."""
_BROWSER_TEST_S = 300
"""The longest test takes 100 s under load; a hanging test ends and is named."""
_ALL_PACKAGES = ("-r", "requirements-dev-all.lock")
_LOCAL_MODELS = ("torch==2.13.0", "-r", "requirements-models.txt", "accelerate>=1.15,<2")
"""Not in the lock file: wheels of torch differ by processor and graphics card under one version.
``transformers serve``, which tests use, needs accelerate."""
_ONE_THREAD_EACH = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""For tests that run in parallel: all cores are already in use."""
ROOT = Path(__file__).resolve().parents[1]
_TOOK: list[tuple[str, float]] = []
"""Duration of each step in seconds."""


def main(arguments: list[str]) -> int:
    """Run every step, even after a failure, and return 1 if any failed."""
    fast = "--fast" in arguments
    only, everything = "--changed" in arguments, "--all" in arguments
    environment = {**_ONE_THREAD_EACH, **os.environ}
    # tests start the app and the command line hundreds of times: compile once, not each time
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
    with ThreadPoolExecutor(max_workers=2) as pool:
        beside = [pool.submit(_failed, needs_no_packages, dict(environment), whole=True)]
        if only:
            failed += _test_changed(arguments, environment)
        else:
            if not fast:
                failed += _get_ready(environment, everything)
                # this folder only: collecting the rest takes long
                browser = [*_PYTEST, "-m", f"browser{normal}", "tests/browser"]
                browser += [*_BROWSERS_SIDE_BY_SIDE, "-o", f"timeout={_BROWSER_TEST_S}"]
                beside.append(pool.submit(_failed, [browser], dict(environment), whole=True))
            failed += _failed(
                [[*_PYTEST, "-m", f"not browser{normal}", *_SIDE_BY_SIDE]], environment
            )
        for one in beside:
            failed += one.result()
    print("\n".join(["--- seconds by part", *(f"{took:6.0f}  {what}" for what, took in _TOOK)]))
    print(f"--- failed: {', '.join(failed)}" if failed else "--- all checks passed")
    return 1 if failed else 0


def _test_changed(arguments: list[str], environment: dict[str, str]) -> list[str]:
    """Run the tests affected since a commit; return the failed steps."""
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
    if compiling:
        compiling.wait()
    return missing


def _compile_tests(environment: dict[str, str]) -> subprocess.Popen[bytes] | None:
    """Start collecting the tests in the background: this compiles them once for all processes.

    None if an earlier run compiled them: each process compiles the few that changed since.
    """
    if any((ROOT / "tests" / "__pycache__").glob(f"conftest.{sys.implementation.cache_tag}-*.pyc")):
        return None
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


def _failed(
    steps: list[list[str]], environment: dict[str, str], *, whole: bool = False
) -> list[str]:
    """Run all steps one after another, and return the names of the failed ones."""
    return [step[2] for step in steps if _run(step, environment, whole=whole)]


def _run(step: list[str], environment: dict[str, str], *, whole: bool = False) -> int:
    """Run one step, print its name and duration, and return its exit status.

    Each line is printed at once, as another step may be printing too. With ``whole`` the output of
    the step is printed when it ends.
    """
    print(f"--- {' '.join(step[1:])}\n", end="", flush=True)
    began = time.monotonic()
    with TemporaryFile() if whole else nullcontext() as output:
        status = subprocess.run(
            step, cwd=ROOT, env=environment, check=False, stdout=output, stderr=output
        ).returncode
        if output:
            output.seek(0)
        printed = output.read().decode(errors="replace") if output else ""
    took = time.monotonic() - began
    _TOOK.append((" ".join(step[2:7]), took))
    print(f"{printed}--- {took:.0f} s: {' '.join(step[1:])}\n", end="", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

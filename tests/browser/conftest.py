"""A real browser, and real servers for it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from chromium import VARIABLE, find_chromium
from viewer_modules import serve_modules

ROOT = Path(__file__).parents[2]
APPS = Path(__file__).parent / "apps"
START_S = 60


@pytest.fixture(scope="session")
def browser():
    """Return a running Chromium; the tests fail, not skip, without one."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    path = find_chromium()
    if path is None:
        pytest.fail(
            f"No Chromium or Chrome was found. Install one, set {VARIABLE} to its path, or run "
            "`python -m playwright install chromium`."
        )
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="session")
def start_app(tmp_path_factory):
    """Return a function that starts a Streamlit app and returns its address."""
    running = []

    def start(script: Path, *arguments: str, **environment: str) -> str:
        port = _free_port()
        log = tmp_path_factory.mktemp("streamlit") / "log.txt"
        flags = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
        flags += ["--server.fileWatcherType=none", "--browser.gatherUsageStats=false"]
        command = [sys.executable, "-m", "streamlit", "run", str(script), *flags, *arguments]
        paths = os.pathsep.join([str(ROOT), str(script.parent)])
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": paths, **environment},
                cwd=ROOT,
            )
        running.append(process)
        address = f"http://127.0.0.1:{port}/"
        ends = time.monotonic() + START_S
        while not _answers(f"{address}_stcore/health"):
            if process.poll() is not None or time.monotonic() > ends:
                pytest.fail(f"The app did not start:\n{log.read_text(errors='replace')}")
            time.sleep(0.1)
        return address

    yield start
    for process in running:
        process.terminate()
    for process in running:
        process.wait(timeout=20)


@pytest.fixture(scope="session")
def contexts(browser):
    """Return browser contexts by their options: kept, so that Streamlit's own files are cached."""
    opened = {}
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def new_page(browser, contexts):
    """Return a function that opens a page of its own; an uncaught error on it fails the test."""
    pages = []
    errors = []

    def open_page(width: int = 1440, height: int = 900, **options):
        key = (width, height, *sorted(options.items()))
        if key not in contexts:
            size = {"width": width, "height": height}
            contexts[key] = browser.new_context(viewport=size, **options)
        page = contexts[key].new_page()
        pages.append(page)
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: errors.append(str(error.stack or error)))
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not errors, "\n".join(errors)


@pytest.fixture(scope="module")
def modules(browser):
    """Return a page that can import the viewer's modules."""
    context = browser.new_context()
    page = context.new_page()
    serve_modules(page)
    yield page
    context.close()

"""A real browser, and real servers for it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from viewer_modules import serve_modules

from rexview.bench.serving import ROOT, serve
from tools.browser import ARGUMENTS, find_browser

APPS = Path(__file__).parent / "apps"


@pytest.fixture(scope="session")
def browser():
    """Return a running Chromium; the tests fail, not skip, without one."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    path = find_browser()
    if path is None:
        pytest.fail("No Chromium or Chrome was found: python -m tools.check installs one.")
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def start_app(tmp_path_factory):
    """Return a function that starts a Streamlit app and returns its address."""
    with ExitStack() as running:

        def start(script: Path, *arguments: str, base_path: str = "", **environment: str) -> str:
            log = tmp_path_factory.mktemp("streamlit") / "log.txt"
            options = {"server.fileWatcherType": "none", "server.baseUrlPath": base_path}
            paths = os.pathsep.join([str(ROOT), str(script.parent)])
            server = serve(
                script,
                *arguments,
                options={name: value for name, value in options.items() if value},
                environment={"PYTHONPATH": paths, **environment},
                log=log,
            )
            return running.enter_context(server) + "/"

        yield start


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

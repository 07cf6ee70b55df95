"""A real browser, and real servers for it."""

from __future__ import annotations

import os
from collections import deque
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.browser.names import forget_name, have_names, name_browsers_of
from support.browser.waiting import PATIENCE_MS, watch

from bench.serving import ROOT, BenchUnavailable, serve
from tools.browser import ARGUMENTS, START_LIMIT_MS, find_browser

SLOWED = float(os.environ.get("REXVIEW_SLOWED", "1"))
"""How many times slower than it is the pages take the machine to be, to find what waits too little.
"""
HERE = ("localhost", "127.0.0.1")
TOUR_DONE = "origin === 'null' || localStorage.setItem('rexview-viewer-tour', '\"done\"')"
"""Whoever opens a page in a test has been on the tour: its card would lie over what is pressed.
An empty page has nowhere to keep that."""
_CLEAR = "origin === 'null' || (localStorage.clear(), sessionStorage.clear())"
_AS_LOADED = f"""() => {{
  {_CLEAR};
  {TOUR_DONE};
  getSelection().removeAllRanges();
  document.activeElement?.blur();
  document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
}}"""
_NOT_OPTIMISED = "--js-flags=--no-opt"
"""V8 does not compile scripts a third time: no test's page lives so long that it pays. Of a page's
processor time an eighth goes."""
_OPENED = pytest.StashKey[list]()
_FAILED = pytest.StashKey[bool]()
_LINES_SHOWN = 60
_LASTS = (
    "add_init_script",
    "emulate_media",
    "expose_binding",
    "expose_function",
    "route_web_socket",
    "set_default_navigation_timeout",
    "set_extra_http_headers",
)
"""What a test does to a page that the next document in it finds, too."""
_SERVED = set()
"""Addresses of all servers so far."""


@pytest.fixture(scope="session")
def browser():
    """Return a running Chromium; the tests fail, not skip, without one."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    path = find_browser()
    if path is None:
        pytest.fail("No Chromium or Chrome was found: python -m tools.check installs one.")
    playwright_api.expect.set_options(timeout=PATIENCE_MS)
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=[*ARGUMENTS, _NOT_OPTIMISED], timeout=START_LIMIT_MS
        )
        new_context = browser.new_context
        browser.new_context = lambda **options: have_names(new_context(**options))
        yield browser
        browser.close()


@contextmanager
def _starting(tmp_path_factory):
    """Give a function that serves the app; what it has started ends with the block."""
    with ExitStack() as running:

        def start(
            review_set: Path | None = None,
            *,
            script: Path = ROOT / "app.py",
            data: Path | None = None,
            base_path: str = "",
            **environment: str,
        ) -> str:
            home = tmp_path_factory.mktemp("server")
            log = home / "log.txt"
            options = {"server.fileWatcherType": "none", "server.baseUrlPath": base_path}
            serving = partial(
                serve,
                script,
                *([review_set] if review_set else []),
                options={name: value for name, value in options.items() if value},
                environment={
                    "PYTHONPATH": os.pathsep.join([str(ROOT), str(script.parent)]),
                    "REXVIEW_CACHE": str(home / "cache"),
                    "XDG_DATA_HOME": str(data or home / "data"),
                    **environment,
                },
                log=log,
            )
            try:
                address = running.enter_context(serving())
                while address in _SERVED:  # what a browser keeps of it is of an earlier server
                    address = running.enter_context(serving())
                _SERVED.add(address)
                name_browsers_of(address, data or home / "data")
                return address + "/"
            except BenchUnavailable as error:
                said = log.read_text(encoding="utf-8", errors="replace")[-4000:]
                pytest.fail(f"{error}\n{said}")

        yield start


@pytest.fixture(scope="module")
def start_app(tmp_path_factory):
    """Return a function that serves the app, or another script, and returns its address.

    It opens the review set in a folder, or the demo. What it keeps lies in ``data``, by default a
    folder of its own. It serves until the tests of the module are done.
    """
    with _starting(tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The address of the app on the demo, as it opens when nothing else is given; only read."""
    with _starting(tmp_path_factory) as start:
        yield start()


@pytest.fixture(scope="session")
def contexts(browser):
    """Return browser contexts by their options: kept, so that Streamlit's own files are cached."""
    opened = {}
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture(scope="session")
def kept(contexts):
    """Pages put away by their options: empty, and warm.

    A page that has loaded the app loads it again for two thirds of the processor time.
    """
    pages = {}
    yield pages
    for opened in pages.values():
        opened.page.close()


class Opened:
    """A page that a test has opened, and what it said."""

    def __init__(self, page, key):
        self.page = page
        self.key = key
        self.marked = False
        """Whether a test has done something to it that lasts."""
        self.errors = []
        self.said = deque(maxlen=_LINES_SHOWN)
        page.set_default_timeout(PATIENCE_MS)
        watch(page)
        page.on("pageerror", lambda error: self.errors.append(str(error.stack or error)))
        page.on("console", self._hear)
        page.on("request", lambda request: self._sent(request.url))
        page.on("websocket", lambda socket: self._sent(socket.url))
        page.on("requestfailed", lambda one: self.said.append(f"not had: {one.url} {one.failure}"))
        if SLOWED > 1:
            devtools = page.context.new_cdp_session(page)
            devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        for name in _LASTS:
            setattr(page, name, self._marking(getattr(page, name)))
        self._listeners = []
        self._listen, page.on = page.on, self._note_listener

    def _note_listener(self, event, act):
        self._listeners.append((event, act))
        self._listen(event, act)

    def _marking(self, act):
        def marking(*arguments, **more):
            self.marked = True
            return act(*arguments, **more)

        return marking

    def put_away(self, kept):
        """Keep the page for the next test where nothing of this one is left in it; else close it.

        Of several with the same options one is kept.
        """
        if self.key in kept or self.marked or not self._emptied():
            self.page.close()
        else:
            kept[self.key] = self

    def leave(self, standing):
        """Keep the page with the app in it for the next test of the module; else close it."""
        if self.key in standing or self.marked or not self._emptied(_AS_LOADED, None):
            self.page.close()
        else:
            standing[self.key] = self

    def _emptied(self, clear=_CLEAR, address="about:blank"):
        """Take what the test has left out of the page; say whether that could be done."""
        page = self.page
        for event, act in self._listeners:
            with suppress(KeyError):  # the test has done so
                page.remove_listener(event, act)
        self._listeners.clear()
        try:
            page.unroute_all(behavior="ignoreErrors")
            page.evaluate(clear)
            if address:
                page.goto(address)
            else:
                page.mouse.move(0, 0)
            page.set_viewport_size({"width": self.key[0], "height": self.key[1]})
        except Exception:  # closed, or just on its way to another document
            return False
        page.set_default_timeout(PATIENCE_MS)
        return True

    def told_errors(self):
        """Return the errors so far, and forget what the page said."""
        errors, self.errors = self.errors, []
        self.said.clear()
        return errors

    def _hear(self, message):
        """Keep what the console says; that the page did what its policy forbids is an error."""
        self.said.append(f"{message.type}: {message.text}")
        if message.type == "error" and "Content Security Policy" in message.text:
            self.errors.append(message.text)

    def _sent(self, url):
        """Take it for an error where a page asks another host: no page of ours does."""
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname not in HERE:
            self.errors.append(f"asked outside: {url}")

    def tell(self, folder, name):
        """Save what the page shows under ``folder``; return that and what it said, as text."""
        picture = folder / f"{name}.png"
        script = """() => [document.querySelector('[data-testid=stApp]')?.dataset
            .testScriptState ?? '', document.body.innerText]"""
        try:
            state, words = self.page.evaluate(script)
            self.page.screenshot(path=picture, timeout=20_000)
            (folder / f"{name}.html").write_text(self.page.content(), encoding="utf-8")
        except Exception as error:  # what is told must not hide why the test failed
            state, words = "", f"(the page could not be saved: {error})"
        shown = "\n".join([line for line in words.splitlines() if line.strip()][:_LINES_SHOWN])
        parts = [self.page.url, f"script: {state}", f"saved as {picture}", shown, *self.said]
        return "\n".join(parts)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Show with a failed test what its pages showed."""
    report = yield
    if report.failed and call.when in ("setup", "call"):
        item.stash[_FAILED] = True
        folder = item.funcargs.get("tmp_path")
        for number, opened in enumerate(item.stash.get(_OPENED, [])):
            report.sections.append((f"Page {number}", opened.tell(folder, f"page{number}")))
    return report


@pytest.fixture
def opened_pages(request, tmp_path):
    """The pages that the test has opened.

    An uncaught error on one fails the test; so does what its Content-Security-Policy forbids, and
    a request to another host.
    """
    opened_pages = request.node.stash.setdefault(_OPENED, [])
    yield opened_pages
    errors = [error for opened in opened_pages for error in opened.told_errors()]
    assert not errors, "\n".join(errors)


@pytest.fixture
def new_page(opened_pages, browser, contexts, kept):
    """Return a function that opens a page of its own: new, or put away by another test."""
    shown = []

    def open_page(width: int = 1440, height: int = 900, **options):
        shown.append(_open(browser, contexts, kept, width, height, **options))
        opened_pages.append(shown[-1])
        return shown[-1].page

    yield open_page
    for opened in shown:
        opened.put_away(kept)
        forget_name(contexts[opened.key])


@pytest.fixture(scope="module")
def standing(contexts):
    """Pages on which the tests of a module go on in the app, by their options."""
    pages = {}
    yield pages
    for opened in pages.values():
        opened.page.close()


@pytest.fixture
def standing_page(request, opened_pages, browser, contexts, standing):
    """Return a function that gives the page on which an earlier test of the module has been.

    Loading the app takes most of the time of a short test. So the app stands in the page, with
    whatever its scripts keep in memory; storage, focus, mouse and size are as at first. The page
    is new where the earlier test failed, or did something to it that lasts.
    """
    shown = []

    def open_page(width: int = 1440, height: int = 900, **options):
        shown.append(_open(browser, contexts, standing, width, height, **options))
        opened_pages.append(shown[-1])
        return shown[-1].page

    yield open_page
    for opened in shown:
        opened.marked |= request.node.stash.get(_FAILED, False)
        opened.leave(standing)
        forget_name(contexts[opened.key])


def _open(browser, contexts, kept, width, height, **options):
    key = (width, height, *sorted(options.items()))
    if key not in contexts:
        size = {"width": width, "height": height}
        contexts[key] = browser.new_context(viewport=size, **options)
        contexts[key].add_init_script(TOUR_DONE)
    contexts[key].set_offline(False)  # where a test that failed has left it
    return kept.pop(key, None) or Opened(contexts[key].new_page(), key)


@pytest.fixture
def same_page(new_page):
    """A page for a test that needs just one."""
    return new_page()


@pytest.fixture
def visitor(browser):
    """Return a function that opens a browser of its own, without cookies."""
    contexts = []

    def open_context():
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_init_script(TOUR_DONE)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        return context

    yield open_context
    for context in contexts:
        context.close()

"""Waiting for what a page comes to show, however slow the machine is.

A page follows in steps: Streamlit's answer arrives part by part, pictures later, the address later
still. So no test reads the page just once: it waits for what it expects, with ``expect`` of
Playwright or with :func:`becomes` and :func:`until`; what must stay as it is, it reads after
:func:`calm` or :func:`pass_time`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from playwright.sync_api import Page

T = TypeVar("T")

PATIENCE_MS = 60_000
"""How long anything may take; a test that passes hardly ever waits so long."""
_STEP_MS = 40
_CALM_MS = 300
_STILL = """(calm) => new Promise((done) => {
  const roots = [document];
  for (const root of roots) {
    for (const one of root.querySelectorAll('*')) if (one.shadowRoot) roots.push(one.shadowRoot);
  }
  const app = document.querySelector('[data-testid="stApp"]');
  const busy = () => app !== null && (app.dataset.testConnectionState !== 'CONNECTED'
    || app.dataset.testScriptState !== 'notRunning');
  const places = () => roots.flatMap((root) => [...root.querySelectorAll('h1, canvas, p')])
    .map((one) => Object.values(one.getBoundingClientRect().toJSON()).join()).join(';');
  const before = places();
  let changes = 0;
  const observer = new MutationObserver((all) => (changes += all.length));
  const kinds = { attributes: true, characterData: true, childList: true, subtree: true };
  for (const root of roots) observer.observe(root, kinds);
  const finish = () => {
    observer.disconnect();
    done(changes === 0 && !busy() && document.fonts.status === 'loaded' && places() === before);
  };
  if (busy()) setTimeout(finish, 50);
  else setTimeout(() => requestIdleCallback(finish, { timeout: 2000 }), calm);
})"""


class Traffic:
    """The requests of a page: how many there were, and which have no answer yet."""

    def __init__(self, page: Page) -> None:
        self.count = 0
        self.open: set[Any] = set()
        page.on("request", self._begun)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        # what the last document asked for and never got is nobody's any more
        page.on("domcontentloaded", lambda _: self.open.clear())

    def _begun(self, request: Any) -> None:
        self.count += 1
        self.open.add(request)

    def _ended(self, request: Any) -> None:
        self.open.discard(request)


_traffic: dict[Page, Traffic] = {}


def watch(page: Page) -> None:
    """Note what the page asks for, so that :func:`calm` can tell; called when it is opened."""
    _traffic[page] = Traffic(page)
    page.on("close", lambda _: _traffic.pop(page, None))


def until(page: Page, read: Callable[[], T], holds: Callable[[T], Any]) -> T:
    """Read until ``holds`` says yes to what was read, and return it.

    Raises
    ------
    AssertionError
        It never held; tells what was read last.
    """
    limit = time.monotonic() + PATIENCE_MS / 1000
    found = read()
    while not holds(found):
        assert time.monotonic() < limit, f"still {found!r} after {PATIENCE_MS // 1000} s"
        page.wait_for_timeout(_STEP_MS)
        found = read()
    return found


def becomes(page: Page, read: Callable[[], T], wanted: Any, *, patience_ms: int = PATIENCE_MS) -> T:
    """Read until it equals ``wanted``, which may be a ``pytest.approx``, and return it."""
    limit = time.monotonic() + patience_ms / 1000
    found = read()
    while found != wanted and time.monotonic() < limit:
        page.wait_for_timeout(_STEP_MS)
        found = read()
    assert found == wanted, f"still {found!r}, not {wanted!r}, after {patience_ms // 1000} s"
    return found


def pass_time(page: Page, milliseconds: int) -> None:
    """Let time pass on the page's own clock: all its timers that were due before have then run."""
    page.evaluate(
        # a browser may stop drawing a page: that is found by what is asked next, not by hanging
        """time => new Promise((done) => {
          setTimeout(() => requestAnimationFrame(done), time);
          setTimeout(done, time + 5000);
        })""",
        milliseconds,
    )


def calm(page: Page) -> None:
    """Wait until nothing goes on: no script runs, nothing loads, changes or moves for a while.

    After an action wait for its first sign before: until the answer begins to arrive all is calm.
    """
    traffic = _traffic[page]
    limit = time.monotonic() + PATIENCE_MS / 1000
    while True:
        before = traffic.count
        still = page.evaluate(_STILL, _CALM_MS)
        if still and before == traffic.count and not traffic.open:
            return
        asked = sorted(request.url for request in traffic.open)
        assert time.monotonic() < limit, f"the page does not come to rest; it waits for {asked}"

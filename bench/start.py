"""Measure the time from launch to the first radiograph, and of pages: ``bench start``.

Ours and the plain page (``st.image``, boxes drawn on the server) open the same simulated sets in
turn: with two readers' scores and without, a film for each study. Each launch is measured from the
start of the server's process until the radiograph's pixels are drawn in a fresh browser context.
"Never opened" is without cached results, "again" is after a restart. The plain page caches nothing.
Pages without a radiograph are compared with an empty Streamlit app.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.browser import chromium, new_page
from bench.made_set import MadeSet, make_set
from bench.measure import Measured, Row, in_turn, ratio_at_most, result
from bench.serving import ROOT, serve

CASES: Final = (200, 20_000)
ROUNDS: Final = 3
_MODELS: Final = 2
_HERE: Final = Path(__file__).parent
_GOAL: Final = ratio_at_most(1.3)
_FILTERS: Final = 6
"""Number of filters chosen in turn; the median counts."""
_SETTLES_S: Final = 3.0
_CHOSEN: Final = """
() => { window.repainted = new Promise(done => {
  const app = document.querySelector('[data-testid="stApp"]');
  let begun = null, ran = false;
  addEventListener('click', event => { begun = event.timeStamp }, { capture: true, once: true });
  new MutationObserver((_, observer) => {
    if (begun === null) return;
    if (app.getAttribute('data-test-script-state') !== 'notRunning') ran = true;
    else if (ran) {
      observer.disconnect();
      requestAnimationFrame(() => done(performance.now() - begun));
    }
  }).observe(document.body, { attributes: true, childList: true, subtree: true });
}) }
"""
"""Waits for the next click, and until all its effects are drawn."""


@dataclass(frozen=True)
class Page:
    """A page of an app: its script, its address, and the element that it must show.

    With ``is_picture`` that is an image, which must be decoded too.
    """

    script: Path
    address: str
    selector: str
    is_picture: bool = False


OURS: Final = Page(ROOT / "app.py", "/case?sort=order", "[data-painted-case]")
PLAIN: Final = Page(
    _HERE / "plain_apps" / "naive.py", "", '[data-testid="stImage"] img', is_picture=True
)
EMPTY: Final = Page(_HERE / "plain_apps" / "empty.py", "", '[data-testid="stMarkdown"]')
OVERVIEW: Final = Page(ROOT / "app.py", "/", ".st-key-rx_title h1")
BROWSE: Final = Page(ROOT / "app.py", "/browse?sort=order", ".st-key-gallery img", is_picture=True)


def run(cases: Sequence[int] = CASES, rounds: int = ROUNDS) -> Measured:
    """Measure with simulated sets of these numbers of cases, two answers each.

    Raises
    ------
    BenchUnavailable
        There is no browser.
    """
    with chromium() as browser:
        return Measured(
            [
                row
                for size in cases
                for scored in (False, True)
                for row in rows(browser, size, rounds, scored=scored)
            ]
        )


def rows(browser: Any, cases: int, rounds: int, *, scored: bool) -> list[Row]:
    """Measure with one simulated set."""
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        folder = Path(place)
        review_set = folder / "set"
        make_set(MadeSet(cases, _MODELS, scored=scored), review_set)
        kept, of = folder / "kept", f"{cases:,} cases, {'scored' if scored else 'no scores'}"
        return [
            *_launches(browser, review_set, kept, rounds, of),
            *_loads(browser, review_set, kept, rounds, of),
            _filter(browser, review_set, kept, of),
        ]


def _launches(browser: Any, review_set: Path, kept: Path, rounds: int, of: str) -> list[Row]:
    def never_opened() -> float:
        shutil.rmtree(kept, ignore_errors=True)
        return _launch_ms(browser, OURS, review_set, kept)

    ours, again, plain = in_turn(
        never_opened,
        lambda: _launch_ms(browser, OURS, review_set, kept),
        lambda: _launch_ms(browser, PLAIN, review_set, kept, {"REXVIEW_KEPT_MB": "0"}),
        rounds=rounds,
    )
    name = "plain Streamlit page"
    what = f"launch to the first radiograph, {of}"
    return [
        result(f"{what}, never opened", ours, "ms", alternative=plain, name=name, goal=_GOAL),
        result(f"{what}, again", again, "ms", alternative=plain, name=name, goal=_GOAL),
    ]


def _launch_ms(
    browser: Any, page: Page, review_set: Path, kept: Path, more: Mapping[str, str] | None = None
) -> float:
    begin = time.perf_counter()
    environment = {**_environment(kept), **(more or {})}
    with serve(page.script, review_set, environment=environment) as url:
        _open(browser, page, url)
        return 1000 * (time.perf_counter() - begin)


def _loads(browser: Any, review_set: Path, kept: Path, rounds: int, of: str) -> list[Row]:
    """Load pages from running servers, each time as a new visitor."""

    def load(page: Page, url: str) -> Callable[[], float]:
        return lambda: _open(browser, page, url)

    environment = _environment(kept)
    with (
        serve(OURS.script, review_set, environment=environment) as ours,
        serve(PLAIN.script, review_set, environment=environment) as plain,
        serve(EMPTY.script, environment=environment) as empty,
    ):
        measured = in_turn(
            load(OURS, ours),
            load(PLAIN, plain),
            load(OVERVIEW, ours),
            load(BROWSE, ours),
            load(EMPTY, empty),
            rounds=rounds,
        )
    case, plain_page, overview, browse, nothing = measured
    name, other = "plain Streamlit page", "empty Streamlit app"
    return [
        result(f"Case loads, {of}", case, "ms", alternative=plain_page, name=name, goal=_GOAL),
        result(
            f"Overview loads, {of}", overview, "ms", alternative=nothing, name=other, goal=_GOAL
        ),
        result(
            f"Browse loads, {of}, to the first thumbnail",
            browse,
            "ms",
            alternative=nothing,
            name=other,
            goal=_GOAL,
        ),
    ]


def _open(browser: Any, page: Page, url: str) -> float:
    """Open a page as a new visitor; return the ms until it is drawn."""
    with new_page(browser) as tab:
        begin = time.perf_counter()
        tab.goto(f"{url}{page.address}")
        tab.wait_for_selector(page.selector)
        if page.is_picture:
            tab.locator(page.selector).first.evaluate("image => image.decode()")
        return 1000 * (time.perf_counter() - begin)


def _environment(kept: Path) -> Mapping[str, str]:
    return {"REXVIEW_CACHE": str(kept / "cache"), "XDG_DATA_HOME": str(kept / "data")}


def _filter(browser: Any, review_set: Path, kept: Path, of: str) -> Row:
    """Choose filters on Browse by a click, until the page is redrawn."""
    with (
        serve(OURS.script, review_set, environment=_environment(kept)) as url,
        new_page(browser) as tab,
    ):
        tab.goto(f"{url}{BROWSE.address}")
        tab.wait_for_selector(BROWSE.selector)
        tab.wait_for_timeout(1000 * _SETTLES_S)
        taken = []
        for number in range(_FILTERS):
            tab.evaluate(_CHOSEN)
            tab.get_by_text(f"Made model {number % _MODELS + 1}", exact=True).first.click()
            taken.append(float(tab.evaluate("window.repainted")))
        return result(f"Browse, from a filter to the page drawn anew, {of}", median(taken), "ms")

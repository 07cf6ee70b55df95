"""The viewer against the naive page, and the app against an empty Streamlit app, in a browser.

Three servers run at the same time on this machine; each measurement alternates between them.
"Ours" shows the demo on the Case page, "naive" the same cases with ``st.image`` and boxes drawn in
on the server, "empty" an app of one line. Needs the test requirements (Playwright) and a Chromium.
"""

from __future__ import annotations

import itertools
import os
import shutil
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from rexview.bench.serving import ROOT, BenchUnavailable, serve, start, stop
from rexview.reviewset import load
from rexview.settings import DEMO_FOLDER

ROUNDS: Final = 9
_LIMIT_MS: Final = 30_000
_DATE: Final = {
    "keydown": "event.timeStamp",
    "click": "event.timeStamp",
    "pointermove": "performance.now()",  # browsers hold moves back until the next frame
}
"""When an event began, in the page's own time."""

_EVENT: Final = """
(name) => () => new Promise(done => addEventListener(name, function seen(event) {
  if (window.wantedCase && event.detail?.case !== window.wantedCase) return;
  removeEventListener(name, seen);
  done(performance.now());
}))
"""
_PAINTED: Final = f"({_EVENT})('rexview:painted')"
_BOXES: Final = f"({_EVENT})('rexview:boxes')"
_IMAGE_CHANGED: Final = """
() => new Promise(done => {
  const before = document.querySelector('[data-testid="stImage"] img')?.src;
  const timer = setInterval(() => {
    const image = document.querySelector('[data-testid="stImage"] img');
    if (image && image.src !== before && image.complete && image.naturalWidth) {
      clearInterval(timer);
      image.decode().finally(() => done(performance.now()));
    }
  }, 1);
})
"""
_DEVELOPER: Final = {"client.toolbarMode": "developer"}
"""With it the key R runs the page again."""
_RERUN_DONE: Final = """
() => new Promise(done => {
  const app = document.querySelector('[data-testid="stApp"]');
  const state = () => app.getAttribute('data-test-script-state');
  let ran = false;
  new MutationObserver((_, observer) => {
    if (state() !== 'notRunning') ran = true;
    else if (ran) { observer.disconnect(); done(performance.now()); }
  }).observe(app, { attributes: true, attributeFilter: ['data-test-script-state'] });
})
"""


def run(folder: Path = DEMO_FOLDER) -> list[dict[str, Any]]:
    """Measure; return one row for each thing measured: medians in ms, the ratio, the target."""
    browser_path = os.environ.get("REXVIEW_CHROMIUM") or _installed_browser()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BenchUnavailable(
            "This needs Playwright: pip install -r requirements-dev.txt"
        ) from None
    bench = Path(__file__).parent
    with ExitStack() as stack:
        ours = stack.enter_context(serve(ROOT / "app.py", folder, options=_DEVELOPER))
        naive = stack.enter_context(serve(bench / "naive_app.py", folder))
        empty = stack.enter_context(serve(bench / "empty_app.py", options=_DEVELOPER))
        playwright = stack.enter_context(sync_playwright())
        browser = stack.enter_context(
            playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        )
        rows = _servers(folder, bench / "empty_app.py")
        rows += _starts(browser, ours, empty)
        rows += _reruns(browser, ours, empty)
        rows += _viewer(browser, ours, naive, _cases(folder))
    return rows


def _viewer(browser: Any, ours: str, naive: str, cases: list[str]) -> list[dict[str, Any]]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{ours}/case?case={cases[0]}&sort=order")
    page.wait_for_selector(f'[data-painted-case="{cases[0]}"]')
    plain = browser.new_page(viewport={"width": 1440, "height": 900})
    plain.goto(naive)
    plain.wait_for_selector('[data-testid="stImage"] img')
    plain.wait_for_timeout(1500)
    first = plain.locator('[data-testid="stCheckbox"] label').first
    slider = plain.get_by_role("slider")

    rows = [
        _compare(
            "toggle a model's boxes",
            lambda: _timed(page, _BOXES, lambda: page.keyboard.press("1")),
            lambda: _timed(plain, _IMAGE_CHANGED, first.click, "click"),
            "naive",
            at_least=20,
        )
    ]
    canvas = page.locator("[data-painted-case] canvas").first.bounding_box()
    steps = itertools.count(1)
    page.mouse.move(canvas["x"] + 200, canvas["y"] + 200)
    page.mouse.down()

    def drag() -> None:
        page.mouse.move(canvas["x"] + 200 + 6 * next(steps), canvas["y"] + 200)

    rows.append(
        _compare(
            "one window step",
            lambda: _timed(page, _PAINTED, drag, "pointermove"),
            lambda: _timed(plain, _IMAGE_CHANGED, lambda: slider.press("ArrowLeft")),
            "naive",
            at_least=20,
        )
    )
    page.mouse.up()
    turns = iter([*cases[1:], *reversed(cases[:-1])] * 9)

    def next_case() -> float:
        target = next(turns)
        forwards = cases.index(target) > cases.index(_shown_case(page))
        page.wait_for_timeout(2500)  # a reader looks at a case; meanwhile the next is fetched
        page.evaluate("wanted => { window.wantedCase = wanted; }", target)
        return _timed(page, _PAINTED, lambda: page.keyboard.press("j" if forwards else "k"))

    def next_naive() -> float:
        plain.wait_for_timeout(1200)
        return _timed(
            plain, _IMAGE_CHANGED, plain.get_by_role("button", name="Next").click, "click"
        )

    rows.append(_compare("next case, prefetched", next_case, next_naive, "naive", at_least=2))
    return rows


def _shown_case(page: Any) -> str:
    return str(page.locator("[data-painted-case]").get_attribute("data-painted-case"))


def _starts(browser: Any, ours: str, empty: str) -> list[dict[str, Any]]:
    def first_paint(url: str, ready: str) -> Callable[[], float]:
        def measure() -> float:
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            page = context.new_page()
            begin = time.perf_counter()
            page.goto(url)
            page.wait_for_selector(ready)
            took = (time.perf_counter() - begin) * 1000
            context.close()
            return took

        return measure

    mine = first_paint(ours, ".st-key-rx_title h1")
    other = first_paint(empty, '[data-testid="stMarkdown"]')
    return [_compare("first paint of a page", mine, other, "empty", at_most=1.5)]


def _servers(folder: Path, empty: Path) -> list[dict[str, Any]]:
    def answers(script: Path, *arguments: Path) -> Callable[[], float]:
        def measure() -> float:
            begin = time.perf_counter()
            process, _ = start(script, *arguments, options=_DEVELOPER)
            took = (time.perf_counter() - begin) * 1000
            stop(process)
            return took

        return measure

    mine = answers(ROOT / "app.py", folder)
    return [_compare("server answers", mine, answers(empty), "empty", at_most=1.5)]


def _reruns(browser: Any, ours: str, empty: str) -> list[dict[str, Any]]:
    def rerun(page: Any) -> Callable[[], float]:
        return lambda: _timed(page, _RERUN_DONE, lambda: page.keyboard.press("r"))

    rows = []
    other = browser.new_page()
    other.goto(empty)
    other.wait_for_selector('[data-testid="stMarkdown"]')
    for name, path in (("Overview", ""), ("Browse", "browse"), ("Data", "data")):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{ours}/{path}")
        page.wait_for_selector(".st-key-rx_title h1")
        page.wait_for_timeout(1500)
        action = f"rerun without a change, {name}"
        rows.append(_compare(action, rerun(page), rerun(other), "empty", at_most=1.5))
        page.close()
    return rows


def _timed(page: Any, until: str, act: Callable[[], Any], begins: str = "keydown") -> float:
    """Return ms from the first such event, as the page dates it, to what the page waits for."""
    waiting = page.evaluate_handle(
        f"""() => {{
          const begun = new Promise(done => {{
            addEventListener(
              '{begins}', event => done({_DATE[begins]}), {{ capture: true, once: true }});
          }});
          const limit = new Promise((_, fail) => setTimeout(
            () => fail(new Error('nothing happened within {_LIMIT_MS} ms')), {_LIMIT_MS}));
          return {{ took: Promise.race([limit,
            Promise.all([begun, ({until})()]).then(([begin, end]) => end - begin)]) }};
        }}"""
    )
    act()
    return float(page.evaluate("waiting => waiting.took", waiting))


def _compare(
    action: str,
    ours: Callable[[], float],
    other: Callable[[], float],
    against: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> dict[str, Any]:
    """Measure both in turn; ``ratio`` is how many times faster ours is, or (at most) slower."""
    ours(), other()
    pairs = [(ours(), other()) for _ in range(ROUNDS)]
    mine = statistics.median(pair[0] for pair in pairs)
    theirs = statistics.median(pair[1] for pair in pairs)
    ratio = theirs / mine if at_least else mine / theirs
    target = f">= {at_least:g}" if at_least else f"<= {at_most:g}"
    good = ratio >= at_least if at_least else ratio <= (at_most or 0)
    return {
        "what": action,
        "ours_ms": round(mine, 1),
        "against": against,
        "other_ms": round(theirs, 1),
        "ratio": round(ratio, 2),
        "target": target,
        "reached": good,
        "rounds": ROUNDS,
    }


def _cases(folder: Path) -> list[str]:
    review_set = load(folder)
    boxed = review_set.answers.filter("_newest").filter(review_set.answers["boxes"].list.len() > 0)
    ids: list[str] = review_set.cases["id"].to_list()
    wanted = set(boxed["case"].to_list())
    first = next((index for index, case in enumerate(ids) if case in wanted), 0)
    return ids[first : first + 6]


def _installed_browser() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((found for name in names if (found := shutil.which(name))), None)

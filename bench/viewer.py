"""Measure the viewer against the plain page, and the app against an empty one: ``bench viewer``.

Three servers run at the same time on this machine; each measurement alternates between them. "Ours"
shows the demo on the Case page, "naive" the same cases with ``st.image`` and boxes drawn on the
server, "empty" an app of one line. It needs the test requirements (Playwright) and a Chromium.
"""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import polars as pl

from bench.browser import SIZE, chromium
from bench.measure import Goal, Measured, Row, at_most, in_turn, ratio_at_most, result
from bench.serving import ROOT, serve
from rexview.reviewset import load_review_set
from rexview.settings import DEMO_FOLDER
from rexview.ui.web.access.permissions import NAME_COOKIE

# Time to the next case while a reader presses a key ten times a second: ``bench viewer``.
#
# These are real key presses on the Case page and on the plain page. A press is answered when the
# picture (or the text) of its case is drawn, or that of a later press, which a page may show
# directly.

PRESSES: Final = 20
PER_SECOND: Final = 10
PICTURE_MS: Final = 50
TEXT_MS: Final = 150
_NAIVE: Final = "plain Streamlit page"
_BURSTS: Final = 4
_LOOK_MS: Final = 4000
"""A reader looks at a case before the presses; meanwhile the next cases are fetched."""
_STILL_MS: Final = 2000
_LIMIT_S: Final = 60.0
_WATCH: Final = """
() => {
  window.turned = { keys: [], picture: [], text: [] };
  const { keys, picture, text } = window.turned;
  const note = (list, name) => {
    if (name && list.at(-1)?.[1] !== name) list.push([performance.now(), name]);
  };
  const turns = (event) => 'jknp'.includes(event.key) && keys.push(event.timeStamp);
  addEventListener('keydown', turns, true);
  addEventListener('rexview:painted', (event) => note(picture, event.detail.case));
  const look = () => {
    const plain = document.querySelector('#shown')?.dataset.case;
    const pad = document.querySelector('.rx-pad:not(.turning) .place')?.title;
    note(text, plain ?? pad ?? document.querySelectorAll('.rx-place b')[1]?.textContent);
    const image = document.querySelector('[data-testid="stImage"] img');
    if (plain && image?.complete && image.src !== window.lastSource) {
      window.lastSource = image.src;
      note(picture, plain);
    }
    requestAnimationFrame(look);
  };
  look();
}
"""


def next_case_rows(
    ours: Any,
    naive: Any,
    cases: Sequence[str],
    *,
    what_is_turned: str = "next case",
    keys: tuple[str, str] = ("j", "k"),
    before_each: str = "",
) -> list[Row]:
    """Measure on two open pages; ``cases`` are ours in order, with the first one shown.

    ``keys`` go forward and back there; keys of ``before_each`` are pressed before each of them. The
    plain page shows some case; it loses presses while it runs.
    """
    for page in (ours, naive):
        page.evaluate(_WATCH)
    found: dict[str, list[float]] = {}
    pressed = 0
    for burst in range(_BURSTS):
        key, walk = (keys[0], cases[1:]) if burst % 2 == 0 else (keys[1], cases[-2::-1])
        number = int(naive.locator("#shown").get_attribute("data-case"))
        numbers = [str(number + step) for step in range(1, PRESSES + 1)]
        for name, page, pressed_keys, wanted in (
            ("ours", ours, before_each + key, walk),
            ("naive", naive, "j", numbers),
        ):
            for what, delays in _burst(page, pressed_keys, wanted[:PRESSES]).items():
                found.setdefault(f"{name} {what}", []).extend(delays)
        pressed += PRESSES
    lost = {name: pressed - len(found[f"{name} picture"]) for name in ("ours", "naive")}
    note = f"of {pressed} presses lost: {lost['ours']}, by the plain page {lost['naive']}"
    return [
        result(
            f"{what_is_turned} at {PER_SECOND} presses a second: {what}, {share}",
            _percentile(found[f"ours {what}"], percent),
            "ms",
            alternative=_percentile(found[f"naive {what}"], percent),
            name=_NAIVE,
            goal=at_most(limit) if percent == 95 else None,
            note=note,
        )
        for what, limit in (("picture", PICTURE_MS), ("text", TEXT_MS))
        for share, percent in (("median", 50), ("95th of 100", 95))
    ]


def _burst(page: Any, keys: str, wanted: Sequence[str]) -> dict[str, list[float]]:
    """Press keys; return the ms from each to the picture and the text of its case."""
    page.wait_for_timeout(_LOOK_MS)
    page.evaluate("() => { for (const one of Object.values(window.turned)) one.length = 0; }")
    begin = time.monotonic()
    for number, _ in enumerate(wanted):
        page.wait_for_timeout(max(0.0, 1000 * (begin + number / PER_SECOND - time.monotonic())))
        for key in keys:
            page.keyboard.press(key)
    length, limit = -1, time.monotonic() + _LIMIT_S
    while time.monotonic() < limit:
        page.wait_for_timeout(_STILL_MS)
        log = page.evaluate("window.turned")
        if length == sum(map(len, log.values())):
            break
        length = sum(map(len, log.values()))
    return {what: _delays(log["keys"], log[what], wanted) for what in ("picture", "text")}


def _delays(
    keys: Sequence[float], shown: Sequence[tuple[float, str]], wanted: Sequence[str]
) -> list[float]:
    """Return the ms of each answered press."""
    found = []
    for number, pressed in enumerate(keys):
        met = [at for at, case in shown if at >= pressed and case in wanted[number:]]
        found += [min(met) - pressed] if met else []
    return found


def _percentile(values: Sequence[float], percent: int) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else None


ROUNDS: Final = 9
_LIMIT_MS: Final = 30_000
_DATE: Final = {
    "keydown": "event.timeStamp",
    "click": "event.timeStamp",
    "pointermove": "performance.now()",  # browsers delay moves until the next frame
}
"""The start of an event, in the page's own time."""

_EVENT: Final = """
(name) => () => new Promise(done => addEventListener(name, function seen(event) {
  if (window.wantedCase && event.detail?.case !== window.wantedCase) return;
  removeEventListener(name, seen);
  done(performance.now());
}))
"""
PAINTED: Final = f"({_EVENT})('rexview:painted')"
_BOXES: Final = """
() => new Promise(done => {
  const viewer = root => root.querySelector('[data-painted-case]')
    ?? [...root.querySelectorAll('*')].map(one => one.shadowRoot && viewer(one.shadowRoot))
      .find(Boolean);
  new MutationObserver((_, observer) => {
    observer.disconnect();
    done(performance.now());
  }).observe(viewer(document), { attributes: true, childList: true, subtree: true });
})
"""
"""The viewer has changed its display: nothing else moves in it while a key is pressed."""
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
"""With it, the key R reruns the page."""
_STREAMLITS_KEYS: Final = """
const listen = document.addEventListener;
document.addEventListener = function (type, heard, ...more) {
  if (type === "keydown" && String(heard).includes("stopImmediatePropagation")) return;
  listen.call(this, type, heard, ...more);
};
"""
"""Allows R on our pages, which normally block it: ``streamlit_adapter/page_head.py``."""
_STILL: Final = '[data-testid="stApp"][data-test-script-state="notRunning"]'
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


def run(folder: Path = DEMO_FOLDER, rounds: int = ROUNDS) -> Measured:
    """Measure on a review set with boxes.

    Raises
    ------
    BenchUnavailable
        There is no browser.
    """
    with chromium() as browser:
        return Measured(viewer_rows(browser, folder, rounds))


def viewer_rows(browser: Any, folder: Path, rounds: int) -> list[Row]:
    """Measure with a running browser."""
    bench = Path(__file__).parent / "plain_apps"
    with (
        serve(ROOT / "app.py", folder, options=_DEVELOPER) as ours,
        serve(bench / "naive.py", folder) as naive,
        serve(bench / "empty.py", options=_DEVELOPER) as empty,
    ):
        return [
            *_reruns(browser, ours, empty, rounds),
            *_viewer(browser, ours, naive, _cases(folder), rounds),
            *_fast(browser, ours, naive, folder),
            *_score(browser, naive, folder),
        ]


def _fast(browser: Any, ours: str, naive: str, folder: Path) -> list[Row]:
    """Turn cases as fast as a reader can press a key."""
    ids: list[str] = load_review_set(folder).cases["id"].to_list()
    page, plain = browser.new_page(viewport=SIZE), browser.new_page(viewport=SIZE)
    page.goto(f"{ours}/case?case={ids[0]}&sort=order")
    page.wait_for_selector(f'[data-painted-case="{ids[0]}"]')
    plain.goto(naive)
    plain.wait_for_selector('[data-testid="stImage"] img')
    found = next_case_rows(page, plain, ids[: PRESSES + 1])
    page.close()
    plain.close()
    return found


def _score(browser: Any, naive: str, folder: Path) -> list[Row]:
    """Turn cases on the Score page, on a copy of the set, and score as many with keys."""
    found = []
    with TemporaryDirectory() as own:
        copy = shutil.copytree(folder, Path(own) / "set")
        environment = {"XDG_DATA_HOME": str(Path(own) / "data")}
        with serve(ROOT / "app.py", copy, environment=environment) as ours:
            for name, scored in (("Score page, next case", ""), ("the same, each scored", "3")):
                page, plain = browser.new_page(viewport=SIZE), browser.new_page(viewport=SIZE)
                page.context.add_cookies([{"name": NAME_COOKIE, "value": "Bench", "url": ours}])
                plain.goto(naive)
                plain.wait_for_selector('[data-testid="stImage"] img')
                page.goto(f"{ours}/score")
                page.get_by_role("button", name="Cases", exact=True).click()
                listed = page.locator(".rx-pad .sheet [data-case]")
                cases = [str(one.get_attribute("data-case")) for one in listed.all()]
                page.goto(f"{ours}/score?case={cases[0]}")
                page.wait_for_selector(f'[data-painted-case="{cases[0]}"]')
                found += next_case_rows(
                    page,
                    plain,
                    cases[: PRESSES + 1],
                    what_is_turned=name,
                    keys=("n", "p"),
                    before_each=scored,
                )
                page.close()
                plain.close()
    return found


def _viewer(browser: Any, ours: str, naive: str, cases: list[str], rounds: int) -> list[Row]:
    page = browser.new_page(viewport=SIZE)
    page.goto(f"{ours}/case?case={cases[0]}&sort=order")
    page.wait_for_selector(f'[data-painted-case="{cases[0]}"]')
    plain = browser.new_page(viewport=SIZE)
    plain.goto(naive)
    plain.wait_for_selector('[data-testid="stImage"] img')
    plain.wait_for_timeout(1500)
    first = plain.locator('[data-testid="stCheckbox"] label').first
    slider = plain.get_by_role("slider")

    rows = [
        _compare(
            "toggle a model's boxes",
            lambda: timed(page, _BOXES, lambda: page.keyboard.press("1")),
            lambda: timed(plain, _IMAGE_CHANGED, first.click, "click"),
            _NAIVE,
            ratio_at_most(1 / 20),
            rounds,
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
            lambda: timed(page, PAINTED, drag, "pointermove"),
            lambda: timed(plain, _IMAGE_CHANGED, lambda: slider.press("ArrowLeft")),
            _NAIVE,
            ratio_at_most(1 / 20),
            rounds,
        )
    )
    page.mouse.up()
    turns = iter([*cases[1:], *reversed(cases[:-1])] * 9)

    def turn() -> float:
        target = next(turns)
        forwards = cases.index(target) > cases.index(_shown_case(page))
        page.wait_for_timeout(2500)  # a reader looks at a case; meanwhile the next is fetched
        page.evaluate("wanted => { window.wantedCase = wanted; }", target)
        return timed(page, PAINTED, lambda: page.keyboard.press("j" if forwards else "k"))

    def next_naive() -> float:
        plain.wait_for_timeout(1200)
        return timed(plain, _IMAGE_CHANGED, plain.get_by_role("button", name="Next").click, "click")

    rows.append(
        _compare("next case, prefetched", turn, next_naive, _NAIVE, ratio_at_most(1 / 2), rounds)
    )
    return rows


def _shown_case(page: Any) -> str:
    return str(page.locator("[data-painted-case]").get_attribute("data-painted-case"))


def _reruns(browser: Any, ours: str, empty: str, rounds: int) -> list[Row]:
    def rerun(page: Any) -> Callable[[], float]:
        def measure() -> float:
            page.wait_for_selector(_STILL)  # a rerun under way would absorb the press
            return timed(page, _RERUN_DONE, lambda: page.keyboard.press("r"))

        return measure

    rows = []
    other = browser.new_page()
    other.goto(empty)
    other.wait_for_selector('[data-testid="stMarkdown"]')
    for name, path in (("Overview", ""), ("Browse", "browse"), ("Data", "data")):
        page = browser.new_page(viewport=SIZE)
        page.add_init_script(_STREAMLITS_KEYS)
        page.goto(f"{ours}/{path}")
        page.wait_for_selector(".st-key-rx_title h1")
        page.wait_for_timeout(1500)
        action = f"rerun without a change, {name}"
        rows.append(
            _compare(
                action, rerun(page), rerun(other), "empty Streamlit app", ratio_at_most(1.5), rounds
            )
        )
        page.close()
    return rows


def timed(page: Any, until: str, act: Callable[[], Any], begins: str = "keydown") -> float:
    """Return the ms from the first such event, by the page's clock, to the awaited change."""
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
    goal: Goal,
    rounds: int,
) -> Row:
    mine, theirs = in_turn(ours, other, rounds=rounds)
    return result(action, mine, "ms", alternative=theirs, name=against, goal=goal)


def _cases(folder: Path) -> list[str]:
    review_set = load_review_set(folder)
    boxed = review_set.answers.filter(pl.col("_newest"), pl.col("boxes").list.len() > 0)
    ids: list[str] = review_set.cases["id"].to_list()
    wanted = set(boxed["case"].to_list())
    first = next((index for index, case in enumerate(ids) if case in wanted), 0)
    return ids[first : first + 6]

"""The demo's cases as one HTML file: how much of it a case takes, and how it answers the hand.

The window is dragged in the file, opened from the disk, and turn by turn in the app's own viewer.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from rexview.bench.browser import SIZE, chromium
from rexview.bench.measure import Measured, Row, at_most, in_turn, result
from rexview.bench.serving import ROOT, serve
from rexview.bench.viewer import PAINTED, ROUNDS, timed
from rexview.cli.scanning import engine_of, with_written
from rexview.export.content import make_content
from rexview.export.formats import FORMATS
from rexview.export.html import MOST_BYTES
from rexview.export.job import Progress, write_export
from rexview.export.wanted import Source, Wanted, choose
from rexview.reviewset import load
from rexview.settings import DEMO_FOLDER

_CASES: Final = 40
_FRAME_MS: Final = 1000 / 60


def run(folder: Path = DEMO_FOLDER, rounds: int = ROUNDS) -> Measured:
    """Measure on the first cases of a review set.

    Raises
    ------
    BenchUnavailable
        There is no browser to measure with.
    """
    with TemporaryDirectory() as own, chromium() as browser:
        out = Path(own) / "cases.html"
        begun = time.process_time()
        cases = _write(folder, out)
        took = time.process_time() - begun
        size = out.stat().st_size / len(cases)
        what = f"{len(cases)} cases as an HTML file"
        note = "films that are larger are kept smaller"
        return Measured(
            [
                result(f"{what}, processor time", took, "s"),
                result(f"{what}, a case", size, "bytes", goal=at_most(MOST_BYTES), note=note),
                _window_step(browser, folder, out, cases[0], rounds),
            ]
        )


def _write(folder: Path, out: Path) -> tuple[str, ...]:
    written, reviews = with_written(load(folder))
    source = Source(written, engine_of(written, reviews), reviews)
    ids: list[str] = written.cases["id"].to_list()
    chosen = choose(source, Wanted(cases=tuple(ids[:_CASES])))
    content, _ = make_content(source, chosen)
    write_export(content, FORMATS["html"], out, Progress())
    return chosen.cases


def _window_step(browser: Any, folder: Path, out: Path, case: str, rounds: int) -> Row:
    page, app = browser.new_page(viewport=SIZE), browser.new_page(viewport=SIZE)
    with serve(ROOT / "app.py", folder) as address:
        page.goto(out.as_uri())
        app.goto(f"{address}/case?case={case}&sort=order")
        mine, theirs = in_turn(_dragging(page, case), _dragging(app, case), rounds=rounds)
    return result(
        "one window step in the file",
        mine,
        "ms",
        alternative=theirs,
        name="the app's viewer",
        goal=at_most(_FRAME_MS),
    )


def _dragging(page: Any, case: str) -> Callable[[], float]:
    """Press a button of the mouse over the film; return what drags a step further, and times it."""
    page.wait_for_selector(f'[data-painted-case="{case}"]')
    place = page.locator("[data-painted-case] canvas").first.bounding_box()
    x, y = place["x"] + 200, place["y"] + 200
    page.mouse.move(x, y)
    page.mouse.down()
    steps = itertools.count(1)

    def move() -> None:
        page.mouse.move(x + 6 * next(steps), y)

    return lambda: timed(page, PAINTED, move, "pointermove")

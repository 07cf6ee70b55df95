"""Measure exports: slides and PDF with films, and the HTML file in a browser."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.browser import SIZE, chromium
from bench.measure import (
    Measured,
    Row,
    at_most,
    in_turn,
    milliseconds,
    processor_milliseconds,
    result,
)
from bench.serving import ROOT, serve
from bench.viewer import PAINTED, ROUNDS, timed
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.cli.results import make_engine, with_finished_reviews
from rexview.export.content_builder import make_content
from rexview.export.export_formats import EXPORT_FORMATS
from rexview.export.export_job import ExportProgress, write_export
from rexview.export.export_records import ExportContent
from rexview.export.export_request import ExportRequest, ExportSource, find_export_cases
from rexview.export.html import MAX_CASE_BYTES
from rexview.export.sheets.film_layout import encode_picture
from rexview.reviewset import load_review_set
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store import merge_reviews, open_reviews

_CASES: Final = 40
_FRAME_MS: Final = 1000 / 60


def measure_html_file(folder: Path = DEMO_FOLDER, rounds: int = ROUNDS) -> Measured:
    """Measure on the first cases of a review set.

    Raises
    ------
    BenchUnavailable
        There is no browser.
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
                result(f"{what}, a case", size, "bytes", goal=at_most(MAX_CASE_BYTES), note=note),
                _window_step(browser, folder, out, cases[0], rounds),
            ]
        )


def _write(folder: Path, out: Path) -> tuple[str, ...]:
    written, reviews = with_finished_reviews(load_review_set(folder))
    source = ExportSource(written, make_engine(written, reviews), reviews)
    ids: list[str] = written.cases["id"].to_list()
    chosen = find_export_cases(source, ExportRequest(cases=tuple(ids[:_CASES])))
    content, _ = make_content(source, chosen)
    write_export(content, EXPORT_FORMATS["html"], out, ExportProgress())
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
    """Press the mouse button over the film; return a function that drags a step and times it."""
    page.wait_for_selector(f'[data-painted-case="{case}"]')
    place = page.locator("[data-painted-case] canvas").first.bounding_box()
    x, y = place["x"] + 200, place["y"] + 200
    page.mouse.move(x, y)
    page.mouse.down()
    steps = itertools.count(1)

    def move() -> None:
        page.mouse.move(x + 6 * next(steps), y)

    return lambda: timed(page, PAINTED, move, "pointermove")


# Time and size of exports with films.
#
# The first 40 cases of the demo, as for a meeting. Each format is compared with the least work of
# any export of films: reading every film and making a JPEG of it.

CASES: Final = 40
_ROUNDS: Final = 1
_MEASURED: Final = ("pptx", "pdf", "html")
_MB: Final = 1e6
_SECONDS: Final = {"pptx": 20.0}
_MEGABYTES: Final = {"pptx": 60.0}
"""Goals in MB for 40 cases."""


def measure_films(cases: int = CASES, rounds: int = _ROUNDS) -> Measured:
    """Measure the formats that contain films."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        parent = Path(place)
        folder = shutil.copytree(DEMO_FOLDER, parent / "demo")
        content = _content(folder, cases)
        for name in (one for one in _MEASURED if one in EXPORT_FORMATS):
            rows += _format(content, name, parent, rounds)
    notes = "Films alone: each film of the cases read and made a JPEG of, nothing else."
    return Measured(rows, notes=notes)


def _content(folder: Path, cases: int) -> ExportContent:
    review_set = load_review_set(folder)
    reviews = open_reviews(review_set, Settings())
    written = merge_reviews(review_set, reviews)
    source = ExportSource(written, build_memory_engine(written), reviews)
    wanted = ExportRequest(cases=tuple(written.cases["id"][:cases]))
    return make_content(source, find_export_cases(source, wanted))[0]


def _format(content: ExportContent, name: str, parent: Path, rounds: int) -> list[Row]:
    form = EXPORT_FORMATS[name]
    out = parent / f"cases{form.ending}"

    def work() -> None:
        out.unlink(missing_ok=True)
        write_export(content, form, out, ExportProgress())

    what = f"{form.title}, {len(content.case_ids)} cases"
    ours, films = _seconds(rounds, work, lambda: _films(content))
    wall = _SECONDS.get(name)
    cpu, cpu_films = _processor_seconds(rounds, work, lambda: _films(content))
    size = out.stat().st_size / _MB
    most = _MEGABYTES.get(name)
    return [
        result(
            what,
            ours,
            "s",
            alternative=films,
            name="films alone",
            goal=at_most(wall) if wall else None,
        ),
        result(f"{what}, processor", cpu, "s", alternative=cpu_films, name="films alone"),
        result(f"{what}, size", size, "MB", goal=at_most(most) if most else None),
    ]


def _seconds(rounds: int, *works: Callable[[], object]) -> list[float]:
    return [one / 1000 for one in in_turn(*map(milliseconds, works), rounds=rounds)]


def _processor_seconds(rounds: int, *works: Callable[[], object]) -> list[float]:
    return [one / 1000 for one in in_turn(*map(processor_milliseconds, works), rounds=rounds)]


def _films(content: ExportContent) -> None:
    for case in content.cases():
        for image in case.images:
            encode_picture(image.read())

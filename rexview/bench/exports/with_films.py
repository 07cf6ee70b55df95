"""How long exports of films take and how large they are.

The first 40 cases of the demo, as a meeting would have them. Beside each format stands what no
export of films can do without: reading every film and making a JPEG of it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rexview.analysis.memory.engine import memory_engine
from rexview.bench.measure import (
    Measured,
    Row,
    at_most,
    in_turn,
    milliseconds,
    processor_milliseconds,
    result,
)
from rexview.export.content import make_content
from rexview.export.formats import FORMATS
from rexview.export.job import Progress, write_export
from rexview.export.records import Content
from rexview.export.sheets.pictures import picture
from rexview.export.wanted import Source, Wanted, choose
from rexview.reviewset import load
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store import merged, open_reviews

CASES: Final = 40
_ROUNDS: Final = 1
_MEASURED: Final = ("pptx", "pdf", "html")
_MB: Final = 1e6
_SECONDS: Final = {"pptx": 20.0}
_MEGABYTES: Final = {"pptx": 60.0}
"""What is asked of 40 cases."""


def run(cases: int = CASES, rounds: int = _ROUNDS) -> Measured:
    """Measure the formats that hold films."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        parent = Path(place)
        folder = shutil.copytree(DEMO_FOLDER, parent / "demo")
        content = _content(folder, cases)
        for name in (one for one in _MEASURED if one in FORMATS):
            rows += _format(content, name, parent, rounds)
    notes = "Films alone: each film of the cases read and made a JPEG of, nothing else."
    return Measured(rows, notes=notes)


def _content(folder: Path, cases: int) -> Content:
    review_set = load(folder)
    reviews = open_reviews(review_set, Settings())
    written = merged(review_set, reviews)
    source = Source(written, memory_engine(written), reviews)
    wanted = Wanted(cases=tuple(written.cases["id"][:cases]))
    return make_content(source, choose(source, wanted))[0]


def _format(content: Content, name: str, parent: Path, rounds: int) -> list[Row]:
    form = FORMATS[name]
    out = parent / f"cases{form.ending}"

    def work() -> None:
        out.unlink(missing_ok=True)
        write_export(content, form, out, Progress())

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


def _films(content: Content) -> None:
    for case in content.cases():
        for image in case.images:
            picture(image.read())

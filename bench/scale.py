"""Measure opening, filtering, searching and showing as a set grows: ``bench scale``.

Simulated sets of increasing size are opened in separate processes, by the engine alone and by the
app's own pages (Streamlit's AppTest, without a browser), which search for failures in the
background. "First" is without stored results, "again" is after a restart. If memory allows it,
pandas does the same on the same files, with the same result.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeVar

from bench.made_set import MadeSet, make_set
from bench.measure import Goal, Measured, Row, at_most, ratio_at_most, result
from bench.scale_parts import engine_figures, flags_figures, page_figures, pandas_figures

FILTER_GOAL: Final = at_most(100)
SEARCH_GOAL: Final = at_most(1_000)
ANSWERS: Final = (100, 1_000, 10_000, 100_000)
MODELS: Final = 8
MOST_FOR_PANDAS: Final = 1_000_000
MOST_LOOKED_AT: Final = 20_000
"""Answers up to which the detectors run: larger sets take minutes or hours."""
_PANDAS: Final = "pandas"
_SMALLEST: Final = "the smallest set"
_BESIDE_SMALLEST: Final = ratio_at_most(1.3)
_ASKED: Final[dict[str, tuple[str, str, Goal | None]]] = {
    "first_open_s": ("opens, first", "s", at_most(10)),
    "first_open_cpu_s": ("opens, first, processor time", "s", None),
    "open_s": ("opens, again", "s", at_most(2)),
    "open_cpu_s": ("opens, again, processor time", "s", None),
    "flags_a_second": ("answers looked at for all failures, in a second", "1/s", None),
    "flags_again_s": ("flags known again after a restart", "s", at_most(2)),
    "filter_ms": ("filter with the counts of all facets, engine", "ms", FILTER_GOAL),
    "list_ms": ("first cards of a filter, engine", "ms", None),
    "search_ms": ("text search, engine", "ms", SEARCH_GOAL),
    "engine_mb": ("memory of the engine's process, resident", "MB", at_most(1_500)),
    "engine_own_mb": ("memory of the engine's process, but for mapped files", "MB", None),
    "overview_ms": ("Overview, page", "ms", None),
    "browse_ms": ("Browse with another filter, page", "ms", at_most(400)),
    "browse_search_ms": ("Browse with a text search, page", "ms", SEARCH_GOAL),
    "case_ms": ("Case, page", "ms", None),
    "case_cpu_ms": ("Case, page, processor time", "ms", _BESIDE_SMALLEST),
    "pages_mb": ("memory of the app's process, resident", "MB", at_most(1_500)),
    "pages_own_mb": ("memory of the app's process, but for mapped files", "MB", None),
}
"""What is measured: its description, its unit, and its goal."""
Figures = dict[str, float | None]
Given = TypeVar("Given")


def run(answers: Sequence[int] = ANSWERS) -> Measured:
    """Measure with simulated sets of about these numbers of answers, by eight models.

    Raises
    ------
    AssertionError
        Pandas counts differently.
    """
    figures: dict[int, Figures] = {}
    rows: list[Row] = []
    for size in sorted(answers):
        made = MadeSet(max(1, size // MODELS), MODELS, pictures=0, parquet=True)
        figures[made.answers], by_pandas = _figures(made)
        smallest = figures[min(figures)]
        for name, (what, unit, goal) in _ASKED.items():
            value, other = figures[made.answers].get(name), by_pandas.get(name)
            beside = _PANDAS if other is not None else None
            if goal == _BESIDE_SMALLEST:
                other, beside = smallest.get(name), _SMALLEST
            rows.append(
                result(
                    f"{what}, {made.answers:,} answers",
                    value,
                    unit,
                    alternative=other,
                    name=beside,
                    goal=goal,
                )
            )
    return Measured(rows, {"Cost as the set grows": _growth(figures)})


def _growth(figures: dict[int, Figures]) -> list[dict[str, Any]]:
    """Return one row for each measurement, with one column for each size."""
    return [
        {"what": what, "unit": unit}
        | {f"{size:,}": _short(of.get(name)) for size, of in figures.items()}
        for name, (what, unit, _) in _ASKED.items()
    ]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


def _figures(made: MadeSet) -> tuple[Figures, Figures]:
    """Return the costs of one set, for us and for pandas."""
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        folder = Path(place)
        make_set(made, folder / "set")
        kept = folder / "kept"
        first = apart(engine_figures, folder / "set", kept)
        again = apart(engine_figures, folder / "set", kept)
        pages = apart(page_figures, folder / "set", kept)
        if made.answers <= MOST_LOOKED_AT:
            again |= apart(flags_figures, folder / "set", kept)
            again["flags_again_s"] = apart(flags_figures, folder / "set", kept)["flags_s"]
        opened = {f"first_{name}": first[name] for name in ("open_s", "open_cpu_s")}
        ours = {**again, **opened, **pages}
        if made.answers > MOST_FOR_PANDAS:
            return ours, {}
        theirs = apart(pandas_figures, folder / "set")
        assert same_counts(ours, theirs), "pandas counts differently"
        return ours, theirs


def same_counts(ours: Figures, theirs: Figures) -> bool:
    """Whether the same filter and the same search left the same number of cases."""
    return all(ours[name] == theirs[name] for name in ("cases_of_filter", "cases_of_search"))


def apart(work: Callable[..., Given], *arguments: object) -> Given:
    """Run the work in a new process, with its own memory and imports."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *arguments).result()

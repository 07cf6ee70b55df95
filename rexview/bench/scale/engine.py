"""The engine on an open set, measured in this process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from rexview.bench.measure import in_turn, memory_mb, milliseconds
from rexview.bench.scale import asked


def keep_in(kept: Path) -> None:
    """Let this process keep what it keeps in a folder of its own."""
    os.environ["REXVIEW_CACHE"] = str(kept / "cache")
    os.environ["XDG_DATA_HOME"] = str(kept / "data")


def engine_figures(folder: Path, kept: Path) -> dict[str, float | None]:
    """Open a set as the first page does, ask what pages ask, and say what it took.

    Detectors have not looked at anything yet: pages do not wait for them.
    """
    keep_in(kept)
    begin, processor = time.perf_counter(), time.process_time()
    from rexview.analysis.filter.case_filter import CaseFilter
    from rexview.analysis.memory.engine import memory_engine
    from rexview.detect import DETECTORS
    from rexview.detect.core.scan import unscanned
    from rexview.reviewset import load

    review_set = load(folder)
    engine = memory_engine(review_set, scan=unscanned(review_set, DETECTORS))
    opened, of_processor = time.perf_counter() - begin, time.process_time() - processor

    def by_site(model: str, site: str) -> CaseFilter:
        return CaseFilter(models=(model,), sites=(site,), sort="order")

    def searched(words: str) -> CaseFilter:
        return CaseFilter(search=words, sort="order")

    def anew(ask: Callable[[], object]) -> float:
        (took,) = in_turn(milliseconds(ask), rounds=asked.ROUNDS)
        return took

    filters, lists, searches = asked.filters(), asked.filters(), asked.searches()

    def cards() -> object:
        case_filter = by_site(*next(lists))
        return engine.cards(case_filter, engine.page(case_filter, 0, asked.CARDS))

    return {
        "open_s": opened,
        "open_cpu_s": of_processor,
        "filter_ms": anew(lambda: engine.facets(by_site(*next(filters)))),
        "list_ms": anew(cards),
        "search_ms": anew(lambda: engine.page(searched(next(searches)), 0, asked.CARDS)),
        "cases_of_filter": engine.facets(by_site(*asked.first_filter())).total,
        "cases_of_search": engine.facets(searched(asked.first_search())).total,
        "engine_mb": memory_mb("VmRSS"),
        "engine_own_mb": memory_mb("RssAnon"),
    }

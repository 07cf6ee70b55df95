"""Parts of ``bench scale``: engine, pandas, failures and pages on a simulated set."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.measure import in_turn, memory_mb, milliseconds, processor_milliseconds
from bench.serving import ROOT

if TYPE_CHECKING:
    from rexview.detect.detector import Detector
    from rexview.schema import ReviewSet


ROUNDS = 7
CARDS = 24
_SITES = tuple(f"site-{number:02d}" for number in range(40))
_MODELS = ("model-02", "model-05", "model-01")


def filter_questions() -> Iterator[tuple[str, str]]:
    """Yield pairs of a model and a site, to filter by."""
    return cycle((model, site) for site, model in product(_SITES, _MODELS))


def search_questions() -> Iterator[str]:
    """Yield search words, as a person types them."""
    return cycle(f"roughly {number} mm" for number in range(9, 97, 3))


def first_filter() -> tuple[str, str]:
    """Return the filter whose counts are compared."""
    return next(islice(filter_questions(), 1, None))


def first_search() -> str:
    """Return the search whose counts are compared."""
    return next(islice(search_questions(), 1, None))


# The same questions in pandas, as an experienced user would ask them.

_FACETS: Final = (
    "model",
    "finish_reason",
    "question_type",
    "category",
    "difficulty",
    "site",
    "normal",
)
_OF_CASE: Final = ("question_type", "category", "difficulty", "site", "normal")


def pandas_figures(folder: Path) -> dict[str, float | None]:
    """Read the tables and measure the questions of :func:`.engine_figures`; no checks, no boxes."""
    begin, processor = time.perf_counter(), time.process_time()
    import pandas as pd

    cases = pd.read_parquet(folder / "cases", columns=["id", "question", "report", *_OF_CASE])
    answers = pd.read_parquet(
        folder / "answers", columns=["case", "model", "finish_reason", "text"]
    )
    words = pd.DataFrame(cases["report"].tolist(), index=cases["id"])
    words["question"] = cases["question"].to_numpy()
    coded = cases[["id", *_OF_CASE]].astype(dict.fromkeys(_OF_CASE, "category"))
    frame = answers.merge(coded, left_on="case", right_on="id")
    frame = frame.astype({"model": "category", "finish_reason": "category", "case": "category"})
    opened, of_processor = time.perf_counter() - begin, time.process_time() - processor
    filters, searches = filter_questions(), search_questions()

    def facets(model: str, site: str) -> dict[str, Any]:
        """Count the cases by each facet, without the facet's own selection."""
        of_model, of_site = frame["model"] == model, frame["site"] == site
        found = {}
        for name in _FACETS:
            others = {"model": of_site, "site": of_model}.get(name, of_model & of_site)
            kept = frame.loc[others, ["case", name]].drop_duplicates()
            found[name] = kept[name].value_counts()
        return found

    def found(searched: str) -> Any:
        kept: Any = None
        for word in searched.split():
            parts = [words[name].str.contains(word, case=False, regex=False) for name in words]
            of_case = words.index[parts[0].fillna(False) | parts[1].fillna(False) | parts[2]]
            there = frame["text"].str.contains(word, case=False, regex=False).fillna(False)
            there |= frame["case"].isin(of_case)
            kept = there if kept is None else kept & there
        return frame.loc[kept, "case"].unique()

    def first(model: str, site: str) -> int:
        return int(frame.loc[(frame["model"] == model) & (frame["site"] == site), "case"].nunique())

    (filter_ms,) = in_turn(milliseconds(lambda: facets(*next(filters))), rounds=ROUNDS)
    (search_ms,) = in_turn(milliseconds(lambda: found(next(searches))), rounds=ROUNDS)
    return {
        "first_open_s": opened,
        "open_s": opened,
        "first_open_cpu_s": of_processor,
        "open_cpu_s": of_processor,
        "filter_ms": filter_ms,
        "search_ms": search_ms,
        "cases_of_filter": first(*first_filter()),
        "cases_of_search": len(found(first_search())),
        "engine_mb": memory_mb("VmRSS"),
        "engine_own_mb": memory_mb("RssAnon"),
    }


# The engine on an open set, measured in this process.


def keep_in(kept: Path) -> None:
    """Store this process's cached results in the given folder."""
    os.environ["REXVIEW_CACHE"] = str(kept / "cache")
    os.environ["XDG_DATA_HOME"] = str(kept / "data")


def engine_figures(folder: Path, kept: Path) -> dict[str, float | None]:
    """Open a set like the first page, ask what pages ask, and return the costs.

    Detectors have not run yet: pages do not wait for them.
    """
    keep_in(kept)
    begin, processor = time.perf_counter(), time.process_time()
    from rexview.analysis.query.filter.case_filter import CaseFilter
    from rexview.analysis.query.memory.memory_engine import build_memory_engine
    from rexview.detect import DETECTORS
    from rexview.detect.scan.scan import create_empty_scan
    from rexview.reviewset import load_review_set

    review_set = load_review_set(folder)
    engine = build_memory_engine(review_set, scan=create_empty_scan(review_set, DETECTORS))
    opened, of_processor = time.perf_counter() - begin, time.process_time() - processor

    def by_site(model: str, site: str) -> CaseFilter:
        return CaseFilter(models=(model,), sites=(site,), sort="order")

    def searched(words: str) -> CaseFilter:
        return CaseFilter(search=words, sort="order")

    def anew(ask: Callable[[], object]) -> float:
        (took,) = in_turn(milliseconds(ask), rounds=ROUNDS)
        return took

    filters, lists, searches = filter_questions(), filter_questions(), search_questions()

    def cards() -> object:
        case_filter = by_site(*next(lists))
        return engine.cards(case_filter, engine.page(case_filter, 0, CARDS))

    return {
        "open_s": opened,
        "open_cpu_s": of_processor,
        "filter_ms": anew(lambda: engine.facets(by_site(*next(filters)))),
        "list_ms": anew(cards),
        "search_ms": anew(lambda: engine.page(searched(next(searches)), 0, CARDS)),
        "cases_of_filter": engine.facets(by_site(*first_filter())).total,
        "cases_of_search": engine.facets(searched(first_search())).total,
        "engine_mb": memory_mb("VmRSS"),
        "engine_own_mb": memory_mb("RssAnon"),
    }


# The search for failures in a whole set, and its cost after a restart.


def flags_figures(folder: Path, kept: Path) -> dict[str, float | None]:
    """Open a set and run the detectors on answers without stored results, in child processes."""
    keep_in(kept)
    from rexview.detect import create_detectors
    from rexview.disk_cache import open_cache
    from rexview.reviewset import load_review_set
    from rexview.settings import load_settings

    settings, review_set = load_settings(), load_review_set(folder)
    active = create_detectors(
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
        models=review_set.models,
    )
    took = looking_s(review_set, active, keep=open_cache("scans", settings))
    return {"flags_s": took, "flags_a_second": len(review_set.newest) / took}


def looking_s(review_set: ReviewSet, detectors: Sequence[Detector], **given: Any) -> float:
    """Run detectors on a set to the end; return the seconds.

    ``given`` are options of :class:`.BackgroundScan`: the place of work, and what is stored.
    """
    from rexview.detect.scan.background_scan import BackgroundScan

    begin = time.perf_counter()
    looking = BackgroundScan(review_set, detectors, **given)
    looking.start()
    looking.wait()
    took = time.perf_counter() - begin
    progress = looking.progress
    looking.close()
    assert progress.looked == progress.answers, progress
    return took


# The app's own pages on a set, measured in this process, without a browser.

_LIMIT_S: Final = 1_800
_STEP: Final = 17
"""Step between opened cases; never the same case twice, as pages cache some."""


def page_figures(folder: Path, kept: Path) -> dict[str, float | None]:
    """Run pages like a visitor's script, one after the other, and return the costs.

    Raises
    ------
    AssertionError
        A page shows an error.
    """
    keep_in(kept)
    os.environ["REXVIEW_SET"] = str(folder)
    sys.argv = ["app.py"]
    logging.disable(logging.WARNING)  # Streamlit warns that there is no server
    filters, searches = filter_questions(), search_questions()
    number = cycle(range(0, _cases(folder), _STEP))
    overview = _page(None, dict)
    browse = _page("browse", lambda: dict(zip(("model", "site"), next(filters), strict=True)))
    search = _page("browse", lambda: {"q": next(searches)})
    case = _page("case", lambda: {"case": f"vqa-{next(number):07d}", "sort": "order"})

    def anew(run: Callable[[], object]) -> float:
        (took,) = in_turn(milliseconds(run), rounds=ROUNDS)
        return took

    (of_processor,) = in_turn(processor_milliseconds(case), rounds=ROUNDS)
    return {
        "overview_ms": anew(overview),
        "browse_ms": anew(browse),
        "browse_search_ms": anew(search),
        "case_ms": anew(case),
        "case_cpu_ms": of_processor,
        "pages_mb": memory_mb("VmRSS"),
        "pages_own_mb": memory_mb("RssAnon"),
    }


def _cases(folder: Path) -> int:
    import polars as pl

    return int(pl.scan_parquet(folder / "cases" / "*.parquet").select(pl.len()).collect().item())


def _page(name: str | None, query: Callable[[], Mapping[str, str]]) -> Callable[[], Any]:
    from rexview.ui.web.streamlit_adapter.without_browser import app_without_browser

    app = app_without_browser(ROOT / "app.py", _LIMIT_S)
    if name:
        app.switch_page(str(ROOT / "pages" / f"{name}.py"))

    def run() -> None:
        app.query_params.clear()
        for key, value in query().items():
            app.query_params[key] = value
        app.run()
        said = [*app.exception, *app.error]
        assert not said, said

    return run

"""The app's own pages on a set, measured in this process, without a browser."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from rexview.bench.measure import in_turn, memory_mb, milliseconds, processor_milliseconds
from rexview.bench.scale import asked
from rexview.bench.scale.engine import keep_in
from rexview.bench.serving import ROOT

_LIMIT_S: Final = 1_800
_STEP: Final = 17
"""From one case to the next that is opened; never the same, as pages keep some."""


def page_figures(folder: Path, kept: Path) -> dict[str, float | None]:
    """Run pages as a visitor's script runs, one after the other, and say what it took.

    Raises
    ------
    AssertionError
        A page shows an error.
    """
    keep_in(kept)
    os.environ["REXVIEW_SET"] = str(folder)
    sys.argv = ["app.py"]
    logging.disable(logging.WARNING)  # Streamlit warns that there is no server
    filters, searches = asked.filters(), asked.searches()
    number = cycle(range(0, _cases(folder), _STEP))
    overview = _page(None, dict)
    browse = _page("browse", lambda: dict(zip(("model", "site"), next(filters), strict=True)))
    search = _page("browse", lambda: {"q": next(searches)})
    case = _page("case", lambda: {"case": f"vqa-{next(number):07d}", "sort": "order"})

    def anew(run: Callable[[], object]) -> float:
        (took,) = in_turn(milliseconds(run), rounds=asked.ROUNDS)
        return took

    (of_processor,) = in_turn(processor_milliseconds(case), rounds=asked.ROUNDS)
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
    from rexview.ui.streamlit_adapter.without_browser import app_without_browser

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

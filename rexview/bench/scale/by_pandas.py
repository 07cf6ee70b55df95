"""The same questions in pandas, as somebody at home in it would ask them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

from rexview.bench.measure import in_turn, memory_mb, milliseconds
from rexview.bench.scale import asked

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
    """Read the tables and ask what :func:`.engine_figures` asks; nothing is checked, no boxes."""
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
    filters, searches = asked.filters(), asked.searches()

    def facets(model: str, site: str) -> dict[str, Any]:
        """Count the cases by each facet, leaving the facet's own choice out."""
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

    (filter_ms,) = in_turn(milliseconds(lambda: facets(*next(filters))), rounds=asked.ROUNDS)
    (search_ms,) = in_turn(milliseconds(lambda: found(next(searches))), rounds=asked.ROUNDS)
    return {
        "first_open_s": opened,
        "open_s": opened,
        "first_open_cpu_s": of_processor,
        "open_cpu_s": of_processor,
        "filter_ms": filter_ms,
        "search_ms": search_ms,
        "cases_of_filter": first(*asked.first_filter()),
        "cases_of_search": len(found(asked.first_search())),
        "engine_mb": memory_mb("VmRSS"),
        "engine_own_mb": memory_mb("RssAnon"),
    }

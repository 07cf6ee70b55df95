"""Compare the engines in memory and on ClickHouse: ``bench engines``.

First, random filters are applied to a small set with rows of every kind. Facets, pages and
positions must be equal, and for some filters all other questions too. Then the cost of questions is
measured on a simulated set, the engines taking turns. ClickHouse is chDB, the same engine in this
process, so that no network is measured.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench import scale_parts
from bench.made_set import MadeSet, make_set
from bench.measure import Measured, Row, at_least, in_turn, milliseconds, missing, result
from bench.scale import MODELS, apart
from bench.scale_parts import keep_in
from rexview.analysis.case.comments import CommentCount
from rexview.analysis.query.clickhouse.clickhouse_engine import ClickHouseEngine
from rexview.analysis.query.clickhouse.database import ClickHouseDatabase
from rexview.analysis.query.clickhouse.loaded_set import OpenClickHouseSet
from rexview.analysis.query.clickhouse.loading import load_set
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.detect import create_detectors
from rexview.detect.scan.scan import scan
from rexview.reviewset import load_info_only
from rexview.schema import ReviewSet

FILTERS: Final = 2_000
"""Number of filters whose counts, pages and positions are compared."""
OF_ALL_QUESTIONS: Final = 60
"""Number of filters for which all questions are compared."""
ANSWERS: Final = 100_000
_BROWSING: Final = ("facets", "page", "position")
_ROUNDS: Final = 5
_IN_MEMORY: Final = "in memory"
_TABLES: Final = "ClickHouse (chDB)"


def run(filters: int = FILTERS, answers: int = ANSWERS) -> Measured:
    """Compare both engines, and measure them on a simulated set of ``answers`` answers.

    Raises
    ------
    AssertionError
        They disagree about a filter; the message has its smallest form.
    """
    if absent := missing("chdb"):
        return Measured([result("filters answered alike", None, "", note=absent)])
    compared = {
        "counts, pages and places are the same": (_BROWSING, filters),
        "every question is answered alike": ((), min(filters, OF_ALL_QUESTIONS)),
    }
    rows = [
        result(what, apart(alike, n, names), "filters", goal=at_least(n))
        for what, (names, n) in compared.items()
    ]
    return Measured([*rows, *apart(costs, answers)])


def alike(filters: int, names: tuple[str, ...]) -> int:
    """Compare questions (without names, all) on random filters; return the number of filters."""
    from bench.engines.comparison import QUESTIONS, Compared, compare
    from bench.engines.everything import EverythingSet
    from rexview.analysis.query.clickhouse.database import ChdbDatabase
    from rexview.reviewset import load_review_set

    made = EverythingSet()
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        folder = made.write(Path(place) / "set")
        keep_in(Path(place) / "kept")
        engines = both_engines(ChdbDatabase(None), load_review_set(folder), made.comments)
        questions = {name: QUESTIONS[name] for name in names or QUESTIONS}
        found = compare(*engines, filters, questions=questions)
        assert isinstance(found, Compared), str(found)
    return found.filters


def costs(answers: int) -> list[Row]:
    """Measure what pages ask, on ClickHouse and in memory, on a simulated set."""
    from rexview.analysis.query.clickhouse.database import ChdbDatabase
    from rexview.analysis.query.engine import Engine
    from rexview.analysis.query.filter.case_filter import CaseFilter
    from rexview.reviewset import load_review_set

    questions: dict[str, tuple[bool, Callable[[Engine, CaseFilter], object]]] = {
        "all facets of a filter": (False, lambda engine, given: engine.facets(given)),
        "first page of a filter": (
            False,
            lambda engine, given: engine.page(given, 0, scale_parts.CARDS),
        ),
        "first page of a text search": (
            True,
            lambda engine, given: engine.page(given, 0, scale_parts.CARDS),
        ),
        "failures by model of a filter": (
            False,
            lambda engine, given: engine.failure_tallies(given),
        ),
        "patients by failure of a filter": (
            False,
            lambda engine, given: engine.judged_tallies(given, ("laterality_error", "omission")),
        ),
        "choices by rater of a filter": (False, lambda engine, given: engine.choice_tallies(given)),
    }

    def filters(*, searching: bool) -> Iterator[CaseFilter]:
        if searching:
            return (
                CaseFilter(search=words, sort="order") for words in scale_parts.search_questions()
            )
        return (
            CaseFilter(models=(model,), sites=(site,), sort="order")
            for model, site in scale_parts.filter_questions()
        )

    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        folder = Path(place)
        keep_in(folder / "kept")
        made = MadeSet(max(1, answers // MODELS), MODELS, pictures=0, parquet=True)
        make_set(made, folder / "set")
        in_memory, tables = both_engines(ChdbDatabase(None), load_review_set(folder / "set"))
        rows = []
        for what, (searching, ask) in questions.items():
            one, other = filters(searching=searching), filters(searching=searching)
            theirs, ours = in_turn(
                milliseconds(lambda ask=ask, one=one: ask(in_memory, next(one))),  # type: ignore[misc]
                milliseconds(lambda ask=ask, other=other: ask(tables, next(other))),  # type: ignore[misc]
                rounds=_ROUNDS,
            )
            rows.append(
                result(
                    f"{what}, {_TABLES}, {made.answers:,} answers",
                    ours,
                    "ms",
                    alternative=theirs,
                    name=_IN_MEMORY,
                )
            )
        return rows


# The same set in both engines: in memory, and on ClickHouse in this process (chDB).


def both_engines(
    database: ClickHouseDatabase,
    review_set: ReviewSet,
    comments: Mapping[str, CommentCount] | None = None,
) -> tuple[MemoryEngine, ClickHouseEngine]:
    """Load a set into a database; return its engine in memory and its engine on the tables.

    ``comments`` are those on its cases, as the app counts them.
    """
    found = scan(review_set, create_detectors(models=review_set.models))
    in_memory = build_memory_engine(review_set, scan=found, comments=comments)
    manifest = load_set(database, "compared", review_set, found)
    opened = OpenClickHouseSet(database, manifest, load_info_only(review_set.folder))
    return in_memory, engine_of(opened, comments)


def engine_of(
    opened: OpenClickHouseSet, comments: Mapping[str, CommentCount] | None = None
) -> ClickHouseEngine:
    """Return the engine of a loaded set without entries written in the app."""
    small = opened.reviewed(comments or ())
    people: dict[str, Any] = opened.people
    return ClickHouseEngine(opened, small, replace(small.given, **people), comments=comments)

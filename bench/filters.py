"""Measure filters with facet counts against pandas and DuckDB: ``bench filters``.

First the Browse page's questions to our engine on a simulated set: every facet, and a text search.
Then the query underneath on one synthetic table of answers: a filter and the counts of six facets'
values. One filter is narrow (one model, a gap of two or more; 1 to 2 % of the rows), one wide (a
gap above -2; three quarters of the rows). All engines hold that table in two forms, as text and
coded (categories, enums); ours holds it coded. They take turns, and their counts are compared.
DuckDB is not a requirement.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from bench.made_set import MadeSet, make_set
from bench.measure import ROUNDS, Measured, Row, in_turn, milliseconds, missing, result
from bench.scale import FILTER_GOAL, MODELS, SEARCH_GOAL, apart, same_counts
from bench.scale_parts import engine_figures, pandas_figures

ROWS: Final = 1_000_000
OURS: Final = "polars, coded"
_FACETS: Final = {
    "question_type": 3,
    "category": 8,
    "difficulty": 3,
    "site": 40,
    "finish_reason": 5,
    "view": 7,
}
_MODELS: Final = 12
Counts = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Filter:
    """Answers of one model, or of all, with at least this gap."""

    name: str
    model: str | None
    gap: float


FILTERS: Final = (Filter("narrow", "model-03", 2.0), Filter("wide", None, -2.0))
Query = Callable[[Filter], Counts]


def run(rows: int = ROWS, rounds: int = ROUNDS) -> Measured:
    """Measure our engine and the query underneath on that many answers.

    Raises
    ------
    AssertionError
        Two engines count differently.
    """
    return Measured([*engine_rows(rows), *table_rows(rows, rounds)])


def table_rows(rows: int, rounds: int) -> list[Row]:
    """Measure each filter in polars, on coded columns, against each alternative."""
    table = _table(rows)
    queries: dict[str, Query] = {
        OURS: _polars(_coded(table)),
        "polars, text": _polars(table),
        "pandas, text": _pandas(table),
        "pandas, coded": _pandas(_coded(table)),
    }
    absent = missing("duckdb")
    if absent is None:
        queries["DuckDB, text"] = _duckdb(table, enums=False)
        queries["DuckDB, coded"] = _duckdb(table, enums=True)
    found = []
    for filtered in FILTERS:
        expected = queries[OURS](filtered)
        for name, query in queries.items():
            assert query(filtered) == expected, f"{name} counts differently"
        measures = [milliseconds(partial(query, filtered)) for query in queries.values()]
        ours, *others = in_turn(*measures, rounds=rounds)
        what = f"six facets of {rows:,} rows, {filtered.name} filter, {OURS}"
        found += [
            result(what, ours, "ms", alternative=other, name=name)
            for name, other in zip([*queries][1:], others, strict=True)
        ]
        if absent:
            found.append(result(what, ours, "ms", name="DuckDB", note=absent))
    return found


def engine_rows(answers: int) -> list[Row]:
    """Measure pages' questions to our engine on a simulated set, against the same in pandas."""
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        folder = Path(place)
        made = MadeSet(max(1, answers // MODELS), MODELS, pictures=0, parquet=True)
        make_set(made, folder / "set")
        ours = apart(engine_figures, folder / "set", folder / "kept")
        theirs = apart(pandas_figures, folder / "set")
    assert same_counts(ours, theirs), "our engine counts differently"
    return [
        result(
            f"{what}, our engine, {made.answers:,} answers",
            ours[name],
            "ms",
            alternative=theirs[name],
            name="pandas, coded",
            goal=goal,
        )
        for name, what, goal in (
            ("filter_ms", "all facets of a filter", FILTER_GOAL),
            ("search_ms", "text search", SEARCH_GOAL),
        )
    ]


def _table(rows: int) -> pl.DataFrame:
    """Return answers with a model, six facets and a gap; the same in every run."""
    random = np.random.default_rng(20250101)
    columns = {"model": _words("model", _MODELS, rows, random)}
    for facet, size in _FACETS.items():
        columns[facet] = _words(facet, size, rows, random)
    gap = np.round(random.uniform(-4, 4, rows) * 2) / 2
    return pl.DataFrame(columns).with_columns(pl.Series("gap", gap))


def _words(name: str, size: int, rows: int, random: np.random.Generator) -> pl.Series:
    words = pl.Series(name, [f"{name}-{number:02d}" for number in range(size)])
    return words.gather(pl.Series(random.integers(0, size, rows)))


def _coded(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(pl.String).cast(pl.Categorical))


def _polars(table: pl.DataFrame) -> Query:
    def query(filtered: Filter) -> Counts:
        wanted = pl.col("gap") >= filtered.gap
        if filtered.model:
            wanted &= pl.col("model") == filtered.model
        kept = table.filter(wanted)
        return {
            facet: dict(kept[facet].value_counts().cast({facet: pl.String}).iter_rows())
            for facet in _FACETS
        }

    return query


def _pandas(table: pl.DataFrame) -> Query:
    frame = table.to_pandas()

    def query(filtered: Filter) -> Counts:
        wanted = frame["gap"] >= filtered.gap
        if filtered.model:
            wanted &= frame["model"] == filtered.model
        kept = frame[wanted]
        counts = {facet: kept[facet].value_counts() for facet in _FACETS}
        return {
            facet: {str(word): int(count) for word, count in found.items() if count}
            for facet, found in counts.items()
        }

    return query


def _duckdb(table: pl.DataFrame, *, enums: bool) -> Query:
    import duckdb

    connection = duckdb.connect()
    connection.register("given", table.to_arrow())
    connection.execute("CREATE TABLE answers AS SELECT * FROM given")
    if enums:
        for name in ("model", *_FACETS):
            words = ", ".join(f"'{word}'" for word in table[name].unique().sort().to_list())
            connection.execute(f"CREATE TYPE {name}_words AS ENUM ({words})")
            connection.execute(f"ALTER TABLE answers ALTER {name} TYPE {name}_words")
    sets = ", ".join(f"({facet})" for facet in _FACETS)
    columns = ", ".join(_FACETS)

    def query(filtered: Filter) -> Counts:
        wanted = "gap >= $gap" + (" AND model = $model" if filtered.model else "")
        values = {"gap": filtered.gap} | ({"model": filtered.model} if filtered.model else {})
        # one pass for all facets; the statement contains only our own words
        statement = (
            f"SELECT {columns}, count(*) FROM answers WHERE {wanted} "  # noqa: S608
            f"GROUP BY GROUPING SETS ({sets})"
        )
        counts: Counts = {facet: {} for facet in _FACETS}
        for *words, count in connection.execute(statement, values).fetchall():
            found = zip(_FACETS, words, strict=True)
            facet, word = next((facet, word) for facet, word in found if word is not None)
            counts[facet][word] = count
        return counts

    return query

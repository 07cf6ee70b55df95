import importlib.util
import sys

from rexview.bench import queries

ENGINES = {"polars, text", "polars, coded", "pandas, text", "pandas, coded"}
DUCKDB = {"DuckDB, text", "DuckDB, coded"}


def test_every_engine_is_measured_on_every_filter_and_counts_alike():
    rows = queries.run(rows=2_000, rounds=1)
    measured = {(row["filter"], row["engine"]) for row in rows if "median ms" in row}
    engines = ENGINES | (DUCKDB if importlib.util.find_spec("duckdb") else set())
    assert measured == {(filtered.name, name) for filtered in queries.FILTERS for name in engines}
    ratios = {row["ratio"] for row in rows if row["engine"] == "polars, text"}
    assert ratios == {1.0}


def test_without_duckdb_its_rows_say_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    rows = queries.run(rows=100, rounds=1)
    notes = {row["engine"]: row["note"] for row in rows if "median ms" not in row}
    assert notes == dict.fromkeys(DUCKDB, "duckdb is not installed")


def test_the_filters_keep_few_and_most_of_the_rows():
    table = queries._table(20_000)
    counts = {
        filtered.name: sum(queries._polars(table)(filtered)["difficulty"].values())
        for filtered in queries.FILTERS
    }
    assert 0.005 < counts["narrow"] / 20_000 < 0.05
    assert 0.6 < counts["wide"] / 20_000 < 0.9

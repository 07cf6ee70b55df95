import importlib.util

import pytest

from bench import filters

OTHERS = {"polars, text", "pandas, text", "pandas, coded"}
DUCKDB = {"DuckDB, text", "DuckDB, coded"}


def test_every_engine_is_measured_on_every_filter_and_counts_alike():
    rows = filters.table_rows(rows=2_000, rounds=1)
    others = OTHERS | (DUCKDB if importlib.util.find_spec("duckdb") else {"DuckDB"})
    for filtered in filters.FILTERS:
        of_filter = [row for row in rows if f"{filtered.name} filter" in row.what]
        assert {row.name for row in of_filter} == others
        assert all(row.ours > 0 for row in of_filter)


def test_our_engine_stands_beside_pandas_with_its_goals():
    rows = filters.engine_rows(160)
    assert [(row.what, row.name, row.goal) for row in rows] == [
        ("all facets of a filter, our engine, 160 answers", "pandas, coded", "ours <= 100"),
        ("text search, our engine, 160 answers", "pandas, coded", "ours <= 1000"),
    ]
    assert all(row.ours > 0 < row.alternative for row in rows)


def test_without_duckdb_its_row_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(filters, "missing", lambda module: f"{module}: pip install {module}")
    rows = filters.table_rows(rows=100, rounds=1)
    notes = {row.name: row.note for row in rows if row.alternative is None}
    assert notes == {"DuckDB": "duckdb: pip install duckdb"}


def test_an_engine_that_counts_differently_is_an_error(monkeypatch):
    monkeypatch.setattr(filters, "_pandas", lambda table: lambda filtered: {})
    with pytest.raises(AssertionError, match="pandas, text counts differently"):
        filters.table_rows(rows=100, rounds=1)


def test_the_filters_keep_few_and_most_of_the_rows():
    table = filters._table(20_000)
    counts = {
        filtered.name: sum(filters._polars(table)(filtered)["difficulty"].values())
        for filtered in filters.FILTERS
    }
    assert 0.005 < counts["narrow"] / 20_000 < 0.05
    assert 0.6 < counts["wide"] / 20_000 < 0.9

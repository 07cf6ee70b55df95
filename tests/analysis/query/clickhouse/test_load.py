"""A set is on ClickHouse as a whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import numpy as np
import polars as pl
import pytest

from rexview.analysis.query.clickhouse import loading
from rexview.analysis.query.clickhouse.database import ChdbDatabase
from rexview.analysis.query.clickhouse.loading import (
    find_current_version,
    load_set,
    read_current_version,
)
from rexview.analysis.query.clickhouse.table_layout import (
    CASES_TABLE,
    LAYOUT_NUMBER,
    LOADS_TABLE,
    RECORDS_TABLE,
)
from rexview.errors import EngineUnreachable, LoadRefused, SetNotLoaded


def _n(database: ChdbDatabase, table: str) -> int:
    return int(database.query(f"SELECT count() FROM {table}").item())


class _Breaks(ChdbDatabase):
    """Takes so many parts, and then no more."""

    def __init__(self, name: str, parts: int) -> None:
        super().__init__(None, name)
        self.parts = parts

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        self.parts -= 1
        if self.parts < 0:
            raise EngineUnreachable("The tables do not answer.", "Wait.")
        super().insert(table, frame)


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_nothing_is_shown_or_left_of_a_load_that_was_interrupted(
    given, empty_database, monkeypatch, parts
):
    monkeypatch.setattr(loading, "_CASES_AT_A_TIME", 5)
    with pytest.raises(EngineUnreachable):
        load_set(_Breaks("another", parts), "set", given.review_set, given.scan)
    assert find_current_version(empty_database, "set") is None
    assert _n(empty_database, CASES_TABLE) == _n(empty_database, RECORDS_TABLE) == 0


def test_a_broken_load_leaves_the_version_before(given, empty_database):
    first = load_set(empty_database, "set", given.review_set, given.scan)
    with pytest.raises(EngineUnreachable):
        load_set(_Breaks("another", 2), "set", given.review_set, given.scan)
    assert read_current_version(empty_database, "set") == first
    assert _n(empty_database, CASES_TABLE) == first.n_cases


def test_two_loads_at_once_show_one_whole_version(given, empty_database):
    loads = [
        Thread(target=load_set, args=(empty_database, "set", given.review_set, given.scan))
        for _ in range(2)
    ]
    for one in loads:
        one.start()
    for one in loads:
        one.join()
    manifest = read_current_version(empty_database, "set")
    of_version = empty_database.query(
        f"SELECT count() FROM {CASES_TABLE} WHERE version = {{version:String}}",
        {"version": manifest.version},
    )
    assert of_version.item() == manifest.n_cases == len(given.review_set.cases)


def test_the_newest_versions_stay_and_older_ones_go(given, empty_database):
    versions = [
        load_set(empty_database, "set", given.review_set, given.scan).version for _ in range(3)
    ]
    left = empty_database.query(f"SELECT DISTINCT version FROM {CASES_TABLE}")["version"]
    assert set(left) == set(versions[1:])
    assert read_current_version(empty_database, "set").version == versions[-1]


def test_what_detectors_have_not_looked_at_is_not_loaded(given, empty_database):
    found = given.scan.found
    unlooked = replace(given.scan, found=replace(found, state=np.zeros_like(found.state)))
    with pytest.raises(LoadRefused, match="has not looked at all answers"):
        load_set(empty_database, "set", given.review_set, unlooked)


def test_what_another_rexview_loaded_is_loaded_again(given, empty_database):
    manifest = load_set(empty_database, "set", given.review_set, given.scan)
    other = manifest.as_json().replace(f'"layout": {LAYOUT_NUMBER}', '"layout": 0')
    row = {"review_set": "set", "version": "0", "state": "shown", "fingerprint": ""}
    empty_database.insert(LOADS_TABLE, pl.DataFrame([{**row, "manifest": other}]))
    with pytest.raises(SetNotLoaded, match="Another version of rexview"):
        read_current_version(empty_database, "set")


def test_tables_of_another_layout_are_left_as_they_are(given, empty_database):
    old = [
        name.replace(f"_{LAYOUT_NUMBER}", end)
        for name in (CASES_TABLE, LOADS_TABLE)
        for end in ("", "_1")
    ]
    for name in old:
        empty_database.run(f"CREATE TABLE {name} (version String) ENGINE = Memory")
    manifest = load_set(empty_database, "set", given.review_set, given.scan)
    assert read_current_version(empty_database, "set") == manifest
    assert _n(empty_database, CASES_TABLE) == manifest.n_cases
    assert [_n(empty_database, name) for name in old] == [0] * 4


def test_a_set_that_was_never_loaded_says_how(empty_database):
    with pytest.raises(SetNotLoaded, match="python -m rexview load"):
        read_current_version(empty_database, "nobody's")

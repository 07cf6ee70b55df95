"""The engine on ClickHouse says what the one in memory says: random filters, all questions.

The tables are in chDB, the same engine inside this process. ``python -m rexview bench engines``
asks for the counts, pages and places of 2,000 filters.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from bench.engines import both_engines, engine_of
from bench.engines.comparison import (
    HOSTILE,
    QUESTIONS,
    Compared,
    Difference,
    KnownWords,
    RandomFilters,
    compare,
)
from bench.engines.everything import EverythingSet
from rexview.analysis.query.clickhouse.clickhouse_engine import ClickHouseEngine
from rexview.analysis.query.clickhouse.database import ChdbDatabase
from rexview.analysis.query.clickhouse.loaded_set import OpenClickHouseSet
from rexview.analysis.query.clickhouse.study_engine import ClickHouseStudyEngine
from rexview.analysis.query.clickhouse.table_layout import CASES_TABLE, LOADS_TABLE, RECORDS_TABLE
from rexview.analysis.query.memory.memory_engine import MemoryEngine
from rexview.analysis.query.memory.study_engine import MemoryStudyEngine
from rexview.reviewset import load_review_set

pytest.importorskip("chdb", reason="chDB is not installed: pip install chdb")
Both = tuple[MemoryEngine, ClickHouseEngine]


@pytest.fixture(scope="module", name="made")
def made_fixture() -> EverythingSet:
    return EverythingSet()


@pytest.fixture(scope="module", name="folder")
def folder_fixture(made: EverythingSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.write(tmp_path_factory.mktemp("compared") / "set")


@pytest.fixture(scope="module", name="both")
def both_fixture(made: EverythingSet, folder: Path) -> Both:
    return both_engines(ChdbDatabase(None, "compared"), load_review_set(folder), made.comments)


def test_people_wrote_about_some_cases_only(both: Both) -> None:
    _, on_tables = both
    reviewed, every = len(on_tables.small.records), on_tables.facts.n_cases
    assert every / 4 < reviewed < every * 3 / 4


def test_every_question_is_answered_alike(both: Both) -> None:
    found = compare(*both, 2)
    assert isinstance(found, Compared), str(found)
    assert found.answers == 2 * len(QUESTIONS)


def test_random_filters_are_answered_alike(both: Both) -> None:
    found = compare(*both, 200, each=1, seed=18)
    assert isinstance(found, Compared), str(found)
    assert found.leaving_some > 80


def test_a_wrong_count_is_found(both: Both) -> None:
    in_memory, on_tables = both
    manifest = on_tables.opened.manifest
    words = {**manifest.words, "site": manifest.words["site"][:-1]}
    wrong = OpenClickHouseSet(
        on_tables.opened.database, replace(manifest, words=words), on_tables.opened.empty
    )
    found = compare(
        in_memory, engine_of(wrong), 1, questions={"facets": QUESTIONS["facets"]}, seed=1
    )
    assert isinstance(found, Difference)


def test_study_is_answered_alike(both: Both, folder: Path) -> None:
    review_set, opened = load_review_set(folder), both[1].opened
    one, other = MemoryStudyEngine(review_set), ClickHouseStudyEngine(opened)
    assert (one.tasks, one.n_scorable) == (other.tasks, other.n_scorable)
    assert list(one.strata.items()) == list(other.strata.items())
    rng, ids = Random(4), [*review_set.cases["id"], *HOSTILE]
    for task in one.tasks:
        some = rng.sample(ids, 20)
        assert dict(one.of_task(task, some)) == dict(other.of_task(task, some))
        for assigned in (None, frozenset(some)):
            reader = rng.choice(("r1", "z:%", HOSTILE[2]))
            lists = [engine.task_list(task, reader, assigned) for engine in (one, other)]
            every, same = (found.page(0, 1_000) for found in lists)
            assert every == same
            assert len(lists[1]) == len(every)
            item = rng.choice((*every, "1 gone", HOSTILE[2]))
            closed = set(rng.sample(every, len(every) // 2))
            mixed = [*closed, *HOSTILE, "1 gone"]
            assert lists[0].in_order(mixed) == lists[1].in_order(mixed)
            assert set(lists[0].in_order(mixed)) == closed
            asked = [(found.position(item), found.next_open(closed, item)) for found in lists]
            assert asked[0] == asked[1]
            assert lists[1].next_open(set(every)) is None
    order = ["case", "model", "dimension", "picture"]
    assert one.scorable(some) == other.scorable(some)
    for asked_for in (some[:5], some):  # what was asked before is not read again
        items = other.required(asked_for)
        assert one.required(asked_for).sort(order).equals(items.sort(order))
    by = ["case", "model"]
    assert one.chosen(some).sort(by).equals(other.chosen(some).sort(by))


def on_shards(both: Both, name: str, shards: tuple[int, ...]) -> OpenClickHouseSet:
    """Open the set with the cases of some of two shards only, by the hash of their id."""
    database = ChdbDatabase(None, name)
    for table in (RECORDS_TABLE, LOADS_TABLE):
        database.run(f"CREATE VIEW {table} AS SELECT * FROM compared.{table}")
    for shard in shards:
        database.run(
            f"CREATE TABLE {CASES_TABLE}_on_{shard} ENGINE = MergeTree ORDER BY case_row AS "
            f"SELECT * FROM compared.{CASES_TABLE} WHERE shard % 2 = {shard}"
        )
    # what a Distributed table does over several servers, Merge does over several tables
    database.run(
        f"CREATE TABLE {CASES_TABLE} AS compared.{CASES_TABLE} ENGINE = Merge('{name}', "
        f"'^{CASES_TABLE}_on_')"
    )
    opened = both[1].opened
    return OpenClickHouseSet(database, opened.manifest, opened.empty)


def test_counts_of_two_shards_add_up(both: Both, made: EverythingSet) -> None:
    together = engine_of(on_shards(both, "two_shards", (0, 1)), made.comments)
    found = compare(both[0], together, 24, each=1, seed=5)
    assert isinstance(found, Compared), str(found)
    alone = [
        engine_of(on_shards(both, f"shard_{shard}", (shard,)), made.comments) for shard in (0, 1)
    ]
    filters = RandomFilters(KnownWords.of(both[0]), 6)
    for _ in range(6):
        chosen = filters.filter()
        of_all, in_memory, *parts = (
            counts(engine.facets(chosen)) for engine in (both[0], both[1].reviewed, *alone)
        )
        # the cases that people wrote about are in memory, whatever shard they are on
        assert of_all == {
            key: sum(part[key] for part in parts) - in_memory.get(key, 0) for key in of_all
        }


def counts(facets: Any) -> dict[Any, int]:
    found = {
        (facet.field, value.value): value.count for facet in facets.facets for value in facet.values
    }
    return found | {("total", ""): facets.total}


def test_values_never_reach_the_statement(both: Both) -> None:
    """Hostile ids and words find nothing more than themselves, and the tables are still there."""
    on_tables = both[1]
    rows = on_tables.opened.database.query(f"SELECT count() AS n FROM {CASES_TABLE}")
    made = RandomFilters(KnownWords.of(both[0]), 9)
    for word in HOSTILE:
        for name in ("models", "sites", "categories"):
            chosen = replace(made.filter().cleared(), **{name: (word,)})
            assert on_tables.page(chosen, 0, 9) == ()
        assert on_tables.position(chosen, word).number is None
    assert rows.equals(on_tables.opened.database.query(f"SELECT count() AS n FROM {CASES_TABLE}"))
    assert isinstance(rows, pl.DataFrame)

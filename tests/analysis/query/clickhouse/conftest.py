"""A small set on ClickHouse: chDB in this process, one for all tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import pytest

from rexview.analysis.query.clickhouse.clickhouse_engine import ClickHouseEngine
from rexview.analysis.query.clickhouse.database import ChdbDatabase
from rexview.analysis.query.clickhouse.loaded_set import (
    PEOPLE_TABLES,
    OpenClickHouseSet,
    add_people_tables,
)
from rexview.analysis.query.clickhouse.loading import load_set
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.detect.registry import create_detectors
from rexview.detect.scan.scan import Scan, scan
from rexview.frames import SharedIndex
from rexview.reviewset import load_info_only, load_review_set
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER

pytest.importorskip("chdb", reason="chDB is not installed")
_CASES, _REVIEWED = 12, 5


@dataclass(frozen=True)
class Given:
    """A set of which people wrote about some cases only, and what detectors found in it."""

    review_set: ReviewSet
    scan: Scan

    def opened_on(self, database: Any, name: str) -> ClickHouseEngine:
        """Load it, and open it from there."""
        manifest = load_set(database, name, self.review_set, self.scan)
        opened = OpenClickHouseSet(database, manifest, load_info_only(DEMO_FOLDER))
        small = opened.reviewed()
        return ClickHouseEngine(opened, small, add_people_tables(small.given, opened.people))


@pytest.fixture(scope="session")
def given() -> Given:
    whole = load_review_set(DEMO_FOLDER)
    cases = whole.cases.sort("id")[:_CASES]
    some, few = cases["id"].implode(), cases["id"][:_REVIEWED].implode()
    tables: dict[str, Any] = {"cases": cases, "shared_index": SharedIndex()}
    for name in ("answers", "metrics", "opinions", "stale_metrics", "stale_opinions"):
        tables[name] = getattr(whole, name).filter(pl.col("case").is_in(some))
    for name in PEOPLE_TABLES:
        table = getattr(whole, name)
        if "case" in table.columns:
            tables[name] = table.filter(pl.col("case").is_in(few))
    review_set = replace(whole, **tables)
    return Given(review_set, scan(review_set, create_detectors(models=review_set.models)))


@pytest.fixture(scope="session")
def in_memory(given: Given) -> MemoryEngine:
    return build_memory_engine(given.review_set, scan=given.scan)


@pytest.fixture(scope="session")
def database() -> ChdbDatabase:
    return ChdbDatabase(None, "rexview")


@pytest.fixture(scope="session")
def engine(given: Given, database: ChdbDatabase) -> ClickHouseEngine:
    return given.opened_on(database, "set")


@pytest.fixture
def empty_database(database: ChdbDatabase) -> Iterator[ChdbDatabase]:
    """A database of its own, in which nothing is."""
    yield ChdbDatabase(None, "another")
    database.run("DROP DATABASE IF EXISTS another")

"""The same set in both engines: in memory, and on ClickHouse inside this process (chDB)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.clickhouse.database.database import Database
from rexview.analysis.clickhouse.engine import ClickHouseEngine
from rexview.analysis.clickhouse.loading.load import load_set
from rexview.analysis.clickhouse.tables.opened import OpenedSet
from rexview.analysis.memory.engine import MemoryEngine, memory_engine
from rexview.detect import detectors
from rexview.detect.core.scan import scan
from rexview.reviewset import without_cases
from rexview.schema import ReviewSet


def both_engines(
    database: Database, review_set: ReviewSet, comments: Mapping[str, CommentCount] | None = None
) -> tuple[MemoryEngine, ClickHouseEngine]:
    """Load a set into a database, and return its engine in memory and the one on the tables.

    ``comments`` are those on its cases, as the app counts them.
    """
    found = scan(review_set, detectors(models=review_set.models))
    in_memory = memory_engine(review_set, scan=found, comments=comments)
    manifest = load_set(database, "compared", review_set, found)
    opened = OpenedSet(database, manifest, without_cases(review_set.folder))
    return in_memory, engine_of(opened, comments)


def engine_of(
    opened: OpenedSet, comments: Mapping[str, CommentCount] | None = None
) -> ClickHouseEngine:
    """Return the engine of a loaded set in which nobody has written anything in the app."""
    small = opened.reviewed(comments or ())
    people: dict[str, Any] = opened.people
    return ClickHouseEngine(opened, small, replace(small.given, **people), comments=comments)

"""Load a review set into ClickHouse: whole or not at all.

A version is written beside the one that is shown, and only when all of it is there does one row say
that it is shown now. What a load that was interrupted has left is taken away by the next one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from rexview.analysis.case.blinding import plain_words
from rexview.analysis.clickhouse.database.database import Database
from rexview.analysis.clickhouse.loading.columns_of_set import SetColumnsByCase
from rexview.analysis.clickhouse.loading.records_of_set import SetRecordsByCase
from rexview.analysis.clickhouse.tables.definitions import (
    CASES,
    LOADS,
    RECORDS,
    forget,
    make_tables,
)
from rexview.analysis.clickhouse.tables.manifest import PEOPLE, Manifest, without_people
from rexview.analysis.clickhouse.tables.rows_as_json import encoded
from rexview.analysis.memory.engine import properties_of
from rexview.analysis.memory.table import AnswerTable, answer_table
from rexview.detect.core.scan import Scan
from rexview.errors import EngineError, LoadRefused, SetNotLoaded
from rexview.metrics.identity import MetricId
from rexview.schema import ReviewSet
from rexview.stats.judges.opinions import opinions_in

_CASES_AT_A_TIME: Final = 5_000
_KEPT: Final = 2
"""Versions of a set that stay: a server may still show the one before."""
_LEFT_BEHIND_H: Final = 24
"""So long after its begin a load that has not ended is taken for interrupted."""
Show = Callable[[int, int], None]


def load_set(
    database: Database,
    name: str,
    review_set: ReviewSet,
    scan: Scan,
    show: Show | None = None,
) -> Manifest:
    """Load a set under a name, and show that version from now on.

    ``review_set`` is the set as its files have it, ``scan`` what detectors found in all of it.
    ``show`` is told how many of how many cases are there.

    Raises
    ------
    LoadRefused
        Detectors have not looked at all answers.
    EngineUnreachable
        Nothing is shown of what was written until then.
    """
    if not scan.is_complete:
        raise LoadRefused(
            "The search for failures has not looked at all answers of this set.",
            "Run: python -m rexview failures SET --keep",
        )
    make_tables(database)
    _take_away_interrupted(database, name)
    version = secrets.token_hex(8)
    bare = replace(review_set, **without_people(review_set))
    table = answer_table(bare, scan=scan)
    manifest = _manifest(version, review_set, table)
    _note(database, name, manifest, "begun")
    try:
        _write(database, table, version, show)
        _note(database, name, manifest, "shown")
    except BaseException:
        _forget_quietly(database, version)
        raise
    _take_away_old(database, name)
    return manifest


def shown(database: Database, name: str) -> Manifest:
    """Return the version of a set that is shown.

    Raises
    ------
    SetNotLoaded
    EngineUnreachable
    """
    make_tables(database)
    found = database.query(
        f"SELECT manifest FROM {LOADS} WHERE review_set = {{name:String}} AND state = 'shown' "
        "ORDER BY at DESC, version LIMIT 1",
        {"name": name},
    )
    if found.is_empty():
        raise SetNotLoaded("This set is not in the tables.", "Load it: python -m rexview load SET")
    manifest = Manifest.of_json(found.item())
    if manifest is None:
        raise SetNotLoaded(
            "Another version of rexview loaded this set.", "Load it: python -m rexview load SET"
        )
    return manifest


def shown_if_any(database: Database, name: str) -> Manifest | None:
    """Return the version of a set that is shown, None for none.

    Raises
    ------
    EngineUnreachable
    """
    try:
        return shown(database, name)
    except SetNotLoaded:
        return None


def shown_version(database: Database, name: str) -> str:
    """Return the version of a set that is shown, empty for none."""
    found = database.query(
        f"SELECT version FROM {LOADS} WHERE review_set = {{name:String}} AND state = 'shown' "
        "ORDER BY at DESC, version LIMIT 1",
        {"name": name},
    )
    return "" if found.is_empty() else str(found.item())


def _manifest(version: str, review_set: ReviewSet, table: AnswerTable) -> Manifest:
    columns, index = table.columns, table.survey.scan.index
    opinions = opinions_in(review_set, columns.cluster)
    judges = (
        (one, opinions.stale.get(one, 0), opinions.wordings.get(one, 0)) for one in opinions.judges
    )
    properties = properties_of(columns)
    return Manifest(
        version=version,
        fingerprint=review_set.fingerprint.partition("-")[0],  # of the files alone
        models=tuple(model.id for model in review_set.models),
        n_cases=columns.n_cases,
        n_answers=columns.n_answers,
        n_images=columns.n_images,
        words={name: coded.values for name, coded in columns.case_codes.items()},
        tags={name: coded.values for name, (_, coded) in columns.tag_codes.items()},
        properties=tuple((one.key, one.name, one.field) for one in properties),
        phrases=index.phrases,
        metrics=table.metric_ids,
        metrics_in_set=tuple(_counted(table, one) for one in table.metric_ids),
        raters=table.chosen.raters,
        judges=tuple(judges),
        plain_words=tuple(sorted(plain_words(review_set))),
        people={name: tuple(encoded(getattr(review_set, name)).to_list()) for name in PEOPLE},
    )


def _counted(table: AnswerTable, metric: MetricId) -> tuple[int, tuple[int, ...]]:
    """Say on how many answers a metric has a value, and on how many it was computed together."""
    values = table.metrics.of(metric)
    return len(values), tuple(np.unique(values.together[values.together > 0]).tolist())


def _write(database: Database, table: AnswerTable, version: str, show: Show | None) -> None:
    columns, records = SetColumnsByCase(table, version), SetRecordsByCase(table, version)
    every = table.columns.n_cases
    for first in range(0, every, _CASES_AT_A_TIME):
        stop = min(first + _CASES_AT_A_TIME, every)
        database.insert(CASES, columns.of_cases(first, stop))
        database.insert(RECORDS, records.of_cases(first, stop))
        if show:
            show(stop, every)


def _note(database: Database, name: str, manifest: Manifest, state: str) -> None:
    row = {
        "review_set": name,
        "version": manifest.version,
        "state": state,
        "fingerprint": manifest.fingerprint,
        "manifest": manifest.as_json() if state == "shown" else "",
    }
    database.insert(LOADS, pl.DataFrame([row]))


def _take_away_interrupted(database: Database, name: str) -> None:
    """Forget loads that began long ago and never ended."""
    _take_away(
        database,
        name,
        "GROUP BY version HAVING NOT has(groupArray(state), 'shown') "
        f"AND max(at) < now64(6) - INTERVAL {_LEFT_BEHIND_H} HOUR",
    )


def _take_away_old(database: Database, name: str) -> None:
    """Forget all but the newest versions that were shown."""
    shown_before = f"AND state = 'shown' ORDER BY at DESC, version LIMIT 1000 OFFSET {_KEPT}"
    _take_away(database, name, shown_before)


def _take_away(database: Database, name: str, which: str) -> None:
    """Forget versions of a set; ``which`` is the end of a query of its loads."""
    left = database.query(
        f"SELECT version FROM {LOADS} WHERE review_set = {{name:String}} {which}", {"name": name}
    )
    for version in left["version"].to_list():
        forget(database, version)


def _forget_quietly(database: Database, version: str) -> None:
    try:
        forget(database, version)
    except EngineError:
        return  # it is away: the next load takes this away

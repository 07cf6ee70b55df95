"""The numbers of a page, each worked out once for every filter."""

from __future__ import annotations

from functools import lru_cache

from rexview.analysis.engine import CaseProperty, Engine, Facets
from rexview.analysis.failures import tables as failures_tables
from rexview.analysis.failures.tables import FailureGroups, FailureTables
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.overview import Overview, overview
from rexview.analysis.readers import tables as readers_tables
from rexview.analysis.readers.adjudication import Adjudication, adjudication
from rexview.analysis.readers.tables import Pair, ReaderDrift, ReaderTables
from rexview.analysis.scores.splits import Split, split_scores
from rexview.analysis.scores.tables import ScoreTables, score_tables


@lru_cache(maxsize=16)
def counts(engine: Engine, case_filter: CaseFilter) -> Facets:
    """Return the counts beside the values of a filter."""
    return engine.facets(case_filter)


@lru_cache(maxsize=16)
def numbers(engine: Engine, case_filter: CaseFilter) -> Overview:
    """Return the numbers of the Overview for a filter."""
    return overview(engine, case_filter)


@lru_cache(maxsize=16)
def scores(engine: Engine, case_filter: CaseFilter) -> ScoreTables:
    """Return the numbers of the Scores page for a filter: intervals take a moment."""
    return score_tables(engine, case_filter)


@lru_cache(maxsize=16)
def split(engine: Engine, case_filter: CaseFilter, by: CaseProperty) -> Split:
    """Return the scores for each value of a property of the cases."""
    return split_scores(engine, case_filter, by)


@lru_cache(maxsize=16)
def failures(engine: Engine, case_filter: CaseFilter, counted: str) -> FailureTables:
    """Return the rates of all failures for a filter, and whose word counts."""
    return failures_tables.failure_tables(engine, case_filter, counted=counted)


@lru_cache(maxsize=16)
def failure_groups(
    engine: Engine, case_filter: CaseFilter, failure: str, by: CaseProperty, counted: str
) -> FailureGroups:
    """Return one failure by finding, region or a property of the cases."""
    return failures_tables.failure_groups(engine, case_filter, failure, by, counted=counted)


@lru_cache(maxsize=16)
def readers(engine: Engine, case_filter: CaseFilter, pair: tuple[str, ...]) -> ReaderTables:
    """Return the numbers of the Readers page for a filter and a pair of readers."""
    return readers_tables.reader_tables(engine, case_filter, pair=pair)


@lru_cache(maxsize=16)
def reader_drifts(
    engine: Engine, case_filter: CaseFilter, pair: Pair, dimension: str
) -> tuple[ReaderDrift, ReaderDrift]:
    """Return the scores of both readers of a pair over time."""
    return readers_tables.reader_drifts(engine, case_filter, pair, dimension)


@lru_cache(maxsize=8)
def to_adjudicate(engine: Engine, case_filter: CaseFilter, threshold: float) -> Adjudication:
    """Return the answers on which readers are far apart."""
    return adjudication(engine, case_filter, threshold)

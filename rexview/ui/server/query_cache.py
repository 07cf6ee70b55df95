"""What a filter leaves of an open review set, each number of a page worked out once per filter."""

from __future__ import annotations

from functools import lru_cache

from rexview import analysis
from rexview.analysis import AnswerTable, CaseFilter, Facets, Overview, Selection
from rexview.analysis.failures import tables as failures_tables
from rexview.analysis.failures.tables import FailureGroups, FailureTables
from rexview.analysis.readers import tables as readers_tables
from rexview.analysis.readers.adjudication import Adjudication, adjudication
from rexview.analysis.readers.tables import Pair, ReaderDrift, ReaderTables
from rexview.analysis.scores.splits import Split, SplitBy, split_scores
from rexview.analysis.scores.tables import ScoreTables, score_tables
from rexview.schema import ReviewSet


@lru_cache(maxsize=64)
def ordered_cases(table: AnswerTable, case_filter: CaseFilter) -> list[str]:
    """Return the ids of the cases that pass a filter, in its order. Not to be changed."""
    return selection(table, case_filter).case_ids


@lru_cache(maxsize=16)
def selection(table: AnswerTable, case_filter: CaseFilter) -> Selection:
    """Return what a filter leaves."""
    return analysis.apply(table, case_filter)


@lru_cache(maxsize=16)
def counts(table: AnswerTable, case_filter: CaseFilter) -> Facets:
    """Return the counts beside the values of a filter."""
    return analysis.facets(table, case_filter)


@lru_cache(maxsize=16)
def numbers(table: AnswerTable, case_filter: CaseFilter) -> Overview:
    """Return the numbers of the Overview for a filter."""
    return analysis.overview(table, case_filter)


@lru_cache(maxsize=16)
def scores(review_set: ReviewSet, table: AnswerTable, case_filter: CaseFilter) -> ScoreTables:
    """Return the numbers of the Scores page for a filter: intervals take a moment."""
    return score_tables(review_set, table, case_filter)


@lru_cache(maxsize=16)
def split(review_set: ReviewSet, table: AnswerTable, case_filter: CaseFilter, by: SplitBy) -> Split:
    """Return the scores for each value of a property of the cases."""
    return split_scores(review_set, table, case_filter, by)


@lru_cache(maxsize=16)
def failures(
    review_set: ReviewSet, table: AnswerTable, case_filter: CaseFilter, counted: str
) -> FailureTables:
    """Return the rates of all failures for a filter, and whose word counts."""
    return failures_tables.failure_tables(review_set, table, case_filter, counted=counted)


@lru_cache(maxsize=16)
def failure_groups(
    review_set: ReviewSet,
    table: AnswerTable,
    case_filter: CaseFilter,
    failure: str,
    by: SplitBy,
    counted: str,
) -> FailureGroups:
    """Return one failure by finding, region or a property of the cases."""
    return failures_tables.failure_groups(
        review_set, table, case_filter, failure, by, counted=counted
    )


@lru_cache(maxsize=16)
def readers(
    review_set: ReviewSet, table: AnswerTable, case_filter: CaseFilter, pair: tuple[str, ...]
) -> ReaderTables:
    """Return the numbers of the Readers page for a filter and a pair of readers."""
    return readers_tables.reader_tables(review_set, table, case_filter, pair=pair)


@lru_cache(maxsize=16)
def reader_drifts(
    review_set: ReviewSet, table: AnswerTable, case_filter: CaseFilter, pair: Pair, dimension: str
) -> tuple[ReaderDrift, ReaderDrift]:
    """Return the scores of both readers of a pair over time."""
    return readers_tables.reader_drifts(review_set, table, case_filter, pair, dimension)


@lru_cache(maxsize=8)
def to_adjudicate(
    review_set: ReviewSet, table: AnswerTable, case_filter: CaseFilter, threshold: float
) -> Adjudication:
    """Return the answers on which readers are far apart."""
    return adjudication(review_set, table, case_filter, threshold)

"""What a filter leaves of an open review set, each number of a page worked out once per filter."""

from __future__ import annotations

from functools import lru_cache

from rexview import analysis
from rexview.analysis import AnswerTable, CaseFilter, Facets, Selection
from rexview.analysis.failures import tables as failures_tables
from rexview.analysis.readers import tables as readers_tables
from rexview.analysis.readers.adjudication import adjudication
from rexview.analysis.scores.splits import split_scores
from rexview.analysis.scores.tables import score_tables


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


numbers = lru_cache(maxsize=16)(analysis.overview)
scores = lru_cache(maxsize=16)(score_tables)  # intervals take a moment
split = lru_cache(maxsize=16)(split_scores)
failures = lru_cache(maxsize=16)(failures_tables.failure_tables)
failure_groups = lru_cache(maxsize=16)(failures_tables.failure_groups)
readers = lru_cache(maxsize=16)(readers_tables.reader_tables)
reader_drifts = lru_cache(maxsize=16)(readers_tables.reader_drifts)
to_adjudicate = lru_cache(maxsize=8)(adjudication)

"""The numbers of each page, worked out once for every filter.

The cache's keys are the engine (another one for each state of the set and of its reviews), the
filter, and whatever else the numbers depend on.
"""

from __future__ import annotations

from functools import lru_cache

from rexview.analysis.engine import Engine, Facets
from rexview.analysis.failures import tables as failures_tables
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.overview import overview
from rexview.analysis.readers import tables as readers_tables
from rexview.analysis.readers.adjudication import adjudication
from rexview.analysis.scores.splits import split_scores
from rexview.analysis.scores.tables import score_tables


@lru_cache(maxsize=16)
def counts(engine: Engine, case_filter: CaseFilter) -> Facets:
    """Return the counts beside the values of a filter."""
    return engine.facets(case_filter)


numbers = lru_cache(maxsize=16)(overview)
scores = lru_cache(maxsize=16)(score_tables)  # intervals take a moment
split = lru_cache(maxsize=16)(split_scores)
failures = lru_cache(maxsize=16)(failures_tables.failure_tables)
failure_groups = lru_cache(maxsize=16)(failures_tables.failure_groups)
readers = lru_cache(maxsize=16)(readers_tables.reader_tables)
reader_drifts = lru_cache(maxsize=16)(readers_tables.reader_drifts)
to_adjudicate = lru_cache(maxsize=8)(adjudication)

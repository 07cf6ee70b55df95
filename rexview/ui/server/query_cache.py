"""The numbers of each page, worked out once for every filter.

They are kept with the engine (another one for each state of the set, of its reviews, and of the
flags that are known), by filter and whatever else the numbers depend on.
"""

from __future__ import annotations

from rexview.analysis.engine import Engine, Facets
from rexview.analysis.failures import tables as failures_tables
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.overview import overview
from rexview.analysis.readers import tables as readers_tables
from rexview.analysis.readers.adjudication import adjudication
from rexview.analysis.scores.splits import split_scores
from rexview.analysis.scores.tables import score_tables
from rexview.ui.server.kept_with import kept_with_first


@kept_with_first(16)
def counts(engine: Engine, case_filter: CaseFilter) -> Facets:
    """Return the counts beside the values of a filter."""
    return engine.facets(case_filter)


numbers = kept_with_first(16)(overview)
scores = kept_with_first(16)(score_tables)  # intervals take a moment
split = kept_with_first(16)(split_scores)
failures = kept_with_first(16)(failures_tables.failure_tables)
failure_groups = kept_with_first(16)(failures_tables.failure_groups)
readers = kept_with_first(16)(readers_tables.reader_tables)
reader_drifts = kept_with_first(16)(readers_tables.reader_drifts)
to_adjudicate = kept_with_first(8)(adjudication)

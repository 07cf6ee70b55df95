"""Queries on an open review set, and the numbers, tables and charts made from them.

Charts are in :mod:`rexview.analysis.charts`, which is imported only where charts are drawn.
"""

from rexview.analysis.colours import REFERENCE_COLOUR, model_colours
from rexview.analysis.query.engine import (
    CaseProperty,
    Engine,
    Facet,
    Facets,
    FailureSources,
    Scanned,
    SetFacts,
)
from rexview.analysis.query.filter.case_filter import (
    ANSWER_STATUSES,
    FILTER_KEYS,
    LONGEST_SEARCH,
    RANGE_LIMITS,
    RANGES,
    SORTS,
    CaseFilter,
    Range,
)
from rexview.analysis.query.filter.finding_search import search_terms
from rexview.analysis.query.filter.linked_count import Count
from rexview.analysis.query.filter.wording import (
    chips,
    describe,
    orders,
    search_caption,
    unknown_values,
)

__all__ = [
    "ANSWER_STATUSES",
    "FILTER_KEYS",
    "LONGEST_SEARCH",
    "RANGES",
    "RANGE_LIMITS",
    "REFERENCE_COLOUR",
    "SORTS",
    "CaseFilter",
    "CaseProperty",
    "Count",
    "Engine",
    "Facet",
    "Facets",
    "FailureSources",
    "Range",
    "Scanned",
    "SetFacts",
    "chips",
    "describe",
    "model_colours",
    "orders",
    "search_caption",
    "search_terms",
    "unknown_values",
]

"""Queries on an open review set, and the numbers, tables and charts made from them.

Charts are in :mod:`rexview.analysis.charts`, which is imported only where charts are drawn.
"""

from rexview.analysis.colours import REFERENCE_COLOUR, assign_model_colours
from rexview.analysis.query.engine import (
    CaseProperty,
    Engine,
    Facet,
    Facets,
    FailureSources,
    ScanProgress,
    SetFacts,
)
from rexview.analysis.query.filter.case_filter import (
    ANSWER_STATUSES,
    FILTER_KEYS,
    MAX_SEARCH_CHARACTERS,
    RANGE_LIMITS,
    RANGES,
    SORTS,
    CaseFilter,
    NumberRange,
)
from rexview.analysis.query.filter.filter_text import (
    describe_filter,
    describe_unknown_values,
    list_chips,
    list_orders,
    search_caption,
)
from rexview.analysis.query.filter.finding_search import parse_search
from rexview.analysis.query.filter.linked_count import LinkedCount

__all__ = [
    "ANSWER_STATUSES",
    "FILTER_KEYS",
    "MAX_SEARCH_CHARACTERS",
    "RANGES",
    "RANGE_LIMITS",
    "REFERENCE_COLOUR",
    "SORTS",
    "CaseFilter",
    "CaseProperty",
    "Engine",
    "Facet",
    "Facets",
    "FailureSources",
    "LinkedCount",
    "NumberRange",
    "ScanProgress",
    "SetFacts",
    "assign_model_colours",
    "describe_filter",
    "describe_unknown_values",
    "list_chips",
    "list_orders",
    "parse_search",
    "search_caption",
]

"""The query engine over a review set: one table, one filter, the counts and the numbers."""

from rexview.analysis.case_filter import (
    ANSWER_STATUSES,
    FILTER_KEYS,
    LIST_KEYS,
    RANGE_LIMITS,
    RANGES,
    SORTS,
    SOURCES,
    STUDIES,
    WEAKEST,
    CaseFilter,
    Range,
)
from rexview.analysis.facets import (
    Facet,
    Facets,
    FacetValue,
    SourceCounts,
    facets,
    unknown_values,
    value_name,
    words_name,
)
from rexview.analysis.selecting import Selection, apply, neighbours
from rexview.analysis.table import AnswerTable, answer_table
from rexview.analysis.wording import Chip, chips, describe, sort_name

__all__ = [
    "ANSWER_STATUSES",
    "FILTER_KEYS",
    "LIST_KEYS",
    "RANGES",
    "RANGE_LIMITS",
    "SORTS",
    "SOURCES",
    "STUDIES",
    "WEAKEST",
    "AnswerTable",
    "CaseFilter",
    "Chip",
    "Facet",
    "FacetValue",
    "Facets",
    "Range",
    "Selection",
    "SourceCounts",
    "answer_table",
    "apply",
    "chips",
    "describe",
    "facets",
    "neighbours",
    "sort_name",
    "unknown_values",
    "value_name",
    "words_name",
]

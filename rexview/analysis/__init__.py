"""The query engine over a review set: one table, one filter, the counts and the numbers.

Charts are in :mod:`rexview.analysis.charts`, imported only where they are drawn.
"""

from rexview.analysis.colours import MODEL_COLOURS, REFERENCE_COLOUR, model_colours
from rexview.analysis.filter.case_filter import (
    ANSWER_STATUSES,
    COMMENTED,
    FILTER_KEYS,
    LIST_KEYS,
    LONGEST_SEARCH,
    MENTIONS,
    RANGE_LIMITS,
    RANGES,
    SORTS,
    SOURCES,
    STUDIES,
    WEAKEST,
    CaseFilter,
    Range,
)
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.filter.wording import Chip, chips, describe, search_words, sort_name
from rexview.analysis.memory.facets import (
    Facet,
    Facets,
    FacetValue,
    SourceCounts,
    facets,
    unknown_values,
    value_name,
    words_name,
)
from rexview.analysis.memory.finding_search import search_terms
from rexview.analysis.memory.selection import Selection, apply, neighbours
from rexview.analysis.memory.table import AnswerTable, answer_table
from rexview.analysis.overview import Overview, overview

__all__ = [
    "ANSWER_STATUSES",
    "COMMENTED",
    "FILTER_KEYS",
    "LIST_KEYS",
    "LONGEST_SEARCH",
    "MENTIONS",
    "MODEL_COLOURS",
    "RANGES",
    "RANGE_LIMITS",
    "REFERENCE_COLOUR",
    "SORTS",
    "SOURCES",
    "STUDIES",
    "WEAKEST",
    "AnswerTable",
    "CaseFilter",
    "Chip",
    "Count",
    "Facet",
    "FacetValue",
    "Facets",
    "Overview",
    "Range",
    "Selection",
    "SourceCounts",
    "answer_table",
    "apply",
    "chips",
    "describe",
    "facets",
    "model_colours",
    "neighbours",
    "overview",
    "search_terms",
    "search_words",
    "sort_name",
    "unknown_values",
    "value_name",
    "words_name",
]

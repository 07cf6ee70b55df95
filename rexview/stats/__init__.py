"""Statistics over scores, failures, choices and reports; every page uses these definitions."""

from rexview.stats.answer_states import (
    MISSING_STATUSES,
    STATUSES,
    answer_status_expression,
    count_missing_answers,
    find_status,
    has_reached_limit,
    is_empty,
    status_code_expression,
)
from rexview.stats.bootstrap import RESAMPLES, Interval, bootstrap_interval
from rexview.stats.paired_tests import compare_all_models
from rexview.stats.score_finals import (
    CONTENT_ORDERS,
    NO_WEAKEST_LINK,
    SINGLE_SCORE_COLUMNS,
    TEXT_SCORES,
    ContentOrder,
    Finals,
    FinalScores,
    compute_answer_finals,
    compute_final_scores,
    format_final_score,
    list_single_scores,
    load_answer_finals,
    load_finals,
    weakest_link_expression,
)
from rexview.stats.score_summaries import summarise_gaps, summarise_scores

__all__ = [
    "CONTENT_ORDERS",
    "MISSING_STATUSES",
    "NO_WEAKEST_LINK",
    "RESAMPLES",
    "SINGLE_SCORE_COLUMNS",
    "STATUSES",
    "TEXT_SCORES",
    "ContentOrder",
    "FinalScores",
    "Finals",
    "Interval",
    "answer_status_expression",
    "bootstrap_interval",
    "compare_all_models",
    "compute_answer_finals",
    "compute_final_scores",
    "count_missing_answers",
    "find_status",
    "format_final_score",
    "has_reached_limit",
    "is_empty",
    "list_single_scores",
    "load_answer_finals",
    "load_finals",
    "status_code_expression",
    "summarise_gaps",
    "summarise_scores",
    "weakest_link_expression",
]

"""Statistics over scores, failures, choices and reports; every page uses these definitions."""

from rexview.stats.answered import (
    NO_ANSWER,
    STATUSES,
    answer_status,
    is_empty,
    limit_reached,
    no_answers,
    status_codes,
    status_of,
)
from rexview.stats.bootstrap import RESAMPLES, Interval, interval
from rexview.stats.final import (
    ALL_EQUAL,
    CONTENT_ORDERS,
    SINGLE_SCORES,
    TESTED_TOGETHER,
    ContentOrder,
    Finals,
    FinalScores,
    final_of_answer,
    final_scores,
    finals,
    finals_of,
    single_scores,
    weakest_link,
    write_score,
)
from rexview.stats.paired import compare
from rexview.stats.summary import gap_summaries, summaries

__all__ = [
    "ALL_EQUAL",
    "CONTENT_ORDERS",
    "NO_ANSWER",
    "RESAMPLES",
    "SINGLE_SCORES",
    "STATUSES",
    "TESTED_TOGETHER",
    "ContentOrder",
    "FinalScores",
    "Finals",
    "Interval",
    "answer_status",
    "compare",
    "final_of_answer",
    "final_scores",
    "finals",
    "finals_of",
    "gap_summaries",
    "interval",
    "is_empty",
    "limit_reached",
    "no_answers",
    "single_scores",
    "status_codes",
    "status_of",
    "summaries",
    "weakest_link",
    "write_score",
]

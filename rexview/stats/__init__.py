"""Statistics over scores: the definitions that every page shares."""

from rexview.stats.answered import (
    NO_ANSWER,
    STATUSES,
    answer_status,
    at_token_limit,
    is_empty,
    limit_reached,
    nothing_came,
    status_of,
)
from rexview.stats.final import (
    CONTENT_ORDERS,
    ContentOrder,
    FinalScores,
    final_of_answer,
    final_scores,
    finals_of,
    weakest_link,
    write_score,
)

__all__ = [
    "CONTENT_ORDERS",
    "NO_ANSWER",
    "STATUSES",
    "ContentOrder",
    "FinalScores",
    "answer_status",
    "at_token_limit",
    "final_of_answer",
    "final_scores",
    "finals_of",
    "is_empty",
    "limit_reached",
    "nothing_came",
    "status_of",
    "weakest_link",
    "write_score",
]

"""Statistics over scores: the definitions that every page shares."""

from rexview.stats.answered import (
    NO_ANSWER,
    STATUSES,
    NoAnswers,
    answer_status,
    at_token_limit,
    is_empty,
    limit_reached,
    no_answers,
    nothing_came,
    status_of,
)
from rexview.stats.bootstrap import LEVEL, RESAMPLES, SEED, Interval, interval
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
from rexview.stats.paired import Comparison, FriedmanTest, PairTest, compare
from rexview.stats.summary import GapSummary, ScoreSummary, gap_summaries, summaries
from rexview.stats.values import MARKS, SCORE_ORDER, TESTED_TOGETHER, Finals, finals, given_marks

__all__ = [
    "CONTENT_ORDERS",
    "LEVEL",
    "MARKS",
    "NO_ANSWER",
    "RESAMPLES",
    "SCORE_ORDER",
    "SEED",
    "STATUSES",
    "TESTED_TOGETHER",
    "Comparison",
    "ContentOrder",
    "FinalScores",
    "Finals",
    "FriedmanTest",
    "GapSummary",
    "Interval",
    "NoAnswers",
    "PairTest",
    "ScoreSummary",
    "answer_status",
    "at_token_limit",
    "compare",
    "final_of_answer",
    "final_scores",
    "finals",
    "finals_of",
    "gap_summaries",
    "given_marks",
    "interval",
    "is_empty",
    "limit_reached",
    "no_answers",
    "nothing_came",
    "status_of",
    "summaries",
    "weakest_link",
    "write_score",
]

"""Status of an answer: complete, or the reason why it is not.

An answer that is missing or incomplete (token limit, error, refusal, empty) has no final score. It
counts as a failure, outside n, and never as a zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.schema import Answer
from rexview.words import tr

STATUSES: Final[dict[str, str]] = {
    "answered": tr("Answered"),
    "token_limit": tr("Token limit reached"),
    "error": tr("Error, no answer"),
    "refused": tr("Refused"),
    "empty": tr("Empty answer"),
}
"""Name on screen of each status of an answer, by id."""
MISSING_STATUSES: Final = ("token_limit", "error", "refused", "empty")
"""Statuses of missing or incomplete answers, whose scores enter no mean."""


@dataclass(frozen=True)
class MissingAnswerCounts:
    """The number ``n`` of a model's newest answers that are missing or incomplete, by reason.

    ``answers`` is the number of all. ``by_reason`` has a number for each status in
    :data:`MISSING_STATUSES`, in that order.
    """

    model: str
    n: int
    by_reason: Mapping[str, int]
    answers: int


def count_missing_answers(
    answers: pl.DataFrame, models: Sequence[str]
) -> tuple[MissingAnswerCounts, ...]:
    """Count each model's missing or incomplete newest answers; ``answers`` has all runs."""
    newest = answers.filter("_newest").select("model", answer_status_expression().alias("status"))
    found = {
        (model, status): n for model, status, n in newest.group_by("model", "status").len().rows()
    }
    rows = []
    for model in models:
        by_reason = {reason: found.get((model, reason), 0) for reason in MISSING_STATUSES}
        answered = found.get((model, "answered"), 0)
        lost = sum(by_reason.values())
        rows.append(MissingAnswerCounts(model, lost, by_reason, lost + answered))
    return tuple(rows)


def answer_status_expression() -> pl.Expr:
    """Return the expression for an answer's status.

    Returns
    -------
    polars.Expr
        A key of :data:`STATUSES` (String) over a frame with columns
        :data:`rexview.frames.ANSWERS`. The first that holds: the token limit was reached; an error
        was recorded; the answer was blocked or refused; the answer is empty; answered.
    """
    return _status_expression({word: pl.lit(word) for word in STATUSES})


def status_code_expression() -> pl.Expr:
    """Return the index (UInt8) of :func:`answer_status_expression` in :data:`STATUSES`."""
    return _status_expression({word: pl.lit(n, dtype=pl.UInt8) for n, word in enumerate(STATUSES)})


def _status_expression(words: Mapping[str, pl.Expr]) -> pl.Expr:
    # the rules of status_of, limit_reached and is_empty below, for a table
    finish, limit = pl.col("finish_reason"), pl.col("max_output_tokens")
    at_limit = (limit > 0) & (pl.col("output_tokens") >= limit)
    failed = pl.col("error").str.contains(r"\S") | finish.eq("error")
    nothing = (
        pl.col("text").fill_null("").str.contains(r"\S").not_()
        & pl.col("choice").is_null()
        & (pl.col("boxes").list.len().fill_null(0) == 0)
        & (pl.col("images").list.len().fill_null(0) == 0)
    )
    return (
        pl.when(finish.eq("length") | at_limit.fill_null(False))
        .then(words["token_limit"])
        .when(failed)
        .then(words["error"])
        .when(finish.eq("content_filter"))
        .then(words["refused"])
        .when(nothing)
        .then(words["empty"])
        .otherwise(words["answered"])
        .alias("status")
    )


def find_status(answer: Answer) -> str:
    """Return the status of one answer, the same as :func:`answer_status_expression` for its row."""
    if has_reached_limit(answer):
        return "token_limit"
    if (answer.error or "").strip() or answer.finish_reason == "error":
        return "error"
    if answer.finish_reason == "content_filter":
        return "refused"
    return "empty" if is_empty(answer) else "answered"


def has_reached_limit(answer: Answer) -> bool:
    """True if one answer ran out of tokens, by its finish reason or its token counts."""
    if answer.finish_reason == "length":
        return True
    used, limit = answer.output_tokens, answer.max_output_tokens
    return used is not None and limit is not None and 0 < limit <= used


def is_empty(answer: Answer) -> bool:
    """True if one answer has no text, no choice, no boxes and no pictures."""
    text = (answer.text or "").strip()
    return not (text or answer.choice is not None or answer.boxes or answer.images)

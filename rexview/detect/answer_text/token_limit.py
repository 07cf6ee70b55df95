"""Token-limit failures: the answer was cut off, or never came, because the output ran out.

Explicit signals decide: the finish reason and the token counts. Where they do not tell (no finish
reason, or "finished" without counts that could contradict it: servers say ``stop`` of truncated
output too), the text itself is read for the signs of a cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.answer_text.ending import text_ending
from rexview.detect.core.detector import flag, newest
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score
from rexview.stats import at_token_limit, is_empty, limit_reached, nothing_came

_TAIL: Final = 80
"""Characters of the end of a cut answer that are shown as evidence."""
_LONGEST_SPAN: Final = 400
_FROM_TEXT: Final = {
    "truncated_suspected": "The answer looks cut off: {reason}; {signs}.",
    "repetition": "The answer ends in a loop: {reason}; {signs}.",
    "empty": "No answer: {reason}; {signs}.",
}
"""Endings of a text that are flagged, and what is said of them."""


@dataclass(frozen=True)
class TokenLimit:
    """Flags answers that ran out of tokens.

    Kinds: ``no_answer`` (the budget is spent and there is nothing to read), ``finish_reason`` (the
    model's server says that it stopped at the limit), ``usage`` (the output tokens reached the
    limit although the finish reason does not say so), ``empty`` (nothing came, no error, and no
    token counts explain it), and, from the text alone, ``truncated_suspected`` (it ends in the
    middle of a word, sentence, list, table or structure) and ``repetition`` (it ends in a loop).
    """

    failure: str = "token_limit"
    reads_scores: bool = False

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Give each answer its kind where signals tell; ask for a look at the text elsewhere.

        Only an answer without any signal or text (a choice alone) cannot be judged.
        """
        empty = nothing_came()
        reason = pl.col("finish_reason").fill_null("unknown")
        error = pl.col("error").str.contains(r"\S").fill_null(False) | (reason == "error")
        open_question = undecided()
        kind = (
            pl.when(at_token_limit() & empty)
            .then(pl.lit("no_answer"))
            .when(reason == "length")
            .then(pl.lit("finish_reason"))
            .when(at_token_limit())
            .then(pl.lit("usage"))
            .when(empty & open_question)
            .then(pl.lit("empty"))
        )
        text = pl.col("text").str.contains(r"\S").fill_null(False)
        judged = newest(review_set).filter(~open_question | error | empty | text)
        return judged.select("case", "model", kind.alias("kind"), look=open_question & text)

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Look at one answer's signals, and at its text where they leave it open."""
        kind, text = _kind(answer), answer.text or ""
        if kind is not None:
            evidence = [Evidence("usage", _signals(answer))]
            if text.strip():
                end = len(text.rstrip())
                start = max(0, end - _TAIL)
                evidence.append(Evidence("answer", text[start:end], start=start, end=end))
            return [flag(self, answer, kind, _message(kind, answer), evidence)]
        if not (text.strip() and _undecided(answer)):
            return []
        ending = text_ending(text)
        if ending.kind not in _FROM_TEXT:
            return []
        start = max(ending.start, ending.end - _LONGEST_SPAN)
        span = Evidence("answer", text[start : ending.end], start=start, end=ending.end)
        message = _FROM_TEXT[ending.kind].format(reason=ending.reason, signs=_unsaid(answer))
        return [
            flag(self, answer, ending.kind, message, (Evidence("usage", _signals(answer)), span))
        ]


def undecided() -> pl.Expr:
    """Whether the explicit signals of an answer leave open if it was cut.

    Returns
    -------
    polars.Expr
        Boolean, never null, over :data:`rexview.frames.ANSWERS`: no finish reason was recorded, or
        it says finished and there is no token count, or none to hold it against; an error, and
        counts below the limit, decide.
    """
    reason = pl.col("finish_reason").fill_null("unknown")
    used, limit = pl.col("output_tokens"), pl.col("max_output_tokens")
    below = ((limit > 0) & (used < limit)).fill_null(False)
    error = pl.col("error").str.contains(r"\S").fill_null(False)
    silent = pl.when(nothing_came()).then(used.is_null()).otherwise(pl.lit(True))
    return reason.is_in(["unknown", "stop"]) & ~below & ~error & ~at_token_limit() & silent


def _undecided(answer: Answer) -> bool:
    used, limit = answer.output_tokens, answer.max_output_tokens
    below = used is not None and limit is not None and used < limit and limit > 0
    silent = not is_empty(answer) or used is None
    plain = answer.finish_reason in ("unknown", "stop") and not (answer.error or "").strip()
    return plain and silent and not below and not limit_reached(answer)


def _kind(answer: Answer) -> str | None:
    if limit_reached(answer):
        if is_empty(answer):
            return "no_answer"
        return "finish_reason" if answer.finish_reason == "length" else "usage"
    return "empty" if is_empty(answer) and _undecided(answer) else None


def _unsaid(answer: Answer) -> str:
    """Say why the signals do not tell."""
    if answer.finish_reason == "stop":
        return "it is marked as finished, but without token counts that show it"
    return "no finish reason was recorded"


def _message(kind: str, answer: Answer) -> str:
    used, limit = answer.output_tokens, answer.max_output_tokens
    spent = "the token limit was reached"
    if used is not None and limit is not None and used >= limit > 0:
        spent = f"all {limit:,} output tokens were used"
    elif used is not None:
        spent = f"the token limit was reached after {used:,} output tokens"
    if kind == "no_answer":
        return f"No answer: {spent} before anything was written."
    if kind == "finish_reason":
        return f"The answer is cut off: {spent}."
    if kind == "usage":
        return f"The answer is probably cut off: {spent}, though it is marked as finished."
    return f"No answer: the text is empty; {_unsaid(answer)}."


def _signals(answer: Answer) -> str:
    reason = answer.finish_reason_raw or answer.finish_reason
    parts = [f"finish reason {reason}" if reason != "unknown" else "no finish reason"]
    used, limit = answer.output_tokens, answer.max_output_tokens
    if used is not None:
        parts.append(f"{used:,} output tokens" + (f" of {limit:,}" if limit is not None else ""))
    else:
        parts.append("no token count" + (f", limit {limit:,}" if limit is not None else ""))
    return ", ".join(parts)

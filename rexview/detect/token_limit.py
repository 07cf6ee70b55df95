"""Token-limit failures: the answer was cut off, or never came, because the output ran out.

Only signals decide here: the finish reason, the token counts, and an answer that is empty although
nothing was recorded that explains it. Evidence in the wording of a cut text is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.detector import newest
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score
from rexview.stats import at_token_limit, is_empty, limit_reached, nothing_came

_TAIL: Final = 80
"""Characters of the end of a cut answer that are shown as evidence."""


@dataclass(frozen=True)
class TokenLimit:
    """Flags answers that ran out of tokens.

    Kinds: ``no_answer`` (the budget is spent and there is nothing to read), ``finish_reason`` (the
    model's server says that it stopped at the limit), ``usage`` (the output tokens reached the
    limit although the finish reason does not say so), ``empty`` (nothing came, no error, and
    neither a finish reason nor token counts explain it).
    """

    failure: str = "token_limit"

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Give each answer its kind; answers without any signal cannot be judged.

        A signal is a finish reason, a token count with its limit, an error, or an empty answer.
        """
        empty = nothing_came()
        reason = pl.col("finish_reason").fill_null("unknown")
        error = pl.col("error").str.contains(r"\S").fill_null(False)
        counted = pl.col("output_tokens").is_not_null()
        limited = counted & pl.col("max_output_tokens").is_not_null()
        kind = (
            pl.when(at_token_limit() & empty)
            .then(pl.lit("no_answer"))
            .when(reason == "length")
            .then(pl.lit("finish_reason"))
            .when(at_token_limit())
            .then(pl.lit("usage"))
            .when(empty & ~error & (reason == "unknown") & ~counted)
            .then(pl.lit("empty"))
        )
        judged = newest(review_set).filter((reason != "unknown") | limited | error | empty)
        return judged.select("case", "model", kind.alias("kind"), look=pl.lit(False))

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Look at one answer's signals. Scores are not used."""
        kind = _kind(answer)
        if kind is None:
            return []
        evidence = [Evidence("usage", _signals(answer))]
        text = answer.text or ""
        if text.strip():
            end = len(text.rstrip())
            start = max(0, end - _TAIL)
            evidence.append(Evidence("answer", text[start:end], start=start, end=end))
        return [
            Flag(
                case=case.id,
                model=answer.model,
                failure=self.failure,
                source="detector",
                message=_message(kind, answer),
                kind=kind,
                evidence=tuple(evidence),
            )
        ]


def _kind(answer: Answer) -> str | None:
    if limit_reached(answer):
        if is_empty(answer):
            return "no_answer"
        return "finish_reason" if answer.finish_reason == "length" else "usage"
    unexplained = (
        is_empty(answer)
        and not (answer.error or "").strip()
        and answer.finish_reason == "unknown"
        and answer.output_tokens is None
    )
    return "empty" if unexplained else None


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
    return "No answer: the text is empty, and nothing was recorded that says why."


def _signals(answer: Answer) -> str:
    reason = answer.finish_reason_raw or answer.finish_reason
    parts = [f"finish reason {reason}" if reason != "unknown" else "no finish reason"]
    used, limit = answer.output_tokens, answer.max_output_tokens
    if used is not None:
        parts.append(f"{used:,} output tokens" + (f" of {limit:,}" if limit is not None else ""))
    else:
        parts.append("no token count" + (f", limit {limit:,}" if limit is not None else ""))
    return ", ".join(parts)

"""Find token-limit failures: the answer was cut off, or is missing, because the output ran out.

Explicit signals decide: the finish reason and the token counts. They may be inconclusive: no finish
reason, or "finished" without counts that could contradict it, since servers report ``stop`` for
truncated output too. Then the text itself is searched for signs of a cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.detect.detector import AnswerInCase, make_flag
from rexview.schema import Answer, Evidence, Flag
from rexview.stats import has_reached_limit, is_empty
from rexview.text.answer_ending import text_ending

_TAIL: Final = 80
"""Characters at the end of a cut answer that are shown as evidence."""
_LONGEST_SPAN: Final = 400
_EXCEL_CELLS: Final = range(32_760, 32_768)
"""Lengths in characters of texts that a spreadsheet cut, not a model: the capacity of an Excel
cell, less what is stripped from the ends.
"""
_FROM_TEXT: Final = {
    "truncated_suspected": "The answer looks cut off: {reason}; {signs}.",
    "repetition": "The answer ends in a loop: {reason}; {signs}.",
    "empty": "No answer: {reason}; {signs}.",
}
"""Endings of a text that are flagged, with their messages."""


@dataclass(frozen=True)
class TokenLimit:
    """Flags answers that ran out of tokens.

    Kinds: ``no_answer`` (the budget is spent and there is no text), ``finish_reason`` (the model's
    server reports that it stopped at the limit), ``usage`` (the output tokens reached the limit
    although the finish reason does not report it), ``empty`` (no text, no error, and no token
    counts that explain it). From the text alone: ``truncated_suspected`` (it ends in the middle of
    a word, sentence, list, table or structure) and ``repetition`` (it ends in a loop).
    """

    failure: str = "token_limit"

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if a signal or an English text can decide; a choice alone, for example, cannot."""
        if not _undecided(one.answer) or is_empty(one.answer):
            return True
        return bool(one.text.strip()) and one.language is None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Check the answer's signals, and its text where they are inconclusive."""
        answer, text = one.answer, one.text
        kind, usage = _kind(answer), Evidence("usage", _signals(answer))
        if kind is not None:
            evidence = [usage]
            if text.strip():
                end = len(text.rstrip())
                start = max(0, end - _TAIL)
                evidence.append(Evidence("answer", text[start:end], start=start, end=end))
            return [make_flag(self, answer, kind, _message(kind, answer), evidence)]
        if not (text.strip() and _undecided(answer)):
            return []
        ending = text_ending(text)
        if ending.kind not in _FROM_TEXT:
            return []
        start = max(ending.start, ending.end - _LONGEST_SPAN)
        span = Evidence("answer", text[start : ending.end], start=start, end=ending.end)
        message = _FROM_TEXT[ending.kind].format(reason=ending.reason, signs=_why_open(answer))
        return [make_flag(self, answer, ending.kind, message, (usage, span))]


def _undecided(answer: Answer) -> bool:
    """True if the explicit signals leave open whether an answer was cut.

    They do if no finish reason was recorded, or if it reports a finish and there is no token count,
    or no limit to compare it with. An error, or a count below the limit, is conclusive.
    """
    used, limit = answer.output_tokens, answer.max_output_tokens
    below = used is not None and limit is not None and used < limit and limit > 0
    silent = not is_empty(answer) or used is None
    if len(answer.text or "") in _EXCEL_CELLS:
        return False
    plain = answer.finish_reason in ("unknown", "stop") and not (answer.error or "").strip()
    return plain and silent and not below and not has_reached_limit(answer)


def _kind(answer: Answer) -> str | None:
    if has_reached_limit(answer):
        if is_empty(answer):
            return "no_answer"
        return "finish_reason" if answer.finish_reason == "length" else "usage"
    return "empty" if is_empty(answer) and _undecided(answer) else None


def _why_open(answer: Answer) -> str:
    """Return why the signals are inconclusive, as half a sentence."""
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
        marked = "though it is marked as finished"
        if answer.finish_reason == "unknown":
            marked = "and no finish reason was recorded"
        return f"The answer is probably cut off: {spent}, {marked}."
    return f"No answer: the text is empty; {_why_open(answer)}."


def _signals(answer: Answer) -> str:
    reason = answer.finish_reason_raw or answer.finish_reason
    parts = [f"finish reason {reason}" if reason != "unknown" else "no finish reason"]
    used, limit = answer.output_tokens, answer.max_output_tokens
    if used is not None:
        parts.append(f"{used:,} output tokens" + (f" of {limit:,}" if limit is not None else ""))
    else:
        parts.append("no token count" + (f", limit {limit:,}" if limit is not None else ""))
    return ", ".join(parts)

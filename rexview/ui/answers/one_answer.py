"""What stands with the text of one answer, as HTML: choice, how it ended, counts."""

from __future__ import annotations

import html

from rexview.choices import METHODS
from rexview.schema import Answer, Case
from rexview.stats import limit_reached
from rexview.vocab import FINISH_REASONS

_QUOTED = 60
"""Characters of the words that a choice was read from."""


def choice_html(case: Case, answer: Answer) -> str:
    """Show which option was chosen, and whether it is right; empty for other questions."""
    if case.question_type != "choice":
        return ""
    if answer.choice is None or not 0 <= answer.choice < len(case.options):
        return '<p class="rx-choice">No usable choice</p>'
    right = answer.choice == case.correct
    verdict = "" if case.correct is None else " – correct" if right else " – wrong"
    letter = chr(ord("A") + answer.choice)
    option = html.escape(case.options[answer.choice])
    return f'<p class="rx-choice">{letter}. {option}<b>{verdict}</b>{_read_html(answer)}</p>'


def _read_html(answer: Answer) -> str:
    """Say which words a choice was read from, where none was given with the answer."""
    read = answer.choice_read
    if read is None:
        return ""
    words = " ".join((answer.text or "")[read.start : read.end].split())
    quoted = f"{words[:_QUOTED]}…" if len(words) > _QUOTED else words
    title = html.escape(f"No choice was given. Read from {METHODS[read.method]}.")
    return f' <small title="{title}">read from the text: “{html.escape(quoted)}”</small>'


def ending_html(answer: Answer) -> str:
    """Say that an answer is not whole, and why; empty for one that is."""
    if answer.error:
        return f'<p class="rx-cut">Error: {html.escape(answer.error)}</p>'
    if limit_reached(answer):
        used = ""
        if answer.output_tokens is not None and answer.max_output_tokens is not None:
            used = f" ({answer.output_tokens:,} of {answer.max_output_tokens:,} tokens)"
        where = "Cut here" if (answer.text or "").strip() else "No answer came"
        return f'<p class="rx-cut">{where}: token limit reached{used}</p>'
    if answer.finish_reason == "content_filter":
        return '<p class="rx-cut">Blocked by a content filter</p>'
    return ""


def facts_html(answer: Answer) -> str:
    """List words, tokens, seconds and the finish reason."""
    facts = []
    if answer.text:
        facts.append(f"{len(answer.text.split()):,} words")
    if answer.output_tokens is not None:
        facts.append(f"{answer.output_tokens:,} tokens")
    if answer.latency_s is not None:
        facts.append(f"{answer.latency_s:.1f} s")
    reason = FINISH_REASONS[answer.finish_reason]
    raw = answer.finish_reason_raw
    facts.append(f"{reason} ({raw})" if raw and raw != answer.finish_reason else reason)
    return " · ".join(html.escape(fact) for fact in facts)

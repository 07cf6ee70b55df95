"""What stands with the text of one answer, as HTML: how it ended, counts, whether it was read."""

from __future__ import annotations

import html

from rexview.language import OTHER, language_of
from rexview.schema import Answer, Report
from rexview.stats import limit_reached
from rexview.vocab import FINISH_REASONS
from rexview.words import counted, tr, trn


def number_html(number: int, total: int) -> str:
    """Say which of the answers it is, for a phone, where the others are out of sight."""
    if total < 2:
        return ""
    place = tr("{n:,} of {total:,}").format(n=number, total=total)
    return f'<small class="rx-nth rx-quiet">{place}</small>'


def ending_html(answer: Answer) -> str:
    """Say that an answer is not whole, and why; empty for one that is."""
    if answer.error:
        said = tr("Error: {error}").format(error=html.escape(answer.error))
        return f'<p class="rx-cut">{said}</p>'
    if limit_reached(answer):
        return f'<p class="rx-cut">{_cut(answer)}</p>'
    if answer.finish_reason == "content_filter":
        return f'<p class="rx-cut">{tr("Blocked by a content filter")}</p>'
    return ""


def _cut(answer: Answer) -> str:
    is_there = (answer.text or "").strip()
    if answer.output_tokens is None or answer.max_output_tokens is None:
        if is_there:
            return tr("Cut here: token limit reached")
        return tr("No answer came: token limit reached")
    said = (
        tr("Cut here: token limit reached ({n:,} of {most:,} tokens)")
        if is_there
        else tr("No answer came: token limit reached ({n:,} of {most:,} tokens)")
    )
    return said.format(n=answer.output_tokens, most=answer.max_output_tokens)


def metric_text(value: float | None) -> str:
    """Write the value of a metric, or a dash for none."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def facts_html(answer: Answer) -> str:
    """List words, tokens, seconds and the finish reason."""
    facts = []
    if answer.text:
        facts.append(counted(len(answer.text.split()), "word"))
    if answer.output_tokens is not None:
        facts.append(_tokens(answer.output_tokens, answer.max_output_tokens))
    if answer.latency_s is not None:
        facts.append(f"{answer.latency_s:.1f} s")
    reason = FINISH_REASONS[answer.finish_reason]
    raw = answer.finish_reason_raw
    facts.append(f"{reason} ({raw})" if raw and raw != answer.finish_reason else reason)
    return " · ".join(html.escape(fact) for fact in facts)


def _tokens(n: int, most: int | None) -> str:
    """Say what a model wrote, beside what it was allowed: by itself the number tells little."""
    if most is None:
        return counted(n, "token")
    said = trn("{n:,} of at most {most:,} token", "{n:,} of at most {most:,} tokens", most)
    return said.format(n=n, most=most)


def unread_answer_html(answer: Answer) -> str:
    """Say of an answer in another language than English that its words are not judged."""
    told = tr("Not read by the rules (looks {language}): failures in its words are not judged.")
    other = tr("Not read by the rules (not in English): failures in its words are not judged.")
    return _unread_html(answer.text or "", told, other)


def unread_report_html(report: Report) -> str:
    """Say of a report in another language than English that no answer is held against it."""
    told = tr("Not read by the rules (looks {language}): no answer is held against it.")
    other = tr("Not read by the rules (not in English): no answer is held against it.")
    whole = "\n".join(text or "" for text in (report.findings, report.impression))
    return _unread_html(whole, told, other)


def _unread_html(text: str, told: str, other: str) -> str:
    language = language_of(text)
    if language is None:
        return ""
    words = other if language == OTHER else told.format(language=language)
    return f'<p class="rx-unjudged">{html.escape(words)}</p>'

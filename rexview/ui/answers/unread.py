"""What is said of an answer or a report that the rules did not read: it is not in English."""

from __future__ import annotations

import html

from rexview.language import OTHER, language_of
from rexview.schema import Answer, Report
from rexview.words import tr


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

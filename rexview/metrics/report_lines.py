"""Split a report into lines, which are corrected one by one, aligned and counted."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from rexview.reviewset.report_text import section_spans
from rexview.text.findings.mention_finder import LONGEST
from rexview.text.findings.sentences import Sentence, Tokens, split_sentences


class ReportLine(NamedTuple):
    """A sentence, list item or heading of a report.

    Attributes
    ----------
    number : int
        From 1.
    start, end : int
        Offsets into the text; ``text`` is the text between them.
    section : str or None
        ``findings``, ``impression``, ``comparison``, ``indication`` or ``other``, by the headings
        of the text ("Findings:"), which are no lines themselves; None before the first of them.
    """

    number: int
    start: int
    end: int
    text: str
    section: str | None


def report_lines(text: str | None) -> tuple[ReportLine, ...]:
    """Split a report into its lines, like the rules that search for findings.

    Everything except space and section headings is in exactly one line. The text after
    :data:`rexview.text.findings.mention_finder.LONGEST` characters is one more line.

    >>> [(line.section, line.text) for line in report_lines("FINDINGS: Clear. IMPRESSION: None.")]
    [('findings', 'Clear.'), ('impression', 'None.')]
    """
    if not text:
        return ()
    spans = [
        (section, place)
        for section, first, last in section_spans(text)
        for place in _sentence_spans(text, first, last)
    ]
    return tuple(
        ReportLine(number, start, end, text[start:end], section or None)
        for number, (section, (start, end)) in enumerate(spans, 1)
    )


def _sentence_spans(text: str, first: int, last: int) -> list[tuple[int, int]]:
    """Divide the characters of a section among its sentences."""
    body = text[first : min(last, first + LONGEST)]
    tokens = Tokens(body)
    found = [
        sentence
        for sentence in split_sentences(tokens, 0, len(tokens.words))
        if _says(tokens, sentence)
    ]
    cuts = [0]
    for one, other in pairwise(found):
        cuts.append(_cut(body, tokens.ends[one.j - 1], tokens.starts[other.i]))
    cuts.append(len(body))
    spans = [(first + start, first + end) for start, end in pairwise(cuts)]
    if first + len(body) < last:
        spans.append((first + len(body), last))
    return [place for place in (_trimmed(text, *span) for span in spans) if place]


def _says(tokens: Tokens, sentence: Sentence) -> bool:
    """True if a sentence contains a word; the number of a list item alone is none."""
    return any(word[0].isalpha() for word in tokens.words[sentence.i : sentence.j])


def _cut(text: str, end: int, start: int) -> int:
    """Return where the first of two sentences ends: marks after it are its own, list marks not."""
    between = text[end:start]
    line = between.find("\n")
    if line >= 0:
        return end + line
    return end + next((k for k, char in enumerate(between) if char.isspace()), len(between))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Trim the space around a span; None if it has only space and marks of emphasis."""
    body = text[start:end]
    if not body.strip(" \t\r\n*_#"):
        return None
    start += len(body) - len(body.lstrip())
    return start, start + len(body.strip())

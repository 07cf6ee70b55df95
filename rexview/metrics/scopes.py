"""Which sections of a report and of an answer are compared with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rexview.metrics.finding_agreement import Part
from rexview.reviewset.report_text import (
    absent,
    has_report_headings,
    section_spans,
)
from rexview.schema import Report
from rexview.words import tr

SCOPES: Final[dict[str, str]] = {
    "findings": tr("Findings only"),
    "findings+impression": tr("Findings and impression"),
    "impression": tr("Impression only"),
}
"""Scopes with their names on screen; other words of files are kept as they stand."""
Parts = tuple[Part, ...]


def parts_of_report(report: Report, scope: str) -> Parts | None:
    """Return the sections that a scope names; None where one of them is missing.

    Spans of what is found in them count from each section's beginning.
    """
    sections = scope.split("+")
    parts = [Part(name, getattr(report, name, None) or "") for name in sections]
    return None if any(absent(part.text) for part in parts) else tuple(parts)


def parts_of_answer(text: str | None, scope: str) -> Parts | None:
    """Return the sections of a generated report that a scope names; None where one is missing.

    Sections are told by their headings (:func:`~.report_text.section_spans`). A text without them
    is findings, and so is what an answer without findings says before its impression. Spans count
    from the beginning of the text.
    """
    if not text or absent(text):
        return None
    spans = section_spans(text)
    if not has_report_headings(text):
        spans = [("findings", 0, len(text))]
    elif not any(kind == "findings" and not absent(text[i:j]) for kind, i, j in spans):
        # what stands before the impression is findings
        spans = [(kind or "findings", start, end) for kind, start, end in spans]
    parts = [
        Part(kind, text[start:end], start)
        for name in scope.split("+")
        for kind, start, end in spans
        if kind == name and not absent(text[start:end])
    ]
    return tuple(parts) if {part.section for part in parts} == set(scope.split("+")) else None


def as_one_text(parts: Sequence[Part]) -> str:
    """Return sections as ReXrank compares them: one alone as it is, two under their headings."""
    texts: dict[str | None, str] = {}
    for part in parts:
        body = part.text.strip()
        texts[part.section] = f"{texts[part.section]}\n{body}" if part.section in texts else body
    if len(texts) == 1:
        return next(iter(texts.values()))
    return " ".join(f"{(section or '').capitalize()}: {body}" for section, body in texts.items())

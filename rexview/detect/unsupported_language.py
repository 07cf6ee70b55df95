"""Report answers and reports in languages that the rules cannot read, as text and as records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rexview.schema import ReviewSet
from rexview.text.findings import report_text
from rexview.text.language import describe_language, detect_language

UNSUPPORTED_KINDS: Final = ("not_read", "report_not_read")
"""Kinds of the records: the answer, or its case's report, is not in English."""


def explain_unsupported_language(text: str | None) -> str:
    """Explain why the rules do not read a text; empty if they do.

    >>> explain_unsupported_language("Herz normal groß, kein Erguss.")
    'Not read by the rules: it looks German.'
    """
    language = detect_language(text or "")
    return f"Not read by the rules: it {describe_language(language)}." if language else ""


def list_unsupported_texts(review_set: ReviewSet) -> Iterator[dict[str, Any]]:
    """Yield a record for each newest answer that is not in English, or whose report is not.

    Yields
    ------
    dict
        A record as in :func:`rexview.detect.flag_rows`, with ``failure`` None, ``kind`` one of
        :data:`UNSUPPORTED_KINDS`, and ``language``.
    """
    reports: dict[str, str | None] = {}
    newest = review_set.answers.filter("_newest").select("case", "model", "text")
    for case, model, text in newest.iter_rows():
        language = detect_language(text or "")
        if language:
            yield _row(case, model, "not_read", explain_unsupported_language(text), language)
        if case not in reports:
            known = review_set.case(case)
            reports[case] = detect_language(report_text(known)) if known else None
        written = reports[case]
        if written:
            message = f"Not held against the report, which {describe_language(written)}."
            yield _row(case, model, "report_not_read", message, written)


def _row(case: str, model: str, kind: str, message: str, language: str) -> dict[str, Any]:
    return {
        "case": case,
        "model": model,
        "failure": None,
        "source": "detector",
        "kind": kind,
        "message": message,
        "evidence": [],
        "language": language,
    }

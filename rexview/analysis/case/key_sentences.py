"""The key sentences of a case, with the evidence of its failures, for one slide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.headline import find_answer_failures
from rexview.harm import HarmTable
from rexview.metrics.report_lines import ReportLine, report_lines
from rexview.schema import Evidence, Flag
from rexview.text.findings import REPORT_SECTIONS

_CLOSING: Final = "impression"
_DEFAULT_SENTENCES: Final = 2
"""Number of sentences of a text without evidence of a failure."""
_SHORT_TEXT: Final = 6
"""A longer text without a marked conclusion may start or end with it."""


@dataclass(frozen=True)
class KeySentences:
    """The key sentences of each answer, by model, and of the report.

    A text without evidence has its conclusion, else its first and last sentence. A report always
    has its conclusion.
    """

    answers: Mapping[str, tuple[str, ...]]
    report: tuple[str, ...]


def select_key_sentences(page: CasePage, table: HarmTable) -> KeySentences:
    """Return the sentences with evidence of failures, those of the worst failure first."""
    evidence = {one.model: _evidence(page, one.model, table) for one in page.answers}
    return KeySentences(
        {
            one.model: _text_sentences(
                one.text or "", _evidence_spans(evidence[one.model], "answer")
            )
            for one in page.answers
        },
        _report_sentences(page, [item for every in evidence.values() for item in every]),
    )


def _evidence(page: CasePage, model: str, table: HarmTable) -> list[Evidence]:
    """Return the evidence of an answer's failures that are not rejected, the worst first."""
    flags = [one for one in page.flags if one.model == model]
    failures = find_answer_failures(flags, table)

    def rank(flag: Flag) -> tuple[bool, int]:
        failure = failures[flag.failure]
        return failure.suggested, -failure.harm

    standing = [one for one in flags if one.failure in failures and one.verdict != "rejected"]
    return [item for flag in sorted(standing, key=rank) for item in flag.evidence]


def _evidence_spans(
    evidence: Iterable[Evidence], where: str, field: str | None = None
) -> list[tuple[int, int]]:
    return [
        (one.start, one.end)
        for one in evidence
        if one.where == where and one.field == field
        if one.start is not None and one.end is not None
    ]


def _report_sentences(page: CasePage, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    report = page.case.report
    found: list[str] = []
    for section in REPORT_SECTIONS:
        lines = report_lines(getattr(report, section))
        found += _overlapping_lines(lines, _evidence_spans(evidence, "report", section))
    closing = _text_sentences(report.impression or report.findings or "", [])
    return tuple(dict.fromkeys([*found, *closing[: 1 if found else None]]))


def _text_sentences(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    lines = report_lines(text)
    if found := _overlapping_lines(lines, spans):
        return tuple(found)
    closing = [one.text for one in lines if one.section == _CLOSING]
    every = [one.text for one in lines]
    usual = every[:_DEFAULT_SENTENCES] if len(every) <= _SHORT_TEXT else [every[0], every[-1]]
    return tuple(closing[:_DEFAULT_SENTENCES] or usual)


def _overlapping_lines(lines: Sequence[ReportLine], spans: Iterable[tuple[int, int]]) -> list[str]:
    """Return the lines that overlap some spans, in the order of the spans."""
    held = (line.text for start, end in spans for line in lines if _overlaps(line, start, end))
    return list(dict.fromkeys(held))


def _overlaps(line: ReportLine, start: int, end: int) -> bool:
    return line.start < end and start < line.end

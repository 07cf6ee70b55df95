"""Pair generated reports with their references, and count those that cannot be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import polars as pl

from rexview.metrics.finding_agreement import ReportPart
from rexview.reviewset.report_text import has_report_headings, is_absent, section_spans
from rexview.schema import Answer, Case, Report, ReviewSet
from rexview.words import tr

# Sections of a report and an answer that are compared with each other.

SCOPES: Final[dict[str, str]] = {
    "findings": tr("Findings only"),
    "findings+impression": tr("Findings and impression"),
    "impression": tr("Impression only"),
}
"""Scopes with their displayed names; other words in files are kept unchanged."""
Parts = tuple[ReportPart, ...]


def select_report_parts(report: Report, scope: str) -> Parts | None:
    """Return the sections of a scope; None if one of them is missing.

    Spans in them count from the start of each section.
    """
    sections = scope.split("+")
    parts = [ReportPart(name, getattr(report, name, None) or "") for name in sections]
    return None if any(is_absent(part.text) for part in parts) else tuple(parts)


def select_answer_parts(text: str | None, scope: str) -> Parts | None:
    """Return the sections of a generated report in a scope; None if one is missing.

    Sections are recognized by their headings (:func:`section_spans`). A text without headings is
    findings, and so is the text before the impression in an answer without findings. Spans count
    from the start of the text.
    """
    if not text or is_absent(text):
        return None
    spans = section_spans(text)
    if not has_report_headings(text):
        spans = [("findings", 0, len(text))]
    elif not any(kind == "findings" and not is_absent(text[i:j]) for kind, i, j in spans):
        # the text before the impression is findings
        spans = [(kind or "findings", start, end) for kind, start, end in spans]
    parts = [
        ReportPart(kind, text[start:end], start)
        for name in scope.split("+")
        for kind, start, end in spans
        if kind == name and not is_absent(text[start:end])
    ]
    return tuple(parts) if {part.section for part in parts} == set(scope.split("+")) else None


def join_parts(parts: Sequence[ReportPart]) -> str:
    """Return sections as ReXrank compares them: one alone unchanged, two under their headings."""
    texts: dict[str | None, str] = {}
    for part in parts:
        body = part.text.strip()
        texts[part.section] = f"{texts[part.section]}\n{body}" if part.section in texts else body
    if len(texts) == 1:
        return next(iter(texts.values()))
    return " ".join(f"{(section or '').capitalize()}: {body}" for section, body in texts.items())


@dataclass(frozen=True)
class ReportPair:
    """A generated report and its reference, both with the sections of a scope.

    The report of ``case`` is the reference.
    """

    case: Case
    answer: Answer
    scope: str
    expected: Parts
    given: Parts

    @property
    def reference(self) -> str:
        """The reference as one text."""
        return join_parts(self.expected)

    @property
    def candidate(self) -> str:
        """The generated report as one text."""
        return join_parts(self.given)


@dataclass
class ComparedPairs:
    """The pairs of a scope by model; ``missing`` counts incomparable answers by reason."""

    scope: str
    pairs: dict[str, list[ReportPair]] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[ReportPair]:
        """Yield all pairs, model by model."""
        return (pair for pairs in self.pairs.values() for pair in pairs)


def models_with_reports(review_set: ReviewSet) -> tuple[str, ...]:
    """Return the models that answered report cases, without people imported as models."""
    reports = review_set.cases.filter(pl.col("question_type") == "report")["id"]
    answered = review_set.answers.filter(pl.col("case").is_in(reports.implode()))["model"].unique()
    wrote = set(answered.to_list())
    return tuple(one.id for one in review_set.models if one.id in wrote and one.kind != "reader")


def pair_with_references(
    review_set: ReviewSet,
    scope: str,
    models: Collection[str],
    corrected: Mapping[str, Report] | None = None,
) -> ComparedPairs:
    """Pair the newest answers of models to report cases with their references.

    Parameters
    ----------
    corrected : mapping of str to Report, optional
        Corrected references by case, see :func:`find_reader_corrections`; a case without one is
        missing. Without them, the given reports are the references.
    """
    found = ComparedPairs(scope, {model: [] for model in models})
    reports = review_set.cases.filter(pl.col("question_type") == "report")["id"]
    for case_id in reports.to_list():
        answers = [one for one in review_set.answers_of(case_id) if one.model in found.pairs]
        case = review_set.case(case_id) if answers else None
        if case is None:
            continue
        if corrected is not None:
            if case_id not in corrected:
                found.missing["no corrected report"] += len(answers)
                continue
            case = replace(case, report=corrected[case_id])
        expected = select_report_parts(case.report, scope)
        for answer in answers:
            given = select_answer_parts(answer.text, scope)
            if expected is None:
                found.missing[f"no {_words(scope)} in the reference"] += 1
            elif given is None:
                found.missing[f"no {_words(scope)} in the answer"] += 1
            else:
                pair = ReportPair(case, answer, scope, expected, given)
                found.pairs[answer.model].append(pair)
    return found


def _words(scope: str) -> str:
    return scope.replace("+", " or no ")


def find_reader_corrections(review_set: ReviewSet) -> dict[str, Report]:
    """Return the newest corrected report of each case that has any."""
    rows = review_set.references.sort("created", "_row", nulls_last=False)
    return {
        row["case"]: Report(row["findings"], row["impression"])
        for row in rows.iter_rows(named=True)
    }

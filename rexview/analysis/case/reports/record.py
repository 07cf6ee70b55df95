"""Everything that is said of the reports of one case beside scores and flags, for its page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rexview.analysis.case.record import CasePage
from rexview.analysis.case.reports.agreement import ScopedAgreement, agreements
from rexview.analysis.case.reports.alignment import Row, Sentence, align, reference_sentences
from rexview.analysis.case.reports.marks import Mark, marks_of
from rexview.harm import HarmTable
from rexview.metrics.identity import MetricId, known_first
from rexview.schema import CorrectedReference, Edit, MetricValue, ReviewSet

NOT_NAMED: Final = ""
"""Stands for whoever corrected a report without being named."""


@dataclass(frozen=True)
class ReportCase:
    """The reports of a case beside its reference.

    Attributes
    ----------
    rows : tuple of Row
        Sentence beside sentence.
    edits, stale_edits : mapping of str to tuple of Edit
        Corrections by model, and those of earlier reports, which count nowhere.
    metrics : mapping of str to tuple of MetricValue
        Metric values by model, known metrics first.
    corrected : tuple of CorrectedReference
        Corrected reports that are kept beside the given reference.
    agreement : mapping of str to ScopedAgreement
        How far each report agrees with the reference, by model.
    marks : mapping of str to tuple of Mark
        The words that rules call missed, invented or side swapped, by model.
    """

    rows: tuple[Row, ...]
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    metrics: Mapping[str, tuple[MetricValue, ...]] = field(default_factory=dict)
    corrected: tuple[CorrectedReference, ...] = ()
    agreement: Mapping[str, ScopedAgreement] = field(default_factory=dict)
    stale_edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)

    def edits_at(self, model: str) -> dict[int | None, tuple[Edit, ...]]:
        """Return the corrections of a model's report by the line that they stand with.

        None has those of lines that the report does not have, or that are not said.
        """
        lines = {
            beside.sentence.line.number: _folded(beside.sentence.line.text)
            for row in self.rows
            for beside in row.by_model.get(model, ())
        }
        found: dict[int | None, list[Edit]] = {}
        for edit in self.edits.get(model, ()):
            found.setdefault(_line_of(edit, lines), []).append(edit)
        return {line: tuple(edits) for line, edits in found.items()}


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _line_of(edit: Edit, lines: Mapping[int, str]) -> int | None:
    """Find the line that a correction is of: by its words where just one has these, else by number.

    Files from elsewhere may count other lines. What is inserted before all stands with the first.
    """
    words = _folded(edit.original or "")
    same = [number for number, text in lines.items() if words and text == words]
    if len(same) == 1:
        return same[0]
    number = 1 if edit.line == 0 else edit.line
    return number if number in lines else None


def gather_report(
    review_set: ReviewSet,
    page: CasePage,
    harm: HarmTable,
    editors: Collection[str] | None = None,
) -> ReportCase | None:
    """Gather what is said of the reports on a page; None where its case asks for none.

    ``harm`` weighs the findings; ``editors`` are those whose corrections are shown, by id
    (:data:`NOT_NAMED`), all by default.
    """
    case = page.case
    if case.question_type != "report":
        return None
    given: Sequence[Sentence] = reference_sentences(case.report)
    models = {answer.model for answer in page.answers}
    edits, stale = (
        [
            edit
            for edit in review_set.edits_of(case.id, stale=stale)
            if editors is None or (edit.reader or NOT_NAMED) in editors
        ]
        for stale in (False, True)
    )
    values = sorted(
        review_set.metric_values_of(case.id), key=lambda one: known_first(identity_of(one))
    )
    compared = agreements(case, page.answers, harm)
    return ReportCase(
        align(given, page.answers),
        {model: tuple(one for one in edits if one.model == model) for model in models},
        {model: tuple(one for one in values if one.model == model) for model in models},
        review_set.references_of(case.id),
        compared,
        {model: tuple(one for one in stale if one.model == model) for model in models},
        marks_of(page.flags, compared),
    )


def identity_of(value: MetricValue) -> MetricId:
    """Return the identity of a metric value."""
    return MetricId(value.metric, value.implementation, value.version, value.scope)

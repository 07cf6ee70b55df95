"""Reports on the Case page as HTML: sentence by sentence, with metrics and corrections.

A word after the text, not only a colour, marks it as missed, invented or on the other side.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.report_comparison import (
    UNNAMED_EDITOR,
    AlignedRow,
    AlignedSentence,
    ReportCase,
    ReportMark,
    ReportSentence,
    ScopedAgreement,
    TextPart,
    compare_texts,
    is_marked,
    metric_value_identity,
)
from rexview.metrics.finding_agreement import (
    FindingAgreement,
    PairedFinding,
    StatedFinding,
    UnpairedFinding,
)
from rexview.metrics.finding_agreement import TextSpan as Words
from rexview.metrics.reference_pairs import SCOPES
from rexview.schema import CorrectedReference, Edit, MetricValue, Report, ReviewSet
from rexview.ui.answers.answer_card import AnswerAdditions, metric_text
from rexview.ui.answers.flags import evidence_spans, in_app_note, link_spans
from rexview.ui.safe_text import MarkedSpan, inline_html, markdown_html
from rexview.ui.tables.number_table import label_cells
from rexview.vocab import EDIT_KINDS, EDIT_SEVERITIES, date_text, judge_name
from rexview.words import mid_sentence, tr, trc, trn

# Two texts as one, as HTML: parts in only one of them are marked.


def changes_html(pieces: Iterable[TextPart]) -> str:
    """Return two texts as one: the first's own parts struck through, the second's underlined."""
    tags = {"both": "span", "first": "del", "second": "ins"}
    return "".join(
        f"<{tags[piece.where]}>{html.escape(piece.text)}</{tags[piece.where]}>" for piece in pieces
    )


def differences_html(pieces: Sequence[TextPart], first: str, second: str, *, whole: bool) -> str:
    """As :func:`changes_html`, with a legend that names the texts."""
    body = changes_html(pieces)
    only = tr("Only the beginning of the texts is compared.")
    note = "" if whole else f'<p class="rx-quiet">{only}</p>'
    in_first = tr("only in {text}").format(text=html.escape(first))
    in_second = tr("only in {text}").format(text=html.escape(second))
    return (
        f'<div class="rx-diff"><p class="rx-quiet"><del>{in_first}</del> <ins>{in_second}</ins></p>'
        f'<div class="rx-plain">{body}</div>{note}</div>'
    )


# Reports sentence by sentence, as HTML: the reference, each model's report, and corrections.
#
# Texts from models, files and readers are escaped here or in :mod:`rexview.ui.safe_text`.

Marks = Mapping[str, Sequence[MarkedSpan]]
"""The marks in a text, by model or by section of the reference."""

_MARKUP: Final = re.compile(r"[*_`#|~]")
"""Without any of these a line has no visible Markdown."""
_READER: Final = f' <small class="rx-quiet">{tr("reader")}</small>'
_SECTIONS: Final = {"findings": tr("Findings"), "impression": tr("Impression")}
_ACTIONS: Final = {"substitute": tr("Replace"), "delete": tr("Delete"), "insert": tr("Insert")}


def aligned_html(
    page: CasePage,
    review_set: ReviewSet,
    reports: ReportCase,
    *,
    colours: Mapping[str, str],
    in_reference: Marks,
    in_answers: Marks,
) -> str:
    """Return the reports of a page next to their reference, a row for each of its sentences."""
    if not reports.rows:
        return ""
    shown = _AlignedReports(page, review_set, reports, colours, in_reference, in_answers)
    heads = "".join(shown.head_html(one.model) for one in page.answers)
    has_reference = any(row.reference for row in reports.rows)
    first = f'<th scope="col">{tr("Reference")}</th>' if has_reference else ""
    columns = len(page.answers) + has_reference
    body: list[str] = []
    section: str | None = ""
    for row in reports.rows:
        if row.reference is None and has_reference:
            body.append(_section_html(tr("No counterpart in the reference"), columns))
        elif row.reference is not None and row.reference.section != section:
            section = row.reference.section
            body.append(
                _section_html(_SECTIONS.get(section or "", (section or "").title()), columns)
            )
        body.append(shown.row_html(row, has_reference=has_reference))
    return (
        '<section class="rx-aligned" aria-labelledby="rx-aligned">'
        f'<h3 id="rx-aligned" tabindex="-1">{tr("Sentence by sentence")}</h3>'
        '<div class="rx-scroll" tabindex="0" aria-labelledby="rx-aligned">'
        f'<table role="table" style="--rx-columns:{columns}"><thead role="rowgroup">'
        f'<tr role="row">{first}{heads}</tr></thead><tbody role="rowgroup">{"".join(body)}'
        "</tbody></table></div></section>"
    )


def _section_html(title: str, columns: int) -> str:
    return (
        f'<tr role="row" class="rx-aligned-section"><th role="rowheader" colspan="{columns}" '
        f'scope="colgroup">{html.escape(title)}</th></tr>'
    )


@dataclass(frozen=True)
class _AlignedReports:
    page: CasePage
    review_set: ReviewSet
    reports: ReportCase
    colours: Mapping[str, str]
    in_reference: Marks
    in_answers: Marks

    @cached_property
    def edits(self) -> dict[str, dict[int | None, tuple[Edit, ...]]]:
        """Corrections by model and by the line that they belong to."""
        return {one.model: self.reports.edits_at(one.model) for one in self.page.answers}

    @cached_property
    def spans(self) -> dict[str, list[MarkedSpan]]:
        """The marks in each answer, by model."""
        return {
            one.model: [
                *self.in_answers.get(one.model, ()),
                *evidence_spans(self.page.keyed_flags(one.model), "answer"),
                *link_spans(one.text or "", self.page),
            ]
            for one in self.page.answers
        }

    @cached_property
    def reference_spans(self) -> dict[str, list[MarkedSpan]]:
        """The marks in each section of the reference."""
        flags, report = self.page.keyed_flags(), self.page.case.report
        return {
            section: [
                *self.in_reference.get(section, ()),
                *evidence_spans(flags, "report", section),
                *link_spans(getattr(report, section) or "", self.page),
            ]
            for section in ("findings", "impression")
        }

    def name(self, model: str) -> str:
        return self.review_set.model_names[model]

    def head_html(self, model: str) -> str:
        """Return the heading of a model's column, with its ratings by readers and judges."""
        said = "".join(
            f"<p>{html.escape(self.reader(reader))}: {_summary_html(edits)}</p>"
            for reader, edits in _by_reader(self.reports.edits.get(model, ())).items()
        )
        stale = tr("of an earlier report, not counted")
        said += "".join(
            f'<p class="rx-quiet">{html.escape(self.reader(reader))}: {stale}</p>'
            for reader in _by_reader(self.reports.stale_edits.get(model, ()))
        )
        unknown = self.edits[model].get(None, ())
        lost = "".join(self.edit_html(one) for one in unknown if one.action != "keep")
        unplaced = f"<p>{tr('On lines that are not in this text:')}</p>{lost}" if lost else ""
        colour, name = html.escape(self.colours[model]), html.escape(self.name(model))
        name = f"<b>{name}</b>{_READER if self.is_reader(model) else ''}"
        return (
            f'<th role="columnheader" scope="col" style="--rx-colour:{colour}">'
            f"{name}{said}{unplaced}</th>"
        )

    def is_reader(self, model: str) -> bool:
        """Return whether a model id belongs to a person, whose report this is."""
        return any(one.id == model and one.kind == "reader" for one in self.review_set.models)

    def reader(self, reader: str) -> str:
        return self.review_set.reader_names.get(reader) or judge_name(reader) or tr("Not named")

    def row_html(self, row: AlignedRow, *, has_reference: bool) -> str:
        cells = "".join(
            self.cell_html(row, one.model, self.colours[one.model]) for one in self.page.answers
        )
        first = ""
        if row.reference is not None:
            spans = self.reference_spans[row.reference.section or "findings"]
            first = f'<th role="rowheader" scope="row">{_words_html(row.reference, spans)}</th>'
        elif has_reference:
            first = '<th role="rowheader" scope="row"><span class="rx-quiet">–</span></th>'
        return f'<tr role="row">{first}{cells}</tr>'

    def cell_html(self, row: AlignedRow, model: str, colour: str) -> str:
        given = row.by_model.get(model, ())
        lines = "".join(self.line_html(beside, model) for beside in given)
        if not given:
            lines = f'<span class="rx-quiet" title="{tr("No matching sentence")}">–</span>'
        name = html.escape(self.name(model))
        return (
            f'<td role="cell" data-rx-name="{name}" style="--rx-colour:{html.escape(colour)}">'
            f"{lines}</td>"
        )

    def line_html(self, beside: AlignedSentence, model: str) -> str:
        """Return a line with its number and, on its first occurrence, its corrections."""
        line = beside.sentence.line
        words = _words_html(beside.sentence, self.spans[model])
        title = tr("Line {n:d}").format(n=line.number)
        number = f'<small class="rx-said-number" title="{title}">{line.number}</small>'
        if beside.again:
            title = tr("The same sentence as in another row")
            return (
                f'<div class="rx-said rx-said-again" title="{title}">'
                f"{number}<div>{words}</div></div>"
            )
        edits = self.edits[model].get(line.number, ())
        kept = [self.reader(one.reader or UNNAMED_EDITOR) for one in edits if one.action == "keep"]
        fine = f'<small class="rx-quiet">✓ {html.escape(", ".join(kept))}</small>' if kept else ""
        shown = "".join(self.edit_html(one) for one in edits if one.action != "keep")
        return f'<div class="rx-said">{number}<div>{words}{fine}{shown}</div></div>'

    def edit_html(self, edit: Edit) -> str:
        """Return one correction: its author, severity, reason, and text."""
        about = [EDIT_KINDS.get(edit.kind or "", edit.kind or ""), edit.significance or ""]
        said = html.escape(", ".join(filter(None, about)))
        who = html.escape(self.reader(edit.reader or UNNAMED_EDITOR))
        action = _ACTIONS.get(edit.action, edit.action)
        if edit.action == "insert" and edit.line == 0:
            action = tr("Insert before the first line")
        comment = f'<p class="rx-quiet">{html.escape(edit.comment)}</p>' if edit.comment else ""
        return (
            f'<div class="rx-edit"{_level(edit.severity)}><p>{_severity_html(edit.severity)} '
            f"<b>{action}</b> {said} "
            f"<i>{who}</i>{in_app_note(edit.origin)}</p>{_change_html(edit)}{comment}</div>"
        )


def _by_reader(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    given: dict[str, list[Edit]] = {}
    for edit in edits:
        given.setdefault(edit.reader or UNNAMED_EDITOR, []).append(edit)
    return given


def _severity_html(severity: int | None) -> str:
    if severity is None:
        return f'<span class="rx-severity">{tr("severity not given")}</span>'
    name = EDIT_SEVERITIES[severity]
    return f'<span class="rx-severity"{_level(severity)}>{severity} <small>{name}</small></span>'


def _level(severity: int | None) -> str:
    return "" if severity is None else f' data-severity="{severity}"'


def _summary_html(edits: Iterable[Edit]) -> str:
    wrong = [edit for edit in edits if edit.action != "keep"]
    if not wrong:
        return tr("nothing to correct")
    worst = max((edit.severity for edit in wrong if edit.severity is not None), default=None)
    n = len(wrong)
    if worst == 0:
        said = trn("{n:,} correction, no error", "{n:,} corrections, no error", n)
        return said.format(n=n)
    said = trn("{n:,} correction, worst {severity}", "{n:,} corrections, worst {severity}", n)
    return said.format(n=n, severity=_severity_html(worst))


def _change_html(edit: Edit) -> str:
    """Return the text of a correction: deletions struck through, insertions underlined."""
    old, new = edit.original or "", edit.edited or ""
    if edit.action == "delete":
        new = ""
    elif edit.action == "insert":
        old = ""
    pieces, whole = compare_texts(old, new)
    body = changes_html(pieces)
    only = tr("Only the beginning is shown.")
    rest = "" if whole else f' <small class="rx-quiet">{only}</small>'
    return f"<p>{body}{rest}</p>" if body else ""


def _words_html(sentence: ReportSentence, spans: Iterable[MarkedSpan]) -> str:
    """Return the text of a sentence with its marks."""
    line = sentence.line
    own = [
        replace(
            span,
            start=max(span.start, line.start) - line.start,
            end=min(span.end, line.end) - line.start,
            focusable=False,  # the whole text above has a stop for each finding
        )
        for span in spans
        if span.start < line.end and span.end > line.start
    ]
    if _MARKUP.search(line.text):
        return markdown_html(line.text, own)
    return f"<p>{inline_html(line.text, own)}</p>"


_AGREEMENT: Final = tr("Finding-level agreement")
TO_SENTENCES: Final = (
    ' <button type="button" class="rx-go" data-rx-go="rx-aligned">'
    f"{tr('Sentence by sentence')}</button>"
)
"""A button from the report to the rows below."""


def marks_in_answers(reports: ReportCase) -> Marks:
    """Return what is invented, or on the other side, in each model's report."""
    return {
        model: [_mark(one.words, one.what, one.about) for one in marks if one.where == "answer"]
        for model, marks in reports.marks.items()
    }


def marks_in_reference(reports: ReportCase, names: Mapping[str, str]) -> Marks:
    """Return what reports miss or put on the other side, by section of the reference."""
    by: dict[tuple[str, Words], list[str]] = {}
    compared = reports.agreement
    for model, marks in reports.marks.items():
        for one in marks:
            if one.where == "report":
                by.setdefault((one.what, one.words), []).append(model)
    found: dict[str, list[MarkedSpan]] = {}
    for (what, words), models in by.items():
        said = tr("Missed by {models}") if what == "missed" else tr("Other side in {models}")
        part = (
            tr("by {n:d} of {total:d} models")
            if what == "missed"
            else tr("in {n:d} of {total:d} models")
        )
        part = part.format(n=len(models), total=len(compared))
        some = f" {part}" if len(models) < len(compared) else ""
        title = said.format(models=", ".join(names[one] for one in models))
        mark = _mark(words, what, title, some)
        found.setdefault(words.section or "findings", []).append(mark)
    return found


_LABELS: Final = {
    "missed": trc("finding", "missed"),
    "invented": trc("finding", "invented"),
    "swapped": tr("side swapped"),
    "lone": tr("in one text only"),
}


def _mark(words: Words, what: str, title: str, some: str = "") -> MarkedSpan:
    css, label = f"rx-wrong rx-{what}", f"{_LABELS[what]}{some}"
    return MarkedSpan(words.start, words.end, css, title=title, label=label)


def _invented(one: UnpairedFinding) -> str:
    return tr("The reference says it is absent") if one.against else tr("Not in the reference")


def report_additions(reports: ReportCase, case: str) -> dict[str, AnswerAdditions]:
    """Return the additions to the reports of a case, by model."""
    marks = marks_in_answers(reports)
    return {
        model: AnswerAdditions(
            marks.get(model, ()), _report_parts_summary_html(reports, case, model)
        )
        for model in reports.metrics
    }


def _report_parts_summary_html(reports: ReportCase, case: str, model: str) -> str:
    """Return a report's agreement with the reference, its parts, and its metric values."""
    agreement, values = reports.agreement.get(model), reports.metrics.get(model, ())
    marks = reports.marks.get(model, ())
    parts = _agreement_html(agreement.parts, marks) if agreement else ""
    listed = _metrics_html(values) if values else ""
    if not parts and not listed:
        return ""
    kept = html.escape(f"{case}/{model}")
    shown = (
        _folded_html(_headline(agreement, marks), parts, f"{kept}/agreement") if agreement else ""
    )
    if listed:
        shown += _folded_html(f"{tr('Metrics')} <b>{len(values)}</b>", listed, f"{kept}/metrics")
    return f'<div class="rx-agreement">{shown}</div>'


def _folded_html(title: str, body: str, kept: str) -> str:
    if not body:
        return f"<p>{title}</p>"
    return f'<details data-rx-keep="{kept}"><summary>{title}</summary>{body}</details>'


def _headline(agreement: ScopedAgreement, marks: Sequence[ReportMark]) -> str:
    parts = agreement.parts
    missed = [one for one in parts.missed if is_marked(one, "report", marks)]
    invented = [one for one in parts.invented if is_marked(one, "answer", marks)]
    lone = len(parts.missed) - len(missed) + len(parts.invented) - len(invented)
    counts = (
        ("agreed", len(parts.agreed), tr("in both")),
        ("missed", len(missed), _LABELS["missed"]),
        ("invented", len(invented), _LABELS["invented"]),
        ("swapped", len(parts.swapped), _LABELS["swapped"]),
        ("lone", lone, _LABELS["lone"]),
    )
    places = sum(len(one.stated.spans) for one in invented)
    several = trn("marked {n} time", "marked {n} times", places).format(n=places)
    more = {"invented": f" ({several})"} if places > len(invented) else {}
    said = " ".join(
        f'<span class="rx-part-{what}">{n} {words}{more.get(what, "")}</span>'
        for what, n, words in counts
        if n
    )
    scope = html.escape(mid_sentence(SCOPES.get(agreement.scope, agreement.scope)))
    title = tr(
        "0 to 1: findings in both texts, weighted by the harm of getting them wrong. "
        "Compared: {scope}"
    ).format(scope=scope)
    return (
        f'<span title="{title}">{_AGREEMENT} <b>{parts.score:.2f}</b></span> '
        f"{said or tr('no finding in either')}"
    )


def _agreement_html(agreement: FindingAgreement, marks: Sequence[ReportMark]) -> str:
    """List the parts, the most severe first.

    A finding in only one text is missed or invented if a rule reports so, else "in one text only".
    """
    items = [_item("swapped", pair.reference, _as_written(pair)) for pair in agreement.swapped]
    lone = []
    for one in agreement.missed:
        if is_marked(one, "report", marks):
            items.append(_item("missed", one.stated, _missed(one)))
        else:
            lone.append(_item("lone", one.stated, tr("in the reference")))
    for one in agreement.invented:
        if is_marked(one, "answer", marks):
            words = f"{_invented(one)}{_places(one.stated)}"
            items.append(_item("invented", one.stated, words))
        else:
            lone.append(_item("lone", one.stated, tr("in the report")))
    items += lone
    items += [_item("agreed", pair.reference, _agreed(pair)) for pair in agreement.agreed]
    return f'<ul class="rx-parts">{"".join(items)}</ul>' if items else ""


def _places(stated: StatedFinding) -> str:
    """Return the number of marks in the text for one finding, if there are several."""
    n = len(stated.spans)
    return trn("; marked {n} time", "; marked {n} times", n).format(n=n) if n > 1 else ""


def _item(what: str, stated: StatedFinding, more: str) -> str:
    label = {"agreed": tr("in both")}.get(what) or _LABELS[what]
    weight = (
        f'<small title="{tr("Weight: harm of getting it wrong, 0 to 4")}">'
        f"{tr('harm {harm}').format(harm=stated.harm)}</small>"
    )
    said = f" <i>{html.escape(more)}</i>" if more else ""
    return (
        f'<li><span class="rx-part-{what}">{label}:</span> {html.escape(stated.name)} {weight}'
        f"{said}</li>"
    )


def _as_written(pair: PairedFinding) -> str:
    return tr("report: {finding}").format(finding=pair.candidate.name)


def _missed(one: UnpairedFinding) -> str:
    return tr("the report says it is absent") if one.against else ""


def _agreed(pair: PairedFinding) -> str:
    if not pair.differs:
        return ""
    kinds = ", ".join(mid_sentence(EDIT_KINDS.get(kind, kind)) for kind in pair.differs)
    return tr("differs: {kinds}; credit {credit:.2f}").format(kinds=kinds, credit=pair.credit)


def _metrics_html(values: Sequence[MetricValue]) -> str:
    rows = "".join(_metric_html(value) for value in values)
    return label_cells(
        '<div class="rx-scroll"><table class="rx-scores"><thead><tr>'
        f'<th scope="col">{tr("Metric")}</th><th scope="col">{tr("Value")}</th>'
        f'<th scope="col">{tr("Computed by")}</th><th scope="col">{trc("column", "Of")}</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _metric_html(value: MetricValue) -> str:
    metric = metric_value_identity(value)
    together = f" · {tr('computed over n = {n:,}').format(n=value.n)}" if value.n else ""
    return (
        f'<tr><th scope="row">{html.escape(metric.name)}</th>'
        f'<td class="rx-num">{metric_text(value.value)}</td>'
        f'<td title="{html.escape(metric.provenance, quote=True)}">'
        f"{html.escape(metric.computed_by)}</td>"
        f"<td>{html.escape(metric.scope or tr('not given'))}{together}</td></tr>"
    )


def corrected_html(
    given: Report, corrected: Sequence[CorrectedReference], review_set: ReviewSet
) -> str:
    """Return the corrected references, each as changes of the original; empty without any."""
    return "".join(_corrected_html(given, one, review_set) for one in corrected)


def _corrected_html(given: Report, one: CorrectedReference, review_set: ReviewSet) -> str:
    who = review_set.reader_names.get(one.reader, one.reader)
    sections = ""
    for name, old, new in (
        (tr("Findings"), given.findings, one.findings),
        (tr("Impression"), given.impression, one.impression),
    ):
        if old or new:
            pieces, whole = compare_texts(old or "", new or "")
            only = tr("Only the beginning is compared.")
            rest = "" if whole else f'<p class="rx-quiet">{only}</p>'
            sections += f'<h4>{name}</h4><div class="rx-plain">{changes_html(pieces)}</div>{rest}'
    comment = f'<p class="rx-quiet">{html.escape(one.comment)}</p>' if one.comment else ""
    written = f", {date_text(one.created)}" if one.created else ""
    by = tr("Corrected by {who}").format(who=html.escape(who))
    return (
        f'<section class="rx-corrected"><h3>{by}{written}{in_app_note(one.origin)}</h3>'
        f"{sections}{comment}</section>"
    )

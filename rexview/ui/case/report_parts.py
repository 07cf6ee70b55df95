"""What stands with a report on the Case page, as HTML: agreement, metrics, corrected references.

Words are marked as missed, invented or on the other side by a word behind them, not by a colour
alone.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Final

from rexview.analysis.case.report_comparison import (
    Mark,
    ReportCase,
    ScopedAgreement,
    compare_texts,
    is_marked,
    metric_value_identity,
)
from rexview.metrics.finding_agreement import FindingAgreement, Lone, Pair, Stated
from rexview.metrics.finding_agreement import Span as Words
from rexview.metrics.pairs import SCOPES
from rexview.schema import CorrectedReference, MetricValue, Report, ReviewSet
from rexview.ui.answers.flags import written_here
from rexview.ui.answers.html import Added
from rexview.ui.answers.one_answer import metric_text
from rexview.ui.case.aligned import Marks
from rexview.ui.html.differences import changes_html
from rexview.ui.html.safe_text import Span
from rexview.ui.tables.stacked import stacked
from rexview.vocab import EDIT_KINDS, day
from rexview.words import inside, tr, trc, trn

_AGREEMENT: Final = tr("Finding-level agreement")
TO_SENTENCES: Final = (
    ' <button type="button" class="rx-go" data-rx-go="rx-aligned">'
    f"{tr('Sentence by sentence')}</button>"
)
"""Leads from the report to the rows below."""


def marks_in_answers(reports: ReportCase) -> Marks:
    """Return what is invented, or on the other side, in each model's report."""
    return {
        model: [_mark(one.words, one.what, one.about) for one in marks if one.where == "answer"]
        for model, marks in reports.marks.items()
    }


def marks_in_reference(reports: ReportCase, names: Mapping[str, str]) -> Marks:
    """Return what is missed, or on the other side in a report, by section of the reference."""
    by: dict[tuple[str, Words], list[str]] = {}
    compared = reports.agreement
    for model, marks in reports.marks.items():
        for one in marks:
            if one.where == "report":
                by.setdefault((one.what, one.words), []).append(model)
    found: dict[str, list[Span]] = {}
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


def _mark(words: Words, what: str, title: str, some: str = "") -> Span:
    css, label = f"rx-wrong rx-{what}", f"{_LABELS[what]}{some}"
    return Span(words.start, words.end, css, title=title, label=label)


def _invented(one: Lone) -> str:
    return tr("The reference says it is absent") if one.against else tr("Not in the reference")


def added(reports: ReportCase, case: str) -> dict[str, Added]:
    """Return what is added to the reports of a case, by model."""
    marks = marks_in_answers(reports)
    return {
        model: Added(marks.get(model, ()), _summary_html(reports, case, model))
        for model in reports.metrics
    }


def _summary_html(reports: ReportCase, case: str, model: str) -> str:
    """Say how far a report agrees with the reference, with the parts, and its metric values."""
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


def _headline(agreement: ScopedAgreement, marks: Sequence[Mark]) -> str:
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
    scope = html.escape(inside(SCOPES.get(agreement.scope, agreement.scope)))
    title = tr(
        "0 to 1: findings in both texts, weighted by the harm of getting them wrong. "
        "Compared: {scope}"
    ).format(scope=scope)
    return (
        f'<span title="{title}">{_AGREEMENT} <b>{parts.score:.2f}</b></span> '
        f"{said or tr('no finding in either')}"
    )


def _agreement_html(agreement: FindingAgreement, marks: Sequence[Mark]) -> str:
    """List the parts, the gravest first.

    What only one text has is missed or invented where a rule says so, else just in one text.
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


def _places(stated: Stated) -> str:
    """Say how many marks in the text are one finding, where there are several."""
    n = len(stated.spans)
    return trn("; marked {n} time", "; marked {n} times", n).format(n=n) if n > 1 else ""


def _item(what: str, stated: Stated, more: str) -> str:
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


def _as_written(pair: Pair) -> str:
    return tr("report: {finding}").format(finding=pair.candidate.name)


def _missed(one: Lone) -> str:
    return tr("the report says it is absent") if one.against else ""


def _agreed(pair: Pair) -> str:
    if not pair.differs:
        return ""
    kinds = ", ".join(inside(EDIT_KINDS.get(kind, kind)) for kind in pair.differs)
    return tr("differs: {kinds}; counts {credit:.2f}").format(kinds=kinds, credit=pair.credit)


def _metrics_html(values: Sequence[MetricValue]) -> str:
    rows = "".join(_metric_html(value) for value in values)
    return stacked(
        '<div class="rx-scroll"><table class="rx-scores"><thead><tr>'
        f'<th scope="col">{tr("Metric")}</th><th scope="col">{tr("Value")}</th>'
        f'<th scope="col">{tr("Computed by")}</th><th scope="col">{trc("column", "Of")}</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _metric_html(value: MetricValue) -> str:
    metric = metric_value_identity(value)
    together = f" · {tr('{n:,} together').format(n=value.n)}" if value.n else ""
    return (
        f'<tr><th scope="row">{html.escape(metric.name)}</th>'
        f'<td class="rx-num">{metric_text(value.value)}</td>'
        f'<td title="{html.escape(metric.provenance, quote=True)}">'
        f"{html.escape(metric.computed_by)}</td>"
        f"<td>{html.escape(metric.scope or tr('not said'))}{together}</td></tr>"
    )


def corrected_html(
    given: Report, corrected: Sequence[CorrectedReference], review_set: ReviewSet
) -> str:
    """Show the corrected references, each as changes of the given one; empty without any."""
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
    written = f", {day(one.created)}" if one.created else ""
    by = tr("Corrected by {who}").format(who=html.escape(who))
    return (
        f'<section class="rx-corrected"><h3>{by}{written}{written_here(one.origin)}</h3>'
        f"{sections}{comment}</section>"
    )

"""Reports sentence by sentence, as HTML: reference, what each model wrote, what was corrected.

Texts from models, files and readers are escaped here or in :mod:`rexview.ui.html.safe_text`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rexview.analysis.case.record import CasePage
from rexview.analysis.case.report_comparison import (
    NOT_NAMED,
    Beside,
    ReportCase,
    Row,
    Sentence,
    compare_texts,
)
from rexview.schema import Edit, ReviewSet
from rexview.ui.answers.flags import evidence_spans, link_spans, written_here
from rexview.ui.html.differences import changes_html
from rexview.ui.html.safe_text import Span, inline_html, markdown_html
from rexview.vocab import EDIT_KINDS, EDIT_SEVERITIES, judge_name
from rexview.words import tr, trn

Marks = Mapping[str, Sequence[Span]]
"""What is marked in a text, by model or by section of the reference."""

_MARKUP: Final = re.compile(r"[*_`#|~]")
"""Without any of these a line is no Markdown that shows."""
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
    """Lay out the reports of a page beside their reference, a row for each of its sentences."""
    if not reports.rows:
        return ""
    shown = _Aligned(page, review_set, reports, colours, in_reference, in_answers)
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
class _Aligned:
    page: CasePage
    review_set: ReviewSet
    reports: ReportCase
    colours: Mapping[str, str]
    in_reference: Marks
    in_answers: Marks

    @cached_property
    def edits(self) -> dict[str, dict[int | None, tuple[Edit, ...]]]:
        """Corrections by model and by the line that they stand with."""
        return {one.model: self.reports.edits_at(one.model) for one in self.page.answers}

    @cached_property
    def spans(self) -> dict[str, list[Span]]:
        """What is marked in each answer, by model."""
        return {
            one.model: [
                *self.in_answers.get(one.model, ()),
                *evidence_spans(self.page.keyed_flags(one.model), "answer"),
                *link_spans(one.text or "", self.page),
            ]
            for one in self.page.answers
        }

    @cached_property
    def reference_spans(self) -> dict[str, list[Span]]:
        """What is marked in each section of the reference."""
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
        """Head a model's column, with what its readers and judges made of it."""
        said = "".join(
            f"<p>{html.escape(self.reader(reader))}: {_summary_html(edits)}</p>"
            for reader, edits in _by_reader(self.reports.edits.get(model, ())).items()
        )
        stale = tr("of an earlier report, counts nowhere")
        said += "".join(
            f'<p class="rx-quiet">{html.escape(self.reader(reader))}: {stale}</p>'
            for reader in _by_reader(self.reports.stale_edits.get(model, ()))
        )
        unknown = self.edits[model].get(None, ())
        lost = "".join(self.edit_html(one) for one in unknown if one.action != "keep")
        unplaced = f"<p>{tr('Of lines that this text does not have:')}</p>{lost}" if lost else ""
        colour, name = html.escape(self.colours[model]), html.escape(self.name(model))
        name = f"<b>{name}</b>{_READER if self.is_reader(model) else ''}"
        return (
            f'<th role="columnheader" scope="col" style="--rx-colour:{colour}">'
            f"{name}{said}{unplaced}</th>"
        )

    def is_reader(self, model: str) -> bool:
        """Whether a model stands for a person, whose report this is."""
        return any(one.id == model and one.kind == "reader" for one in self.review_set.models)

    def reader(self, reader: str) -> str:
        return self.review_set.reader_names.get(reader) or judge_name(reader) or tr("Not named")

    def row_html(self, row: Row, *, has_reference: bool) -> str:
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

    def cell_html(self, row: Row, model: str, colour: str) -> str:
        given = row.by_model.get(model, ())
        lines = "".join(self.line_html(beside, model) for beside in given)
        if not given:
            lines = f'<span class="rx-quiet" title="{tr("No sentence says this")}">–</span>'
        name = html.escape(self.name(model))
        return (
            f'<td role="cell" data-rx-name="{name}" style="--rx-colour:{html.escape(colour)}">'
            f"{lines}</td>"
        )

    def line_html(self, beside: Beside, model: str) -> str:
        """Show a line with its number and, where it stands first, its corrections."""
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
        kept = [self.reader(one.reader or NOT_NAMED) for one in edits if one.action == "keep"]
        fine = f'<small class="rx-quiet">✓ {html.escape(", ".join(kept))}</small>' if kept else ""
        shown = "".join(self.edit_html(one) for one in edits if one.action != "keep")
        return f'<div class="rx-said">{number}<div>{words}{fine}{shown}</div></div>'

    def edit_html(self, edit: Edit) -> str:
        """Show one correction: who, how severe, what is wrong, and the words."""
        about = [EDIT_KINDS.get(edit.kind or "", edit.kind or ""), edit.significance or ""]
        said = html.escape(", ".join(filter(None, about)))
        who = html.escape(self.reader(edit.reader or NOT_NAMED))
        action = _ACTIONS.get(edit.action, edit.action)
        if edit.action == "insert" and edit.line == 0:
            action = tr("Insert before the first line")
        comment = f'<p class="rx-quiet">{html.escape(edit.comment)}</p>' if edit.comment else ""
        return (
            f'<div class="rx-edit"{_level(edit.severity)}><p>{_severity_html(edit.severity)} '
            f"<b>{action}</b> {said} "
            f"<i>{who}</i>{written_here(edit.origin)}</p>{_change_html(edit)}{comment}</div>"
        )


def _by_reader(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    given: dict[str, list[Edit]] = {}
    for edit in edits:
        given.setdefault(edit.reader or NOT_NAMED, []).append(edit)
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
    """Show the words of a correction: what goes struck through, what comes underlined."""
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


def _words_html(sentence: Sentence, spans: Iterable[Span]) -> str:
    """Show the words of a sentence with what is marked in them."""
    line = sentence.line
    own = [
        replace(
            span,
            start=max(span.start, line.start) - line.start,
            end=min(span.end, line.end) - line.start,
            focusable=False,  # the whole text, above, has a stop for each finding
        )
        for span in spans
        if span.start < line.end and span.end > line.start
    ]
    if _MARKUP.search(line.text):
        return markdown_html(line.text, own)
    return f"<p>{inline_html(line.text, own)}</p>"

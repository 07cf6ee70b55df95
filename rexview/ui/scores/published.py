"""Figures printed in the paper beside those of the open set, clearly set apart."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Final

from rexview.analysis.published.rexecution import (
    ODDITIES,
    QUANTITIES,
    SOURCE,
    MeasuredRate,
    measured_rates,
    published_rates,
    published_scores,
)
from rexview.analysis.scores import ScoreTables
from rexview.ui.tables.number_table import NOTHING, linked_number, signed, written_p
from rexview.ui.tables.stacked import stacked
from rexview.vocab import DIMENSION_NAMES
from rexview.words import tr

MOST_MODELS: Final = 4
"""So many models of the open set stand beside the published ones."""


def published_html(tables: ScoreTables) -> str:
    """Lay out the paper's means and rates; own figures left, published ones right and apart."""
    ours = list(tables.models)[:MOST_MODELS]
    notes = [
        tr(
            "Published figures: {source}. Other cases, models and readers; not computed here."
        ).format(source=SOURCE)
    ]
    if len(tables.models) > MOST_MODELS:
        few = tr("Of your models the first {most} stand here: narrow the filter for others.")
        notes.append(few.format(most=MOST_MODELS))
    notes.append(tr("Whether an answer carries an image is not counted for yours."))
    note = " ".join(notes)
    items = "".join(f"<li>{html.escape(text)}</li>" for text in ODDITIES)
    return (
        '<section class="rx-published"><h2>'
        f"{tr('Published: other cases and models, not computed here')}</h2>{_means(tables, ours)}"
        f'{_rates(tables, ours)}<p class="rx-quiet rx-note">'
        f"{html.escape(note)} {tr('Kept as printed:')}</p>"
        f'<ul class="rx-reasons">{items}</ul></section>'
    )


def _means(tables: ScoreTables, ours: Sequence[str]) -> str:
    printed = {(score.dimension, score.model): score for score in published_scores()}
    papers = list(dict.fromkeys(score.model for score in published_scores()))
    body = []
    for dimension in dict.fromkeys(score.dimension for score in published_scores()):
        cells = []
        for model in ours:
            cell = tables.cell(dimension, model)
            if cell is None or cell.summary.mean is None:
                cells.append(f"<td>{NOTHING}</td>")
                continue
            spread = NOTHING if cell.summary.sd is None else f"{cell.summary.sd:.2f}"
            label = f"<b>{cell.summary.mean:.2f}</b> ± {spread}<small>n {cell.summary.n:,}</small>"
            cells.append(f"<td>{linked_number(cell.scored, label, cell.exact)}</td>")
        adjusted = NOTHING
        for paper in papers:
            score = printed.get((dimension, paper))
            if score is None:
                cells.append(_outside(NOTHING))
                continue
            adjusted = NOTHING if score.p_adj is None else f"{score.p_adj:g}"
            cells.append(_outside(f"{score.mean:.2f} ± {score.sd:.2f}<small>n {score.n}</small>"))
        middle = [f"<td>{_p_of_set(tables, dimension)}</td>"] if len(tables.models) == 2 else []
        row = [*cells[: len(ours)], *middle, *cells[len(ours) :], _outside(adjusted)]
        name = html.escape(DIMENSION_NAMES[dimension])
        body.append(f'<tr><th scope="row">{name}</th>{"".join(row)}</tr>')
    heads = [tables.models[model] for model in ours]
    heads += [tr("p adjusted")] if len(tables.models) == 2 else []
    return _table(tr("Mean ± SD"), heads, [*papers, tr("p adjusted")], body)


def _p_of_set(tables: ScoreTables, dimension: str) -> str:
    tests = [test for test in tables.comparison.tests if test.dimension == dimension]
    return written_p(tests[0].p_adj) if tests and tests[0].p_adj is not None else NOTHING


def _rates(tables: ScoreTables, ours: Sequence[str]) -> str:
    of_set = {(rate.quantity, rate.model): rate for rate in measured_rates(tables)}
    printed = {(rate.quantity, rate.model): rate for rate in published_rates()}
    papers = list(dict.fromkeys(rate.model for rate in published_rates()))
    body = []
    for quantity, name in QUANTITIES.items():
        cells = [f"<td>{_rate_of_set(of_set.get((quantity, model)))}</td>" for model in ours]
        for paper in papers:
            rate = printed.get((quantity, paper))
            text = NOTHING
            if rate is not None and rate.percent is not None:
                text = f"{rate.percent:g}%"
            elif rate is not None and rate.points is not None:
                text = signed(rate.points)
            cells.append(_outside(text))
        body.append(f'<tr><th scope="row">{html.escape(name)}</th>{"".join(cells)}</tr>')
    return _table(tr("Shares"), [tables.models[model] for model in ours], papers, body)


def _rate_of_set(rate: MeasuredRate | None) -> str:
    if rate is None:
        return NOTHING
    if rate.points is not None:
        label = f"<b>{signed(rate.points)}</b><small>n {rate.count.value:,}</small>"
        return linked_number(rate.count, label)
    shares = tr("{n:,} of {all:,}").format(n=rate.count.value, all=rate.count.of or 0)
    label = f"<b>{100 * (rate.count.share or 0):.1f}%</b>"
    label += f"<small>{shares}</small>"
    return linked_number(rate.count, label)


def _outside(text: str) -> str:
    return f'<td class="rx-outside">{text}</td>'


def _table(title: str, ours: Sequence[str], papers: Sequence[str], body: Iterable[str]) -> str:
    groups = (
        (f'<th></th><th scope="colgroup" colspan="{len(ours)}">{tr("This review set")}</th>')
        if ours
        else ""
    )
    published = tr("Published")
    groups += f'<th scope="colgroup" colspan="{len(papers)}" class="rx-outside">{published}</th>'
    names = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in ours)
    names += "".join(
        f'<th scope="col" class="rx-outside">{html.escape(name)}</th>' for name in papers
    )
    return stacked(
        f'<div class="rx-scroll"><table class="rx-scores rx-means rx-table">'
        f"<caption>{html.escape(title)}</caption>"
        f"<thead><tr>{groups}</tr><tr><th></th>{names}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )

"""The tables of the Scores page as HTML: every number is a link to the answers behind it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from rexview.analysis import Count
from rexview.analysis.ranking import Ranking, in_each_group, ranked
from rexview.analysis.scores import (
    GapCell,
    ScoreCell,
    ScoreTables,
    Split,
    comparison_caption,
    left_out_caption,
    summary_caption,
    unfinished_caption,
)
from rexview.stats import NO_ANSWER, STATUSES
from rexview.ui.scores.model_comparisons import comparison_cells, comparison_heads
from rexview.ui.tables.number_table import (
    NOTHING,
    Reasons,
    group_rows,
    linked_number,
    model_head,
    short_name,
    signed,
    table_html,
)
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.vocab import DIMENSION_NAMES, IMAGE_DIMENSIONS
from rexview.words import counted, listed, noun, tr, trn

MOST_ROWS: Final = 6
"""Up to so many models have a row for each dimension."""


def headline_html(tables: ScoreTables) -> str:
    """Say in one sentence how much there is, what is scored and what is not."""
    amounts = [tr("{linked} with a Content score").format(linked=_linked(tables.with_content))]
    if tables.unscored:
        amounts.append(tr("{unscored:,} answered without one").format(unscored=tables.unscored))
    amounts.append(tr("{linked} counted as no full answer").format(linked=_linked(tables.lost)))
    models = len(tables.models)
    head = trn(
        "{cases}, {answers} of {n:,} model: {amounts}.",
        "{cases}, {answers} of {n:,} models: {amounts}.",
        models,
    ).format(
        cases=f"{_linked(tables.cases)} {noun(tables.cases.value, 'case')}",
        answers=f"{_linked(tables.answers)} {noun(tables.answers.value, 'answer')}",
        n=models,
        amounts=listed(amounts),
    )
    by = tables.readers
    scored = trn("Scored by {n:,} reader.", "Scored by {n:,} readers.", by).format(n=by)
    return f'<p class="rx-line">{head} {scored}{unfinished_caption(tables.unfinished)}</p>'


def scores_html(
    tables: ScoreTables, dimensions: Sequence[str], title: str, colours: Mapping[str, str]
) -> str:
    """Lay out some dimensions with every number of each model; empty when none is scored.

    Up to :data:`MOST_ROWS` models have a row for each dimension, and two stand with their
    comparison beside them. More models have one row each and a column for each dimension; many
    are ranked by the first dimension.
    """
    shown = [name for name in dimensions if name in tables.dimensions]
    if not shown:
        return ""
    compared = len(tables.models) == 2
    reasons = Reasons()
    lay_out = _by_dimension if len(tables.models) <= MOST_ROWS else _by_model
    heads, body = lay_out(tables, shown, colours, reasons)
    tools = ranked_tools(_ranking(tables, shown), DIMENSION_NAMES[shown[0]])
    caption = [summary_caption(tables, shown), left_out_caption(tables, shown)]
    if compared:
        caption.append(comparison_caption(tables, shown))
    return table_html(title, heads, body, " ".join(caption), tools) + reasons.html()


def _ranking(tables: ScoreTables, dimensions: Sequence[str]) -> Ranking[str]:
    """Rank the models of a table of scores: by the mean of its first dimension."""
    return ranked(tables.models, partial(tables.mean, dimensions[0]))


def _by_dimension(
    tables: ScoreTables, shown: Sequence[str], colours: Mapping[str, str], reasons: Reasons
) -> tuple[list[str], list[str]]:
    compared = len(tables.models) == 2
    heads = ["", tr("Model"), tr("Mean ± SD"), tr("95% CI"), "n", tr("Score 5"), tr("Below 3")]
    heads += comparison_heads() if compared else []
    body = []
    for dimension in shown:
        for place, (model, name) in enumerate(tables.models.items()):
            row = model_head(name, colours.get(model, ""))
            row += _score_cells(tables.cell(dimension, model), name, reasons)
            if place:
                body.append(f"<tr>{row}</tr>")
                continue
            title = html.escape(DIMENSION_NAMES[dimension])
            head = f'<th scope="rowgroup" rowspan="{len(tables.models)}">{title}</th>'
            more = comparison_cells(tables, dimension, reasons) if compared else ""
            body.append(f'<tr class="rx-first">{head}{row}{more}</tr>')
    return heads, body


def _by_model(
    tables: ScoreTables, shown: Sequence[str], colours: Mapping[str, str], reasons: Reasons
) -> tuple[list[str], list[str]]:
    body, ranking = [], _ranking(tables, shown)
    for model in ranking.order:
        name = tables.models[model]
        row = model_head(name, colours.get(model, ""))
        for dimension in shown:
            row += f"<td>{_whole_cell(tables.cell(dimension, model), name, reasons)}</td>"
        body.append(ranked_item(f"<tr>{row}</tr>", name, model, ranking))
    return [tr("Model"), *(DIMENSION_NAMES[name] for name in shown)], body


def _whole_cell(cell: ScoreCell | None, model: str, reasons: Reasons) -> str:
    """Write all numbers of a dimension and model into one cell."""
    if cell is None or not cell.summary.n:
        where = f"{model}, {cell.name}" if cell else model
        return reasons.add((cell.summary.why if cell else None) or tr("No score."), where)
    summary, where = cell.summary, f"{model}, {cell.name}"
    spread = reasons.number(summary.sd, summary.why, where)
    mean = f"<b>{summary.mean:.2f}</b> ± {spread}<small>n {summary.n:,}</small>"
    rates = [
        f"{linked_number(count, f'{count.share or 0:.0%}', cell.exact)} {name}"
        for name, count in ((tr("score 5"), cell.perfect), (tr("below 3"), cell.low))
    ]
    limits = reasons.interval(summary.interval, where)
    return (
        f"{linked_number(cell.scored, mean, cell.exact, _n_title(cell))}"
        f'<small class="rx-ci">{limits}</small><small class="rx-ci">{" · ".join(rates)}</small>'
    )


def _score_cells(cell: ScoreCell | None, model: str, reasons: Reasons) -> str:
    if cell is None or not cell.summary.n:
        why = cell.summary.why if cell else None
        dash = reasons.add(
            why or tr("No score."), f"{model}, {cell.name if cell else ''}".strip(", ")
        )
        return f"<td>{dash}</td><td>{NOTHING}</td><td>0</td><td>{NOTHING}</td><td>{NOTHING}</td>"
    summary, name = cell.summary, f"{model}, {cell.name}"
    spread = reasons.number(summary.sd, summary.why, name)
    mean = linked_number(cell.scored, f"<b>{summary.mean:.2f}</b> ± {spread}", cell.exact)
    pictures = summary.dimension in IMAGE_DIMENSIONS
    n = f"{summary.n:,}" + (f" <small>{noun(summary.n, 'picture')}</small>" if pictures else "")
    return (
        f"<td>{mean}</td><td>{reasons.interval(summary.interval, name)}</td>"
        f"<td>{linked_number(cell.scored, n, cell.exact, _n_title(cell))}</td>"
        f"<td>{_share(cell.perfect, cell.exact)}</td><td>{_share(cell.low, cell.exact)}</td>"
    )


def _n_title(cell: ScoreCell) -> str:
    if cell.dimension in IMAGE_DIMENSIONS:
        return tr("Scored pictures")
    return trn(
        "{n:,} answer that came without a {name} score",
        "{n:,} answers that came without a {name} score",
        cell.unscored,
    ).format(n=cell.unscored, name=cell.name)


def gaps_html(tables: ScoreTables, colours: Mapping[str, str], caption: str) -> str:
    """Lay out the mean gap and the share flagged of each model; empty without any gap."""
    if not any(gap.summary.n for gap in tables.gaps):
        return ""
    reasons = Reasons()
    heads = [
        tr("Model"),
        tr("Mean gap ± SD"),
        tr("95% CI"),
        "n",
        tr("Gap {gap_threshold:g} or more").format(gap_threshold=tables.gap_threshold),
    ]
    ranking = ranked(tables.gaps, lambda gap: gap.summary.mean)
    body = []
    for gap in ranking.order:
        name = tables.models[gap.model]
        body.append(ranked_item(_gap_row(gap, name, colours, reasons), name, gap, ranking))
    tools = ranked_tools(ranking, tr("mean gap, the widest first"))
    return table_html(tr("Execution-vs-process gap"), heads, body, caption, tools) + reasons.html()


def _gap_row(gap: GapCell, name: str, colours: Mapping[str, str], reasons: Reasons) -> str:
    summary = gap.summary
    head = model_head(name, colours.get(summary.model, ""))
    if summary.mean is None:
        dash = reasons.add(summary.why or tr("No gap."), name)
        return f"<tr>{head}<td>{dash}</td><td>{NOTHING}</td><td>0</td><td>{NOTHING}</td></tr>"
    spread = reasons.number(summary.sd, summary.why, name)
    mean = linked_number(gap.known, f"<b>{signed(summary.mean)}</b> ± {spread}")
    interval = reasons.interval(summary.interval, name, with_sign=True)
    return (
        f"<tr>{head}<td>{mean}</td><td>{interval}</td>"
        f"<td>{linked_number(gap.known, f'{summary.n:,}')}</td><td>{_share(gap.flagged)}</td></tr>"
    )


def lost_html(tables: ScoreTables, colours: Mapping[str, str]) -> str:
    """Lay out the answers that count as no full answer, by reason, for each model."""
    heads = [
        tr("Model"),
        tr("Asked"),
        tr("No full answer"),
        *(STATUSES[reason] for reason in NO_ANSWER),
    ]
    body = []
    ranking = ranked(tables.no_answers, lambda lost: lost.lost.share)
    for lost in ranking.order:
        name = tables.models[lost.model]
        reasons = (_linked(lost.by_reason[reason]) for reason in NO_ANSWER)
        numbers = (f"{lost.lost.of or 0:,}", _share(lost.lost), *reasons)
        columns = "".join(f"<td>{number}</td>" for number in numbers)
        head = model_head(name, colours.get(lost.model, ""))
        body.append(ranked_item(f"<tr>{head}{columns}</tr>", name, lost, ranking))
    caption = tr(
        "Answers that were cut off, refused, empty or ended by an error. They count beside n as "
        "failures; no score given to them enters a mean, and none is a zero."
    )
    tools = ranked_tools(ranking, tr("share of answers lost, the highest first"))
    return table_html(tr("No full answer"), heads, body, caption, tools)


def split_html(split: Split, colours: Mapping[str, str], caption: str) -> str:
    """Lay out the means for each value of a property, with n and interval, models by dimensions."""
    met = {cell.dimension for group in split.groups for cell in group.cells if cell.summary.n}
    shown = [name for name in DIMENSION_NAMES if name in met]
    if not shown:
        return ""
    heads = [tr("Model"), *(DIMENSION_NAMES[name] for name in shown)]
    of_models = in_each_group(split.models)
    heads = heads if of_models.is_cut else [split.by.name, *heads]
    body: list[str] = []
    reasons = Reasons()
    for group in split.groups:
        if not any(cell.summary.n for cell in group.cells):
            continue  # the caption names it
        cells = {(cell.dimension, cell.model): cell for cell in group.cells}
        size = counted(group.count.value, "case")
        about = f"{short_name(group.name)}<small>{linked_number(group.count, size)}</small>"
        ranking = ranked(split.models, partial(_mean_of, cells, shown[0]))

        def line(
            model: str,
            cells: Mapping[tuple[str, str], ScoreCell] = cells,
            group: str = group.name,
        ) -> tuple[str, str]:
            name = split.models[model]
            row = model_head(name, colours.get(model, ""))
            for dimension in shown:
                where = f"{group}, {name}, {DIMENSION_NAMES[dimension]}"
                row += f"<td>{_split_cell(cells.get((dimension, model)), where, reasons)}</td>"
            return name, row

        body += group_rows(about, ranking, line, 1 + len(shown), apart=of_models.is_cut)
    title = tr("Means by {name}").format(name=split.by.name)
    tools = ranked_tools(of_models, DIMENSION_NAMES[shown[0]])
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _mean_of(
    cells: Mapping[tuple[str, str], ScoreCell], dimension: str, model: str
) -> float | None:
    cell = cells.get((dimension, model))
    return cell.summary.mean if cell else None


def _split_cell(cell: ScoreCell | None, where: str, reasons: Reasons) -> str:
    if cell is None or cell.summary.mean is None:
        return NOTHING
    summary = cell.summary
    mean = f"<b>{summary.mean:.2f}</b><small>n {summary.n:,}</small>"
    limits = reasons.interval(summary.interval, where)
    return f'{linked_number(cell.scored, mean, cell.exact)}<small class="rx-ci">{limits}</small>'


def _linked(count: Count) -> str:
    return linked_number(count, f"<b>{count.value:,}</b>")


def _share(count: Count, exact: bool = True) -> str:
    if not count.of:
        return NOTHING
    label = (
        f"<b>{count.share:.0%}</b><small>"
        f"{tr('{value:,} of {of:,}').format(value=count.value, of=count.of)}</small>"
    )
    return linked_number(count, label, exact)

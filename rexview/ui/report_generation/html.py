"""The board as HTML, its places, and one metric by a property: every number opens its answers."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from rexview.analysis.filter.linked_count import Count
from rexview.analysis.ranking import Ranking, ranked
from rexview.analysis.report_generation import (
    FULL_RUN,
    ReportGroups,
    ReportTables,
    board_caption,
    groups_caption,
    scope_name,
    shown_name,
)
from rexview.metrics.identity import MetricId
from rexview.stats.bootstrap import Interval
from rexview.stats.report_metrics import Board, BoardCell, Rank
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import PAGE_REPORT_GENERATION
from rexview.ui.tables.number_table import (
    NOTHING,
    Head,
    Reasons,
    linked_number,
    model_head,
    rows_table,
    short_name,
)
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.words import counted, inside, tr, trn

DIGITS = 3
WORST_FIRST = tr("Opens these answers, the worst first; those without a value stand last")


def headline_html(tables: ReportTables) -> str:
    """Say in one sentence how much there is."""
    counts = tables.counts
    answers = sum(counts.answers.values())
    amounts = [
        tr("{reports} of {models}").format(
            reports=counted(answers, "report"), models=counted(len(counts.answers), "model")
        ),
        counted(len({one.metric for one in counts.metrics}), "metric"),
    ]
    if counts.edits:
        amounts.append(
            tr("{counted} corrected line by line").format(counted=counted(counts.edits, "report"))
        )
    if counts.preferences:
        amounts.append(counted(counts.preferences, "comparison"))
    cases = linked_number(tables.cases, f"{tables.cases.value:,}")
    words = trn(
        "{cases} case that asks for a report: {amounts}.",
        "{cases} cases that ask for a report: {amounts}.",
        tables.cases.value,
    ).format(cases=cases, amounts=html.escape(", ".join(amounts)))
    return f'<p class="rx-line">{words}</p>'


def metric_head(metric: MetricId, *notes: str, address: str = "", ranks: bool = False) -> str:
    """Write the head of a metric's column with its identity; ``address`` ranks by it."""
    name = html.escape(shown_name(metric))
    if address:
        title = html.escape(
            tr("Rank by {shown_name}").format(shown_name=shown_name(metric)), quote=True
        )
        name = f'<a href="{html.escape(address)}" data-rx-page title="{title}">{name}</a>'
    small = _computed_html(metric) + "".join(
        f"<small>{html.escape(text)}</small>" for text in notes if text
    )
    mark = ' aria-sort="descending"' if ranks else ""
    return f'<th scope="col" class="rx-metric"{mark}>{name}{small}</th>'


def _computed_html(metric: MetricId) -> str:
    """Write what computed a metric; its exact version shows where the mouse rests."""
    exact = html.escape(metric.provenance, quote=True)
    return f'<small title="{exact}">{html.escape(metric.computed_by)}</small>'


def metric_table(
    title: str,
    heads: Iterable[str],
    body: Iterable[str],
    caption: str,
    reasons: Reasons,
    tools: str = "",
) -> str:
    """Wrap rows into a table whose heads (HTML) are metrics; title and caption are escaped here."""
    css = "rx-scores rx-means rx-table rx-board"
    drawn = rows_table(css, map(Head, heads), body, title, tools)
    return f'{drawn}<p class="rx-quiet rx-note">{html.escape(caption)}</p>{reasons.html()}'


def plain_head(text: str) -> str:
    """Write the head of a column that is no metric."""
    return f'<th scope="col">{html.escape(text)}</th>'


def board_html(
    tables: ReportTables, ranked_by: MetricId, colours: Mapping[str, str], title: str
) -> str:
    """Lay out every metric of the scope with models from the best to the worst by one of them."""
    heads = [plain_head(tr("Place")), plain_head(tr("Model"))]
    for metric in tables.metrics:
        together = tables.counts.together.get(metric, ())
        notes = [
            tr("of {listed_n} together").format(listed_n=listed_n(together)) if together else ""
        ]
        notes += [FULL_RUN] if tables.is_from_full_run(metric) else []
        query = link_keys.link_query(tables.base)
        query[link_keys.QUERY_RANKED_BY] = metric.key
        query[link_keys.QUERY_SCOPE] = tables.scope or link_keys.NOT_SAID
        address = href(PAGE_REPORT_GENERATION, query)
        heads.append(metric_head(metric, *notes, address=address, ranks=metric == ranked_by))
    reasons, body = Reasons(), []
    ranking = _ranking(tables.board, ranked_by)
    for model in ranking.order:
        name = tables.names[model]
        row = f"<td>{place_html(tables.board.cells[ranked_by, model].rank)}</td>"
        row += model_head(name, colours.get(model, ""))
        for metric in tables.metrics:
            cell = tables.board.cells[metric, model]
            row += _value_cell(cell, tables.opens(metric, model), name, metric, reasons)
        body.append(ranked_item(f"<tr>{row}</tr>", name, model, ranking))
    tools = ranked_tools(ranking, shown_name(ranked_by))
    return metric_table(title, heads, body, board_caption(tables), reasons, tools)


def _ranking(board: Board, metric: MetricId) -> Ranking[str]:
    """Rank the models of a board by one metric, the best first."""

    def place(model: str) -> float | None:
        cell = board.cells.get((metric, model))
        return -cell.rank.place if cell and cell.rank else None

    return ranked(board.ranked(metric), place)


def listed_n(numbers: Sequence[int]) -> str:
    """Write on how many answers values were computed: one number, or from which to which."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else tr("{low:,} to {high:,}").format(low=low, high=high)


def place_html(rank: Rank | None) -> str:
    """Write a place with its limits: ``2`` and small ``(1 to 3)``."""
    if rank is None:
        return NOTHING
    limits = ""
    if rank.low is not None and rank.high is not None:
        limits = tr(" ({low} to {high})").format(low=rank.low, high=rank.high)
    return f"<b>{rank.place}</b><small>{limits}</small>"


def limits_html(limits: Interval, where: str, reasons: Reasons) -> str:
    """Write an interval with as many digits as its number."""
    if limits.low is None or limits.high is None:
        return reasons.add(limits.why, where) if limits.why else ""
    return f"{limits.low:.{DIGITS}f} to {limits.high:.{DIGITS}f}".replace("-", "−")


def number(value: float) -> str:
    """Write a value of a metric."""
    return f"{value:.{DIGITS}f}".replace("-", "−")


def _value_cell(
    cell: BoardCell,
    count: Count,
    name: str,
    metric: MetricId,
    reasons: Reasons,
    place: str = "",
) -> str:
    where = f"{name}, {shown_name(metric)}"
    if cell.shown is None:
        return f"<td>{reasons.add(cell.why or 'Undefined.', where)}</td>"
    label = f"<b>{number(cell.shown)}</b><small>n {cell.n:,}</small>"
    limits = limits_html(cell.shown_interval, where, reasons)
    return (
        f"<td>{linked_number(count, label, title=WORST_FIRST)}"
        f'<small class="rx-ci">{limits}</small>{place}</td>'
    )


def places_html(tables: ReportTables, colours: Mapping[str, str], title: str) -> str:
    """Lay out every model's place by each metric; empty for one model or no metric that ranks."""
    placed = [
        metric
        for metric in tables.metrics
        if any(tables.board.cells[metric, model].rank for model in tables.board.models)
    ]
    if not placed or len(tables.board.models) < 2:
        return ""
    heads = [plain_head(tr("Model")), *(metric_head(metric) for metric in placed)]
    body = []
    ranking = _ranking(tables.board, placed[0])
    models = ranking.order if ranking.is_cut else tables.board.models
    for model in models:
        row = model_head(tables.names[model], colours.get(model, ""))
        for metric in placed:
            label = place_html(tables.board.cells[metric, model].rank)
            row += (
                f"<td>{linked_number(tables.opens(metric, model), label, title=WORST_FIRST)}</td>"
            )
        body.append(ranked_item(f"<tr>{row}</tr>", tables.names[model], model, ranking))
    caption = tr(
        "1 is the best. Small: where the model stands in 95% of the resamples. "
        "Each metric ranks the answers that it has a value of."
    )
    tools = ranked_tools(ranking, shown_name(placed[0]))
    return metric_table(title, heads, body, caption, Reasons(), tools)


def groups_html(
    groups: ReportGroups, names: Mapping[str, str], colours: Mapping[str, str], title: str
) -> str:
    """Lay out one metric with a column for each value of a property; places within each."""
    heads = [plain_head(tr("Model"))]
    for group in groups.groups:
        size = linked_number(group.cases, counted(group.cases.value, "case"))
        heads.append(f'<th scope="col">{short_name(group.name)}<small>{size}</small></th>')
    reasons, body = Reasons(), []
    ranking = ranked(groups.models, partial(_mean_place, groups))
    for model in ranking.order:
        name = names[model]
        row = model_head(name, colours.get(model, ""))
        for group in groups.groups:
            cell = group.board.cells.get((groups.metric, model))
            if cell is None:
                row += f"<td>{NOTHING}</td>"
                continue
            place = ""
            if cell.rank:
                place = tr("place {place}").format(place=place_html(cell.rank))
                place = f'<small class="rx-ci">{place}</small>'
            opened = group.opens(groups.metric, model)
            about = f"{name}, {group.name}"
            row += _value_cell(cell, opened, about, groups.metric, reasons, place)
        body.append(ranked_item(f"<tr>{row}</tr>", name, model, ranking))
    tools = ranked_tools(ranking, tr("mean place over the columns"))
    return metric_table(title, heads, body, groups_caption(groups), reasons, tools)


def _mean_place(groups: ReportGroups, model: str) -> float | None:
    """Return the mean place of a model in the groups, negative: the first is the best."""
    cells = [group.board.cells.get((groups.metric, model)) for group in groups.groups]
    places = [cell.rank.place for cell in cells if cell and cell.rank]
    return -sum(places) / len(places) if places else None


def scope_title(tables: ReportTables) -> str:
    """Return the title of the board."""
    return tr("Board: {scope_name}").format(scope_name=inside(scope_name(tables.scope)))

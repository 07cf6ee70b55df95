"""Boards of report metrics as HTML: the set's own, published ones, comparisons, judgments."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from rexview.analysis.published.rexrank import (
    ERROR_RATES_SOURCE,
    METRICS,
    SECTIONS,
    PublishedBoard,
    PublishedMean,
    published_error_free,
)
from rexview.analysis.query.engine import RankDisputedReport
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.linked_count import LinkedCount
from rexview.analysis.ranking import DisplayRanking, rank_for_display, rank_in_each_group
from rexview.analysis.report_generation import (
    FULL_RUN_NOTE,
    OTHER_IMPLEMENTATION_NOTE,
    STUDIES,
    ErrorFreeRow,
    ErrorFreeTables,
    OwnMetricValue,
    PreferenceTables,
    ReportGroups,
    ReportTables,
    board_caption,
    board_metric_name,
    correlation_caption,
    direction_caption,
    error_free_caption,
    groups_caption,
    preference_caption,
    rank_with_published,
    scope_name,
)
from rexview.metrics.identity import MetricId
from rexview.stats.bootstrap import Interval
from rexview.stats.error_free_reports import ERROR_FREE_NAMES
from rexview.stats.metric_correlation import COEFFICIENT_NAMES, Correlation
from rexview.stats.report_metrics import Leaderboard, LeaderboardCell, ModelRank
from rexview.ui.tables.number_table import (
    NOTHING,
    HeadCell,
    MissingReasons,
    linked_number,
    model_head,
    part_row,
    rows_table,
    short_name,
    table_html,
)
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.pages import PAGE_CASE, PAGE_REPORT_GENERATION
from rexview.words import counted, mid_sentence, tr, trn

DIGITS = 3
WORST_FIRST = tr("Opens these answers, the worst first; those without a value come last")


def headline_html(tables: ReportTables) -> str:
    """Return a sentence on the amount of data."""
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
    """Return the head of a metric's column with its identity; ``address`` ranks by it."""
    name = html.escape(board_metric_name(metric))
    if address:
        title = html.escape(
            tr("Rank by {shown_name}").format(shown_name=board_metric_name(metric)), quote=True
        )
        name = f'<a href="{html.escape(address)}" data-rx-page title="{title}">{name}</a>'
    small = _computed_html(metric) + "".join(
        f"<small>{html.escape(text)}</small>" for text in notes if text
    )
    mark = ' aria-sort="descending"' if ranks else ""
    return f'<th scope="col" class="rx-metric"{mark}>{name}{small}</th>'


def _computed_html(metric: MetricId) -> str:
    """Return what computed a metric; its exact version is shown on hovering."""
    exact = html.escape(metric.provenance, quote=True)
    return f'<small title="{exact}">{html.escape(metric.computed_by)}</small>'


def metric_table(
    title: str,
    heads: Iterable[str],
    body: Iterable[str],
    caption: str,
    reasons: MissingReasons,
    tools: str = "",
) -> str:
    """Wrap rows into a table with metrics as heads (HTML); title and caption are escaped here."""
    css = "rx-scores rx-means rx-table rx-board"
    drawn = rows_table(css, map(HeadCell, heads), body, title, tools)
    return f'{drawn}<p class="rx-quiet rx-note">{html.escape(caption)}</p>{reasons.html()}'


def plain_head(text: str) -> str:
    """Return the head of a column that is no metric."""
    return f'<th scope="col">{html.escape(text)}</th>'


def board_html(
    tables: ReportTables, ranked_by: MetricId, colours: Mapping[str, str], title: str
) -> str:
    """Return every metric of the scope, with models from best to worst by one of them."""
    heads = [plain_head(tr("Place")), plain_head(tr("Model"))]
    for metric in tables.metrics:
        together = tables.counts.together.get(metric, ())
        notes = [
            tr("computed over n = {listed_n}").format(listed_n=format_n(together))
            if together
            else ""
        ]
        notes += [FULL_RUN_NOTE] if tables.is_from_full_run(metric) else []
        query = link_keys.link_query(tables.base)
        query[link_keys.QUERY_RANKED_BY] = metric.key
        query[link_keys.QUERY_SCOPE] = tables.scope or link_keys.UNSTATED_SCOPE
        address = href(PAGE_REPORT_GENERATION, query)
        heads.append(metric_head(metric, *notes, address=address, ranks=metric == ranked_by))
    reasons, body = MissingReasons(), []
    ranking = _ranking(tables.board, ranked_by)
    for model in ranking.order:
        name = tables.names[model]
        row = f"<td>{rank_html(tables.board.cells[ranked_by, model].rank)}</td>"
        row += model_head(name, colours.get(model, ""))
        for metric in tables.metrics:
            cell = tables.board.cells[metric, model]
            row += _value_cell(cell, tables.opens(metric, model), name, metric, reasons)
        body.append(ranked_item(f"<tr>{row}</tr>", name, model, ranking))
    tools = ranked_tools(ranking, board_metric_name(ranked_by))
    return metric_table(title, heads, body, board_caption(tables), reasons, tools)


def _ranking(board: Leaderboard, metric: MetricId) -> DisplayRanking[str]:
    """Rank the models of a board by one metric, the best first."""

    def place(model: str) -> float | None:
        cell = board.cells.get((metric, model))
        return -cell.rank.place if cell and cell.rank else None

    return rank_for_display(board.ranked(metric), place)


def format_n(numbers: Sequence[int]) -> str:
    """Return the number of answers that values are computed from: one number, or a range."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else tr("{low:,} to {high:,}").format(low=low, high=high)


def rank_html(rank: ModelRank | None) -> str:
    """Return a rank with its limits: ``2`` and small ``(1 to 3)``."""
    if rank is None:
        return NOTHING
    limits = ""
    if rank.low is not None and rank.high is not None:
        limits = tr(" ({low} to {high})").format(low=rank.low, high=rank.high)
    return f"<b>{rank.place}</b><small>{limits}</small>"


def limits_html(limits: Interval, where: str, reasons: MissingReasons) -> str:
    """Format an interval with as many digits as its number."""
    if limits.low is None or limits.high is None:
        return reasons.add(limits.why, where) if limits.why else ""
    return f"{limits.low:.{DIGITS}f} to {limits.high:.{DIGITS}f}".replace("-", "−")


def format_value(value: float) -> str:
    """Format a value of a metric."""
    return f"{value:.{DIGITS}f}".replace("-", "−")


def _value_cell(
    cell: LeaderboardCell,
    count: LinkedCount,
    name: str,
    metric: MetricId,
    reasons: MissingReasons,
    place: str = "",
) -> str:
    where = f"{name}, {board_metric_name(metric)}"
    if cell.shown is None:
        return f"<td>{reasons.add(cell.why or 'Undefined.', where)}</td>"
    label = f"<b>{format_value(cell.shown)}</b><small>n {cell.n:,}</small>"
    limits = limits_html(cell.shown_interval, where, reasons)
    return (
        f"<td>{linked_number(count, label, title=WORST_FIRST)}"
        f'<small class="rx-ci">{limits}</small>{place}</td>'
    )


def places_html(tables: ReportTables, colours: Mapping[str, str], title: str) -> str:
    """Return every model's rank by each metric; empty for one model or no ranking metric."""
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
            label = rank_html(tables.board.cells[metric, model].rank)
            row += (
                f"<td>{linked_number(tables.opens(metric, model), label, title=WORST_FIRST)}</td>"
            )
        body.append(ranked_item(f"<tr>{row}</tr>", tables.names[model], model, ranking))
    caption = tr(
        "1 is the best. Small: the model's place in 95% of the resamples. Each metric "
        "ranks the answers that have a value for it."
    )
    tools = ranked_tools(ranking, board_metric_name(placed[0]))
    return metric_table(title, heads, body, caption, MissingReasons(), tools)


def groups_html(
    groups: ReportGroups, names: Mapping[str, str], colours: Mapping[str, str], title: str
) -> str:
    """Return one metric with a column for each value of a property; ranks within each."""
    heads = [plain_head(tr("Model"))]
    for group in groups.groups:
        size = linked_number(group.cases, counted(group.cases.value, "case"))
        heads.append(f'<th scope="col">{short_name(group.name)}<small>{size}</small></th>')
    reasons, body = MissingReasons(), []
    ranking = rank_for_display(groups.models, partial(_mean_place, groups))
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
                place = tr("place {place}").format(place=rank_html(cell.rank))
                place = f'<small class="rx-ci">{place}</small>'
            opened = group.opens(groups.metric, model)
            about = f"{name}, {group.name}"
            row += _value_cell(cell, opened, about, groups.metric, reasons, place)
        body.append(ranked_item(f"<tr>{row}</tr>", name, model, ranking))
    tools = ranked_tools(ranking, tr("mean place over the columns"))
    return metric_table(title, heads, body, groups_caption(groups), reasons, tools)


def _mean_place(groups: ReportGroups, model: str) -> float | None:
    """Return the mean rank of a model in the groups, negated so that the best is highest."""
    cells = [group.board.cells.get((groups.metric, model)) for group in groups.groups]
    places = [cell.rank.place for cell in cells if cell and cell.rank]
    return -sum(places) / len(places) if places else None


def scope_title(tables: ReportTables) -> str:
    """Return the title of the board."""
    return tr("Board: {scope_name}").format(scope_name=mid_sentence(scope_name(tables.scope)))


# ReXrank's published boards as HTML, with the set's own models visibly separate.


def published_html(board: PublishedBoard, tables: ReportTables | None, ranked_by: str) -> str:
    """Return a published board ordered by one of its metrics; our rows have n and identity."""
    rows = rank_with_published(board, tables, ranked_by)
    body = []
    means = [row.printed[ranked_by].mean for row in rows if ranked_by in row.printed]
    for row in rows:
        if row.own is not None and tables is not None:
            body.append(_own_row(row.model, row.own, tables))
            continue
        # the rank among published models only
        place = 1 + sum(mean > row.printed[ranked_by].mean for mean in means)
        cells = "".join(f"<td>{_printed(row.printed.get(name))}</td>" for name in METRICS)
        head = f'<th scope="row">{short_name(row.model)}</th>'
        body.append(f"<tr><td>{place}</td>{head}{cells}</tr>")
    heads = [tr("Place"), tr("Model"), *METRICS.values()]
    studies = f", {counted(board.studies, 'study')}" if board.studies else ""
    title = f"{board.dataset}: {mid_sentence(SECTIONS[board.section])}{studies}"
    notes = [
        tr("Published figures: {source}. {note} Higher is better.").format(
            source=board.edition.source, note=board.edition.note
        )
    ]
    if any(row.own is not None for row in rows):
        notes.append(
            tr("“Yours”: models of this review set, each value with its n. {other_number}").format(
                other_number=OTHER_IMPLEMENTATION_NOTE
            )
        )
    elif tables is not None and tables.board.models:
        notes.append(tr("Your metrics shown above are for other sections: none is shown here."))
    if board.oddity:
        notes.append(board.oddity)
    return _section(rows_table("rx-scores rx-means rx-table rx-board", heads, body, title), notes)


def _own_row(model: str, own: dict[str, tuple[OwnMetricValue, ...]], tables: ReportTables) -> str:
    cells = "".join(
        f"<td>{''.join(_own(value, tables) for value in own.get(name, ())) or NOTHING}</td>"
        for name in METRICS
    )
    head = f'<th scope="row">{short_name(tables.names[model])}<small>{tr("yours")}</small></th>'
    return f'<tr class="rx-own"><td></td>{head}{cells}</tr>'


def _own(value: OwnMetricValue, tables: ReportTables) -> str:
    shown = value.cell.shown or 0.0
    count = tables.opens(value.metric, value.cell.model)
    label = f"<b>{format_value(shown)}</b><small>n {value.cell.n:,}</small>"
    by = html.escape(value.metric.computed_by)
    return f'{linked_number(count, label, title=WORST_FIRST)}<small class="rx-ci">{by}</small>'


def _printed(cell: PublishedMean | None) -> str:
    if cell is None:
        return NOTHING
    return cell.text + (f" ± {cell.half_width}" if cell.half_width else "")


def published_error_free_html() -> str:
    """Return the error-free shares that the Challenge's text publishes."""
    body = []
    for row in published_error_free():
        shares = "".join(
            f"<td>{f'{share}%' if share else NOTHING}</td>" for share in row.shares.values()
        )
        words = (row.dataset, row.studies.capitalize())
        first = "".join(f"<td>{html.escape(text)}</td>" for text in words)
        body.append(f'<tr><th scope="row">{short_name(row.model)}</th>{first}{shares}</tr>')
    heads = [
        tr("Model"),
        tr("Data set"),
        tr("Studies"),
        tr("No significant error"),
        tr("No actionable error"),
    ]
    table = rows_table("rx-scores rx-means rx-table", heads, body, tr("Error-free shares"))
    note = tr("Published figures: {error_rates_source}. {nothing} where none is printed.").format(
        error_rates_source=ERROR_RATES_SOURCE, nothing=NOTHING
    )
    return _section(table, [note])


def _section(table: str, notes: list[str]) -> str:
    written = "".join(f'<p class="rx-quiet rx-note">{html.escape(note)}</p>' for note in notes)
    return (
        f'<section class="rx-published"><h2>{tr("Published: other studies, not computed here")}'
        f"</h2>{table}{written}</section>"
    )


# Metrics against each other as HTML: correlations, and the answers on which two differ most.


def correlations_html(
    metrics: Sequence[MetricId], found: tuple[Correlation, ...], coefficient: str, opens: CaseFilter
) -> str:
    """Return the coefficients of every two metrics, the lower half of the square."""
    by_pair = {(one.first, one.second): one for one in found}
    reasons, body = MissingReasons(), []
    for row in range(1, len(metrics)):
        cells = ""
        for column in range(len(metrics) - 1):
            one = by_pair.get((column, row))
            cells += f"<td>{_cell(one, metrics, opens, reasons) if one else ''}</td>"
        body.append(f"<tr>{metric_head(metrics[row]).replace('col', 'row', 1)}{cells}</tr>")
    heads = [plain_head(""), *(metric_head(metric) for metric in metrics[:-1])]
    title = tr("Correlation of metrics over answers ({coefficients})").format(
        coefficients=COEFFICIENT_NAMES[coefficient]
    )
    caption = correlation_caption(metrics, found, coefficient)
    return metric_table(title, heads, body, caption, reasons)


def _cell(
    one: Correlation, metrics: Sequence[MetricId], opens: CaseFilter, reasons: MissingReasons
) -> str:
    where = tr("{name} and {name_2}").format(
        name=metrics[one.first].name, name_2=metrics[one.second].name
    )
    if one.value is None:
        return reasons.add(one.interval.why or tr("Undefined."), where)
    label = f"<b>{one.value:.2f}</b><small>n {one.n:,}</small>".replace("-", "−")
    limits = reasons.interval(one.interval, where).replace("-", "−")
    link = linked_number(
        LinkedCount(one.n, opens), label, title=tr("Opens the cases of these answers")
    )
    return f'{link}<small class="rx-ci">{limits}</small>'


def disputes_html(
    found: Sequence[RankDisputedReport],
    pair: tuple[MetricId, MetricId],
    names: Mapping[str, str],
    opens: CaseFilter,
) -> str:
    """List the answers on which two metrics differ most, each with a link to its case."""
    heads = [
        tr("Case"),
        tr("Model"),
        *(f"{one.name} ({one.computed_by})" for one in pair),
        tr("Apart"),
    ]
    body = []
    better, apart = tr("better than {place:.0%}"), tr("{points:.0f} points")
    for one in found:
        address = href(PAGE_CASE, link_keys.link_query(opens, case=one.case))
        case = f'<a href="{html.escape(address)}" data-rx-page><b>{html.escape(one.case)}</b></a>'
        row = f'<th scope="row">{case}</th><td>{html.escape(names.get(one.model, one.model))}</td>'
        for value, place in ((one.first, one.first_place), (one.second, one.second_place)):
            row += (
                f"<td><b>{format_value(value)}</b><small>{better.format(place=place)}</small></td>"
            )
        points = abs(one.first_place - one.second_place) * 100
        row += f"<td>{apart.format(points=points)}</td>"
        body.append(f"<tr>{row}</tr>")
    title = tr("Where these two metrics disagree most")
    note = tr(
        "“Better than”: the share of the other answers that the metric ranks below this "
        "one, ties counted half. Points: the difference of the two "
        "shares.{direction_caption}"
    ).format(direction_caption=direction_caption(pair))
    table = rows_table("rx-scores rx-means rx-table", heads, body, title)
    return f'{table}<p class="rx-quiet rx-note">{html.escape(note)}</p>'


# Judgments of reports by people and judges as HTML: error-free shares, and strengths of models.

_SAME_CASE: Final = tr("Opens the cases; several readers may have compared the same one")


def error_free_html(
    tables: ErrorFreeTables, names: Mapping[str, str], colours: Mapping[str, str], title: str
) -> str:
    """Return error-free shares: a row for each reader, model and kind of study."""
    heads = [tr("Corrected by"), tr("Model"), tr("Studies"), *ERROR_FREE_NAMES.values()]
    reasons, body = MissingReasons(), []
    of_readers = {
        reader: rank_for_display(tables.models(reader), partial(_free_of_all, tables, reader))
        for reader in tables.readers
    }
    most = rank_in_each_group(
        range(max((len(one.order) for one in of_readers.values()), default=0))
    )
    heads = heads[1:] if most.is_cut else heads
    for reader, reader_name in tables.readers.items():
        ranking = of_readers[reader]
        if most.is_cut:
            body.append(part_row(short_name(reader_name), len(heads)))
        lines = [
            (model, studies)
            for model in ranking.order
            for studies in STUDIES
            if any(tables.of(reader, model, severity, studies) for severity in ERROR_FREE_NAMES)
        ]
        for place, (model, studies) in enumerate(lines):
            row = ""
            if not place and not most.is_cut:
                row += f'<th scope="rowgroup" rowspan="{len(lines)}">{short_name(reader_name)}</th>'
            first = not studies
            own = sum(one == model for one, _ in lines)
            if first:
                head = model_head(names[model], colours.get(model, ""))
                row += head.replace('scope="row"', f'scope="rowgroup" rowspan="{own}"', 1)
            row += f"<td>{STUDIES[studies]}</td>"
            for severity in ERROR_FREE_NAMES:
                found = tables.of(reader, model, severity, studies)
                where = f"{reader_name}, {names[model]}, {mid_sentence(STUDIES[studies])}"
                row += f"<td>{_share(found, where, reasons)}</td>"
            row = f"<tr{' class=rx-first' if first else ''}>{row}</tr>"
            body.append(ranked_item(row, names[model], model, ranking))
    tools = ranked_tools(
        most, tr("{share}, all studies").format(share=next(iter(ERROR_FREE_NAMES.values())))
    )
    caption = error_free_caption(tables)
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _free_of_all(tables: ErrorFreeTables, reader: str, model: str) -> float | None:
    """Return the share of a model's reports without a significant error, over all studies."""
    found = tables.of(reader, model, next(iter(ERROR_FREE_NAMES)), "")
    return found.numbers.rate.share if found else None


def _share(row: ErrorFreeRow | None, where: str, reasons: MissingReasons) -> str:
    if row is None:
        return NOTHING
    rate = row.numbers.rate
    if rate.share is None:
        return reasons.add(row.numbers.why or tr("Undefined."), where)
    label = (
        f"<b>{rate.share:.0%}</b><small>"
        f"{tr('{flagged:,} of {n:,}').format(flagged=rate.flagged, n=rate.n)}</small>"
    )
    limits = rate.interval
    between = (
        tr("{low:.0%} to {high:.0%}").format(low=limits.low, high=limits.high)
        if limits.low is not None and limits.high is not None
        else reasons.add(limits.why or tr("Undefined."), where)
    )
    return f'{linked_number(row.free, label)}<small class="rx-ci">{between}</small>'


def preferences_html(
    tables: PreferenceTables, names: Mapping[str, str], colours: Mapping[str, str], title: str
) -> str:
    """Return strengths, the strongest model first."""
    heads = [
        tr("Place"),
        tr("Model"),
        tr("Strength"),
        tr("95% CI"),
        tr("Preferred"),
        tr("Tie"),
        tr("Not preferred"),
        "n",
    ]
    reasons, body = MissingReasons(), []
    ranking = rank_for_display(tables.rows, lambda row: row[1].strength)
    for line in ranking.order:
        model, one, counts = line
        name = names[model]
        strength, limits = NOTHING, NOTHING
        if one.strength is None:
            strength = reasons.add(one.why or tr("Undefined."), name)
        else:
            strength = f"<b>{one.strength:+.2f}</b>".replace("-", "−")
            limits = reasons.interval(one.interval, name, with_sign=True)
        numbers = [strength, limits]
        for word in ("won", "tied", "lost", "compared"):
            count = counts[word]
            numbers.append(linked_number(count, f"{count.value:,}", title=_SAME_CASE))
        cells = "".join(f"<td>{text}</td>" for text in numbers)
        row = (
            f"<tr><td>{rank_html(one.rank)}</td>{model_head(name, colours.get(model, ''))}"
            f"{cells}</tr>"
        )
        body.append(ranked_item(row, name, line, ranking))
    tools = ranked_tools(ranking, tr("strength"))
    return table_html(title, heads, body, preference_caption(tables), tools) + reasons.html()

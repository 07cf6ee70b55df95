"""Metrics against each other as HTML: correlations, and the answers on which two disagree most."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from rexview.analysis.engine import DisputedReport
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.report_generation import correlation_caption, direction_caption
from rexview.metrics.identity import MetricId
from rexview.stats.metric_correlation import COEFFICIENTS, Correlation
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import PAGE_CASE
from rexview.ui.report_generation.html import (
    metric_head,
    metric_table,
    number,
    plain_head,
)
from rexview.ui.tables.number_table import Reasons, linked_number, rows_table
from rexview.words import tr


def correlations_html(
    metrics: Sequence[MetricId], found: tuple[Correlation, ...], coefficient: str, opens: CaseFilter
) -> str:
    """Lay out the coefficients of every two metrics, the lower half of the square."""
    by_pair = {(one.first, one.second): one for one in found}
    reasons, body = Reasons(), []
    for row in range(1, len(metrics)):
        cells = ""
        for column in range(len(metrics) - 1):
            one = by_pair.get((column, row))
            cells += f"<td>{_cell(one, metrics, opens, reasons) if one else ''}</td>"
        body.append(f"<tr>{metric_head(metrics[row]).replace('col', 'row', 1)}{cells}</tr>")
    heads = [plain_head(""), *(metric_head(metric) for metric in metrics[:-1])]
    title = tr("Correlation of metrics over answers ({coefficients})").format(
        coefficients=COEFFICIENTS[coefficient]
    )
    caption = correlation_caption(metrics, found, coefficient)
    return metric_table(title, heads, body, caption, reasons)


def _cell(
    one: Correlation, metrics: Sequence[MetricId], opens: CaseFilter, reasons: Reasons
) -> str:
    where = tr("{name} and {name_2}").format(
        name=metrics[one.first].name, name_2=metrics[one.second].name
    )
    if one.value is None:
        return reasons.add(one.interval.why or tr("Undefined."), where)
    label = f"<b>{one.value:.2f}</b><small>n {one.n:,}</small>".replace("-", "−")
    limits = reasons.interval(one.interval, where).replace("-", "−")
    link = linked_number(Count(one.n, opens), label, title=tr("Opens the cases of these answers"))
    return f'{link}<small class="rx-ci">{limits}</small>'


def disputes_html(
    found: Sequence[DisputedReport],
    pair: tuple[MetricId, MetricId],
    names: Mapping[str, str],
    opens: CaseFilter,
) -> str:
    """List the answers that two metrics put furthest apart, each with a link to its case."""
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
            row += f"<td><b>{number(value)}</b><small>{better.format(place=place)}</small></td>"
        points = abs(one.first_place - one.second_place) * 100
        row += f"<td>{apart.format(points=points)}</td>"
        body.append(f"<tr>{row}</tr>")
    title = tr("Where these two metrics disagree most")
    note = tr(
        "“Better than”: the share of the other answers that the metric puts "
        "below this one, equal ones by half. Points: the difference of the two "
        "shares.{direction_caption}"
    ).format(direction_caption=direction_caption(pair))
    table = rows_table("rx-scores rx-means rx-table", heads, body, title)
    return f'{table}<p class="rx-quiet rx-note">{html.escape(note)}</p>'

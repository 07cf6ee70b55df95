"""Charts of the page Report generation: the distribution of a metric's values."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from rexview.analysis.charts.linked_chart import (
    MARK_LABEL,
    ROW_KEY,
    ChartMarks,
    LinkedChart,
    ModelRows,
    click_selection,
    colour_of_models,
    fade_unclicked,
    link_chart,
)
from rexview.analysis.ranking import rank_for_display
from rexview.analysis.report_generation import ReportTables
from rexview.metrics.identity import MetricId
from rexview.stats.report_metrics import ValueDistribution
from rexview.words import tr


def spread_chart(
    tables: ReportTables,
    metric: MetricId,
    spreads: Mapping[tuple[MetricId, str], ValueDistribution],
    colours: Mapping[str, str],
    *,
    caption: str = "",
) -> LinkedChart | None:
    """Draw a box plot of one metric for each model; None if no model has a value.

    Of many models, only those with the highest and lowest median are drawn.
    """
    marks, lines = ChartMarks(), ModelRows()
    known = [model for model in tables.board.models if (metric, model) in spreads]
    ranking = rank_for_display(known, lambda model: spreads[metric, model].median)
    models = {model: tables.names[model] for model in ranking.shown}
    for model, name in models.items():
        found = spreads[metric, model]
        marks.add(
            model,
            tables.opens(metric, model).opens,
            {
                "Model": name,
                "n": found.n,
                "Lowest": found.lowest,
                "Whisker low": found.whisker_low,
                "Quarter": found.quarter,
                "Median": found.median,
                "Three quarters": found.three_quarters,
                "Whisker high": found.whisker_high,
                "Highest": found.highest,
                "Below the whisker": found.below,
                "Above the whisker": found.above,
                MARK_LABEL: f"n {found.n:,}",
                ROW_KEY: lines.model(name),
            },
        )
    if not marks.rows:
        return None
    select = click_selection()
    scale = alt.Scale(zero=False, nice=False, padding=30)  # room for n
    base = alt.Chart(marks.frame).encode(
        y=lines.encoding(), color=colour_of_models(models, colours, legend=False)
    )
    whiskers = base.mark_rule(strokeWidth=1.5, aria=False).encode(
        x=alt.X("Whisker low:Q", title=metric.name, scale=scale), x2="Whisker high:Q"
    )
    boxes = (
        base.mark_bar(cursor="pointer", size=14)
        .encode(
            x=alt.X("Quarter:Q", scale=scale),
            x2="Three quarters:Q",
            opacity=fade_unclicked(select),
            tooltip=[
                *("Model", "n"),
                *(
                    alt.Tooltip(f"{name}:Q", format=".3f")
                    for name in ("Lowest", "Quarter", "Median", "Three quarters", "Highest")
                ),
                *("Below the whisker", "Above the whisker"),
            ],
        )
        .add_params(select)
    )
    medians = base.mark_tick(thickness=2.5, size=18, color="#F5F7F8").encode(
        x=alt.X("Median:Q", scale=scale), color=alt.value("#F5F7F8")
    )
    ends = [
        base.mark_point(size=14, filled=True, opacity=0.9).encode(x=alt.X(f"{end}:Q", scale=scale))
        for end in ("Lowest", "Highest")
    ]
    counts = base.mark_text(align="left", dx=6, fontSize=11).encode(
        x=alt.X("Highest:Q", scale=scale), text=f"{MARK_LABEL}:N", color=alt.Undefined
    )
    drawn = alt.layer(whiskers, boxes, medians, *ends, counts).properties(height=alt.Step(26))
    title = f"{metric.name} ({metric.computed_by})"
    caption = f"{caption} {ranking.sentence(tr('median'))}".strip()
    return link_chart(title, drawn, marks, caption=caption, hidden=(ROW_KEY,))

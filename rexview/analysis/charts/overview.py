"""Charts of the Overview: means by dimension, the part that sets Content, distribution of gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import altair as alt

from rexview.analysis.charts.linked_chart import (
    INK,
    MARK_LABEL,
    NAMES_AXIS,
    ChartMarks,
    LinkedChart,
    TooltipSpec,
    click_selection,
    colour_of_models,
    draw_linked_bars,
    fade_unclicked,
    link_chart,
    percent_tooltip,
)
from rexview.analysis.overview import Overview
from rexview.analysis.query.engine import make_names_unique
from rexview.vocab import DIMENSION_NAMES
from rexview.words import tr

SIDE_BY_SIDE: Final = 4
"""Most models with bars side by side; more models have a row of cells each."""
_GAP: Final = tr("Gap: Process minus Execution")
_SHADES: Final = ("#E4EEF7", "#6CA6DC")
"""Shades that are light enough for dark digits on them, in every theme."""
_LINES: Final = "split(datum.label, ' and ')"
"""Vega expression that puts a label of several parts into lines."""


def overview_charts(
    numbers: Overview, colours: Mapping[str, str] | None = None
) -> tuple[LinkedChart, ...]:
    """Return all charts of the Overview that have data.

    Of many models, only those with the highest and lowest Content are drawn.
    """
    ranking = numbers.ranking
    words = ranking.sentence(DIMENSION_NAMES["content"])
    if ranking.is_cut:
        numbers = numbers.of_models(ranking.shown)
    # a chart would merge models with the same name
    numbers = replace(numbers, models=make_names_unique(numbers.models))
    drawn = (draw(numbers, colours) for draw in (means_chart, weakest_chart, gap_chart))
    return tuple(replace(chart, caption=words) for chart in drawn if chart is not None)


def weakest_chart(
    numbers: Overview, colours: Mapping[str, str] | None = None
) -> LinkedChart | None:
    """Draw the part that sets Content by model, as shares of the answers with all three scores.

    Return None if no answer has all three.
    """
    marks = ChartMarks()
    for share in numbers.weakest:
        count = share.answers
        marks.add(
            f"{share.model}/{share.part}",
            count.opens,
            {
                "Weakest link": share.name,
                "Model": numbers.models[share.model],
                "Answers": count.value,
                "of": count.of,
                "Share": count.share,
                MARK_LABEL: tr("{value:,} of {of:,}").format(value=count.value, of=count.of),
            },
        )
    if not marks.rows:
        return None
    title = tr("Weakest link: what sets Content")
    tips: list[TooltipSpec] = ["Model", "Weakest link", "Answers", "of", percent_tooltip("Share")]
    if len(numbers.models) > SIDE_BY_SIDE:
        return _map(title, numbers, marks, "Weakest link", "Share:Q", tips)
    x = alt.X(
        "Share:Q",
        title=tr("Share of scored answers"),
        axis=alt.Axis(format="%", tickCount=5),
        scale=alt.Scale(domain=[0, 1.3 * float(marks.frame["Share"].max())], nice=False),
    )
    base = _bars(numbers, marks, colours, tips).encode(
        y=alt.Y("Weakest link:N", sort=None, title=None, axis=NAMES_AXIS),
        yOffset=alt.YOffset("Model:N", sort=list(numbers.models.values())),
        x=x,
    )
    return draw_linked_bars(title, base, marks)


def means_chart(numbers: Overview, colours: Mapping[str, str] | None = None) -> LinkedChart | None:
    """Draw the mean final score of each dimension by model; None if nothing is scored."""
    marks = ChartMarks()
    for cell in numbers.means:
        marks.add(
            f"{cell.model}/{cell.dimension}",
            cell.scored.opens,
            {
                "Dimension": cell.name,
                "Model": numbers.models[cell.model],
                "Mean": cell.summary.mean,
                "n": cell.scored.value,
                "of": tr("pictures") if cell.of_pictures else tr("answers"),
                MARK_LABEL: f"{cell.summary.mean:.2f}",
            },
        )
    if not marks.rows:
        return None
    title = tr("Scores per dimension")
    tips: list[TooltipSpec] = ["Model", "Dimension", alt.Tooltip("Mean:Q", format=".2f"), "n", "of"]
    if len(numbers.models) > SIDE_BY_SIDE:
        return _map(title, numbers, marks, "Dimension", "Mean:Q", tips)
    order = list(dict.fromkeys(marks.frame["Dimension"]))
    x = alt.X(
        "Mean:Q",
        title=tr("Mean final score, 1 to 5"),
        axis=alt.Axis(values=[1, 2, 3, 4, 5], format="d"),
        scale=alt.Scale(domain=[1, 5.4], nice=False),
        stack=None,
    )
    base = _bars(numbers, marks, colours, tips).encode(
        y=alt.Y("Dimension:N", sort=order, title=None, axis=NAMES_AXIS),
        yOffset=alt.YOffset("Model:N", sort=list(numbers.models.values())),
        x=x,
        x2=alt.datum(1),
    )
    return draw_linked_bars(title, base, marks)


def gap_chart(numbers: Overview, colours: Mapping[str, str] | None = None) -> LinkedChart | None:
    """Draw the distribution of gaps (process minus execution) by model; None without any gap."""
    marks = ChartMarks()
    for cell in numbers.gaps:
        for gap, count in cell.bins.items():
            name = numbers.models[cell.model]
            row = {
                "Gap": gap,
                "Model": name,
                "Answers": count.value,
                MARK_LABEL: f"{count.value:,}",
            }
            marks.add(f"{cell.model}/{gap}", count.opens, row)
    if not marks.rows:
        return None
    title = tr("Execution-vs-process gap")
    tips: list[TooltipSpec] = ["Model", "Gap", "Answers"]
    if len(numbers.models) > SIDE_BY_SIDE:
        return _map(title, numbers, marks, "Gap", "Answers:Q", tips)
    base = _bars(numbers, marks, colours, tips).encode(
        x=alt.X("Gap:O", title=_GAP, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("Model:N", sort=list(numbers.models.values())),
        y=alt.Y("Answers:Q", title=tr("Answers"), axis=alt.Axis(tickMinStep=1, format="d")),
    )
    return draw_linked_bars(title, base, marks, label="Answers:Q", upright=True)


def _bars(
    numbers: Overview,
    marks: ChartMarks,
    colours: Mapping[str, str] | None,
    tips: Sequence[TooltipSpec],
) -> alt.Chart:
    colour = colour_of_models(numbers.models, colours)
    return alt.Chart(marks.frame).encode(color=colour, tooltip=list(tips))


def _map(
    title: str,
    numbers: Overview,
    marks: ChartMarks,
    across: str,
    value: str,
    tips: Sequence[TooltipSpec],
) -> LinkedChart:
    """Draw a map with a row for each model, for more models than bars can show."""
    select = click_selection()
    sort = "ascending" if across == "Gap" else list(dict.fromkeys(marks.frame[across]))
    base = alt.Chart(marks.frame).encode(
        y=alt.Y("Model:N", sort=list(numbers.models.values()), title=None, axis=NAMES_AXIS),
        x=alt.X(
            f"{across}:O",
            sort=sort,
            title=_GAP if across == "Gap" else None,
            axis=alt.Axis(labelAngle=0, labelLimit=90, labelOverlap=False, labelExpr=_LINES),
        ),
    )
    shade = alt.Color(value, scale=alt.Scale(range=list(_SHADES)), legend=None)
    cells = (
        base.mark_rect(cursor="pointer")
        .encode(color=shade, opacity=fade_unclicked(select), tooltip=list(tips))
        .add_params(select)
    )
    texts = base.mark_text(fontSize=11, color=INK).encode(text=f"{MARK_LABEL}:N")
    return link_chart(title, alt.layer(cells, texts).properties(height=alt.Step(24)), marks)

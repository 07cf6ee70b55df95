"""Charts of the Scores page: distributions, means, gaps, and missing answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked_chart import (
    INK,
    IS_NARROW,
    LABEL_LIMIT,
    LEGEND_COLUMNS,
    LINE_HEIGHT,
    LONG_LEGEND_COLUMNS,
    MARK_LABEL,
    ROW_KEY,
    ChartMarks,
    LinkedChart,
    ModelRows,
    TooltipSpec,
    click_selection,
    colour_of_models,
    draw_points,
    fade_unclicked,
    link_chart,
    percent_tooltip,
    split_name,
)
from rexview.analysis.query.filter.linked_count import LinkedCount
from rexview.analysis.ranking import rank_for_display, rank_in_each_group
from rexview.analysis.scores import (
    GAP_STEP,
    SCORE_BINS,
    ScoreCell,
    ScoreSplit,
    ScoreTables,
    filter_cells,
)
from rexview.stats import MISSING_STATUSES, STATUSES
from rexview.vocab import CONTENT_PARTS, DIMENSION_NAMES
from rexview.words import tr

BIN_COLOURS: Final = ("#A6480A", "#F0A860", "#C9CDD2", "#8DBBE0", "#1F5FA8")
"""Colours from low to high: orange to blue, dark at both ends, for colour-blind and grey print."""
_ON_BIN: Final = ("#FFFFFF", INK, INK, INK, "#FFFFFF")
REASON_COLOURS: Final = {
    "token_limit": "#D9822B",
    "error": "#B58AE8",
    "refused": "#3C90CC",
    "empty": "#8A9099",
}
_N_LOW: Final = 2
"""Number of classes below 3, which are drawn to the left of the line."""
_ROOM_FOR_N: Final = 0.14
"""Part of the axis, in shares, for n at the end of a full bar."""
_TEXT_WIDTH: Final = 30
"""Width of the text of a share, in pixels."""
_HIDDEN_COLUMNS: Final = (ROW_KEY, "start", "end", "middle", "ink")


def distribution_chart(tables: ScoreTables, *, caption: str = "") -> LinkedChart | None:
    """Draw the final scores of each dimension and model in classes, as stacked shares.

    Shares below 3 are on the line's left, the others on its right. Of many models, only those with
    the highest and lowest mean of each dimension are drawn. Return None if nothing is scored.
    """
    marks, sizes, lines = ChartMarks(), [], ModelRows()
    one_model = len(tables.models) == 1
    for dimension in tables.dimensions:
        if not one_model:
            lines.heading(DIMENSION_NAMES[dimension])
        of_dimension = rank_for_display(
            filter_cells(tables.cells, dimension), lambda cell: cell.summary.mean
        )
        for cell in of_dimension.shown:
            model, n = cell.model, cell.summary.n
            line = lines.model(cell.name if one_model else tables.models[model])
            edge = -sum(count.value for count in cell.bins[:_N_LOW]) / n if n else 0.0
            for place, ((name, _), count) in enumerate(zip(SCORE_BINS, cell.bins, strict=True)):
                share = count.value / n if n else 0.0
                if count.value:
                    marks.add(
                        f"{dimension}/{place}/{model}",
                        count.opens,
                        {
                            "Dimension": cell.name,
                            "Model": tables.models[model],
                            "Score": name,
                            "Counted": count.value,
                            "of": n,
                            "Share": share,
                            MARK_LABEL: f"{share:.0%}",
                            ROW_KEY: line,
                            "start": edge,
                            "end": edge + share,
                            "middle": edge + share / 2,
                            "ink": _ON_BIN[place],
                        },
                    )
                edge += share
            if n:
                sizes.append({ROW_KEY: line, "end": edge, "n": f"n {n:,}"})
    if not marks.rows:
        return None
    frame, select = marks.frame, click_selection()
    names = [name for name, _ in SCORE_BINS]
    base = alt.Chart(frame).encode(y=lines.encoding())
    ends = [float(frame["start"].min()), float(frame["end"].max()) + _ROOM_FOR_N]
    span = ends[1] - ends[0]
    scale = alt.Scale(domain=ends, nice=False)
    axis = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], labelExpr="format(abs(datum.value), '.0%')")
    bars = (
        base.mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "start:Q", title=tr("Share (left of the line: below 3)"), axis=axis, scale=scale
            ),
            x2="end:Q",
            color=alt.Color(
                "Score:N",
                scale=alt.Scale(domain=names, range=list(BIN_COLOURS)),
                legend=alt.Legend(orient="top", title=None, columns=LEGEND_COLUMNS),
            ),
            opacity=fade_unclicked(select),
            tooltip=["Model", "Dimension", "Score", "Counted", "of", percent_tooltip("Share")],
        )
        .add_params(select)
    )
    room = f"datum.Share * width > {_TEXT_WIDTH * span:.2f}"
    texts = base.mark_text(fontSize=11).encode(
        x="middle:Q",
        text=alt.condition(room, f"{MARK_LABEL}:N", alt.value("")),
        color=alt.Color("ink:N", scale=None),
    )
    counts = (
        alt.Chart(pd.DataFrame(sizes))
        .mark_text(fontSize=11, align="left", dx=5, color="#8A9099")
        .encode(y=lines.encoding(), x="end:Q", text="n:N")
    )
    words = rank_in_each_group(tables.models).sentence(tr("mean score"))
    caption = f"{caption} {words}".strip()
    line = (
        alt.Chart().mark_rule(strokeWidth=1.5, color="#8A9099", aria=False).encode(x=alt.datum(0))
    )
    drawn = alt.layer(bars, texts, counts, line, data=frame).properties(height=alt.Step(lines.step))
    return link_chart(
        tr("How scores spread"), drawn, marks, caption=caption, hidden=_HIDDEN_COLUMNS
    )


def missing_answers_chart(tables: ScoreTables, *, caption: str = "") -> LinkedChart | None:
    """Draw the number of missing or incomplete answers by reason and model; None without any.

    Of many models, only those with the most and the fewest are drawn.
    """
    marks, lines = ChartMarks(), ModelRows()
    ranking = rank_for_display(tables.no_answers, lambda lost: lost.lost.share)
    for lost in ranking.shown:
        line = lines.model(tables.models[lost.model])
        edge = 0
        for reason, count in lost.by_reason.items():
            if not count.value:
                continue
            marks.add(
                f"{reason}/{lost.model}",
                count.opens,
                {
                    "Model": tables.models[lost.model],
                    "Reason": STATUSES[reason],
                    "Answers": count.value,
                    "of": count.of,
                    "Share": count.share,
                    ROW_KEY: line,
                    "start": edge,
                    "end": edge + count.value,
                    "middle": edge + count.value / 2,
                },
            )
            edge += count.value
    if not marks.rows:
        return None
    frame, select = marks.frame, click_selection()
    names = [STATUSES[reason] for reason in MISSING_STATUSES]
    scale = alt.Scale(domain=names, range=[REASON_COLOURS[reason] for reason in MISSING_STATUSES])
    legend = alt.Legend(orient="top", title=None, columns=LONG_LEGEND_COLUMNS)
    base = alt.Chart(frame).encode(y=lines.encoding())
    bars = (
        base.mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "start:Q",
                title=tr("Answers"),
                axis=alt.Axis(tickMinStep=1, format="d", tickCount=6),
                scale=alt.Scale(domain=[0, 1.04 * float(frame["end"].max())], nice=False),
            ),
            x2="end:Q",
            color=alt.Color("Reason:N", scale=scale, legend=legend),
            opacity=fade_unclicked(select),
            tooltip=["Model", "Reason", "Answers", "of", percent_tooltip("Share")],
        )
        .add_params(select)
    )
    texts = base.mark_text(fontSize=11, color=INK, fontWeight="bold").encode(
        x="middle:Q", text="Answers:Q"
    )
    drawn = alt.layer(bars, texts).properties(height=alt.Step(26))
    caption = f"{caption} {ranking.sentence(tr('share of answers lost'))}".strip()
    return link_chart(tr("No full answer"), drawn, marks, caption=caption, hidden=_HIDDEN_COLUMNS)


# Means on the Scores page: the chain of the three parts, gaps, means by a property.

_HIDDEN_IN_MEANS: Final = (ROW_KEY, "start", "end", "place", "drawn", "floor", "top", "roof")
_RIGHT: Final = alt.ExprRef(f"{IS_NARROW} ? 8 : 6")
"""End of the axis of means, beyond 5 to leave room for texts."""
_ROOM_FOR_COUNT: Final = 0.22
"""Height of a count above its bar, as a part of a model's rows, so that no line crosses it."""
_POINTS: Final = ("circle", "diamond", "square")
_TIPS: Final[tuple[TooltipSpec, ...]] = (
    *("Model", "Dimension", "n"),
    *(alt.Tooltip(f"{name}:Q", format=".2f") for name in ("Mean", "CI low", "CI high")),
)


def chain_chart(
    tables: ScoreTables, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw Process, Execution and Synthesis of each model: means with intervals, joined in order.

    Of many models, only those with the highest and lowest Content are drawn. Return None if none is
    scored.
    """
    marks, lines = ChartMarks(), ModelRows()
    ranking = rank_for_display(tables.models, partial(tables.mean, "content"))
    for model in ranking.shown:
        name = tables.models[model]
        cells = [
            cell
            for part in CONTENT_PARTS
            for cell in filter_cells(tables.cells, part)
            if cell.model == model and cell.summary.mean is not None
        ]
        if not cells:
            continue
        line = lines.model(name)
        for cell in cells:
            row = {**_mean_row(cell, name), ROW_KEY: line}
            marks.add(f"{cell.dimension}/{model}", cell.scored.opens, row)
    if not marks.rows:
        return None
    parts = [DIMENSION_NAMES[part] for part in CONTENT_PARTS]
    base = alt.Chart(marks.frame).encode(
        y=lines.encoding(),
        yOffset=alt.YOffset("Dimension:N", sort=parts, scale=alt.Scale(domain=parts)),
        x=_mean_axis(),
        color=colour_of_models(tables.models, colours, legend=False),
    )
    joined = base.mark_line(strokeWidth=1.5, strokeDash=[4, 3], opacity=0.8).encode(
        detail=f"{ROW_KEY}:N", order="place:Q"
    )
    shape = alt.Shape("Dimension:N", sort=parts, legend=None, scale=alt.Scale(range=list(_POINTS)))
    drawn = alt.layer(joined, *draw_points(base, click_selection(), _TIPS, size=110, shape=shape))
    drawn = drawn.properties(height=alt.Step(17 if len(lines.labels) <= 6 else 13))
    title = tr("Process, Execution, Synthesis: where the score is lost")
    caption = f"{caption} {ranking.sentence(DIMENSION_NAMES['content'])}".strip()
    return link_chart(title, drawn, marks, caption=caption, hidden=_HIDDEN_IN_MEANS)


def split_chart(
    split: ScoreSplit, dimension: str, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw the mean of one dimension for each value of a property, with intervals and n."""
    marks, lines = ChartMarks(), ModelRows()
    for place, group in enumerate(split.groups):
        scored = [cell for cell in filter_cells(group.cells, dimension) if cell.summary.n]
        cells = rank_for_display(scored, lambda cell: cell.summary.mean).shown
        if not cells:
            continue
        lines.heading(group.name)
        for cell in cells:
            model = cell.model
            row = _mean_row(cell, split.models[model], text=f"n {cell.summary.n:,}")
            row = {split.by.name: group.name, **row, ROW_KEY: lines.model(split.models[model])}
            marks.add(f"{place}/{model}", cell.scored.opens, row)
    if not marks.rows:
        return None
    base = alt.Chart(marks.frame).encode(
        y=lines.encoding(),
        x=_mean_axis(),
        color=colour_of_models(split.models, colours, legend=False),
    )
    drawn = alt.layer(*draw_points(base, click_selection(), _TIPS, size=110))
    drawn = drawn.properties(height=alt.Step(lines.step))
    words = rank_in_each_group(split.models).sentence(DIMENSION_NAMES[dimension])
    caption = f"{caption} {words}".strip()
    title = tr("{dimension_names} by {name}").format(
        dimension_names=DIMENSION_NAMES[dimension], name=split.by.name
    )
    return link_chart(title, drawn, marks, caption=caption, hidden=_HIDDEN_IN_MEANS)


def gap_spread_chart(
    tables: ScoreTables, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw a histogram of gaps for each model, with the mean gap and its interval.

    Histograms are one below the other. Of many models, only those with the largest and smallest
    mean gap are drawn. Return None without any gap.
    """
    marks = ChartMarks()
    means: list[dict[str, Any]] = []
    limits: list[dict[str, float]] = []
    names: list[str] = []
    ranking = rank_for_display(tables.gaps, lambda gap: gap.summary.mean)
    highest = max((_share(n) for gap in ranking.shown for n in gap.bins.values()), default=0.0)
    for gap in ranking.shown:
        summary = gap.summary
        if summary.mean is None:
            continue
        name, floor = tables.models[summary.model], -float(len(names))
        names.append(name)
        high = summary.mean if summary.interval.high is None else summary.interval.high
        means.append(
            {
                "Model": name,
                "Mean": summary.mean,
                "low": summary.interval.low,
                "high": summary.interval.high,
                "drawn": high,
                "floor": floor - 0.14,
                MARK_LABEL: tr("mean {value}").format(
                    value=f"{summary.mean:.2f}".replace("-", "−")
                ),
            }
        )
        tops = {
            middle: floor + 0.58 * _share(count) / highest for middle, count in gap.bins.items()
        }
        under = max(
            (
                top + _ROOM_FOR_COUNT
                for middle, top in tops.items()
                if abs(middle - tables.gap_threshold) < GAP_STEP
            ),
            default=floor,
        )
        if under < floor + 0.72:
            limits.append({"floor": under, "roof": floor + 0.72})
        for middle, count in gap.bins.items():
            marks.add(
                f"{middle}/{summary.model}",
                count.opens,
                {
                    "Model": name,
                    "Gap": middle,
                    "Answers": count.value,
                    "of": summary.n,
                    "Share": count.share,
                    "start": middle - 0.46 * GAP_STEP,
                    "end": middle + 0.46 * GAP_STEP,
                    "floor": floor,
                    "top": tops[middle],
                    "roof": floor + 0.72,
                },
            )
    if not marks.rows:
        return None
    frame, select = marks.frame, click_selection()
    colour = colour_of_models(tables.models, colours, legend=False)
    widest = tables.gap_threshold + GAP_STEP
    ends = [
        min(float(frame["start"].min()) - 0.05, -1.0),
        max(float(frame["end"].max()) + 0.05, widest),
    ]
    x = alt.X(
        "start:Q",
        title=tr("Gap (points)"),
        scale=alt.Scale(domain=ends, nice=False),
    )
    base = alt.Chart(marks.frame).encode(x=x, y=_stacked_encoding(names), color=colour)
    bars = base.mark_bar().encode(x2="end:Q", y2="top:Q", opacity=fade_unclicked(select))
    texts = base.mark_text(fontSize=11, dy=-6).encode(x="Gap:Q", y="top:Q", text="Answers:Q")
    tips = ["Model", "Gap", "Answers", "of", percent_tooltip("Share")]
    areas = (
        base.mark_bar(cursor="pointer", fillOpacity=0.07)
        .encode(x2="end:Q", y2="roof:Q", tooltip=tips)
        .add_params(select)
    )
    at_mean = alt.Chart(pd.DataFrame(means)).encode(y="floor:Q", color=colour)
    bounds = at_mean.mark_rule(strokeWidth=2, aria=False).encode(x="low:Q", x2="high:Q")
    dots = at_mean.mark_point(filled=True, size=60, opacity=1).encode(x="Mean:Q")
    words = at_mean.mark_text(align="left", dx=7, fontSize=11).encode(
        x="drawn:Q", text=f"{MARK_LABEL}:N"
    )
    layers = [bars, texts, bounds, dots, words]
    if limits and ends[0] <= tables.gap_threshold <= ends[1]:
        rule = alt.Chart(pd.DataFrame(limits)).mark_rule(
            strokeDash=[4, 3], color="#8A9099", aria=False
        )
        at = alt.datum(tables.gap_threshold)
        layers.append(rule.encode(x=at, y="floor:Q", y2="roof:Q"))
    height = (64 if len(names) <= 6 else 48) * len(names) + 62
    drawn = alt.layer(*layers, areas, data=frame).properties(height=height)
    caption = f"{caption} {ranking.sentence(tr('mean gap'))}".strip()
    return link_chart(
        tr("Execution-vs-process gap"), drawn, marks, caption=caption, hidden=_HIDDEN_IN_MEANS
    )


def _share(count: LinkedCount) -> float:
    return count.share or 0.0


def _stacked_encoding(names: Sequence[str]) -> alt.Y:
    """Return the encoding of stacked histograms: the first has its base at 0, the next at -1."""
    lines = [split_name(name) for name in names]
    most = max(map(len, lines))
    axis = alt.Axis(
        values=[-place for place in range(len(names))],
        labelExpr=f"({IS_NARROW} ? {json.dumps(lines)} : {json.dumps(list(names))})[-datum.value]",
        labelLimit=LABEL_LIMIT,
        labelLineHeight=LINE_HEIGHT,
        labelOffset=alt.ExprRef(f"{IS_NARROW} ? {-LINE_HEIGHT * (most - 1)} : 0"),
        labelBaseline="bottom",
        ticks=False,
        domain=False,
        grid=False,
    )
    scale = alt.Scale(domain=[-len(names) + 0.72, 0.78], nice=False, zero=False)
    return alt.Y("floor:Q", title=None, axis=axis, scale=scale)


def _mean_row(cell: ScoreCell, name: str, *, text: str = "") -> dict[str, Any]:
    summary = cell.summary
    label = " · ".join(part for part in (f"{summary.mean:.2f}", text) if part)
    return {
        "Model": name,
        "Dimension": cell.name,
        "Mean": summary.mean,
        "CI low": summary.interval.low,
        "CI high": summary.interval.high,
        "n": summary.n,
        MARK_LABEL: label if text else f"{cell.name} {label}",
        "place": CONTENT_PARTS.index(summary.dimension)
        if summary.dimension in CONTENT_PARTS
        else 0,
        "drawn": summary.mean if summary.interval.high is None else summary.interval.high,
    }


def _mean_axis() -> alt.X:
    return alt.X(
        "Mean:Q",
        title=tr("Mean score, 1 to 5"),
        axis=alt.Axis(values=[1, 2, 3, 4, 5], format="d"),
        scale=alt.Scale(domainMin=1, domainMax=_RIGHT, nice=False, zero=False),
    )

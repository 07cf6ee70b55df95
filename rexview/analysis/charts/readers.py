"""Charts of the Readers page: agreement of two readers, strictness, and drift over time."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked_chart import (
    LONG_LEGEND_COLUMNS,
    NAMES_AXIS,
    ChartMarks,
    LinkedChart,
    click_selection,
    fade_unclicked,
    link_chart,
)
from rexview.analysis.colours import MODEL_COLOURS, REFERENCE_COLOUR
from rexview.analysis.readers import (
    DimensionAgreement,
    ReaderDrift,
    ReaderTables,
    bubble_caption,
    confusion_caption,
    drift_caption,
    shorten_name,
    stricter_caption,
)
from rexview.stats.reader_agreement import SCORE_LEVELS
from rexview.words import sentence_start, tr

_TITLE_LETTERS: Final = 36
"""Most characters in a line of an axis title, for the space on a phone."""
_HEAT: Final = ("rgba(60, 144, 204, 0.18)", "rgba(60, 144, 204, 0.75)")
_EMPTY: Final = "rgba(128, 128, 128, 0.07)"
_INK: Final = "currentColor"
"""Colour of text over marks: the page's, in both themes and on paper."""
_CELL: Final = 28


def confusion_chart(found: DimensionAgreement, names: tuple[str, str]) -> LinkedChart:
    """Draw the confusion map of one dimension: reader a's scores upwards, b's to the right."""
    marks = _confusion_marks(found, names)
    grid = pd.DataFrame([{"a": a, "b": b} for a in SCORE_LEVELS for b in SCORE_LEVELS])
    x = alt.X("Score 2:O", title=shorten_name(names[1]), axis=_level_axis(), scale=_levels())
    y = alt.Y(
        "Score 1:O", title=shorten_name(names[0]), axis=_level_axis(), scale=_levels(turned=True)
    )
    select = click_selection()
    most = max((cell.count.value for cell in found.cells), default=1)
    count = sentence_start(found.unit)
    cells = alt.Chart(marks.frame).encode(x=x, y=y)
    heat = (
        cells.mark_rect(cursor="pointer")
        .encode(
            color=alt.Color(
                f"{count}:Q",
                scale=alt.Scale(domain=[0, most], range=list(_HEAT)),
                legend=None,
            ),
            opacity=fade_unclicked(select),
            tooltip=_tooltips(count),
        )
        .add_params(select)
    )
    empty = alt.Chart(grid).mark_rect(fill=_EMPTY).encode(x="b:O", y="a:O")
    same = (
        alt.Chart(grid[grid["a"] == grid["b"]])
        .mark_rect(fill=None, stroke=REFERENCE_COLOUR, strokeWidth=1.5)
        .encode(x="b:O", y="a:O")
    )
    numbers = cells.mark_text(fontSize=12, color=_INK).encode(
        text=alt.Text(f"{count}:Q", format=",")
    )
    drawn = alt.layer(empty, heat, same, numbers).properties(height=alt.Step(_CELL))
    title = tr("{name}: scores of both readers").format(name=found.name)
    return link_chart(title, drawn, marks, caption=confusion_caption(found))


def bubble_chart(found: DimensionAgreement, names: tuple[str, str]) -> LinkedChart:
    """Draw one reader's scores against the other's, with bubbles sized by frequency."""
    marks = _confusion_marks(found, names)
    count = sentence_start(found.unit)
    axis = _level_axis(grid=True)
    scale = alt.Scale(domain=[0.4, 5.6], nice=False, zero=False)
    base = alt.Chart(marks.frame).encode(
        x=alt.X("Score 1:Q", title=f"Score of {shorten_name(names[0])}", axis=axis, scale=scale),
        y=alt.Y("Score 2:Q", title=f"Score of {shorten_name(names[1])}", axis=axis, scale=scale),
    )
    select = click_selection()
    most = max((cell.count.value for cell in found.cells), default=1)
    bubbles = (
        base.mark_circle(cursor="pointer", color=MODEL_COLOURS[0])
        .encode(
            size=alt.Size(
                f"{count}:Q", scale=alt.Scale(domain=[0, most], range=[150, 1900]), legend=None
            ),
            opacity=fade_unclicked(select, full=0.55),
            tooltip=_tooltips(count),
        )
        .add_params(select)
    )
    ends = pd.DataFrame({"a": [0.5, 5.5], "b": [0.5, 5.5]})
    same = (
        alt.Chart(ends)
        .mark_line(color=REFERENCE_COLOUR, strokeDash=[4, 3], strokeWidth=1)
        .encode(x="a:Q", y="b:Q")
    )
    texts = base.mark_text(fontSize=11, color=_INK).encode(text=alt.Text(f"{count}:Q", format=","))
    drawn = alt.layer(same, bubbles, texts).properties(height=330)
    title = tr("{name}: one reader against the other").format(name=found.name)
    return link_chart(title, drawn, marks, caption=bubble_caption(found, names))


def stricter_chart(tables: ReaderTables) -> LinkedChart | None:
    """Draw the mean difference of the two readers by dimension; None if they share nothing."""
    if tables.pair is None or not tables.compared:
        return None
    names = [tables.readers[reader] for reader in tables.pair]
    marks = ChartMarks()
    for found in tables.compared:
        numbers = found.numbers
        marks.add(
            numbers.dimension,
            found.shared.opens,
            {
                "Dimension": found.name,
                "Reader 1": names[0],
                "Reader 2": names[1],
                "Mean 1": numbers.mean_a,
                "Mean 2": numbers.mean_b,
                "Difference": numbers.difference,
                "Low": numbers.difference_interval.low,
                "High": numbers.difference_interval.high,
                "n": numbers.n,
                "Counted": found.unit,
            },
        )
    frame = marks.frame
    ends = frame[["Difference", "Low", "High"]].astype(float).abs().max().max()
    reach = max(0.5, 1.1 * float(ends))
    base = alt.Chart(marks.frame).encode(
        y=alt.Y("Dimension:N", sort=None, title=None, axis=NAMES_AXIS),
    )
    x = alt.X(
        "Difference:Q",
        title=textwrap.wrap(
            tr("{short} minus {short_2}, points").format(
                short=shorten_name(names[0]), short_2=shorten_name(names[1])
            ),
            _TITLE_LETTERS,
        ),
        scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=alt.Axis(tickCount=5, titleLimit=400),
    )
    select = click_selection()
    spans = (
        base.transform_filter("isValid(datum.Low)")
        .mark_rule(strokeWidth=2, color=MODEL_COLOURS[0], aria=False)
        .encode(x="Low:Q", x2="High:Q")
    )
    points = (
        base.mark_point(filled=True, size=130, cursor="pointer", color=MODEL_COLOURS[0])
        .encode(
            x=x,
            opacity=fade_unclicked(select),
            tooltip=[
                "Dimension",
                alt.Tooltip("Difference:Q", format="+.2f"),
                alt.Tooltip("Low:Q", format="+.2f"),
                alt.Tooltip("High:Q", format="+.2f"),
                "n",
                "Counted",
            ],
        )
        .add_params(select)
    )
    zero = (
        alt.Chart(pd.DataFrame({"x": [0]}))
        .mark_rule(color=REFERENCE_COLOUR, aria=False)
        .encode(x="x:Q")
    )
    layers = [zero, spans, points] if frame["Low"].notna().any() else [zero, points]
    drawn = alt.layer(*layers).properties(height=alt.Step(34))
    title = tr("Who is stricter")
    return link_chart(title, drawn, marks, caption=stricter_caption(tables))


def _confusion_marks(found: DimensionAgreement, names: tuple[str, str]) -> ChartMarks:
    """Return the cells of a confusion map."""
    marks = ChartMarks()
    for cell in found.cells:
        marks.add(
            f"{cell.score_a}/{cell.score_b}",
            cell.count.opens,
            {
                "Dimension": found.name,
                "Reader 1": names[0],
                "Score 1": cell.score_a,
                "Reader 2": names[1],
                "Score 2": cell.score_b,
                sentence_start(found.unit): cell.count.value,
                "Cases": cell.cases,
            },
        )
    return marks


def _tooltips(count: str) -> list[Any]:
    return ["Reader 1", "Score 1", "Reader 2", "Score 2", count, "Cases"]


def _level_axis(*, grid: bool = False) -> alt.Axis:
    return alt.Axis(
        labelAngle=0, values=list(SCORE_LEVELS), format="d", grid=grid, ticks=False, titleLimit=260
    )


def _levels(*, turned: bool = False) -> alt.Scale:
    return alt.Scale(domain=list(SCORE_LEVELS)[:: -1 if turned else 1])


# Charts of a pair of readers over time: mean scores, and the difference from the other reader.

_COLOURS: Final = {"r0": "#4F8F83", "r1": "#B0762E"}
_SHAPES: Final = {"r0": "circle", "r1": "square"}
_HIDDEN_COLUMNS: Final = ("From", "To", "Middle", "who")


def drift_charts(drifts: Sequence[ReaderDrift], dimension: str) -> tuple[LinkedChart, ...]:
    """Draw the mean scores over time, and the difference from the other reader.

    ``dimension`` is its name on screen. The result is empty if no reader has two blocks, and has
    one chart if nothing is shared.
    """
    shown = [one for one in drifts if len(one.blocks) > 1]
    charts = [
        _drift_chart(drifts, shown, dimension, difference=difference)
        for difference in (False, True)
    ]
    return tuple(chart for chart in charts if chart is not None)


def _drift_chart(
    drifts: Sequence[ReaderDrift],
    shown: Sequence[ReaderDrift],
    dimension: str,
    *,
    difference: bool,
) -> LinkedChart | None:
    value = "Difference" if difference else "Mean"
    marks = _block_marks(drifts, shown, value)
    if not marks.rows:
        return None
    frame = marks.frame
    labels = {f"r{place}": shorten_name(one.name) for place, one in enumerate(drifts)}
    met = [reader for reader in labels if reader in set(frame["who"])]
    named = f"{json.dumps(labels)}[datum.value]"  # keys in place of names, which are free text
    legend = alt.Legend(
        title=None, orient="top", columns=LONG_LEGEND_COLUMNS, labelLimit=300, labelExpr=named
    )
    colour = alt.Color(
        "who:N",
        scale=alt.Scale(domain=met, range=[_COLOURS[reader] for reader in met]),
        legend=legend,
    )
    shape = alt.Shape(
        "who:N",
        scale=alt.Scale(domain=met, range=[_SHAPES[reader] for reader in met]),
        legend=legend,
    )
    scale = alt.Scale(domain=[1, 5])
    if difference:
        furthest = frame[[value, "Low", "High"]].astype(float).abs().max().max()
        reach = max(1.0, 1.1 * float(furthest))
        scale = alt.Scale(domain=[-reach, reach], nice=False)
    title = tr("Difference, points") if difference else tr("Mean score, 1 to 5")
    y = alt.Y(f"{value}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))
    utc = alt.Scale(type="utc", padding=12)
    base = alt.Chart(frame).encode(color=colour)
    x = alt.X("Middle:T", title=None, scale=utc, axis=alt.Axis(labelOverlap=True, tickCount=6))
    select = click_selection()
    days = base.mark_rule(strokeWidth=1.5, aria=False).encode(
        x=alt.X("From:T", scale=utc), x2="To:T", y=y, opacity=alt.value(0.6)
    )
    spans = (
        base.transform_filter("isValid(datum.Low)")
        .mark_rule(strokeWidth=1.5, aria=False)
        .encode(x=x, y=alt.Y("Low:Q", scale=scale), y2="High:Q")
    )
    points = (
        base.mark_point(filled=True, size=110, cursor="pointer")
        .encode(
            x=x,
            y=y,
            shape=shape,
            opacity=fade_unclicked(select),
            tooltip=[
                "Reader",
                "First day",
                "Last day",
                alt.Tooltip(f"{value}:Q", format="+.2f" if difference else ".2f"),
                alt.Tooltip("Low:Q", format=".2f"),
                alt.Tooltip("High:Q", format=".2f"),
                "n",
            ],
        )
        .add_params(select)
    )
    known = frame["Low"].notna().any()
    layers: list[alt.Chart] = [days, spans, points] if known else [days, points]
    if difference:
        zero = alt.Chart(pd.DataFrame({"y": [0]})).mark_rule(color=REFERENCE_COLOUR, aria=False)
        layers.insert(0, zero.encode(y="y:Q"))
    drawn = alt.layer(*layers).properties(height=240)
    name = (
        tr("difference from the other reader over time")
        if difference
        else tr("mean score over time")
    )
    return link_chart(
        f"{dimension}: {name}",
        drawn,
        marks,
        caption=drift_caption(drifts, difference=difference),
        hidden=_HIDDEN_COLUMNS,
    )


def _block_marks(
    drifts: Sequence[ReaderDrift], shown: Sequence[ReaderDrift], value: str
) -> ChartMarks:
    """Return the marks of the blocks that have a value."""
    difference = value == "Difference"
    marks = ChartMarks()
    for one in shown:
        reader = f"r{drifts.index(one)}"
        for number, opened in enumerate(one.blocks):
            block = opened.block
            mean = block.difference if difference else block.mean
            around = block.difference_interval if difference else block.interval
            if mean is None:
                continue
            middle = block.first + (block.last - block.first) / 2
            marks.add(
                f"{reader}/{number}",
                (opened.shared if difference else opened.count).opens,
                {
                    "Reader": one.name,
                    "First day": block.first.isoformat(),
                    "Last day": block.last.isoformat(),
                    value: mean,
                    "Low": around.low,
                    "High": around.high,
                    "n": block.shared if difference else block.n,
                    "From": f"{block.first}T00:00:00Z",
                    "To": f"{block.last}T23:59:59Z",
                    "Middle": f"{middle}T12:00:00Z",
                    "who": reader,
                },
            )
    return marks

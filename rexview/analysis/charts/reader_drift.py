"""Charts of a pair of readers over time: mean scores, and the difference from the other reader."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked import LinkedChart, Marks, clickable, faded, linked
from rexview.analysis.charts.model_rows import LONG_LEGEND_COLUMNS
from rexview.analysis.colours import REFERENCE_COLOUR
from rexview.analysis.readers.captions import drift_caption, short
from rexview.analysis.readers.tables import ReaderDrift
from rexview.words import tr

_COLOURS: Final = {"r0": "#4F8F83", "r1": "#B0762E"}
_SHAPES: Final = {"r0": "circle", "r1": "square"}
_HIDDEN: Final = ("From", "To", "Middle", "who")


def drift_charts(drifts: Sequence[ReaderDrift], dimension: str) -> tuple[LinkedChart, ...]:
    """Draw the mean scores over time, and the difference from the other reader.

    ``dimension`` is its name on screen. Empty when no reader has two blocks; one chart when nothing
    is shared.
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
    marks = _blocks(drifts, shown, value)
    if not marks.rows:
        return None
    frame = marks.frame
    labels = {f"r{place}": short(one.name) for place, one in enumerate(drifts)}
    met = [reader for reader in labels if reader in set(frame["who"])]
    named = f"{json.dumps(labels)}[datum.value]"  # names are free text, so keys are drawn
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
    select = clickable()
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
            opacity=faded(select),
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
    return linked(
        f"{dimension}: {name}",
        drawn,
        marks,
        caption=drift_caption(drifts, difference=difference),
        hidden=_HIDDEN,
    )


def _blocks(drifts: Sequence[ReaderDrift], shown: Sequence[ReaderDrift], value: str) -> Marks:
    """Return each block that has the number."""
    difference = value == "Difference"
    marks = Marks()
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

"""Charts of the Readers page: where two readers agree, and who is stricter.

Readers' names are free text: they stand in titles and values, never in the names of columns.
"""

from __future__ import annotations

import textwrap
from typing import Any, Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked import (
    NAMES_AXIS,
    LinkedChart,
    Marks,
    clickable,
    faded,
    linked,
)
from rexview.analysis.colours import MODEL_COLOURS, REFERENCE_COLOUR
from rexview.analysis.readers.captions import (
    bubble_caption,
    confusion_caption,
    short,
    stricter_caption,
)
from rexview.analysis.readers.tables import DimensionAgreement, ReaderTables
from rexview.stats.units import LEVELS
from rexview.words import beginning, tr

_TITLE_LETTERS: Final = 36
"""So many stand in a line of the title of an axis: what a phone has room for."""
_HEAT: Final = ("rgba(60, 144, 204, 0.18)", "rgba(60, 144, 204, 0.75)")
_EMPTY: Final = "rgba(128, 128, 128, 0.07)"
_INK: Final = "currentColor"
"""Text over marks: that of the page, in both themes and on paper."""
_CELL: Final = 28


def confusion_chart(found: DimensionAgreement, names: tuple[str, str]) -> LinkedChart:
    """Draw the confusion map of one dimension: reader a's scores upwards, b's to the right."""
    marks = _cells(found, names)
    grid = pd.DataFrame([{"a": a, "b": b} for a in LEVELS for b in LEVELS])
    x = alt.X("Score 2:O", title=short(names[1]), axis=_level_axis(), scale=_levels())
    y = alt.Y("Score 1:O", title=short(names[0]), axis=_level_axis(), scale=_levels(turned=True))
    select = clickable()
    most = max((cell.count.value for cell in found.cells), default=1)
    count = beginning(found.unit)
    cells = alt.Chart(marks.frame).encode(x=x, y=y)
    heat = (
        cells.mark_rect(cursor="pointer")
        .encode(
            color=alt.Color(
                f"{count}:Q",
                scale=alt.Scale(domain=[0, most], range=list(_HEAT)),
                legend=None,
            ),
            opacity=faded(select),
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
    return linked(title, drawn, marks, caption=confusion_caption(found))


def bubble_chart(found: DimensionAgreement, names: tuple[str, str]) -> LinkedChart:
    """Draw one reader's scores against the other's, bubbles by how often they are met."""
    marks = _cells(found, names)
    count = beginning(found.unit)
    axis = _level_axis(grid=True)
    scale = alt.Scale(domain=[0.4, 5.6], nice=False, zero=False)
    base = alt.Chart(marks.frame).encode(
        x=alt.X("Score 1:Q", title=f"Score of {short(names[0])}", axis=axis, scale=scale),
        y=alt.Y("Score 2:Q", title=f"Score of {short(names[1])}", axis=axis, scale=scale),
    )
    select = clickable()
    most = max((cell.count.value for cell in found.cells), default=1)
    bubbles = (
        base.mark_circle(cursor="pointer", color=MODEL_COLOURS[0])
        .encode(
            size=alt.Size(
                f"{count}:Q", scale=alt.Scale(domain=[0, most], range=[150, 1900]), legend=None
            ),
            opacity=faded(select, full=0.55),
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
    return linked(title, drawn, marks, caption=bubble_caption(found, names))


def stricter_chart(tables: ReaderTables) -> LinkedChart | None:
    """Draw the mean difference of the two readers per dimension; None when they share nothing."""
    if tables.pair is None or not tables.compared:
        return None
    names = [tables.readers[reader] for reader in tables.pair]
    marks = Marks()
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
                short=short(names[0]), short_2=short(names[1])
            ),
            _TITLE_LETTERS,
        ),
        scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=alt.Axis(tickCount=5, titleLimit=400),
    )
    select = clickable()
    spans = (
        base.transform_filter("isValid(datum.Low)")
        .mark_rule(strokeWidth=2, color=MODEL_COLOURS[0], aria=False)
        .encode(x="Low:Q", x2="High:Q")
    )
    points = (
        base.mark_point(filled=True, size=130, cursor="pointer", color=MODEL_COLOURS[0])
        .encode(
            x=x,
            opacity=faded(select),
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
    return linked(title, drawn, marks, caption=stricter_caption(tables))


def _cells(found: DimensionAgreement, names: tuple[str, str]) -> Marks:
    """Return the cells of a confusion map."""
    marks = Marks()
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
                beginning(found.unit): cell.count.value,
                "Cases": cell.cases,
            },
        )
    return marks


def _tooltips(count: str) -> list[Any]:
    return ["Reader 1", "Score 1", "Reader 2", "Score 2", count, "Cases"]


def _level_axis(*, grid: bool = False) -> alt.Axis:
    return alt.Axis(
        labelAngle=0, values=list(LEVELS), format="d", grid=grid, ticks=False, titleLimit=260
    )


def _levels(*, turned: bool = False) -> alt.Scale:
    return alt.Scale(domain=list(LEVELS)[:: -1 if turned else 1])

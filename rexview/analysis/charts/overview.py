"""Charts of the Overview: means per dimension, what sets Content, the spread of the gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked import (
    KEY,
    LABEL,
    NAMES_AXIS,
    LinkedChart,
    clickable,
    colour_of_models,
    faded,
    linked,
    linked_bars,
)
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.overview import Overview

SIDE_BY_SIDE: Final = 4
"""Bars of more models than this are no longer told apart: each then has a row of cells."""
_GAP: Final = "Gap: Process minus Execution"
_SHADES: Final = ("#E4EEF7", "#6CA6DC")
"""Light enough for dark figures on them, whatever the theme."""
_INK: Final = "#14191D"
_LINES: Final = "split(datum.label, ' and ')"
"""Labels of several parts stand in lines."""


def overview_charts(
    numbers: Overview, colours: Mapping[str, str] | None = None
) -> tuple[LinkedChart, ...]:
    """Draw all charts of the Overview that have something to show."""
    numbers = replace(numbers, models=_told_apart(numbers.models))
    drawn = (draw(numbers, colours) for draw in (means_chart, weakest_chart, gap_chart))
    return tuple(chart for chart in drawn if chart is not None)


def _told_apart(models: Mapping[str, str]) -> dict[str, str]:
    """Add its id to a name that several models have: a chart would take them for one."""
    met = Counter(models.values())
    return {model: f"{name} ({model})" if met[name] > 1 else name for model, name in models.items()}


def weakest_chart(
    numbers: Overview, colours: Mapping[str, str] | None = None
) -> LinkedChart | None:
    """Draw which part sets Content, per model, as shares of the answers with all three scores.

    Returns
    -------
    LinkedChart or None
        None when no answer has all three scores.
    """
    rows = [
        {
            "Weakest link": share.name,
            "Model": numbers.models[share.model],
            "Answers": share.answers.value,
            "of": share.answers.of,
            "Share": share.answers.share,
            LABEL: f"{share.answers.value:,} of {share.answers.of:,}",
            KEY: f"{share.model}/{share.part}",
        }
        for share in numbers.weakest
    ]
    filters = {f"{share.model}/{share.part}": share.answers.opens for share in numbers.weakest}
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    title = "Weakest link: what sets Content"
    tips: list[str | alt.Tooltip] = [
        "Model",
        "Weakest link",
        "Answers",
        "of",
        alt.Tooltip("Share:Q", format=".0%"),
    ]
    if len(numbers.models) > SIDE_BY_SIDE:
        return _map(title, numbers, frame, filters, "Weakest link", "Share:Q", tips)
    largest = float(frame["Share"].max())
    base = alt.Chart(frame).encode(
        y=alt.Y("Weakest link:N", sort=None, title=None, axis=NAMES_AXIS),
        yOffset=alt.YOffset("Model:N", sort=list(numbers.models.values())),
        x=alt.X(
            "Share:Q",
            title="Share of scored answers",
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1.3 * largest], nice=False),
        ),
        color=colour_of_models(numbers.models, colours),
        tooltip=tips,
    )
    return linked_bars(title, base, frame, filters)


def means_chart(numbers: Overview, colours: Mapping[str, str] | None = None) -> LinkedChart | None:
    """Draw the mean final score of each dimension, per model; None when nothing is scored."""
    rows = [
        {
            "Dimension": mean.name,
            "Model": numbers.models[mean.model],
            "Mean": mean.mean,
            "n": mean.scored.value,
            "of": "pictures" if mean.of_pictures else "answers",
            LABEL: f"{mean.mean:.2f}",
            KEY: f"{mean.model}/{mean.dimension}",
        }
        for mean in numbers.means
    ]
    filters = {f"{mean.model}/{mean.dimension}": mean.scored.opens for mean in numbers.means}
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    title = "Scores per dimension"
    tips: list[str | alt.Tooltip] = [
        "Model",
        "Dimension",
        alt.Tooltip("Mean:Q", format=".2f"),
        "n",
        "of",
    ]
    if len(numbers.models) > SIDE_BY_SIDE:
        return _map(title, numbers, frame, filters, "Dimension", "Mean:Q", tips)
    order = list(dict.fromkeys(frame["Dimension"]))
    base = alt.Chart(frame).encode(
        y=alt.Y("Dimension:N", sort=order, title=None, axis=NAMES_AXIS),
        yOffset=alt.YOffset("Model:N", sort=list(numbers.models.values())),
        x=alt.X(
            "Mean:Q",
            title="Mean final score, 1 to 5",
            axis=alt.Axis(values=[1, 2, 3, 4, 5], format="d"),
            scale=alt.Scale(domain=[1, 5.4], nice=False),
            stack=None,
        ),
        x2=alt.datum(1),
        color=colour_of_models(numbers.models, colours),
        tooltip=tips,
    )
    return linked_bars(title, base, frame, filters)


def gap_chart(numbers: Overview, colours: Mapping[str, str] | None = None) -> LinkedChart | None:
    """Draw how the gaps (process minus execution) spread, per model; None without any gap."""
    rows = [
        {
            "Gap": bin_.gap,
            "Model": numbers.models[bin_.model],
            "Answers": bin_.answers.value,
            KEY: f"{bin_.model}/{bin_.gap}",
        }
        for bin_ in numbers.gap_bins
    ]
    filters = {f"{bin_.model}/{bin_.gap}": bin_.answers.opens for bin_ in numbers.gap_bins}
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    title = "Execution-vs-process gap"
    tips: list[str | alt.Tooltip] = ["Model", "Gap", "Answers"]
    if len(numbers.models) > SIDE_BY_SIDE:
        frame[LABEL] = frame["Answers"].map("{:,}".format)
        return _map(title, numbers, frame, filters, "Gap", "Answers:Q", tips)
    base = alt.Chart(frame).encode(
        x=alt.X("Gap:O", title=_GAP, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("Model:N", sort=list(numbers.models.values())),
        y=alt.Y("Answers:Q", title="Answers", axis=alt.Axis(tickMinStep=1, format="d")),
        color=colour_of_models(numbers.models, colours),
        tooltip=tips,
    )
    return linked_bars(title, base, frame, filters, label="Answers:Q", upright=True)


def _map(
    title: str,
    numbers: Overview,
    frame: pd.DataFrame,
    filters: Mapping[str, CaseFilter],
    across: str,
    value: str,
    tips: Sequence[str | alt.Tooltip],
) -> LinkedChart:
    """Draw a row for each model and a cell for each number: for more models than bars can show."""
    select = clickable()
    sort = "ascending" if across == "Gap" else list(dict.fromkeys(frame[across]))
    base = alt.Chart(frame).encode(
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
        .encode(color=shade, opacity=faded(select), tooltip=list(tips))
        .add_params(select)
    )
    texts = base.mark_text(fontSize=11, color=_INK).encode(text=f"{LABEL}:N")
    drawn = alt.layer(cells, texts).properties(height=alt.Step(24))
    return linked(title, drawn, frame, filters)

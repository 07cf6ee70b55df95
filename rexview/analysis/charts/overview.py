"""Charts of the Overview: means per dimension, what sets Content, the spread of the gaps."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked import (
    KEY,
    LABEL,
    NAMES_AXIS,
    LinkedChart,
    colour_of_models,
    linked_bars,
)
from rexview.analysis.overview import Overview


def overview_charts(
    numbers: Overview, colours: Mapping[str, str] | None = None
) -> tuple[LinkedChart, ...]:
    """Draw all charts of the Overview that have something to show."""
    drawn = (draw(numbers, colours) for draw in (means_chart, weakest_chart, gap_chart))
    return tuple(chart for chart in drawn if chart is not None)


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
        tooltip=["Model", "Weakest link", "Answers", "of", alt.Tooltip("Share:Q", format=".0%")],
    )
    return linked_bars("Weakest link: what sets Content", base, frame, filters)


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
        tooltip=["Model", "Dimension", alt.Tooltip("Mean:Q", format=".2f"), "n", "of"],
    )
    return linked_bars("Scores per dimension", base, frame, filters)


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
    base = alt.Chart(frame).encode(
        x=alt.X("Gap:O", title="Gap: Process minus Execution", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("Model:N", sort=list(numbers.models.values())),
        y=alt.Y("Answers:Q", title="Answers", axis=alt.Axis(tickMinStep=1, format="d")),
        color=colour_of_models(numbers.models, colours),
        tooltip=["Model", "Gap", "Answers"],
    )
    return linked_bars(
        "Execution-vs-process gap", base, frame, filters, label="Answers:Q", upright=True
    )

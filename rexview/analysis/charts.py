"""Charts of the Overview, in Altair: every mark carries the key of the filter that opens its cases.

No background or text colour is set, so that a chart follows the theme of the page. Colours of
models come from :mod:`rexview.analysis.colours`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt
import pandas as pd

from rexview.analysis.case_filter import CaseFilter
from rexview.analysis.colours import model_colours
from rexview.analysis.overview import Overview

SELECTION: Final = "opened"
"""Name of the selection parameter of every chart."""
_KEY: Final = "key"
_NAMES_AXIS: Final = alt.Axis(labelLimit=220, ticks=False, domain=False)


@dataclass(frozen=True, eq=False)
class LinkedChart:
    """A chart, the table behind it, and the filter of each mark by its key.

    ``spec`` is the chart in Vega-Lite: to be drawn many times, it is worked out once.
    """

    title: str
    spec: dict[str, Any]
    table: pd.DataFrame
    filters: Mapping[str, CaseFilter]

    def chosen(self, event: Mapping[str, Any] | None) -> CaseFilter | None:
        """Return the filter of the mark that was clicked.

        Parameters
        ----------
        event : mapping or None
            ``selection`` of the chart's event: points by selection parameter.
        """
        points: Sequence[Mapping[str, Any]] = (event or {}).get(SELECTION) or ()
        return next((self.filters.get(str(point.get(_KEY))) for point in points), None)


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
            "Label": f"{share.answers.value:,} of {share.answers.of:,}",
            _KEY: f"{share.model}/{share.part}",
        }
        for share in numbers.weakest
    ]
    filters = {f"{share.model}/{share.part}": share.answers.opens for share in numbers.weakest}
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    largest = float(frame["Share"].max())
    base = alt.Chart(frame).encode(
        y=alt.Y("Weakest link:N", sort=None, title=None, axis=_NAMES_AXIS),
        yOffset=alt.YOffset("Model:N", sort=list(numbers.models.values())),
        x=alt.X(
            "Share:Q",
            title="Share of scored answers",
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1.3 * largest], nice=False),
        ),
        color=_colour(numbers, colours),
        tooltip=["Model", "Weakest link", "Answers", "of", alt.Tooltip("Share:Q", format=".0%")],
    )
    return _linked("Weakest link: what sets Content", base, frame, filters, "Label:N")


def means_chart(numbers: Overview, colours: Mapping[str, str] | None = None) -> LinkedChart | None:
    """Draw the mean final score of each dimension, per model; None when nothing is scored."""
    rows = [
        {
            "Dimension": mean.name,
            "Model": numbers.models[mean.model],
            "Mean": round(mean.mean, 4),
            "Answers": mean.answers.value,
            "Label": f"{mean.mean:.2f}",
            _KEY: f"{mean.model}/{mean.dimension}",
        }
        for mean in numbers.means
    ]
    filters = {f"{mean.model}/{mean.dimension}": mean.answers.opens for mean in numbers.means}
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    order = list(dict.fromkeys(frame["Dimension"]))
    base = alt.Chart(frame).encode(
        y=alt.Y("Dimension:N", sort=order, title=None, axis=_NAMES_AXIS),
        yOffset=alt.YOffset("Model:N", sort=list(numbers.models.values())),
        x=alt.X(
            "Mean:Q",
            title="Mean final score, 1 to 5",
            axis=alt.Axis(values=[1, 2, 3, 4, 5], format="d"),
            scale=alt.Scale(domain=[1, 5.4], nice=False),
            stack=None,
        ),
        x2=alt.datum(1),
        color=_colour(numbers, colours),
        tooltip=["Model", "Dimension", alt.Tooltip("Mean:Q", format=".2f"), "Answers"],
    )
    return _linked("Scores per dimension", base, frame, filters, "Label:N")


def gap_chart(numbers: Overview, colours: Mapping[str, str] | None = None) -> LinkedChart | None:
    """Draw how the gaps (process minus execution) spread, per model; None without any gap."""
    rows = [
        {
            "Gap": bin_.gap,
            "Model": numbers.models[bin_.model],
            "Answers": bin_.answers.value,
            _KEY: f"{bin_.model}/{bin_.gap}",
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
        color=_colour(numbers, colours),
        tooltip=["Model", "Gap", "Answers"],
    )
    return _linked("Execution-vs-process gap", base, frame, filters, "Answers:Q", upright=True)


def _colour(numbers: Overview, colours: Mapping[str, str] | None) -> alt.Color:
    colours = colours or model_colours(numbers.models)
    scale = alt.Scale(
        domain=list(numbers.models.values()), range=[colours[model] for model in numbers.models]
    )
    return alt.Color(
        "Model:N",
        scale=scale,
        title=None,
        legend=alt.Legend(orient="top", direction="vertical", labelLimit=0),
    )


def _linked(
    title: str,
    base: alt.Chart,
    frame: pd.DataFrame,
    filters: Mapping[str, CaseFilter],
    label: str,
    *,
    upright: bool = False,
) -> LinkedChart:
    """Add bars that can be clicked, a text at each, and the selection that says which."""
    select = alt.selection_point(name=SELECTION, fields=[_KEY], empty=True)
    bars = (
        base.mark_bar(cursor="pointer")
        .encode(opacity=alt.condition(select, alt.value(1), alt.value(0.45)))
        .add_params(select)
    )
    place: dict[str, Any] = {"dy": -6} if upright else {"dx": 4, "align": "left"}
    texts = base.mark_text(fontSize=11, **place).encode(text=label)
    drawn = alt.layer(bars, texts).properties(height=_height(frame, upright=upright))
    table = frame.drop(columns=[column for column in (_KEY, "Label") if column in frame])
    return LinkedChart(title, drawn.to_dict(), table, filters)


def _height(frame: pd.DataFrame, *, upright: bool) -> Any:
    if upright:
        return 232
    models = frame["Model"].nunique()
    return alt.Step(max(14, 30 // models)) if models > 1 else alt.Step(24)

"""Charts in Altair: every mark carries the key of the filter that opens its cases."""

from rexview.analysis.charts.linked import (
    KEY,
    LABEL,
    NAMES_AXIS,
    SELECTION,
    LinkedChart,
    clickable,
    colour_of_models,
    faded,
    linked,
    linked_bars,
    step_of,
)
from rexview.analysis.charts.overview import gap_chart, means_chart, overview_charts, weakest_chart

__all__ = [
    "KEY",
    "LABEL",
    "NAMES_AXIS",
    "SELECTION",
    "LinkedChart",
    "clickable",
    "colour_of_models",
    "faded",
    "gap_chart",
    "linked",
    "linked_bars",
    "means_chart",
    "overview_charts",
    "step_of",
    "weakest_chart",
]

"""Charts in Altair: every mark carries the key of the filter that opens its cases."""

from rexview.analysis.charts.linked import (
    KEY,
    SELECTION,
    LinkedChart,
    linked,
)
from rexview.analysis.charts.overview import gap_chart, means_chart, overview_charts, weakest_chart

__all__ = [
    "KEY",
    "SELECTION",
    "LinkedChart",
    "gap_chart",
    "linked",
    "means_chart",
    "overview_charts",
    "weakest_chart",
]

"""Rows of a chart with one row a model, under a heading for each group.

Rows stand by keys of our own and carry their names as labels, so that equal names, however odd, do
not fall together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

import altair as alt

ROW: Final = "row"
"""Column of the frame with the key of the row; not for the table."""
NARROW: Final = "(containerSize()[0] < 480)"
"""Whether a chart has the width of a phone, as an expression of Vega."""
LABEL_LIMIT: Final = alt.ExprRef(f"{NARROW} ? 110 : 230")
"""Names are cut at this width, in pixels."""
LEGEND_COLUMNS: Final = alt.ExprRef(f"{NARROW} ? 2 : 5")
"""So many names stand side by side in a legend."""
LONG_LEGEND_COLUMNS: Final = alt.ExprRef(f"{NARROW} ? 1 : 5")
"""The same where two of the names are wider than the plot of a phone."""
_HEADING: Final = "h"


@dataclass
class ModelRows:
    """The rows of a chart in their order: headings, and models under them."""

    labels: dict[str, str] = field(default_factory=dict)

    def heading(self, text: str) -> str:
        """Add a heading; return its key."""
        return self._add(_HEADING, text)

    def model(self, text: str) -> str:
        """Add a row; return its key."""
        return self._add("r", text)

    def _add(self, kind: str, text: str) -> str:
        key = f"{kind}{len(self.labels)}"
        self.labels[key] = text
        return key

    def encoding(self) -> alt.Y:
        """Return the encoding of the rows; the frame has their keys in column :data:`ROW`."""
        weight: Any = {
            "condition": {"test": f"datum.value[0] === '{_HEADING}'", "value": "bold"},
            "value": "normal",
        }
        axis = alt.Axis(
            labelExpr=f"{json.dumps(self.labels)}[datum.value]",
            labelLimit=LABEL_LIMIT,
            labelFontWeight=weight,
            ticks=False,
            domain=False,
        )
        return alt.Y(f"{ROW}:N", sort=None, title=None, axis=axis, scale=self.scale())

    @property
    def step(self) -> int:
        """Height of a row in pixels: less when there are many."""
        return 21 if len(self.labels) <= 30 else 17

    def scale(self) -> alt.Scale:
        """Return the scale with all rows, also those without a mark."""
        return alt.Scale(domain=list(self.labels), paddingInner=0.2, paddingOuter=0.1)

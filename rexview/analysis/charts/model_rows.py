"""Rows of a chart with one row a model, under a heading for each group.

Rows stand by keys of our own and carry their names as labels, so that equal names, however odd, do
not fall together.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import altair as alt

ROW: Final = "row"
"""Column of the frame with the key of the row; not for the table."""
NARROW: Final = "(containerSize()[0] < 480)"
"""Whether a chart has the width of a phone, as an expression of Vega."""
LABEL_LIMIT: Final = alt.ExprRef(f"{NARROW} ? 118 : 230")
"""A line of a name is cut at this width, in pixels."""
LINE_HEIGHT: Final = 10
"""Of names in two lines, in pixels: they stand within a row."""
TITLE_LETTERS: Final = 30
"""So many of the title of an axis stand in a line: what a phone has room for beside names."""
_LETTERS: Final = 17
"""So many stand in a line of a name on a phone."""
LEGEND_COLUMNS: Final = alt.ExprRef(f"{NARROW} ? 2 : 5")
"""So many names stand side by side in a legend."""
LONG_LEGEND_COLUMNS: Final = alt.ExprRef(f"{NARROW} ? 1 : 5")
"""The same where two of the names are wider than the plot of a phone."""
_HEADING: Final = "h"


def in_lines(name: str, letters: int = _LETTERS) -> list[str]:
    """Return a name in one line or two, as a phone shows it: what is longer still is cut there.

    >>> in_lines("Generalist (simulated)")
    ['Generalist', '(simulated)']
    """
    lines = textwrap.wrap(name, letters)
    return [lines[0], " ".join(lines[1:])] if len(lines) > 1 else [name]


def wrapped_names(names: Mapping[str, str], letters: int = _LETTERS) -> dict[str, Any]:
    """Return what an axis of names needs: on a phone a long one stands in two lines.

    ``names`` are by the value on the axis.
    """
    lines = {key: in_lines(name, letters) for key, name in names.items()}
    two = [key for key, parts in lines.items() if len(parts) > 1]
    # the first of two lines stands on the middle of the row, the second under it
    baseline: Any = {
        "condition": {
            "test": f"{NARROW} && indexof({json.dumps(two)}, datum.value) >= 0",
            "value": "alphabetic",
        },
        "value": "middle",
    }
    return {
        "labelExpr": f"({NARROW} ? {json.dumps(lines)} : {json.dumps(dict(names))})[datum.value]",
        "labelLimit": LABEL_LIMIT,
        "labelLineHeight": LINE_HEIGHT,
        "labelBaseline": baseline,
        "labelOverlap": False,
    }


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
            **wrapped_names(self.labels), labelFontWeight=weight, ticks=False, domain=False
        )
        return alt.Y(f"{ROW}:N", sort=None, title=None, axis=axis, scale=self.scale())

    @property
    def step(self) -> int:
        """Height of a row in pixels: less when there are many and no name needs two lines."""
        long = any(len(in_lines(name)) > 1 for name in self.labels.values())
        return 24 if long else 21 if len(self.labels) <= 30 else 17

    def scale(self) -> alt.Scale:
        """Return the scale with all rows, also those without a mark."""
        return alt.Scale(domain=list(self.labels), paddingInner=0.2, paddingOuter=0.1)

"""A chart whose every mark opens its cases, and what such charts are built from.

No background or text colour is set in a chart, so that it follows the theme of the page; colours of
models come from :mod:`rexview.analysis.colours`. To draw one:

1. each mark is a row of :class:`Marks`, with the filter that it opens;
2. ``select = clickable()`` is added to the layer whose marks are clicked, and gives its opacity by
   :func:`faded`;
3. :func:`linked` takes the finished chart. Plain bars are drawn by :func:`linked_bars`, points with
   intervals by :func:`points`.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.column_names import name_columns
from rexview.analysis.colours import MODEL_COLOURS, model_colours
from rexview.analysis.query.filter.case_filter import CaseFilter

SELECTION: Final = "opened"
"""Name of the selection parameter of every chart."""
KEY: Final = "key"
"""Column of a chart's frame that names the mark; not shown in the table."""
LABEL: Final = "Label"
"""Column with the text beside a bar; not shown in the table."""
LONGEST_NAME: Final = 220
"""Names on an axis and in a legend are cut at this width, in pixels."""
INK: Final = "#14191D"
"""Text on light fills, whatever the theme."""
Tip = str | alt.Tooltip
NAMES_AXIS: Final = alt.Axis(labelLimit=LONGEST_NAME, ticks=False, domain=False)
"""Axis for names of dimensions, models or readers."""


@dataclass
class Marks:
    """The rows of a chart's frame, one for each mark, and the filter that each opens."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    filters: dict[str, CaseFilter] = field(default_factory=dict)

    def add(self, key: str, opens: CaseFilter, row: Mapping[str, Any]) -> None:
        """Add a mark; ``key`` is another for each."""
        self.rows.append({**row, KEY: key})
        self.filters[key] = opens

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All rows: asked for when the last mark was added."""
        return pd.DataFrame(self.rows)


@dataclass(frozen=True, eq=False)
class LinkedChart:
    """A chart, the table behind it, and the filter of each mark by its key.

    Attributes
    ----------
    title : str
        Stands above the chart and names downloads.
    spec : dict
        The chart in Vega-Lite: to be drawn many times, it is worked out once.
    table : pandas.DataFrame
        The numbers behind it, at full precision.
    filters : mapping of str to CaseFilter
        By the key of a mark. May be worked out when asked for.
    caption : str
        Which test, which n, what was left out: under the chart and in every download.
    """

    title: str
    spec: dict[str, Any]
    table: pd.DataFrame
    filters: Mapping[str, CaseFilter]
    caption: str = ""

    def chosen(self, event: Mapping[str, Any] | None) -> CaseFilter | None:
        """Return the filter of the mark that was clicked.

        ``event`` is the ``selection`` of the chart's event: points by selection parameter.
        """
        points: Sequence[Mapping[str, Any]] = (event or {}).get(SELECTION) or ()
        return next((self.filters.get(str(point.get(KEY))) for point in points), None)


def clickable() -> alt.Parameter:
    """Return the selection to add to the layer whose marks open their cases."""
    return alt.selection_point(name=SELECTION, fields=[KEY], empty=True)


def faded(select: alt.Parameter, *, full: float = 1.0) -> Any:
    """Return an opacity that fades the marks that were not clicked."""
    return alt.condition(select, alt.value(full), alt.value(0.45 * full))


def colour_of_models(
    models: Mapping[str, str],
    colours: Mapping[str, str] | None = None,
    *,
    legend: bool | None = None,
) -> alt.Color:
    """Return the colour encoding of models, whose names stand in column ``Model``.

    ``colours`` are those of the whole review set, so that a filter does not change them. By default
    there is a legend unless there are more models than colours: a colour then stands for several
    models, and names have to stand at the marks.
    """
    colours = colours or model_colours(models)
    scale = alt.Scale(domain=list(models.values()), range=[colours[model] for model in models])
    shown = len(models) <= len(MODEL_COLOURS) if legend is None else legend
    key = alt.Legend(orient="top", direction="vertical", labelLimit=LONGEST_NAME)
    return alt.Color("Model:N", scale=scale, title=None, legend=key if shown else None)


def linked(
    title: str,
    drawn: alt.TopLevelMixin,
    marks: Marks,
    *,
    caption: str = "",
    hidden: Sequence[str] = (),
) -> LinkedChart:
    """Make a linked chart of any Altair chart that has the selection of :func:`clickable`.

    It is drawn without title, background or text colours, with a height and no width. The table has
    all columns but KEY, LABEL and those that are ``hidden``.
    """
    left_out = [column for column in (KEY, LABEL, *hidden) if column in marks.frame]
    table = marks.frame.drop(columns=left_out)
    spec = drawn.to_dict()
    # Streamlit's theme pushes the first name of an axis down, away from its row
    spec.setdefault("config", {})["axis"] = {"labelFlush": False}
    name_columns(spec)
    return LinkedChart(title, spec, table, marks.filters, caption)


def linked_bars(
    title: str,
    base: alt.Chart,
    marks: Marks,
    *,
    label: str = f"{LABEL}:N",
    upright: bool = False,
) -> LinkedChart:
    """Draw bars that can be clicked, with a text at each.

    ``base`` has all encodings but opacity and text, the frame a column ``Model``; ``label`` is the
    field of the text. Bars lie unless ``upright``.
    """
    select = clickable()
    bars = base.mark_bar(cursor="pointer").encode(opacity=faded(select)).add_params(select)
    place: dict[str, Any] = {"dy": -6} if upright else {"dx": 4, "align": "left"}
    texts = base.mark_text(fontSize=11, **place).encode(text=label)
    n_models = marks.frame["Model"].nunique()
    # the more models share a row of lying bars, the lower each
    step = alt.Step(max(14, 30 // n_models)) if n_models > 1 else alt.Step(24)
    drawn = alt.layer(bars, texts).properties(height=320 if upright else step)
    return linked(title, drawn, marks)


def points(
    base: alt.Chart,
    select: alt.Parameter,
    tips: Sequence[Tip],
    *,
    size: int,
    shape: alt.Shape | alt.typing.Optional[Any] = alt.Undefined,
) -> list[alt.Chart]:
    """Draw points that can be clicked, each with its interval under it and its text beside it.

    The frame has ``CI low``, ``CI high``, ``drawn`` (where the text begins) and :data:`LABEL`.
    """
    bounds = base.mark_rule(strokeWidth=2, aria=False).encode(x="CI low:Q", x2="CI high:Q")
    dots = (
        base.mark_point(filled=True, size=size, cursor="pointer")
        .encode(opacity=faded(select), tooltip=list(tips), shape=shape)
        .add_params(select)
    )
    texts = base.mark_text(align="left", dx=9, fontSize=11).encode(
        x="drawn:Q", text=f"{LABEL}:N", color=alt.Undefined
    )
    return [bounds, dots, texts]


def percent(column: str) -> alt.Tooltip:
    """Return a tooltip with a share as a percentage."""
    return alt.Tooltip(f"{column}:Q", format=".0%")


# Rows of a chart with one row a model, under a heading for each group.
#
# Rows stand by keys of our own and carry their names as labels, so that equal names, however odd,
# do not fall together.

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

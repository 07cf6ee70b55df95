"""Charts with marks that open their cases, and the parts of such charts.

A chart sets no background or text colour, so that it follows the theme of the page. Colours of
models come from :mod:`rexview.analysis.colours`. To draw a chart:

1. Add a row to :class:`ChartMarks` for each mark, with the filter that it opens.
2. Add ``select = clickable()`` to the layer whose marks are clicked, and set its opacity to
   ``faded(select)``.
3. Pass the finished chart to :func:`link_chart`. :func:`draw_linked_bars` draws plain bars,
   :func:`draw_points`
   draws points with intervals.
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

from rexview.analysis.charts.column_names import set_column_titles
from rexview.analysis.colours import MODEL_COLOURS, assign_model_colours
from rexview.analysis.query.filter.case_filter import CaseFilter

SELECTION: Final = "opened"
"""Name of the selection parameter of every chart."""
MARK_KEY: Final = "key"
"""Column of a chart's frame with the mark's key; not shown in the table."""
MARK_LABEL: Final = "Label"
"""Column with the text of a mark; not shown in the table."""
LONGEST_NAME: Final = 220
"""Largest width of a name on an axis or in a legend, in pixels; the rest is cut off."""
INK: Final = "#14191D"
"""Colour of text on light fills, in every theme."""
TooltipSpec = str | alt.Tooltip
NAMES_AXIS: Final = alt.Axis(labelLimit=LONGEST_NAME, ticks=False, domain=False)
"""Axis for names of dimensions, models or readers."""


@dataclass
class ChartMarks:
    """The rows of a chart's frame, one for each mark, with the filters that they open."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    filters: dict[str, CaseFilter] = field(default_factory=dict)

    def add(self, key: str, opens: CaseFilter, row: Mapping[str, Any]) -> None:
        """Add a mark; ``key`` must be unique."""
        self.rows.append({**row, MARK_KEY: key})
        self.filters[key] = opens

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All rows; read it only after the last mark was added."""
        return pd.DataFrame(self.rows)


@dataclass(frozen=True, eq=False)
class LinkedChart:
    """A chart, its table, and the filter of each mark by key.

    Attributes
    ----------
    title : str
        Title above the chart, also used for file names.
    spec : dict
        The chart in Vega-Lite, computed once because it is drawn many times.
    table : pandas.DataFrame
        The chart's numbers, at full precision.
    filters : mapping of str to CaseFilter
        Filters by key of a mark; the mapping may compute them on access.
    caption : str
        Test, n and omissions, shown under the chart and in every download.
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
        return next((self.filters.get(str(point.get(MARK_KEY))) for point in points), None)


def click_selection() -> alt.Parameter:
    """Return the selection to add to the layer whose marks open their cases."""
    return alt.selection_point(name=SELECTION, fields=[MARK_KEY], empty=True)


def fade_unclicked(select: alt.Parameter, *, full: float = 1.0) -> Any:
    """Return an opacity that fades the marks that were not clicked."""
    return alt.condition(select, alt.value(full), alt.value(0.45 * full))


def colour_of_models(
    models: Mapping[str, str],
    colours: Mapping[str, str] | None = None,
    *,
    legend: bool | None = None,
) -> alt.Color:
    """Return the colour encoding of models, whose names are in column ``Model``.

    ``colours`` are those of the whole review set, so that a filter does not change them. By default
    there is a legend unless there are more models than colours. Then models share a colour, and
    the marks need labels with names.
    """
    colours = colours or assign_model_colours(models)
    scale = alt.Scale(domain=list(models.values()), range=[colours[model] for model in models])
    shown = len(models) <= len(MODEL_COLOURS) if legend is None else legend
    key = alt.Legend(orient="top", direction="vertical", labelLimit=LONGEST_NAME)
    return alt.Color("Model:N", scale=scale, title=None, legend=key if shown else None)


def link_chart(
    title: str,
    drawn: alt.TopLevelMixin,
    marks: ChartMarks,
    *,
    caption: str = "",
    hidden: Sequence[str] = (),
) -> LinkedChart:
    """Return a linked chart from any Altair chart with the selection of :func:`click_selection`.

    ``drawn`` has no title, background or text colours, and a height but no width. The table has all
    columns but KEY, LABEL and ``hidden`` ones.
    """
    left_out = [column for column in (MARK_KEY, MARK_LABEL, *hidden) if column in marks.frame]
    table = marks.frame.drop(columns=left_out)
    spec = drawn.to_dict()
    # Streamlit's theme moves the first name of an axis down, away from its row
    spec.setdefault("config", {})["axis"] = {"labelFlush": False}
    set_column_titles(spec)
    return LinkedChart(title, spec, table, marks.filters, caption)


def draw_linked_bars(
    title: str,
    base: alt.Chart,
    marks: ChartMarks,
    *,
    label: str = f"{MARK_LABEL}:N",
    upright: bool = False,
) -> LinkedChart:
    """Draw bars that can be clicked, each with a text.

    ``base`` has all encodings but opacity and text; the frame has a column ``Model``. ``label`` is
    the field of the text. Bars are horizontal unless ``upright``.
    """
    select = click_selection()
    bars = base.mark_bar(cursor="pointer").encode(opacity=fade_unclicked(select)).add_params(select)
    place: dict[str, Any] = {"dy": -6} if upright else {"dx": 4, "align": "left"}
    texts = base.mark_text(fontSize=11, **place).encode(text=label)
    n_models = marks.frame["Model"].nunique()
    # the more models share a row of horizontal bars, the thinner each bar
    step = alt.Step(max(14, 30 // n_models)) if n_models > 1 else alt.Step(24)
    drawn = alt.layer(bars, texts).properties(height=320 if upright else step)
    return link_chart(title, drawn, marks)


def draw_points(
    base: alt.Chart,
    select: alt.Parameter,
    tips: Sequence[TooltipSpec],
    *,
    size: int,
    shape: alt.Shape | alt.typing.Optional[Any] = alt.Undefined,
) -> list[alt.Chart]:
    """Return layers of clickable points with their intervals and texts.

    The frame has ``CI low``, ``CI high``, ``drawn`` (start of the text) and :data:`MARK_LABEL`.
    """
    bounds = base.mark_rule(strokeWidth=2, aria=False).encode(x="CI low:Q", x2="CI high:Q")
    dots = (
        base.mark_point(filled=True, size=size, cursor="pointer")
        .encode(opacity=fade_unclicked(select), tooltip=list(tips), shape=shape)
        .add_params(select)
    )
    texts = base.mark_text(align="left", dx=9, fontSize=11).encode(
        x="drawn:Q", text=f"{MARK_LABEL}:N", color=alt.Undefined
    )
    return [bounds, dots, texts]


def percent_tooltip(column: str) -> alt.Tooltip:
    """Return a tooltip with a share as a percentage."""
    return alt.Tooltip(f"{column}:Q", format=".0%")


# Rows of a chart with one row for each model, under a heading for each group.
#
# Rows have generated keys, and names are labels only, so that equal names do not share a row.

ROW_KEY: Final = "row"
"""Column of the frame with the key of the row; not for the table."""
IS_NARROW: Final = "(containerSize()[0] < 480)"
"""Vega expression that is true if a chart has the width of a phone."""
LABEL_LIMIT: Final = alt.ExprRef(f"{IS_NARROW} ? 118 : 230")
"""Largest width of a line of a name, in pixels; the rest is cut off."""
LINE_HEIGHT: Final = 10
"""Line height of names in two lines, in pixels, so that they fit into a row."""
TITLE_LETTERS: Final = 30
"""Most characters in a line of an axis title, for the space next to names on a phone."""
_NAME_LETTERS: Final = 17
"""Most characters in a line of a name on a phone."""
LEGEND_COLUMNS: Final = alt.ExprRef(f"{IS_NARROW} ? 2 : 5")
"""Number of columns of a legend."""
LONG_LEGEND_COLUMNS: Final = alt.ExprRef(f"{IS_NARROW} ? 1 : 5")
"""Number of columns of a legend if two names are wider than the plot on a phone."""
_HEADING: Final = "h"


def split_name(name: str, letters: int = _NAME_LETTERS) -> list[str]:
    """Return a name in one or two lines for a phone, where longer names are cut off.

    >>> split_name("Generalist (simulated)")
    ['Generalist', '(simulated)']
    """
    lines = textwrap.wrap(name, letters)
    return [lines[0], " ".join(lines[1:])] if len(lines) > 1 else [name]


def wrap_names(names: Mapping[str, str], letters: int = _NAME_LETTERS) -> dict[str, Any]:
    """Return axis options for names, which put long names into two lines on a phone.

    ``names`` are by the value on the axis.
    """
    lines = {key: split_name(name, letters) for key, name in names.items()}
    two = [key for key, parts in lines.items() if len(parts) > 1]
    # the first of two lines is above the middle of the row, the second below it
    baseline: Any = {
        "condition": {
            "test": f"{IS_NARROW} && indexof({json.dumps(two)}, datum.value) >= 0",
            "value": "alphabetic",
        },
        "value": "middle",
    }
    return {
        "labelExpr": f"({IS_NARROW} ? {json.dumps(lines)} : {json.dumps(dict(names))})"
        "[datum.value]",
        "labelLimit": LABEL_LIMIT,
        "labelLineHeight": LINE_HEIGHT,
        "labelBaseline": baseline,
        "labelOverlap": False,
    }


@dataclass
class ModelRows:
    """The rows of a chart in order: headings, and models under them."""

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
        """Return the encoding of the rows, whose keys are in the frame's column :data:`ROW_KEY`."""
        weight: Any = {
            "condition": {"test": f"datum.value[0] === '{_HEADING}'", "value": "bold"},
            "value": "normal",
        }
        axis = alt.Axis(
            **wrap_names(self.labels), labelFontWeight=weight, ticks=False, domain=False
        )
        return alt.Y(f"{ROW_KEY}:N", sort=None, title=None, axis=axis, scale=self.scale())

    @property
    def step(self) -> int:
        """Height of a row in pixels, smaller for many rows without names in two lines."""
        long = any(len(split_name(name)) > 1 for name in self.labels.values())
        return 24 if long else 21 if len(self.labels) <= 30 else 17

    def scale(self) -> alt.Scale:
        """Return the scale with all rows, including those without a mark."""
        return alt.Scale(domain=list(self.labels), paddingInner=0.2, paddingOuter=0.1)

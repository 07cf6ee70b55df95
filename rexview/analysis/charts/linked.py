"""A chart whose every mark opens its cases, and what such charts are built from.

No background or text colour is set in a chart, so that it follows the theme of the page; colours of
models come from :mod:`rexview.analysis.colours`. To draw one:

1. a frame with a row for each mark; column :data:`KEY` names the mark, and ``filters`` has the
   filter of each key;
2. ``select = clickable()`` is added to the layer whose marks are clicked, and gives its opacity by
   :func:`faded`;
3. :func:`linked` takes the finished chart. Plain bars are drawn by :func:`linked_bars`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt
import pandas as pd

from rexview.analysis.colours import MODEL_COLOURS, model_colours
from rexview.analysis.filter.case_filter import CaseFilter

SELECTION: Final = "opened"
"""Name of the selection parameter of every chart."""
KEY: Final = "key"
"""Column of a chart's frame that names the mark; not shown in the table."""
LABEL: Final = "Label"
"""Column with the text beside a bar; not shown in the table."""
LONGEST_NAME: Final = 220
"""Names on an axis and in a legend are cut at this width, in pixels."""
NAMES_AXIS: Final = alt.Axis(labelLimit=LONGEST_NAME, ticks=False, domain=False)
"""Axis for names of dimensions, models or readers."""


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

        Parameters
        ----------
        event : mapping or None
            ``selection`` of the chart's event: points by selection parameter.
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
    field: str = "Model",
    legend: bool | None = None,
) -> alt.Color:
    """Return the colour encoding of models.

    Parameters
    ----------
    models : mapping of str to str
        Name on screen by model id, in order.
    colours : mapping of str to str, optional
        Colour by model id; those of the whole review set, so that a filter does not change them.
    field : str
        Column with the name on screen.
    legend : bool, optional
        By default there is one unless there are more models than colours: a colour then stands
        for several models, and names have to stand at the marks.
    """
    colours = colours or model_colours(models)
    scale = alt.Scale(domain=list(models.values()), range=[colours[model] for model in models])
    shown = len(models) <= len(MODEL_COLOURS) if legend is None else legend
    key = alt.Legend(orient="top", direction="vertical", labelLimit=LONGEST_NAME)
    return alt.Color(f"{field}:N", scale=scale, title=None, legend=key if shown else None)


def linked(
    title: str,
    drawn: alt.TopLevelMixin,
    frame: pd.DataFrame,
    filters: Mapping[str, CaseFilter],
    *,
    caption: str = "",
    hidden: Sequence[str] = (),
) -> LinkedChart:
    """Make a linked chart of any Altair chart that has the selection of :func:`clickable`.

    Parameters
    ----------
    title : str
    drawn : altair chart
        Without title, background or text colours; give it a height, not a width.
    frame : pandas.DataFrame
        What is drawn; without its columns KEY and LABEL and ``hidden`` it is the table.
    filters : mapping of str to CaseFilter
        By the text in column KEY.
    caption : str
    hidden : sequence of str
        More columns that are not for the table.
    """
    left_out = [column for column in (KEY, LABEL, *hidden) if column in frame]
    return LinkedChart(title, drawn.to_dict(), frame.drop(columns=left_out), filters, caption)


def linked_bars(
    title: str,
    base: alt.Chart,
    frame: pd.DataFrame,
    filters: Mapping[str, CaseFilter],
    *,
    label: str = f"{LABEL}:N",
    upright: bool = False,
    caption: str = "",
) -> LinkedChart:
    """Draw bars that can be clicked with a text at each.

    Parameters
    ----------
    title : str
    base : altair.Chart
        With all encodings but opacity and text; its frame has a column ``Model``.
    frame, filters, caption
        See :func:`linked`.
    label : str
        Field of the text.
    upright : bool
        Bars stand instead of lying.
    """
    select = clickable()
    bars = base.mark_bar(cursor="pointer").encode(opacity=faded(select)).add_params(select)
    place: dict[str, Any] = {"dy": -6} if upright else {"dx": 4, "align": "left"}
    texts = base.mark_text(fontSize=11, **place).encode(text=label)
    height = 320 if upright else step_of(frame["Model"].nunique())
    drawn = alt.layer(bars, texts).properties(height=height)
    return linked(title, drawn, frame, filters, caption=caption)


def step_of(n_models: int) -> alt.Step:
    """Return the height of one row of lying bars: smaller the more models share a row."""
    return alt.Step(max(14, 30 // n_models)) if n_models > 1 else alt.Step(24)

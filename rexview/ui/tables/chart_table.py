"""A chart's data as an HTML table: it can be read, searched, copied and printed like the page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from rexview.analysis.charts.column_names import COLUMN_NAMES
from rexview.ui.tables.number_table import NOTHING, label_cells
from rexview.words import tr, trn

MOST_ROWS: Final = 400
"""Most rows; the download has all."""
_DIGITS: Final = 4


def chart_table_html(table: pd.DataFrame) -> str:
    """Return the numbers of a chart, rounded; the download has them at full precision."""
    more = len(table) - MOST_ROWS
    words = trn(
        "{more:,} more row is in the CSV.", "{more:,} more rows are in the CSV.", max(more, 0)
    ).format(more=more)
    rest = f'<p class="rx-quiet">{words}</p>' if more > 0 else ""
    return f"{frame_html(table.head(MOST_ROWS))}{rest}"


def frame_html(
    table: pd.DataFrame,
    *,
    links: Sequence[str] | None = None,
    missing: str = NOTHING,
    titles: Mapping[str, str] = COLUMN_NAMES,
) -> str:
    """Return a table; ``missing`` replaces absent values, ``titles`` the names of columns.

    The first cell of a row has its link in the app, if ``links`` has one for each.
    """
    numeric = [pd.api.types.is_numeric_dtype(table[name]) for name in table.columns]
    css = [' class="rx-num"' if number else "" for number in numeric]
    words = {**COLUMN_NAMES, **titles}
    head = "".join(
        f'<th scope="col"{kind}>{html.escape(words.get(name, str(name)))}</th>'
        for name, kind in zip(table.columns, css, strict=True)
    )
    rows = table.itertuples(index=False, name=None)
    body = "".join(
        f"<tr>{''.join(_cells(row, css, None if links is None else links[number], missing))}</tr>"
        for number, row in enumerate(rows)
    )
    return label_cells(
        f'<div class="rx-scroll rx-behind" role="region" tabindex="0" aria-label="{tr("Table")}">'
        f'<table class="rx-scores"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cells(row: Sequence[Any], css: Sequence[str], link: str | None, missing: str) -> Iterable[str]:
    for place, (cell, kind) in enumerate(zip(row, css, strict=True)):
        words = _cell(cell, missing)
        if link is not None and place == 0:
            words = f'<a href="{html.escape(link)}" data-rx-page>{words}</a>'
        yield f"<td{kind}>{words}</td>"


def _cell(cell: Any, missing: str) -> str:
    if isinstance(cell, list | tuple):
        return html.escape(", ".join(map(str, cell))) or missing
    if cell is None or (not isinstance(cell, str) and pd.isna(cell)):
        return missing
    if isinstance(cell, bool):
        return tr("yes") if cell else tr("no")
    if isinstance(cell, float):
        return f"{cell:,.{_DIGITS}f}".rstrip("0").rstrip(".")
    if isinstance(cell, int):
        return f"{cell:,}"
    return html.escape(str(cell))

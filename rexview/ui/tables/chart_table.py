"""The table behind a chart as HTML: it can be read, searched, copied and printed like the page."""

from __future__ import annotations

import html
from typing import Any, Final

import pandas as pd

MOST_ROWS: Final = 400
"""More rows are left to the download."""
_DIGITS: Final = 4


def chart_table_html(table: pd.DataFrame) -> str:
    """Draw the numbers of a chart, rounded; the download has them at full precision.

    Parameters
    ----------
    table : pandas.DataFrame
        One column for each column on screen; missing cells are drawn as a dash.
    """
    numeric = [pd.api.types.is_numeric_dtype(table[name]) for name in table.columns]
    css = [' class="rx-num"' if number else "" for number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{html.escape(str(name))}</th>'
        for name, kind in zip(table.columns, css, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{_cell(cell)}</td>" for cell, kind in zip(row, css, strict=True))
        + "</tr>"
        for row in table.head(MOST_ROWS).itertuples(index=False, name=None)
    )
    more = len(table) - MOST_ROWS
    rest = f'<p class="rx-quiet">{more:,} more rows are in the CSV.</p>' if more > 0 else ""
    return (
        f'<div class="rx-scroll rx-behind"><table class="rx-scores"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{rest}"
    )


def _cell(cell: Any) -> str:
    if cell is None or (not isinstance(cell, str) and pd.isna(cell)):
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:,.{_DIGITS}f}".rstrip("0").rstrip(".")
    if isinstance(cell, int):
        return f"{cell:,}"
    return html.escape(str(cell))

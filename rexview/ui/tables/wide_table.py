"""Streamlit's table where there is room for it; on a phone the same rows as HTML, one by one.

Streamlit draws its tables as one picture, of which a phone shows a part. Which of both is seen, the
style sheet decides by the width of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from rexview.ui.link.in_app import linked_html
from rexview.words import tr


def show_wide_table(
    frame: Any, *, key: str, links: Sequence[str] | None = None, **options: Any
) -> Any:
    """Show a table twice, for wide and for narrow screens; one of both is hidden.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        What is shown, at most :data:`rexview.ui.tables.chart_table.MOST_ROWS` rows of it narrow.
    key : str
        The key of Streamlit's table.
    links : sequence of str, optional
        Where the first cell of each row leads on a narrow screen, as ``link.in_app.href`` makes it.
    **options
        Of ``st.dataframe``.

    Returns
    -------
    Any
        What ``st.dataframe`` returns.
    """
    with st.container(key=f"rx_wide_{key}"):
        shown = st.dataframe(frame, hide_index=True, key=key, **options)
    from rexview.ui.tables.chart_table import MOST_ROWS, frame_html  # brings pandas

    table = frame if hasattr(frame, "itertuples") else frame.to_pandas()
    drawn = frame_html(table.head(MOST_ROWS), links=links, missing="")
    if len(table) > MOST_ROWS:
        more = tr("{n:,} more rows.").format(n=len(table) - MOST_ROWS)
        drawn += f'<p class="rx-quiet">{more}</p>'
    with st.container(key=f"rx_narrow_{key}"):
        linked_html(drawn, key=f"{key}_narrow")
    return shown

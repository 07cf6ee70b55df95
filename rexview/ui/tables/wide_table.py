"""Streamlit's table where there is room for it; on a phone the same rows as HTML, one by one.

Streamlit draws its tables as one picture, of which a phone shows a part. Which of both is seen, the
style sheet decides by the width of the screen.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import streamlit as st

from rexview.ui.link.in_app import linked_html
from rexview.words import trn

_NO_TITLES: Final[Mapping[str, str]] = MappingProxyType({})
_NO_LIMITS: Final[Mapping[str, int]] = MappingProxyType({})


def show_wide_table(
    frame: Any,
    *,
    key: str,
    links: Sequence[str] | None = None,
    titles: Mapping[str, str] = _NO_TITLES,
    longest: Mapping[str, int] = _NO_LIMITS,
    **options: Any,
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
    titles : mapping of str to str, optional
        What is shown as the title of a column, in the language of the server; the column's name
        where there is none.
    longest : mapping of str to int, optional
        How many characters of a column's texts fit its cells: on a wide screen longer ones end with
        an ellipsis, which cells do not draw by themselves. A narrow screen shows them whole.
    **options
        Of ``st.dataframe``.

    Returns
    -------
    Any
        What ``st.dataframe`` returns.
    """
    if titles:
        options["column_config"] = dict(titles)
    with st.container(key=f"rx_wide_{key}"):
        cut = frame
        for name, most in longest.items():
            cut = cut.assign(**{name: cut[name].map(partial(_cut, most=most))})
        shown = st.dataframe(cut, hide_index=True, key=key, **options)
    from rexview.ui.tables.chart_table import MOST_ROWS, frame_html  # brings pandas

    table = frame if hasattr(frame, "itertuples") else frame.to_pandas()
    drawn = frame_html(table.head(MOST_ROWS), links=links, missing="", titles=titles)
    if len(table) > MOST_ROWS:
        left = len(table) - MOST_ROWS
        more = trn("{n:,} more row.", "{n:,} more rows.", left).format(n=left)
        drawn += f'<p class="rx-quiet">{more}</p>'
    with st.container(key=f"rx_narrow_{key}"):
        linked_html(drawn, key=f"{key}_narrow")
    return shown


def _cut(text: str, *, most: int) -> str:
    return text if len(text) <= most else textwrap.shorten(text, most, placeholder="…")

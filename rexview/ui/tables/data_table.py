"""Tables of rows with downloads: Streamlit's, or HTML on a phone; and lists of problems.

Streamlit draws its tables as one canvas, of which a phone shows a part. The style sheet shows one
of the two versions by the width of the screen.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import streamlit as st

from rexview.analysis.download_files import DOWNLOAD_FORMATS, TableFile, encode_table
from rexview.errors import Problem, RexviewError
from rexview.ui.safe_text import lines_as_markdown
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.server import review_sets
from rexview.words import tr, trn

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
    """Show a table twice, for wide and for narrow screens; one of the two is hidden.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        The data; the narrow table has at most :data:`rexview.ui.tables.chart_table.MOST_ROWS` rows.
    key : str
        The key of Streamlit's table.
    links : sequence of str, optional
        Link of each row's first cell on a narrow screen, as ``link.in_app.href`` makes it.
    titles : mapping of str to str, optional
        Titles of columns in the language of the server, by the column's name, which is shown if it
        has no title.
    longest : mapping of str to int, optional
        Number of characters of a column's texts that fit its cells. On a wide screen longer ones
        end with an ellipsis, which cells do not draw themselves. A narrow screen shows them whole.
    **options
        Options of ``st.dataframe``.

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
    from rexview.ui.tables.chart_table import MOST_ROWS, frame_html  # imports pandas

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


# A list of problems of the data, as a table with a download.

_COLUMNS = {
    "severity": tr("Severity"),
    "file": tr("File"),
    "row": tr("Row"),
    "field": tr("Field"),
    "message": tr("What is wrong"),
    "remedy": tr("What to do"),
}


def show_error(error: RexviewError | None, *, key: str) -> None:
    """Show an error, and list its problems."""
    st.error(lines_as_markdown(error), icon=":material/error:")
    show_problems(getattr(error, "problems", ()), key=key)


def show_problems(problems: Sequence[Problem], *, key: str) -> None:
    """Show problems, errors first, with a download; nothing if there are none."""
    if not problems:
        return
    ordered = sorted(problems, key=lambda problem: problem.severity != "error")
    import pandas as pd  # takes a third of a second: only if something is wrong

    frame = pd.DataFrame([asdict(problem) for problem in ordered], columns=list(_COLUMNS))
    frame["row"] = frame["row"].astype("Int64")
    show_wide_table(
        frame.rename(columns=_COLUMNS),
        key=f"{key}_table",
        column_config={
            "What is wrong": st.column_config.TextColumn(width="large"),
            "What to do": st.column_config.TextColumn(width="large"),
        },
    )
    st.download_button(
        tr("Download this list"),
        json.dumps([asdict(problem) for problem in ordered], indent=1, ensure_ascii=False),
        file_name="problems.json",
        mime="application/json",
        key=f"{key}_download",
        on_click="ignore",
    )


# A table with download buttons below it: CSV, and a document that Word opens.


def show_table(drawn: str, table: TableFile, *, key: str) -> None:
    """Show a table as HTML with links, and its downloads below."""
    linked_html(drawn, key=key)
    show_downloads(table, key=f"{key}_file")


def show_downloads(table: TableFile, *, key: str) -> None:
    """Show the downloads of a table. ``key`` as for any widget."""
    notice, words = review_set_notice(), incomplete_scan_note()
    with st.container(horizontal=True, gap="small", key=f"rx_take_{key}"):
        for form, (name, media) in DOWNLOAD_FORMATS.items():
            st.download_button(
                name,
                partial(encode_table, table, form, notice, so_far=words),  # made when it is clicked
                table.name(form),
                media,
                key=f"{key}_{form}",
                on_click="ignore",
                icon=":material/download:",
                type="tertiary",
                help=tr("Download this table for {name}").format(name=name)
                if form == "doc"
                else tr("Download as CSV"),
            )


def incomplete_scan_note() -> str:
    """Return the note for the page's files while not all failures are known."""
    words: str = st.session_state.get(link_keys.SESSION_SO_FAR, "")
    return words


def review_set_notice() -> str:
    """Return the notice of the link's review set, which every export contains."""
    try:
        folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
        return review_sets.open_set(folder).info.notice or ""
    except RexviewError:
        return ""

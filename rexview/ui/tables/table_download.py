"""A table with buttons under it that give it as a file: CSV, and a document that Word opens."""

from __future__ import annotations

from functools import partial

import streamlit as st

from rexview.analysis.download_files import TABLE_FORMS, TableFile, table_bytes
from rexview.errors import RexviewError
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import linked_html
from rexview.ui.server import review_sets
from rexview.words import tr


def show_table(drawn: str, table: TableFile, *, key: str) -> None:
    """Show a table as HTML with links, and its downloads below."""
    linked_html(drawn, key=key)
    show_downloads(table, key=f"{key}_file")


def show_downloads(table: TableFile, *, key: str) -> None:
    """Show the downloads of a table. ``key`` as for any widget."""
    notice, words = set_notice(), so_far()
    with st.container(horizontal=True, gap="small", key=f"rx_take_{key}"):
        for form, (name, media) in TABLE_FORMS.items():
            st.download_button(
                name,
                partial(table_bytes, table, form, notice, so_far=words),  # made when it is clicked
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


def so_far() -> str:
    """Return what files from the page say of failures that are not all known yet."""
    words: str = st.session_state.get(link_keys.SESSION_SO_FAR, "")
    return words


def set_notice() -> str:
    """Return the notice of the link's review set: it goes into all that leaves the app."""
    try:
        folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
        return review_sets.open_set(folder).info.notice or ""
    except RexviewError:
        return ""

"""What sends what waits in the browser from every page, and says so where the page does not.

A tab that begins on a page where nothing is written has no other part that knows of the outbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from rexview.errors import RexviewError
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.components import component
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import ADDRESSES, PAGE_ACCOUNT, PAGES
from rexview.ui.saving.entries import PAGE_FILES, TASK_PAGES
from rexview.ui.saving.outbox import outbox_json
from rexview.ui.server import review_sets
from rexview.ui.streamlit_adapter.pressed import taken_words
from rexview.words import tr

_KEY: Final = "rx_waiting"
_FILES: Final = "saving/assets/waiting"
_TITLES: Final = {page.file: page.title for page in PAGES}


def send_what_waits(address: str) -> None:
    """Put what sends on the page with this address; nothing if its review set cannot be opened."""
    try:
        folder = review_sets.folder_of(link_keys.query_value(link_keys.QUERY_SET))
        review_set = review_sets.open_set(folder)
    except RexviewError:
        return  # the page says why
    with st.container(key="rx_waiting_place"):
        _show(review_set, address)


@st.fragment
def _show(review_set: ReviewSet, address: str) -> None:
    person = permissions.current()
    pages = {name: file for name, file in PAGE_FILES.items() if permissions.may_see(file)}
    data = {
        "outbox": outbox_json(review_set, _page_shown(review_set, address, pages), person),
        "named": person is not None,
        "taken": taken_words(),
        "account": ADDRESSES[PAGE_ACCOUNT],
        "set": link_keys.query_value(link_keys.QUERY_SET),
        "pages": {
            name: [ADDRESSES[file], _TITLES[file], TASK_PAGES.get(name)]
            for name, file in pages.items()
        },
    }
    title = tr("What sends what is not saved yet")
    show = component("rexview_waiting", f"{_FILES}.js", style=f"{_FILES}.css", title=title)
    show(key=_KEY, data=data, on_refresh_change=lambda: None)


def _page_shown(review_set: ReviewSet, address: str, pages: Mapping[str, str]) -> str:
    """Name the page of entries that is open: on the Score page, that of the task in hand."""
    at = [name for name, file in pages.items() if ADDRESSES[file] == address]
    if len(at) < 2:
        return next(iter(at), "")
    tasks = review_sets.study_engine(review_set).tasks
    asked = link_keys.query_value(link_keys.QUERY_TASK)
    task = asked if asked in tasks else next(iter(tasks), None)  # as choose_task
    return next((name for name in at if TASK_PAGES.get(name, "score") == task), at[0])

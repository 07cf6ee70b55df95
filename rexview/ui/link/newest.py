"""The link as it was last asked for, while the browser does not have it yet.

A callback changes the link, and the browser gets the new one with the answer. What is done before
it comes, such as a click out of a field just typed in, sends the old link once more and breaks off
the run that would have answered. Without memory the page would go back to the old link, and what
was typed would be gone. A run that comes to its end has told the browser: from then on the
browser's link counts, so that its back button works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import streamlit as st

from rexview.ui.link import keys as link_keys
from rexview.ui.streamlit_adapter.script_run import RerunException

if TYPE_CHECKING:
    from rexview.analysis import CaseFilter

_KEY: Final = "rexview_link_asked"


@dataclass(frozen=True)
class _Asked:
    """What a page's link was asked to be, by key: the values wanted, and those before them.

    The browser may still send any of ``older``.
    """

    page: str
    wanted: Mapping[str, list[str]]
    older: Mapping[str, tuple[list[str], ...]]


def change_link(changes: Mapping[str, str | list[str] | None]) -> None:
    """Change some keys of the link, as :func:`.keys.set_query`: for callbacks of a page.

    Not for those in fragments: only a run of the whole page tells that the browser has the link.
    """
    catch_up()
    asked = _asked()
    wanted, older = (dict(asked.wanted), dict(asked.older)) if asked else ({}, {})
    before = link_keys.query_lists()
    link_keys.set_query(changes)
    after = link_keys.query_lists()
    for key in changes:
        if after.get(key) != before.get(key):
            wanted[key] = after.get(key, [])
            older[key] = (*older.get(key, ()), before.get(key, []))
    st.session_state[_KEY] = _Asked(link_keys.page_shown(), wanted, older)


def filter_asked() -> CaseFilter:
    """Return the filter as it was last asked for: what a callback changes one thing of."""
    from rexview.analysis import CaseFilter

    catch_up()
    return CaseFilter.read(link_keys.query_lists())[0]


def catch_up() -> None:
    """Put what was asked for in place of what is older in the link that the browser sent."""
    asked, sent = _asked(), link_keys.query_lists()
    if asked is not None:
        late = [key for key, older in asked.older.items() if sent.get(key, []) in older]
        link_keys.set_query({key: asked.wanted[key] or None for key in late})


@contextmanager
def link_caught_up() -> Iterator[None]:
    """Run a page under the link that was asked for; a run that ends has told the browser."""
    catch_up()
    try:
        yield
    except RerunException:
        raise
    except BaseException:
        st.session_state.pop(_KEY, None)
        raise
    st.session_state.pop(_KEY, None)


def _asked() -> _Asked | None:
    """Return what this page's link was asked to be, as far as the browser may not know."""
    asked: _Asked | None = st.session_state.get(_KEY)
    return asked if asked is not None and asked.page == link_keys.page_shown() else None

"""What a page says where there is nothing to show yet, and which pages would change that."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from rexview.ui.access import permissions
from rexview.ui.link import keys as link_keys

_ROOT: Final = Path(__file__).resolve().parents[3]


def show_nothing_yet(words: str, *leads: tuple[str, str]) -> None:
    """Say that there is nothing, and lead on.

    Parameters
    ----------
    words : str
        Why there is nothing, as Markdown: names in it are escaped.
    *leads : (str, str)
        A page (``link.pages.PAGE_…``) and what is done there, as Markdown of ours. Pages that
        whoever looks may not see are left out. The review set goes along, the filter does not:
        it may be why there is nothing.
    """
    st.info(words)
    seen = [(page, label) for page, label in leads if permissions.may_see(page)]
    if seen:
        with st.container(horizontal=True, gap="medium"):
            for page, label in seen:
                st.page_link(_ROOT / page, label=label, query_params=link_keys.link_query())

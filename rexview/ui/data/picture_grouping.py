"""How pictures become cases: each way with the number of cases that it gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from rexview.ui.html.safe_text import as_markdown
from rexview.words import counted, tr

_AUTO: Final = "auto"
_WORDS: Final = {
    _AUTO: tr("The pictures of a small sub-folder together, others each"),
    "folder": tr("All pictures of a folder"),
    "file": tr("Each picture"),
}


def choose_grouping(counts: Mapping[str, int]) -> str | None:
    """Ask what one study is, where the ways to gather the pictures differ; None for the proposal.

    ``counts`` has the number of cases by way, "up to" since a damaged picture gives none; it is
    empty where there are no pictures to gather.
    """
    if len(set(counts.values())) < 2:
        return None
    chosen = st.radio(
        tr("One study is"),
        list(_WORDS),
        format_func=_WORDS.__getitem__,
        captions=[
            tr("Up to {cases}").format(cases=as_markdown(counted(counts[way], "case")))
            for way in _WORDS
        ],
        key="import_group",
        persist_state="session",
    )
    return None if chosen == _AUTO else chosen

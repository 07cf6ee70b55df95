"""The guide on its page: which one, its text, its pictures."""

from __future__ import annotations

import html
from typing import Final

import streamlit as st

from rexview.people import Role
from rexview.ui.access import permissions
from rexview.ui.guide.guides import GUIDES, pieces
from rexview.ui.guide.route import picture_address
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import option_kept_in_link
from rexview.words import tr

_FOR_ROLE: Final[dict[Role, str]] = {
    "reader": "reader",
    "adjudicator": "reader",
    "lead": "clinician",  # who works alone is one, too, and begins by looking
    "viewer": "clinician",
}


def choose_guide() -> str:
    """Let whoever looks choose a guide, at first that of their role; it is kept in the link."""
    role = permissions.role()
    first = _FOR_ROLE[role] if role else next(iter(GUIDES))
    kept = option_kept_in_link("guide_for", link_keys.QUERY_GUIDE, GUIDES, first)
    chosen: str = st.segmented_control(
        tr("For a"), list(GUIDES), format_func=GUIDES.__getitem__, required=True, **kept
    )
    return chosen


def show_guide(name: str) -> None:
    """Show a guide: its text, and its pictures with the words that stand for them."""
    with st.container(width=860, key="rx_guide"):
        for piece in pieces(name):
            if piece.picture:
                source = html.escape(picture_address(piece.picture))
                words = html.escape(piece.words)
                st.html(
                    f'<figure class="rx-guide-picture"><a href="{source}" target="_blank">'
                    f'<img src="{source}" alt="{words}" loading="lazy"></a>'
                    f"<figcaption>{words}</figcaption></figure>"
                )
            else:
                st.markdown(piece.markdown, anchors=False)

"""What asking would take, in figures."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.ui.asking.html import money
from rexview.ui.html.safe_text import as_markdown
from rexview.words import tr

FIGURES: Final = {
    "input_tokens": tr("Tokens in"),
    "output_tokens": tr("Tokens out"),
    "usd": tr("Money"),
}


def show_figures(requests: float, sent: float, written: float, usd: float | None) -> None:
    """Show requests, tokens in and out, and money; None where no price is known."""
    values = {
        "input_tokens": f"{sent:,.0f}",
        "output_tokens": f"{written:,.0f}",
        "usd": tr("not known") if usd is None else money(usd),
    }
    with st.container(horizontal=True, gap="large"):
        st.metric(tr("Requests"), as_markdown(f"{requests:,.0f}"), width="content")
        for figure, name in FIGURES.items():
            st.metric(name, as_markdown(values[figure]), width="content")

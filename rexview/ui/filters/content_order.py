"""The order in which Content is worked out: chosen with one switch, kept in every link."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.stats import CONTENT_ORDERS
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import option_kept_in_link
from rexview.words import inside, tr

_HELP: Final = tr(
    "Content is the weakest link of Process, Execution and Synthesis. Where "
    "several readers scored an answer, either their scores are averaged "
    "first and the smallest mean is taken, or each reader's smallest score "
    "is taken and these are averaged. With one reader both are the same. The "
    "choice holds on every page and is kept in the link."
)


def content_order_switch() -> None:
    """Show the switch; a change is written into the link before the page runs again."""
    kept = option_kept_in_link(
        "content_order_switch",
        link_keys.QUERY_CONTENT_ORDER,
        CONTENT_ORDERS,
        link_keys.USUAL_ORDER,
    )
    st.radio(
        tr("Content is the"),
        list(CONTENT_ORDERS),
        format_func=CONTENT_ORDERS.__getitem__,
        horizontal=True,
        help=_HELP,
        **kept,
    )


def content_order_words() -> str:
    """Return the order in use, to stand in a sentence: ``minimum of the readers' means``."""
    name = CONTENT_ORDERS[link_keys.content_order()]
    return inside(name[0]) + name[1:]


def show_other_order() -> None:
    """Say that Content is worked out in the other order; nothing with the usual one."""
    if link_keys.content_order() != link_keys.USUAL_ORDER:
        st.caption(
            tr("Content is the {content_order_words} (chosen on the Scores page).").format(
                content_order_words=as_markdown(content_order_words())
            )
        )

"""The parts of the Failures page, and the open one, which the link keeps."""

from __future__ import annotations

from typing import Final

import streamlit as st

from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link import link_choices
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.words import tr

RATES: Final = "rates"
WORDS: Final = link_keys.OWN_WORDS
VALIDATE: Final = "validate"
_OFFERED: Final = {RATES: tr("By model"), WORDS: tr("In your own words")}


def open_view() -> str:
    """Return the part of the page that the link names."""
    return link_choices.open_view((WORDS, VALIDATE), RATES)


def choose_view() -> str:
    """Show a choice of the page's parts; return the open one."""
    return link_choices.choose_view("failures", _OFFERED, RATES)


def check_written_failures_served() -> bool:
    """Return whether this server supports written failures; show why if not."""
    if not uses_clickhouse():
        return True
    st.info(
        tr(
            "Failures in your own words need the whole review set in memory, and "
            "this server has it on ClickHouse. Open the set on a server without "
            "REXVIEW_ENGINE."
        ),
        icon=":material/database:",
    )
    return False


def open_part(view: str, **chosen: str | None) -> None:
    """Open a part of the page, with values of :data:`QUERY_WRITTEN` in the link."""
    names = {link_keys.QUERY_WRITTEN[name]: value for name, value in chosen.items()}
    link_keys.go_to_case(None)
    link_keys.set_query({link_keys.QUERY_VIEW: view, **names})

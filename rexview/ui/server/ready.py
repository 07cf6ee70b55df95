"""Whether this server can serve people: what a proxy or a container engine asks it.

That the process runs, Streamlit says (``/_stcore/health``). Here the settings and the reviews
database are asked, too. The words are for whoever may ask, which is everybody: no address, no name.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock
from typing import Final

from rexview.errors import RexviewError, SettingsError
from rexview.ui.server import server_state, warm_up

_KEPT_S: Final = 2.0
"""For so long an answer stands, so that nobody can keep the database busy by asking."""
_OLD_S: Final = 15.0
"""The database may take so long to answer before that is said."""


@dataclass(frozen=True)
class _Known:
    reason: str
    at: float


_asking: Final = Lock()
_last: _Known | None = None


def why_not_ready() -> str:
    """Return one sentence that says why pages cannot be given now; empty when they can.

    Waits for the database, for one who asks at a time: others hear meanwhile what was known last.
    """
    if not warm_up.is_done():
        warm_up.want_pages()
        return "The server is starting."
    known = _newest(_KEPT_S)
    if known is None and _asking.acquire(blocking=False):
        try:
            known = _ask()
        finally:
            _asking.release()
    known = known or _newest(_OLD_S)
    return known.reason if known else "The reviews database has not answered yet."


def _newest(seconds: float) -> _Known | None:
    """Return what was known last, if that is not older."""
    known = _last
    return known if known is not None and time.monotonic() - known.at < seconds else None


def _ask() -> _Known:
    global _last
    _last = _Known(_reason(), time.monotonic())
    return _last


def _reason() -> str:
    try:
        server_state.team()
        url = server_state.settings().database_url
    except SettingsError:  # may name people and folders; every page says it, and the log
        return "The settings cannot be used. The app's pages say which."
    if url is None:
        return ""  # each set has a file of its own, which its pages speak of
    from sqlalchemy import literal, select

    from rexview.store.database.connection import database_at

    try:
        database_at(url).rows(select(literal(1)))
    except RexviewError as error:
        return str(error)
    return ""

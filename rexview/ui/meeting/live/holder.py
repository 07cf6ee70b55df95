"""Which of several servers on one PostgreSQL database holds a meeting: one at a time, never two.

A room is in one server's memory. The first server that is asked for a meeting takes a lock, which
goes with its process; the others answer 503, upon which the proxy asks the next one (docs/team.md).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from rexview.ui.server import server_state
from rexview.words import tr

if TYPE_CHECKING:
    from rexview.store.database.shared_state import HeldLocks

ELSEWHERE: Final = tr(
    "This meeting is held on another server of this address. Whoever runs "
    "it: let the proxy ask the next server (docs/team.md)."
)


def is_held_here(set_id: str, meeting: str) -> bool:
    """Whether this server holds a meeting, as was seen last; asks nobody."""
    locks = _locks()
    return locks is None or locks.is_held(_name(set_id, meeting))


def hold(set_id: str, meeting: str) -> bool:
    """Hold a meeting here; return whether that could be. It asks the database.

    Raises
    ------
    StoreError
    """
    locks = _locks()
    return locks is None or locks.hold(_name(set_id, meeting))


def let_go(set_id: str, meeting: str) -> None:
    """Let another server hold a meeting."""
    if (locks := _locks()) is not None:
        locks.let_go(_name(set_id, meeting))


@cache
def _locks() -> HeldLocks | None:
    """Return the locks of this server; None where it is the only one."""
    address = server_state.settings().database_url
    if address is None or address.startswith("sqlite"):
        return None
    from rexview.store.database.connection import Database
    from rexview.store.database.shared_state import HeldLocks

    return HeldLocks(Database(address))


def _name(set_id: str, meeting: str) -> str:
    return f"meeting {set_id} {meeting}"

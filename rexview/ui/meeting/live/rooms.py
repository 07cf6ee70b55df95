"""All rooms of this server, by review set and meeting; removed hours after everybody has left.

If several servers share a database, only one of them holds a meeting.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

from rexview.people import Person
from rexview.ui.meeting.live.room import Room, RoomRefused
from rexview.ui.web.server import server_state
from rexview.words import tr

if TYPE_CHECKING:
    from rexview.store.database.shared_state import AdvisoryLocks


# The server that holds a meeting, of several on one PostgreSQL database: one at a time.
#
# A room is in one server's memory. The first server that is asked for a meeting takes a lock, which
# ends with its process. The others answer 503, and the proxy then asks the next one (docs/team.md).

ELSEWHERE: Final = tr(
    "This meeting runs on another server of this address. For the administrator: let the "
    "proxy ask the next server (docs/team.md)."
)


def holds_meeting(set_id: str, meeting: str) -> bool:
    """Return whether this server holds a meeting, as last known; queries nothing."""
    locks = _locks()
    return locks is None or locks.is_held(_name(set_id, meeting))


def hold_meeting(set_id: str, meeting: str) -> bool:
    """Hold a meeting on this server, through the database; return whether this succeeded.

    Raises
    ------
    StoreError
    """
    locks = _locks()
    return locks is None or locks.hold(_name(set_id, meeting))


def release_meeting(set_id: str, meeting: str) -> None:
    """Release a meeting for other servers."""
    if (locks := _locks()) is not None:
        locks.let_go(_name(set_id, meeting))


@cache
def _locks() -> AdvisoryLocks | None:
    """Return the locks of this server; None if it is the only one."""
    address = server_state.settings().database_url
    if address is None or address.startswith("sqlite"):
        return None
    from rexview.store.database.connection import ReviewsDatabase
    from rexview.store.database.shared_state import AdvisoryLocks

    return AdvisoryLocks(ReviewsDatabase(address))


def _name(set_id: str, meeting: str) -> str:
    return f"meeting {set_id} {meeting}"


MOST_ROOMS: Final = 100
EMPTY_ROOM_KEPT_S: Final = 6 * 3600.0
"""Seconds for which an empty room keeps its revealed steps and votes."""


class Rooms:
    """The rooms by the id of their set and meeting."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        forgotten: Callable[[str, str], None] = lambda set_id, meeting: None,
    ) -> None:
        self._clock, self._forgotten = clock, forgotten
        self._rooms: dict[tuple[str, str], Room] = {}

    def drop(self, set_id: str, meeting: str) -> None:
        """Remove a meeting that another server holds."""
        self._rooms.pop((set_id, meeting), None)

    def of(self, set_id: str, meeting: str) -> Room:
        """Return the room of a meeting, a new one if there is none.

        Raises
        ------
        RoomRefused
            All rooms of this server are in use.
        """
        key = set_id, meeting
        if key not in self._rooms:
            self._forget()
            self._rooms[key] = Room(self._clock)
        return self._rooms[key]

    def is_led_by(self, set_id: str, meeting: str, person: Person, window: str) -> bool:
        """Return whether a person's window presents a meeting now."""
        room = self._rooms.get((set_id, meeting))
        leader = room.seats.leader if room else None
        who = leader.person if leader else None
        return bool(leader and leader.window == window and who and who.id == person.id)

    def hides(self, set_id: str, meeting: str, case: str, person: Person) -> bool:
        """Return whether somebody else presents a meeting and has not shown a case yet."""
        room = self._rooms.get((set_id, meeting))
        leader = room.seats.leader if room else None
        if room is None or leader is None or not leader.here:
            return False
        leads = leader.person is not None and leader.person.id == person.id
        return not leads and case not in room.reached

    def held(self) -> list[tuple[str, str]]:
        """Return set and meeting of every room with participants."""
        return [key for key, room in self._rooms.items() if room.seats.empty_since is None]

    def __len__(self) -> int:
        return len(self._rooms)

    def _forget(self) -> None:
        """Remove rooms that have been empty for hours; if all are used, the longest empty one."""
        empty = sorted(
            (room.seats.empty_since, key)
            for key, room in self._rooms.items()
            if room.seats.empty_since is not None
        )
        for since, key in empty:
            full = len(self._rooms) >= MOST_ROOMS
            if full or self._clock() - since >= EMPTY_ROOM_KEPT_S:
                del self._rooms[key]
                self._forgotten(*key)
        if len(self._rooms) >= MOST_ROOMS:
            raise RoomRefused(tr("Too many meetings are running on this server."))


ROOMS: Final = Rooms(forgotten=release_meeting)
"""The rooms of this server."""

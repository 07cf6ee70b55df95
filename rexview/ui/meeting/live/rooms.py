"""All rooms of this server, by review set and meeting; forgotten hours after everybody has left.

Of several servers on one database one holds a meeting, see :mod:`rexview.ui.meeting.live.holder`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from rexview.people import Person
from rexview.ui.meeting.live import holder
from rexview.ui.meeting.live.room import Room
from rexview.ui.meeting.live.seats import RoomRefused
from rexview.words import tr

MOST_ROOMS: Final = 100
FORGOTTEN_S: Final = 6 * 3600.0
"""How long a room that nobody is in keeps what was revealed and voted."""


class Rooms:
    """The rooms, each by the id of its set and its meeting."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        forgotten: Callable[[str, str], None] = lambda set_id, meeting: None,
    ) -> None:
        self._clock, self._forgotten = clock, forgotten
        self._rooms: dict[tuple[str, str], Room] = {}

    def drop(self, set_id: str, meeting: str) -> None:
        """Forget a meeting that another server holds."""
        self._rooms.pop((set_id, meeting), None)

    def of(self, set_id: str, meeting: str) -> Room:
        """Return the room of a meeting, a new one where there is none.

        Raises
        ------
        RoomRefused
            People are in all rooms that this server has.
        """
        key = set_id, meeting
        if key not in self._rooms:
            self._forget()
            self._rooms[key] = Room(self._clock)
        return self._rooms[key]

    def is_led_by(self, set_id: str, meeting: str, person: Person, window: str) -> bool:
        """Whether a window of somebody's presents a meeting just now."""
        room = self._rooms.get((set_id, meeting))
        leader = room.seats.leader if room else None
        who = leader.person if leader else None
        return bool(leader and leader.window == window and who and who.id == person.id)

    def hides(self, set_id: str, meeting: str, case: str, person: Person) -> bool:
        """Whether a meeting is presented by somebody else, who has not shown a case yet."""
        room = self._rooms.get((set_id, meeting))
        leader = room.seats.leader if room else None
        if room is None or leader is None or not leader.here:
            return False
        leads = leader.person is not None and leader.person.id == person.id
        return not leads and case not in room.reached

    def held(self) -> list[tuple[str, str]]:
        """Return set and meeting of every room that somebody is in."""
        return [key for key, room in self._rooms.items() if room.seats.empty_since is None]

    def __len__(self) -> int:
        return len(self._rooms)

    def _forget(self) -> None:
        """Forget rooms that have been empty for hours; when all are used, the longest empty."""
        empty = sorted(
            (room.seats.empty_since, key)
            for key, room in self._rooms.items()
            if room.seats.empty_since is not None
        )
        for since, key in empty:
            full = len(self._rooms) >= MOST_ROOMS
            if full or self._clock() - since >= FORGOTTEN_S:
                del self._rooms[key]
                self._forgotten(*key)
        if len(self._rooms) >= MOST_ROOMS:
            raise RoomRefused(tr("Too many meetings are held on this server at once."))


ROOMS: Final = Rooms(forgotten=holder.let_go)
"""Those of this server."""

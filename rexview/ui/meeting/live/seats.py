"""Who is at a meeting, by window, and who of them leads."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from rexview.people import Person
from rexview.words import tr

ABSENT_S: Final = 15.0
"""Whoever leads and has been away for so many seconds is replaced by the first who asks."""
_FORGOTTEN_S: Final = 60.0
"""A window that has been away for so long is not counted among those who are there."""
MOST_SEATS: Final = 200


class RoomRefused(Exception):
    """Something that the room does not do: the reason, for whoever asked."""


@dataclass
class Seat:
    """One window that follows or leads. ``number`` is for everybody, ``window`` is its secret.

    ``voter`` is the same for all windows of one browser, or of one person who signed in.
    """

    number: int
    window: str
    voter: str
    person: Person | None
    may_lead: bool
    streams: int = 0
    gone_since: float | None = None
    looking: bool = False

    @property
    def here(self) -> bool:
        """Whether it is connected."""
        return self.streams > 0


class Seats:
    """All windows of one meeting.

    Attributes
    ----------
    leader : Seat or None
        Whoever leads, also while they are away.
    led : callable
        Called when another window leads.
    empty_since : float or None
        By the clock; None while somebody is there.
    """

    def __init__(
        self,
        changed: Callable[[], None],
        led: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._changed, self._led, self._clock = changed, led, clock
        self.leader: Seat | None = None
        self.empty_since: float | None = clock()
        self._seats: dict[str, Seat] = {}
        self._asking: list[Seat] = []
        self._numbers = 0

    def join(self, window: str, person: Person | None, *, may_lead: bool, voter: str) -> Seat:
        """Let a window in, or in again; each call is one stream, ended by :meth:`leave`.

        Raises
        ------
        RoomRefused
            The room is full, or the window is somebody else's.
        """
        self.tick()  # nobody else does while nobody is there
        seat = self._seats.get(window)
        if seat is None:
            if len(self._seats) >= MOST_SEATS:
                raise RoomRefused(tr("{n:d} people are there already.").format(n=MOST_SEATS))
            seat = self._seats[window] = Seat(self._next(), window, voter, person, may_lead)
        elif _id(seat.person) not in (None, _id(person)):
            if seat.here:
                raise RoomRefused(tr("This window is somebody else's. Reload the page."))
            if seat is self.leader:
                self.leader = None
            seat = self._seats[window] = Seat(self._next(), window, voter, person, may_lead)
        seat.person, seat.may_lead, seat.voter = person, may_lead, voter
        seat.streams += 1
        seat.gone_since = self.empty_since = None
        self._changed()
        return seat

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers

    def leave(self, seat: Seat) -> None:
        """Note that one stream of a window has ended."""
        seat.streams -= 1
        if not seat.here:
            seat.gone_since = self._clock()
            if not any(one.here for one in self._seats.values()):
                self.empty_since = seat.gone_since
            self._changed()

    def seat(self, window: Any, person: Person | None, *, may_lead: bool) -> Seat:
        """Return the seat of a window that has joined; ``may_lead`` as their role is now.

        Raises
        ------
        RoomRefused
        """
        seat = self._seats.get(window) if isinstance(window, str) else None
        if seat is None or _id(seat.person) != _id(person):
            raise RoomRefused(tr("This window is not in the meeting yet."))
        seat.may_lead = may_lead
        return seat

    def tick(self) -> None:
        """Do what time has brought: replace a presenter who is gone, forget who has left."""
        now = self._clock()
        if self.leader and self._absent(self.leader):
            asking = next((seat for seat in self._asking if seat.here), None)
            if asking is not None:
                self._lead(asking)
        gone = [
            seat
            for seat in self._seats.values()
            if seat is not self.leader
            and seat.gone_since is not None
            and now - seat.gone_since >= _FORGOTTEN_S
        ]
        for seat in gone:
            del self._seats[seat.window]
        if gone:
            self._changed()

    # --- who leads -------------------------------------------------------------------------------

    def ask_to_lead(self, seat: Seat) -> None:
        """Let a window lead: at once where nobody does or who does is gone, else ask for it.

        Raises
        ------
        RoomRefused
            The role does not include it.
        """
        if not seat.may_lead or seat.person is None:
            raise RoomRefused(tr("Your role may not lead a meeting."))
        leader = self.leader
        own_and_gone = (
            leader is not None and not leader.here and _id(leader.person) == seat.person.id
        )
        if leader is None or own_and_gone or self._absent(leader):
            self._lead(seat)
        elif leader is seat:
            self._led()  # its page was loaded anew
        elif seat not in self._asking:
            self._asking.append(seat)
            self._changed()

    def answer(self, seat: Seat, asking: Any, *, yes: bool) -> None:
        """Let whoever leads hand over to a window that has asked (its number), or decline.

        Raises
        ------
        RoomRefused
        """
        self.check_leads(seat)
        wanted = next((one for one in self._asking if one.number == asking), None)
        if wanted is None or not (wanted.here and wanted.may_lead):
            raise RoomRefused(tr("They do not ask any more."))
        if yes:
            self._lead(wanted)
        else:
            self._asking.remove(wanted)
            self._changed()

    def check_leads(self, seat: Seat) -> None:
        """Check that a window leads.

        Raises
        ------
        RoomRefused
        """
        if seat is not self.leader:
            raise RoomRefused(tr("Somebody else presents now."))
        if not seat.may_lead:
            raise RoomRefused(tr("Your role may not lead a meeting."))

    def _lead(self, seat: Seat) -> None:
        self.leader, self._asking, seat.looking = seat, [], False
        self._led()
        self._changed()

    def _absent(self, seat: Seat) -> bool:
        """Whether whoever leads has been away for long, or may not lead any more."""
        if not seat.may_lead:
            return True
        return seat.gone_since is not None and self._clock() - seat.gone_since >= ABSENT_S

    def look_around(self, seat: Seat, *, looking: bool) -> None:
        """Note whether somebody looks at something else than what is shown."""
        if seat.looking != looking:
            seat.looking = looking
            self._changed()

    def voters(self) -> set[str]:
        """Voters who are there, without the window that leads."""
        seats = self._seats.values()
        return {seat.voter for seat in seats if seat.here and seat is not self.leader}

    def check_votes(self, voter: str | None) -> str:
        """Return a voter who has a window here, or had one a moment ago.

        Raises
        ------
        RoomRefused
        """
        if voter is None or not any(seat.voter == voter for seat in self._seats.values()):
            raise RoomRefused(tr("This window is not in the meeting yet."))
        return voter

    def told(self, seat: Seat) -> dict[str, Any]:
        """Return what a window is told of who is there: numbers and names, no secrets."""
        there = [one for one in self._seats.values() if one.here or one is self.leader]
        return {
            "you": seat.number,
            "leader": self.leader.number if self.leader else None,
            "may_lead": seat.may_lead and seat.person is not None,
            "asking": [one.number for one in self._asking if one.here],
            "people": [
                {
                    "number": one.number,
                    "name": one.person.name if one.person else "",
                    "here": one.here,
                    "looking": one.looking,
                }
                for one in there
            ],
        }


def _id(person: Person | None) -> str | None:
    return person.id if person else None

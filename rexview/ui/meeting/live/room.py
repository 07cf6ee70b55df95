"""A running meeting: its participants, its leader, what is shown, and what was revealed.

A room is a plain object in one server's memory, used only by the server's event loop. It knows no
HTTP and no database. Every change wakes all listeners. They fetch updates by kind (:data:`KINDS`)
and revision, so that a slow listener misses steps in between but never the newest.

Only revealed content of a case may be sent: :attr:`Room.reached` has the farthest step of each
case, and nobody gets more, not even the presenter.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rexview.people import Person
from rexview.words import tr

# The participants of a meeting, by window, and the leader.

ABSENT_S: Final = 15.0
"""Seconds of absence after which the next window that asks replaces the leader."""
_FORGOTTEN_S: Final = 60.0
"""Seconds of absence after which a window no longer counts as a participant."""
MOST_SEATS: Final = 200


class RoomRefused(Exception):
    """A request that the room refuses; the message is the reason for the requester."""


@dataclass
class Seat:
    """One window that follows or leads; ``number`` is public, ``window`` is its secret.

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
        """Whether the window is connected."""
        return self.streams > 0


class Seats:
    """All windows of one meeting.

    Attributes
    ----------
    leader : Seat or None
        The leading window, also while it is absent.
    led : callable
        Called when another window leads.
    empty_since : float or None
        Time of the clock since which nobody is connected; None while somebody is.
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
        """Admit a window, or admit it again; each call is one stream, ended by :meth:`leave`.

        Raises
        ------
        RoomRefused
            The room is full, or the window belongs to somebody else.
        """
        self.tick()  # it is not called while nobody is connected
        seat = self._seats.get(window)
        if seat is None:
            if len(self._seats) >= MOST_SEATS:
                raise RoomRefused(tr("{n:d} people are there already.").format(n=MOST_SEATS))
            seat = self._seats[window] = Seat(self._next(), window, voter, person, may_lead)
        elif _id(seat.person) not in (None, _id(person)):
            if seat.here:
                raise RoomRefused(tr("This window belongs to someone else. Reload the page."))
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
        """Record that one stream of a window has ended."""
        seat.streams -= 1
        if not seat.here:
            seat.gone_since = self._clock()
            if not any(one.here for one in self._seats.values()):
                self.empty_since = seat.gone_since
            self._changed()

    def seat(self, window: Any, person: Person | None, *, may_lead: bool) -> Seat:
        """Return the seat of a window that has joined; ``may_lead`` is from its current role.

        Raises
        ------
        RoomRefused
        """
        seat = self._seats.get(window) if isinstance(window, str) else None
        if seat is None or _id(seat.person) != _id(person):
            raise RoomRefused(tr("This window has not joined the meeting yet."))
        seat.may_lead = may_lead
        return seat

    def tick(self) -> None:
        """Apply the passing of time: replace an absent presenter, remove windows that have left."""
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

    # --- the leader ------------------------------------------------------------------------------

    def ask_to_lead(self, seat: Seat) -> None:
        """Make a window the leader if there is none or it is absent, else register its request.

        Raises
        ------
        RoomRefused
            The role may not lead.
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
            self._led()  # its page was reloaded
        elif seat not in self._asking:
            self._asking.append(seat)
            self._changed()

    def answer(self, seat: Seat, asking: Any, *, yes: bool) -> None:
        """Let the leader hand over to a window that has asked (its number), or decline.

        Raises
        ------
        RoomRefused
        """
        self.check_leads(seat)
        wanted = next((one for one in self._asking if one.number == asking), None)
        if wanted is None or not (wanted.here and wanted.may_lead):
            raise RoomRefused(tr("They are no longer asking."))
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
            raise RoomRefused(tr("Someone else is presenting now."))
        if not seat.may_lead:
            raise RoomRefused(tr("Your role may not lead a meeting."))

    def _lead(self, seat: Seat) -> None:
        self.leader, self._asking, seat.looking = seat, [], False
        self._led()
        self._changed()

    def _absent(self, seat: Seat) -> bool:
        """Return whether the leader has been absent for long, or may no longer lead."""
        if not seat.may_lead:
            return True
        return seat.gone_since is not None and self._clock() - seat.gone_since >= ABSENT_S

    def look_around(self, seat: Seat, *, looking: bool) -> None:
        """Record whether a window shows something other than the shared view."""
        if seat.looking != looking:
            seat.looking = looking
            self._changed()

    def voters(self) -> set[str]:
        """Return the voters who are connected, without the leading window."""
        seats = self._seats.values()
        return {seat.voter for seat in seats if seat.here and seat is not self.leader}

    def check_votes(self, voter: str | None) -> str:
        """Return a voter who has a window here, or had one a moment ago.

        Raises
        ------
        RoomRefused
        """
        if voter is None or not any(seat.voter == voter for seat in self._seats.values()):
            raise RoomRefused(tr("This window has not joined the meeting yet."))
        return voter

    def told(self, seat: Seat) -> dict[str, Any]:
        """Return the participants for a window: numbers and names, no secrets."""
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


# The votes on one case of a meeting: stored by voter, sent as counts only.
#
# A voter is a random word that the server gave to a browser or, where people sign in, to a person
# (:mod:`rexview.ui.meeting.live.admission`). It does not reveal the person, and no vote is stored
# with a name.

MIN_VOTES: Final = 3
"""With fewer votes, no result is shown or stored unless the presenter decides so."""
MAX_VOTES: Final = 1000
"""Most votes on a case."""
VOTES_WITHOUT_MODEL: Final = ("none", "unsure")
"""Votes on the right answer that choose no model."""
HARM: Final = range(5)
"""Grades of clinical harm."""


class VoteRefused(Exception):
    """A refused vote; the message is the reason for the voter."""


@dataclass(frozen=True)
class VoteCounts:
    """Number of votes in all, for each letter, ``none`` and ``unsure``, and for each harm grade."""

    count: int
    right: Mapping[str, int]
    harm: Mapping[str, int]


@dataclass
class Ballot:
    """The votes on one case.

    Attributes
    ----------
    letters : mapping of str to str
        The model of each letter that may be voted for. It never leaves the server.
    closed : bool
        Voting has ended: the result is shown, or the models were named.
    shown : bool
        Whether everybody sees the result.
    written : mapping or None
        The value last sent to the database, so that it is not written twice.
    resumed : bool
        It was closed before the server restarted: voters may only send their earlier votes again.
    """

    letters: Mapping[str, str]
    closed: bool = False
    shown: bool = False
    resumed: bool = False
    written: Mapping[str, Any] | None = None
    _given: dict[str, tuple[str | None, int | None]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of voters."""
        return len(self._given)

    @property
    def whole(self) -> set[str]:
        """Return the voters who have given both the right answer and the harm."""
        return {voter for voter, given in self._given.items() if None not in given}

    def vote(self, voter: str, right: Any, harm: Any, *, again: bool = False) -> None:
        """Record a vote in place of the voter's earlier one; an empty vote withdraws it.

        Raises
        ------
        VoteRefused
        """
        if right is not None and (
            not isinstance(right, str) or right not in {*self.letters, *VOTES_WITHOUT_MODEL}
        ):
            raise VoteRefused(tr("There is no such answer."))
        if harm is not None and (type(harm) is not int or harm not in HARM):
            raise VoteRefused(tr("Harm is graded from 0 to 4."))
        if self.closed and not (self.resumed and again):
            raise VoteRefused(tr("Voting on this case has ended."))
        if right is None and harm is None:
            self._given.pop(voter, None)
        elif voter in self._given or self.count < MAX_VOTES:
            self._given[voter] = (right, harm)
        else:
            raise VoteRefused(tr("There are {n:,} votes already.").format(n=MAX_VOTES))

    def counted(self) -> VoteCounts:
        """Return the votes counted by letter, most frequent first."""
        right = Counter(who for who, _ in self._given.values() if who is not None)
        harm = Counter(str(grade) for _, grade in self._given.values() if grade is not None)
        return VoteCounts(self.count, dict(right.most_common()), dict(sorted(harm.items())))

    def by_model(self) -> dict[str, Any]:
        """Return the value of the entry ``vote`` (:mod:`rexview.store.kinds`)."""
        counted = self.counted()
        right = {self.letters.get(who, who): times for who, times in counted.right.items()}
        return {"count": counted.count, "right": right, "harm": dict(counted.harm)}


Kind = Literal["state", "people", "cases", "votes"]
KINDS: Final[tuple[Kind, ...]] = ("cases", "state", "people", "votes")
"""Kinds of updates for listeners, in the order of sending."""
NAMES_STEP: Final = "models"
VOTES_FROM: Final = "answers"
"""The meeting step from which people may vote, until the models are named."""


@dataclass(frozen=True)
class RoomPlan:
    """The current agenda and steps of the meeting, from the database."""

    cases: Sequence[str]
    steps: Sequence[str]


@dataclass(frozen=True)
class EndedBallot:
    """An ended ballot, to be written in the leader's name."""

    case: str
    value: Mapping[str, Any]
    person: Person


class Room:
    """A running meeting.

    Attributes
    ----------
    epoch : str
        A new id after each start of the server; browsers then have to get everything again.
    revisions : dict of str to int
        A number for each kind that grows with every change.
    state : mapping or None
        The view of the presenter's screen, as sent by it.
    reached : dict of str to int
        The farthest step shown of each case, an index of ``plan.steps``.
    ballots : dict of str to Ballot
        By case.
    to_write : list of EndedBallot
        Ended ballots that are not in the database yet.
    listeners : set of callable
        Called after every change.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.epoch: Final = secrets.token_hex(4)
        self.revisions: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        self.plan = RoomPlan((), ())
        self.state: Mapping[str, Any] | None = None
        self.reached: dict[str, int] = {}
        self.ballots: dict[str, Ballot] = {}
        self.to_write: list[EndedBallot] = []
        self.listeners: set[Callable[[], None]] = set()
        self.seats = Seats(lambda: self._changed("people", "votes"), self._led, clock)
        self._problems: dict[str, str] = {}
        self._newest = -1

    def _led(self) -> None:
        self._newest = -1  # another window counts from the start

    def _changed(self, *kinds: Kind) -> None:
        for kind in kinds:
            self.revisions[kind] += 1
        for wake in tuple(self.listeners):
            wake()

    # --- what is shown ---------------------------------------------------------------------------

    def is_revealed(self, case: str, step: int) -> bool:
        """Return whether a step of a case was shown before."""
        return 0 <= step <= self.reached.get(case, -1)

    def replan(self, plan: RoomPlan) -> None:
        """Use a new agenda and new steps; what was revealed stays revealed.

        A case that was removed keeps its step, because it may return.
        """
        if plan == self.plan:
            return
        if tuple(plan.steps) != tuple(self.plan.steps):
            known = {
                case: _farthest(plan.steps, set(self.plan.steps[: step + 1]))
                for case, step in self.reached.items()
            }
            self.reached = {case: step for case, step in known.items() if step >= 0}
        self.plan = plan
        self._changed("cases")

    def reveal(self, case: str, step: int, letters: Mapping[str, str]) -> None:
        """Reveal a case up to a step; the answers of ``letters`` may be voted on.

        Raises
        ------
        RoomRefused
            The case is not on the agenda, or there is no such step.
        """
        if case not in self.plan.cases:
            raise RoomRefused(tr("This case is not on the agenda."))
        if not 0 <= step < len(self.plan.steps):
            raise RoomRefused(tr("There is no such step."))
        if self.is_revealed(case, step):
            return
        self.reached[case] = step
        seen = self.plan.steps[: step + 1]
        if VOTES_FROM in seen and case not in self.ballots:
            self.ballots[case] = Ballot(dict(letters))
        if NAMES_STEP in seen and case in self.ballots:
            self._end(case, self.ballots[case])
        self._changed("cases", "votes")

    def share(self, seat: Seat, number: int, state: Mapping[str, Any]) -> None:
        """Share the view of the presenter's screen; an outdated one is ignored.

        ``state`` has at least ``case`` and ``step``, which must be revealed. ``number`` grows with
        each state of a window.

        Raises
        ------
        RoomRefused
        """
        self.seats.check_leads(seat)
        if not self.is_revealed(state["case"], state["step"]):
            raise RoomRefused(tr("This has not been revealed."))
        if number <= self._newest:
            return
        before = self.state["case"] if self.state else None
        self._newest, self.state = number, state
        if before == state["case"]:
            self._changed("state")
            return
        if before is not None:
            self._write_left(before)
        self._changed("state", "votes")

    def resume(self, reached: Mapping[str, int], closed: Sequence[str]) -> None:
        """Restore from the leader what was revealed before the server restarted.

        ``closed`` are cases on which voting had ended. Call :meth:`reveal` for every case of
        ``reached`` first.
        """
        for case in closed:
            if case in reached and case in self.ballots:
                ballot = self.ballots[case]
                ballot.closed = ballot.shown = ballot.resumed = True
        self.to_write = [one for one in self.to_write if one.case not in closed]
        self._changed("votes")

    # --- votes -----------------------------------------------------------------------------------

    def vote(self, case: Any, voter: str | None, right: Any, harm: Any, *, again: bool) -> None:
        """Record a vote; see :meth:`Ballot.vote`. Only participants have one.

        Voting ends by itself when all participants have given both parts, so that the last voter is
        not cut off between the two. With fewer voters than a result needs it continues.

        Raises
        ------
        RoomRefused, VoteRefused
        """
        ballot = self.ballots.get(case) if isinstance(case, str) else None
        if ballot is None:
            raise RoomRefused(tr("There is nothing to vote on yet."))
        ballot.vote(self.seats.check_votes(voter), right, harm, again=again)
        voters = self.seats.voters()
        if not ballot.closed and len(voters) >= MIN_VOTES and voters <= ballot.whole:
            self._end(case, ballot)
        self._changed("votes")

    def show_votes(self, seat: Seat, case: Any, *, shown: bool) -> None:
        """Show the result to everybody on the presenter's request, or continue voting.

        Raises
        ------
        RoomRefused
            Also if voting cannot continue because the models have been named.
        """
        self.seats.check_leads(seat)
        ballot = self.ballots.get(case) if isinstance(case, str) else None
        if ballot is None:
            raise RoomRefused(tr("There is nothing to vote on yet."))
        if shown:
            self._end(case, ballot, asked=True)
        elif self._names_known(case):
            raise RoomRefused(tr("The models have been named."))
        else:
            ballot.closed = ballot.shown = ballot.resumed = False
        self._changed("votes")

    def _end(self, case: str, ballot: Ballot, *, asked: bool = False) -> None:
        fresh = not ballot.shown
        ballot.closed = True
        if asked or ballot.count >= MIN_VOTES:
            ballot.shown = True
            if fresh and ballot.count and not ballot.resumed:
                self._write(case, ballot)

    def _write_left(self, case: str) -> None:
        """Store the result of a case that was left without showing it; it stays hidden."""
        ballot = self.ballots.get(case)
        if ballot and not ballot.shown and ballot.count >= MIN_VOTES:
            self._write(case, ballot)

    def _write(self, case: str, ballot: Ballot) -> None:
        value = ballot.by_model()
        leader = self.seats.leader
        if leader and leader.person and value != ballot.written:
            ballot.written = value
            self.to_write = [one for one in self.to_write if one.case != case]
            self.to_write.append(EndedBallot(case, value, leader.person))

    def _names_known(self, case: str) -> bool:
        return NAMES_STEP in self.plan.steps[: self.reached.get(case, -1) + 1]

    def note(self, case: str, problem: str) -> None:
        """Send a problem with the votes on a case together with them."""
        self._problems[case] = problem
        self._changed("votes")

    # --- updates for listeners -------------------------------------------------------------------

    def told(self, kind: Kind, seat: Seat) -> dict[str, Any] | None:
        """Return the update of a kind for a window; None if there is none yet."""
        if kind == "state":
            return None if self.state is None else {**self.state, "n": self.revisions["state"]}
        return {"people": self.seats.told, "cases": self._cases, "votes": self._votes}[kind](seat)

    def _cases(self, _seat: Seat) -> dict[str, Any]:
        """Return the number of cases, and number, id and step of those that were shown."""
        return {
            "epoch": self.epoch,
            "total": len(self.plan.cases),
            "steps": list(self.plan.steps),
            "reached": [
                [number, case, self.reached[case]]
                for number, case in enumerate(self.plan.cases, start=1)
                if case in self.reached
            ],
        }

    def _votes(self, _seat: Seat) -> dict[str, Any] | None:
        """Return the number of voters on the shown case, and the result once it may be shown."""
        case: str | None = self.state["case"] if self.state else None
        ballot = self.ballots.get(case) if case is not None else None
        if case is None or ballot is None:
            return None
        counted = ballot.counted()
        result = {"right": counted.right, "harm": counted.harm} if ballot.shown else None
        return {
            "case": case,
            "open": not ballot.closed,
            "resumed": ballot.resumed,
            "count": counted.count,
            "of": len(self.seats.voters()),
            "result": result,
            "problem": self._problems.get(case),
        }


def _farthest(steps: Sequence[str], revealed: set[str]) -> int:
    """Return the index of the last step before the first unrevealed one; -1 for none."""
    farthest = -1
    for number, step in enumerate(steps):
        if step not in revealed:
            break
        farthest = number
    return farthest

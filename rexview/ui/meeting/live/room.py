"""One meeting as it is held: who is there, who leads, what is shown, and what has been revealed.

A room is a plain object in one server's memory, touched by the server's event loop only. It knows
no HTTP and no database. Whatever changes wakes all who listen; they ask for what is new by kind
(:data:`KINDS`) and revision, so that a slow listener misses steps in between and never the newest.

What may be told of a case is what has been shown of it: :attr:`Room.reached` has the farthest step
of each case, and nobody is told more, the presenter included.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from rexview.people import Person
from rexview.ui.meeting.live.ballot import FEWEST, Ballot
from rexview.ui.meeting.live.seats import RoomRefused, Seat, Seats
from rexview.words import tr

Kind = Literal["state", "people", "cases", "votes"]
KINDS: Final[tuple[Kind, ...]] = ("cases", "state", "people", "votes")
"""What listeners are told, in the order in which they are told it."""
NAMES_STEP: Final = "models"
VOTES_FROM: Final = "answers"
"""Of the steps of a meeting: from here on people may vote, until the models are named."""


@dataclass(frozen=True)
class Plan:
    """The agenda of the meeting and its steps, as they are in the database now."""

    cases: Sequence[str]
    steps: Sequence[str]


@dataclass(frozen=True)
class Outcome:
    """A ballot that ended, to be written in the name of who led."""

    case: str
    value: Mapping[str, Any]
    person: Person


class Room:
    """A meeting that is held.

    Attributes
    ----------
    epoch : str
        Another one after each start of the server: what browsers know of an earlier one has to be
        told again.
    revisions : dict of str to int
        Of each kind, a number that grows with every change.
    state : mapping or None
        What the presenter's screen shows, as they sent it.
    reached : dict of str to int
        The farthest step that was shown of each case, an index of ``plan.steps``.
    ballots : dict of str to Ballot
        By case.
    to_write : list of Outcome
        Ballots that have ended and are not in the database yet.
    listeners : set of callable
        Called after every change.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.epoch: Final = secrets.token_hex(4)
        self.revisions: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        self.plan = Plan((), ())
        self.state: Mapping[str, Any] | None = None
        self.reached: dict[str, int] = {}
        self.ballots: dict[str, Ballot] = {}
        self.to_write: list[Outcome] = []
        self.listeners: set[Callable[[], None]] = set()
        self.seats = Seats(lambda: self._changed("people", "votes"), self._led, clock)
        self._problems: dict[str, str] = {}
        self._newest = -1

    def _led(self) -> None:
        self._newest = -1  # another window counts anew

    def _changed(self, *kinds: Kind) -> None:
        for kind in kinds:
            self.revisions[kind] += 1
        for wake in tuple(self.listeners):
            wake()

    # --- what is shown ---------------------------------------------------------------------------

    def is_revealed(self, case: str, step: int) -> bool:
        """Whether a step of a case was shown before."""
        return 0 <= step <= self.reached.get(case, -1)

    def replan(self, plan: Plan) -> None:
        """Take the agenda and the steps as they are now; what stays revealed is what was.

        A case that was taken off stays as far as it was: it may come back.
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
        """Let a step of a case be told from now on, and all before it; ``letters`` may be voted on.

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
        """Take what the presenter's screen shows; what was overtaken on its way is left out.

        ``state`` has at least ``case`` and ``step``, which must be revealed; ``number`` grows with
        each state of a window.

        Raises
        ------
        RoomRefused
        """
        self.seats.check_leads(seat)
        if not self.is_revealed(state["case"], state["step"]):
            raise RoomRefused(tr("This was not revealed."))
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
        """Take from whoever leads what was revealed before the server was started anew.

        ``closed`` are cases on which voting had ended; they go to :meth:`reveal` afterwards, which
        must have been asked for every case of ``reached``.
        """
        for case in closed:
            if case in reached and case in self.ballots:
                ballot = self.ballots[case]
                ballot.closed = ballot.shown = ballot.resumed = True
        self.to_write = [one for one in self.to_write if one.case not in closed]
        self._changed("votes")

    # --- votes -----------------------------------------------------------------------------------

    def vote(self, case: Any, voter: str | None, right: Any, harm: Any, *, again: bool) -> None:
        """Take a vote; see :meth:`Ballot.vote`. Only who follows here has one.

        Voting ends by itself when all who are there have said both things: whoever says the first
        one last is not cut off before the second. With fewer voters than a result needs it goes on.

        Raises
        ------
        RoomRefused, VoteRefused
        """
        ballot = self.ballots.get(case) if isinstance(case, str) else None
        if ballot is None:
            raise RoomRefused(tr("There is nothing to vote on yet."))
        ballot.vote(self.seats.check_votes(voter), right, harm, again=again)
        voters = self.seats.voters()
        if not ballot.closed and len(voters) >= FEWEST and voters <= ballot.whole:
            self._end(case, ballot)
        self._changed("votes")

    def show_votes(self, seat: Seat, case: Any, *, shown: bool) -> None:
        """Show the result to everybody by the presenter's word, or go on voting.

        Raises
        ------
        RoomRefused
            Also to go on where the models have been named.
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
        if asked or ballot.count >= FEWEST:
            ballot.shown = True
            if fresh and ballot.count and not ballot.resumed:
                self._write(case, ballot)

    def _write_left(self, case: str) -> None:
        """Keep the result of a case that was left without showing it; it stays hidden."""
        ballot = self.ballots.get(case)
        if ballot and not ballot.shown and ballot.count >= FEWEST:
            self._write(case, ballot)

    def _write(self, case: str, ballot: Ballot) -> None:
        value = ballot.by_model()
        leader = self.seats.leader
        if leader and leader.person and value != ballot.written:
            ballot.written = value
            self.to_write = [one for one in self.to_write if one.case != case]
            self.to_write.append(Outcome(case, value, leader.person))

    def _names_known(self, case: str) -> bool:
        return NAMES_STEP in self.plan.steps[: self.reached.get(case, -1) + 1]

    def note(self, case: str, problem: str) -> None:
        """Tell with the votes on a case that something went wrong with them."""
        self._problems[case] = problem
        self._changed("votes")

    # --- what listeners are told -----------------------------------------------------------------

    def told(self, kind: Kind, seat: Seat) -> dict[str, Any] | None:
        """Return what a window is told of a kind; None: there is nothing to tell yet."""
        if kind == "state":
            return None if self.state is None else {**self.state, "n": self.revisions["state"]}
        return {"people": self.seats.told, "cases": self._cases, "votes": self._votes}[kind](seat)

    def _cases(self, _seat: Seat) -> dict[str, Any]:
        """How many cases there are, and of those that were shown number, id and step."""
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
        """Return how many have voted on the case that is shown, and the result once it may be."""
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
    """Return the last of the first steps that were all revealed, -1 for none."""
    farthest = -1
    for number, step in enumerate(steps):
        if step not in revealed:
            break
        farthest = number
    return farthest

"""The votes on one case of a meeting: kept by voter, told as counts only.

A voter is a random word that the server gave to a browser or, where people sign in, to a person
(:mod:`rexview.ui.meeting.live.voter`). Who that is, nobody can tell from here, and no vote is kept
with a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rexview.words import tr

FEWEST: Final = 3
"""Of fewer votes no result is shown or kept unless the presenter says so."""
MOST: Final = 1000
"""A case takes so many votes at most."""
NOBODY: Final = ("none", "unsure")
"""Votes on who is right that hold no model right."""
HARM: Final = range(5)
"""Grades of clinical harm."""


class VoteRefused(Exception):
    """A vote that is not taken: the reason, for whoever voted."""


@dataclass(frozen=True)
class Counted:
    """How many voted, and for what: letters, ``none`` or ``unsure``, and grades of harm."""

    count: int
    right: Mapping[str, int]
    harm: Mapping[str, int]


@dataclass
class Ballot:
    """The votes on one case.

    Attributes
    ----------
    letters : mapping of str to str
        The model behind each letter that may be voted for. It never leaves the server.
    closed : bool
        Nobody may vote any more: the result is shown, or the models were named.
    shown : bool
        Whether everybody sees the result.
    written : mapping or None
        What was given to be written last, so that it is not written twice.
    resumed : bool
        It was closed before the server was started anew: voters may send again what they had
        given, nothing else.
    """

    letters: Mapping[str, str]
    closed: bool = False
    shown: bool = False
    resumed: bool = False
    written: Mapping[str, Any] | None = None
    _given: dict[str, tuple[str | None, int | None]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many have voted."""
        return len(self._given)

    @property
    def whole(self) -> set[str]:
        """Voters who have said both, who is right and how much harm would come of it."""
        return {voter for voter, given in self._given.items() if None not in given}

    def vote(self, voter: str, right: Any, harm: Any, *, again: bool = False) -> None:
        """Take the vote of a voter, in place of its vote before; nothing at all takes it back.

        Raises
        ------
        VoteRefused
        """
        if right is not None and (
            not isinstance(right, str) or right not in {*self.letters, *NOBODY}
        ):
            raise VoteRefused(tr("There is no such answer."))
        if harm is not None and (type(harm) is not int or harm not in HARM):
            raise VoteRefused(tr("Harm is graded from 0 to 4."))
        if self.closed and not (self.resumed and again):
            raise VoteRefused(tr("Voting on this case has ended."))
        if right is None and harm is None:
            self._given.pop(voter, None)
        elif voter in self._given or self.count < MOST:
            self._given[voter] = (right, harm)
        else:
            raise VoteRefused(tr("There are {n:,} votes already.").format(n=MOST))

    def counted(self) -> Counted:
        """Return what was voted for, by letters, commonest first."""
        right = Counter(who for who, _ in self._given.values() if who is not None)
        harm = Counter(str(grade) for _, grade in self._given.values() if grade is not None)
        return Counted(self.count, dict(right.most_common()), dict(sorted(harm.items())))

    def by_model(self) -> dict[str, Any]:
        """Return the value of the entry ``vote`` (:mod:`rexview.store.kinds`)."""
        counted = self.counted()
        right = {self.letters.get(who, who): times for who, times in counted.right.items()}
        return {"count": counted.count, "right": right, "harm": dict(counted.harm)}

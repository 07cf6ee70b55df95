"""What was found is kept in the order in which it was asked for, whoever is done first.

So the pieces on disk are the same, byte for byte, whatever looked at the answers, and also where it
was killed and went on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from rexview.detect.core.looking import Looked

_MOST_WAITING: Final = 2_000
"""Turns that wait for one that takes long; then what is there is kept before it."""


@dataclass(slots=True)
class _Turn:
    left: int = 1
    found: list[Looked] = field(default_factory=list)


class InTurn:
    """Passes on what was found of each turn, turn by turn. Safe for several threads.

    ``keep`` is called by one thread at a time, and gets all that was found in a turn.
    """

    def __init__(self, keep: Callable[[Sequence[Looked]], None]) -> None:
        self._keep: Final = keep
        self._changed: Final = threading.Condition()
        self._turns: dict[int, _Turn] = {}
        self._next = 0
        self._passing = False

    def new(self) -> int:
        """Begin a turn, and return its number."""
        with self._changed:
            number = self._next
            self._next += 1
            self._turns[number] = _Turn()
            return number

    def parted(self, number: int, parts: int) -> None:
        """Note that something of a turn is tried again in so many parts."""
        with self._changed:
            self._turns[number].left += parts - 1

    def done(self, number: int, found: Looked | None = None) -> None:
        """Note that a part of a turn is done; pass on what is due.

        ``found`` is None where nothing is to be kept of it.
        """
        with self._changed:
            turn = self._turns[number]
            turn.left -= 1
            if found is not None:
                turn.found.append(found)
        self._pass_on()

    def flush(self) -> None:
        """Pass on all that is there, whatever is still to come before it."""
        self._pass_on(all_of_it=True)

    def _pass_on(self, *, all_of_it: bool = False) -> None:
        with self._changed:
            if all_of_it:
                self._changed.wait_for(lambda: not self._passing)
            elif self._passing:
                return  # whoever is at it goes on with what is there now
            self._passing = True
        try:
            while (found := self._due(all_of_it=all_of_it)) is not None:
                if found:
                    self._keep(sorted(found, key=lambda one: one.numbers[:1].tolist()))
        finally:
            with self._changed:
                self._passing = False
                self._changed.notify_all()

    def _due(self, *, all_of_it: bool) -> list[Looked] | None:
        """Take what comes next; None, and nobody is passing on any more, where nothing is due."""
        with self._changed:
            for number, turn in self._turns.items():  # in the order of their numbers
                if not turn.left:
                    del self._turns[number]
                    return turn.found
                if turn.found and all_of_it:
                    found, turn.found = turn.found, []
                    return found
                if not all_of_it and len(self._turns) <= _MOST_WAITING:
                    break
            self._passing = False
            return None

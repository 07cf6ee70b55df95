"""Which cases are looked at next: those that were asked for last, then the others in file order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rexview.detect.core.batch import Numbers

Rows = npt.NDArray[np.int64]
_ANSWERS: Final = 128
"""Answers of a batch: some tenths of a second."""
_ANSWERS_SOON: Final = 16
"""Answers of a batch that somebody waits for."""
_WISHES: Final = 16
"""Calls of :meth:`Agenda.prefer` that are remembered."""
_SOON: Final = 512
"""Cases of a call that come in such small batches, as they are seen first."""
_BLOCK: Final = 4096


@dataclass(frozen=True, eq=False)
class Task:
    """Cases to be looked at; ``wanted`` are those of their answers, None for all.

    ``turn`` is its place among all tasks, and that of its parts.
    """

    case_rows: Rows
    wanted: Numbers | None = None
    turn: int = -1

    def parts(self, numbers: Numbers) -> list[Task]:
        """Part it into its cases, or into its answers (``numbers``) where it has one case.

        So a process dies three times over one answer; halving would cost a process for each half.
        """
        rows = self.case_rows
        if len(rows) > 1:
            return [Task(rows[place : place + 1], None, self.turn) for place in range(len(rows))]
        return [Task(rows, numbers[place : place + 1], self.turn) for place in range(len(numbers))]


@dataclass(slots=True)
class _Wish:
    rows: Rows
    place: int = 0


class Agenda:
    """The cases that are left. Not safe for several threads at once.

    Parameters
    ----------
    left : array of bool, one a case
    starts : array of int64
        As in :class:`rexview.frames.answer_rows.AnswerRows`.
    """

    def __init__(self, left: npt.NDArray[np.bool_], starts: npt.NDArray[np.int64]) -> None:
        self._left = left
        self._starts = starts
        self._first = 0
        self._wishes: deque[_Wish] = deque(maxlen=_WISHES)
        self._again: deque[Task] = deque()

    def prefer(self, case_rows: Iterable[int] | npt.NDArray[np.integer[Any]]) -> None:
        """Let these cases come next, before those that were preferred earlier."""
        rows = np.asarray(
            case_rows if isinstance(case_rows, np.ndarray) else list(case_rows), dtype=np.int64
        )
        rows = rows[(rows >= 0) & (rows < len(self._left))]
        self._wishes.append(_Wish(rows[self._left[rows]]))

    def done(self, case_row: int) -> None:
        """Take a case off the agenda."""
        self._left[case_row] = False

    def any_left(self) -> bool:
        """Whether there is any case left."""
        return bool(self._left.any() or self._again)

    def take_wishes(self, other: Agenda) -> None:
        """Take over what was preferred in another agenda."""
        self._wishes = other._wishes

    def again(self, task: Task) -> None:
        """Let a task be done before all others."""
        self._again.append(task)

    def next(self) -> Task | None:
        """Take the next task; None when nothing is left."""
        if self._again:
            return self._again.popleft()
        while self._wishes:
            wish = self._wishes[-1]
            block = wish.rows[wish.place : wish.place + _BLOCK]
            left = np.flatnonzero(self._left[block])
            if len(left):
                most = _ANSWERS_SOON if wish.place < _SOON else _ANSWERS
                rows = self._few(block[left], most)
                wish.place += int(left[len(rows) - 1]) + 1
                return Task(rows)
            wish.place += _BLOCK
            if wish.place >= len(wish.rows):
                self._wishes.pop()
        while self._first < len(self._left):
            block = self._first + np.flatnonzero(self._left[self._first : self._first + _BLOCK])
            if len(block):
                self._first = int(block[0])
                return Task(self._few(block, _ANSWERS))
            self._first += _BLOCK
        return None

    def _few(self, rows: Rows, answers: int) -> Rows:
        """Take the first of some cases, with so many answers together, one case at least."""
        counts = self._starts[rows + 1] - self._starts[rows]
        sums = np.cumsum(np.maximum(counts, 1))
        few = rows[: max(1, int(np.searchsorted(sums, answers, side="right")))]
        self._left[few] = False
        return few

"""What an import has to say: problems, and notes on the decisions that it took.

Messages name files, rows and fields, never the value of a clinical field: they may end up in logs.
"""

from __future__ import annotations

from functools import partialmethod
from typing import Final

from rexview.errors import Problem
from rexview.reviewset.problems import ProblemList

LISTED_PER_KIND: Final = 50


class ProblemLog(ProblemList):
    """Collects the problems and notes of one import.

    An ``error`` makes the import impossible, a ``warning`` is one that it can live with.
    """

    listed = LISTED_PER_KIND
    error = partialmethod(ProblemList.add, "error")
    warning = partialmethod(ProblemList.add, "warning")

    def __init__(self) -> None:
        super().__init__()
        self._notes: dict[str, None] = {}

    def note(self, text: str) -> None:
        """Add a sentence about a decision that the import took; each sentence once."""
        self._notes[text] = None

    def take(self, other: ProblemLog) -> None:
        """Add everything that another log has collected."""
        for problem in other.all():
            self.add_many([problem], 1)
        self._notes |= other._notes

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, as :meth:`all` lists them."""
        return tuple(self.all())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about decisions that the import took."""
        return tuple(self._notes)

    def _more(self, count: int, last: Problem) -> str:
        return f"{count:,} more like this: {last.message}"

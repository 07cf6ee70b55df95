"""What an import has to say: problems, and notes on the decisions that it took.

Messages name files, rows and fields, never the value of a clinical field: they may end up in logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partialmethod
from typing import Any, Final

from rexview.errors import Problem
from rexview.reviewset.problems import ProblemList

LISTED_PER_KIND: Final = 50
_MORE: Final = " more like this: "
_ROWS_LISTED: Final = 20
_ROWS_IN_LINE: Final = 5


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
        self._refused = False

    def add_many(self, examples: Sequence[Problem], count: int, **labels: Any) -> None:
        """Add problems of one kind, but no warnings of an import that is refused by now."""
        if not (self._refused and examples and examples[0].severity == "warning"):
            super().add_many(examples, count, **labels)

    def end_warnings_if_refused(self) -> None:
        """Keep no further warnings if there is an error: they would only follow from it."""
        self._refused = self.has_errors

    def note(self, text: str) -> None:
        """Add a sentence about a decision that the import took; each sentence once."""
        self._notes[text] = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, as :meth:`all` lists them."""
        return tuple(self.all())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about decisions that the import took."""
        return tuple(self._notes)

    def _more(self, count: int, last: Problem) -> str:
        return f"{count:,}{_MORE}{last.message}"


@dataclass
class AlikeProblems:
    """Problems that differ in their row only: the first of them, how many, and the first rows."""

    first: Problem
    count: int = 0
    rows: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        if self.count == 1:
            return str(self.first)
        shown = ", ".join(map(str, self.rows[:_ROWS_IN_LINE]))
        more = ", …" if self.count > _ROWS_IN_LINE else ""
        where = f" (rows {shown}{more})" if shown else ""
        return f"{replace(self.first, row=None)} {self.count:,} times{where}."

    def as_json(self) -> dict[str, Any]:
        """Return the fields of a problem with ``count`` and the first ``rows``."""
        row = self.first.row if self.count == 1 else None
        return asdict(replace(self.first, row=row)) | {"count": self.count, "rows": self.rows}


def alike(problems: Iterable[Problem]) -> list[AlikeProblems]:
    """Gather problems that differ in their row only, in the order of the first of each."""
    found: dict[Problem, AlikeProblems] = {}
    for problem in problems:
        number, more, message = problem.message.partition(_MORE)
        told = replace(problem, row=None, message=message if more else problem.message)
        group = found.setdefault(told, AlikeProblems(told if more else problem))
        group.count += int(number.replace(",", "")) if more else 1
        row = problem.row
        if row is not None and row not in group.rows and len(group.rows) < _ROWS_LISTED:
            group.rows.append(row)
    return list(found.values())

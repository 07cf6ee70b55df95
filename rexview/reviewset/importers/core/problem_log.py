"""What an import has to say: problems and notes, collected while it runs, bounded in number.

Messages name files, rows and fields, never the value of a clinical field: they may end up in logs.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from rexview.errors import Problem, Severity

LISTED_PER_KIND: Final = 50
"""Problems of one kind that are listed one by one; the others are counted in a closing line."""


class ProblemLog:
    """Collects the problems and notes of one import.

    A file with a million bad rows must not make a million lines: problems of one kind are listed up
    to :data:`LISTED_PER_KIND`, then counted. Without a ``kind``, those of one file and field are
    of one.
    """

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._seen: Counter[tuple[str, str]] = Counter()
        self._last: dict[tuple[str, str], Problem] = {}
        self._notes: list[str] = []

    def error(
        self,
        file: str,
        message: str,
        remedy: str,
        *,
        row: int | None = None,
        field: str | None = None,
        kind: str | None = None,
    ) -> None:
        """Add a problem that makes the import impossible."""
        self._add("error", file, message, remedy, row, field, kind)

    def warning(
        self,
        file: str,
        message: str,
        remedy: str,
        *,
        row: int | None = None,
        field: str | None = None,
        kind: str | None = None,
    ) -> None:
        """Add a problem that the import can live with."""
        self._add("warning", file, message, remedy, row, field, kind)

    def note(self, text: str) -> None:
        """Add a sentence about a decision that the import took; each sentence once."""
        if text not in self._notes:
            self._notes.append(text)

    def _add(
        self,
        severity: Severity,
        file: str,
        message: str,
        remedy: str,
        row: int | None,
        field: str | None,
        kind: str | None,
    ) -> None:
        problem = Problem(severity, file, row, field, message, remedy)
        key = (severity, kind or f"{file} {field}")
        self._seen[key] += 1
        self._last[key] = problem
        if self._seen[key] <= LISTED_PER_KIND:
            self._problems.append(problem)

    def take(self, other: ProblemLog) -> None:
        """Add everything that another log has collected."""
        for problem in other.problems:
            self._add(
                problem.severity,
                problem.file,
                problem.message,
                problem.remedy,
                problem.row,
                problem.field,
                None,
            )
        for text in other.notes:
            self.note(text)

    @property
    def failed(self) -> bool:
        """Whether any error was added."""
        return any(problem.severity == "error" for problem in self._problems)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All listed problems, errors first, then one closing line for each kind cut short."""
        closing = [
            Problem(
                last.severity,
                last.file,
                None,
                last.field,
                f"{self._seen[key] - LISTED_PER_KIND:,} more like this: {last.message}",
                last.remedy,
            )
            for key, last in self._last.items()
            if self._seen[key] > LISTED_PER_KIND
        ]
        return tuple(sorted([*self._problems, *closing], key=lambda one: one.severity != "error"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about decisions that the import took."""
        return tuple(self._notes)

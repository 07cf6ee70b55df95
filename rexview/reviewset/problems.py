"""Collect problems: all of them at once, and still readable if a million rows have the same one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from rexview.errors import Problem, Severity
from rexview.vocab import english_noun

MAX_LISTED_PROBLEMS: Final = 20
"""How many problems of one kind are listed one by one; the others are counted."""
_PLACES: Final = re.compile(r"\[\d+\]")
_SHOWN: Final = 60


def quote_value(value: object) -> str:
    """Format a given value for a message: in quotes, on one line, shortened if long."""
    text = " ".join(str(value).split())
    return f"“{text[:_SHOWN]}…”" if len(text) > _SHOWN else f"“{text}”"


def join_alternatives(words: Iterable[str]) -> str:
    """Join words for a sentence: ``a, b or c``."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


@dataclass
class _ProblemKind:
    label: str
    problems: list[Problem] = field(default_factory=list)
    count: int = 0


class ProblemList:
    """A growing list of problems.

    Problems are of one kind if severity, table, field and remedy are the same (indices in a list,
    as in ``boxes[3]``, do not count). Of each kind the first :attr:`join_alternatives` are kept and
    the others are counted.
    """

    listed = MAX_LISTED_PROBLEMS

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str, str, str], _ProblemKind] = {}

    def add(
        self,
        severity: Severity,
        file: str,
        message: str,
        remedy: str,
        *,
        row: int | None = None,
        field: str | None = None,
        kind: str | None = None,
    ) -> None:
        """Add one problem; give a ``kind`` if it is the same in several files or fields."""
        self.add_many([Problem(severity, file, row, field, message, remedy)], 1, kind=kind)

    def add_many(
        self,
        examples: Sequence[Problem],
        count: int,
        *,
        table: str | None = None,
        kind: str | None = None,
    ) -> None:
        """Add ``count`` problems of one kind, of which ``examples`` are the first.

        Give ``table`` if one table consists of several files.
        """
        if not examples:
            return
        first = examples[0]
        label = table or first.file
        places = "" if kind else _PLACES.sub("[]", first.field or "")
        key = (first.severity, kind or label, places, first.remedy)
        found = self._kinds.setdefault(key, _ProblemKind(label))
        found.problems.extend(examples[: self.listed - len(found.problems)])
        found.count += count

    @property
    def has_errors(self) -> bool:
        """True if any problem is an error."""
        return any(severity == "error" for severity, *_ in self._kinds)

    def has_errors_in(self, label: str, fields: Iterable[str] | None = None) -> bool:
        """True if there is an error in a file, or in the table with its name without ending.

        ``fields`` limits it to errors of those fields; ``""`` means errors without a field.
        """
        wanted = None if fields is None else set(fields)
        return any(
            severity == "error"
            and label in (table, table.partition(".")[0])
            and (wanted is None or field in wanted)
            for severity, table, field, _ in self._kinds
        )

    def count(self, severity: Severity) -> int:
        """Return the number of problems of that severity, including unlisted ones."""
        return sum(kind.count for key, kind in self._kinds.items() if key[0] == severity)

    def all(self) -> list[Problem]:
        """Return all problems, errors first, then by the first occurrence of their kind.

        If more than :attr:`join_alternatives` are of one kind, one further problem counts the rest.
        """
        found: list[Problem] = []
        for (_, _, places, remedy), kind in self._kinds.items():
            found += kind.problems
            more, last = kind.count - len(kind.problems), kind.problems[-1]
            if more > 0:
                text = self._more(more, last)
                found.append(Problem(last.severity, kind.label, None, places or None, text, remedy))
        return sorted(found, key=lambda problem: problem.severity != "error")

    def _more(self, count: int, last: Problem) -> str:
        return f"… and {count:,} more {english_noun(count, 'row')} with the same problem."

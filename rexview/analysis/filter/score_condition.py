"""One score of one reader as a condition of the filter, in one word of the link.

The word is ``DIMENSION:SCORE:DAYS:READER``, such as ``execution:2::reader_a`` or
``:4..5:2026-03-01..2026-03-07:reader_a``. An empty part does not limit. The reader stands last,
because an id is free text and may hold colons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from rexview.errors import FilterError
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS

_LONGEST: Final = 1_000
"""Characters of such a word; longer ones are not understood."""
_SCORES: Final = re.compile(r"([1-5])(?:\.\.([1-5]))?", re.ASCII)
_DAYS: Final = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?", re.ASCII)


@dataclass(frozen=True)
class ScoreCondition:
    """A score that a reader gave: which dimension, which scores, on which days, who.

    ``dimension`` and ``reader`` are empty for any. ``low`` and ``high`` are scores from 1 to 5,
    ``first`` and ``last`` days in UTC, both included; None for any.
    """

    dimension: str = ""
    low: int | None = None
    high: int | None = None
    first: date | None = None
    last: date | None = None
    reader: str = ""

    def __str__(self) -> str:
        scores = _span(self.low, self.high)
        return ":".join((self.dimension, scores, _span(self.first, self.last), self.reader))

    @classmethod
    def of(
        cls,
        reader: str,
        dimension: str = "",
        score: int | None = None,
        *,
        days: tuple[date, date] | None = None,
    ) -> ScoreCondition:
        """Ask for one reader's score, or any, on some days, or any."""
        first, last = days or (None, None)
        return cls(dimension, score, score, first, last, reader)

    @classmethod
    def parse(cls, word: str) -> ScoreCondition:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        parts = word.split(":", 3)
        if len(parts) < 4 or len(word) > _LONGEST:
            raise FilterError(f"“{word[:40]}” is not dimension:score:days:reader.")
        dimension, scores, days, reader = parts
        if dimension and dimension not in DIMENSIONS:
            raise FilterError(f"“{dimension[:40]}” is not a dimension that readers score.")
        low, high = _ends(_SCORES, scores)
        first, last = _ends(_DAYS, days)
        try:
            found = cls(
                dimension,
                None if low is None else int(low),
                None if high is None else int(high),
                None if first is None else date.fromisoformat(first),
                None if last is None else date.fromisoformat(last),
                reader,
            )
        except ValueError as error:
            raise FilterError(f"“{days}” are no days.") from error
        if found._upside_down:
            raise FilterError(f"“{word[:40]}” is empty: its ends are the wrong way round.")
        return found

    @property
    def _upside_down(self) -> bool:
        scores = self.low is not None and self.high is not None and self.low > self.high
        return scores or (
            self.first is not None and self.last is not None and self.first > self.last
        )

    def words(self, reader_name: str) -> str:
        """Say it in words: ``Reader A: Execution 2``; ``reader_name`` is shown for the reader."""
        what = DIMENSION_NAMES.get(self.dimension, "")
        if self.low is None:
            said = f"{what} scored" if what else "scored"
        else:
            upper = "" if self.low == self.high else f" to {self.high}"
            said = f"{what or 'a score of'} {self.low}{upper}"
        if self.first is not None and self.last is not None:
            said += f", {days_words(self.first, self.last)}"
        return f"{reader_name or 'Any reader'}: {said}"


def days_words(first: date, last: date) -> str:
    """Write some days: ``4 Mar 2026``, ``4 to 9 Mar 2026``, ``28 Feb to 3 Mar 2026``."""
    end = f"{last.day} {last:%b %Y}"
    if first == last:
        return end
    if first.year != last.year:
        return f"{first.day} {first:%b %Y} to {end}"
    if first.month != last.month:
        return f"{first.day} {first:%b} to {end}"
    return f"{first.day} to {end}"


def _span(low: object, high: object) -> str:
    if low is None:
        return ""
    return str(low) if low == high else f"{low}..{high}"


def _ends(pattern: re.Pattern[str], text: str) -> tuple[str | None, str | None]:
    if not text:
        return None, None
    match = pattern.fullmatch(text)
    if match is None:
        raise FilterError(f"“{text[:40]}” is not a part of a mark.")
    return match[1], match[2] or match[1]

"""Scores on another scale than 1 to 5, or under other names, read as somebody declared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.table.cell_values import read_number
from rexview.reviewset.importers.table.column_names import ColumnName
from rexview.vocab import DIMENSIONS, SCORE_MAX, SCORE_MIN

_NUMBERS: Final = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|\.\.|to|:)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class ScoreScale:
    """A scale: from its worst to its best number, or its words from worst to best."""

    USUAL: ClassVar = ("0-1", "0-3", "0-4", "0-5", "1-7", "1-10", "0-10", "0-100")

    worst: float
    best: float
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> ScoreScale:
        """Read ``0-10``, ``10-0`` (0 is best), or ``poor, fair, good``.

        Raises
        ------
        ValueError
            When it is neither; the message completes "This option ...".
        """
        numbers = _NUMBERS.fullmatch(text)
        if numbers and float(numbers[1]) != float(numbers[2]):
            return cls(float(numbers[1]), float(numbers[2]))
        words = tuple(" ".join(word.lower().split()) for word in text.split(","))
        if len(words) > 1 and all(words) and len(set(words)) == len(words):
            return cls(0, len(words) - 1, words)
        raise ValueError("must be such as 0-10, or words from worst to best apart by commas.")

    def takes(self, number: float) -> bool:
        """Whether a number lies on the scale."""
        return min(self.worst, self.best) <= number <= max(self.worst, self.best)

    def holds(self, text: str) -> bool:
        """Whether a cell can be converted."""
        return self.convert(text) is not None

    def convert(self, text: str) -> int | None:
        """Return the score from 1 to 5, halves rounded up; None for what is not on the scale."""
        word = " ".join(text.lower().split())
        if self.words:
            number = float(self.words.index(word)) if word in self.words else None
        else:
            number = read_number(text)
        if number is None or not self.takes(number):
            return None
        share = (number - self.worst) / (self.best - self.worst)
        return int(SCORE_MIN + share * (SCORE_MAX - SCORE_MIN) + 0.5 + 1e-9)


@dataclass(frozen=True)
class ScoreOptions:
    """How scores are read where they are not from 1 to 5 on a dimension that is named.

    ``scale`` is as :meth:`ScoreScale.of` reads it; ``names`` has dimensions by what the source
    calls them, in small letters; ``dimension`` is that of scores which name none.
    """

    scale: str | None = None
    names: tuple[tuple[str, str], ...] = ()
    dimension: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any], log: ProblemLog) -> ScoreOptions:
        """Read the options ``scale`` and ``dimension`` (DIMENSION or NAME=DIMENSION)."""
        scale, names, alone = options.get("scale"), [], None
        try:
            if scale:
                ScoreScale.of(scale)
        except ValueError as error:
            log.error("scale", f"This option {error}", "Write it like that.", field="scale")
            scale = None
        for text in options.get("dimension") or ():
            name, mark, word = text.rpartition("=")
            dimension = "_".join(word.lower().replace("-", " ").split())
            if dimension not in DIMENSIONS:
                message = f"“{word[:40]}” is not a dimension."
                log.error("dimension", message, f"Use {', '.join(DIMENSIONS)}.", field="dimension")
            elif mark:
                names.append((ColumnName.of(name).plain, dimension))
            else:
                alone = dimension
        return cls(scale, tuple(names), alone)

    def of_word(self, word: str) -> str | None:
        """Return the dimension that a word of the source means, or None."""
        plain = "_".join(word.lower().replace("-", " ").split())
        known = dict(self.names).get(ColumnName.of(word).plain)
        return known or (plain if plain in DIMENSIONS else None)

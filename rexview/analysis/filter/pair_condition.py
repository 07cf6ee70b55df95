"""Two readers, or two models, as a condition of the filter, in one word of the link.

Two readers: ``DIMENSION:APART:READER:READER``, such as ``execution:0..1:reader_a:reader_b``. Both
scored this dimension of one answer (one picture of it, for the image dimensions), so many points
apart; an empty part does not limit.

Two models: ``DIMENSION:MODEL:MODEL``, such as ``execution:generalist:specialist``. Both have a
final score on this dimension in one case.

Ids are free text: in these words a colon of theirs is ``%3A`` and a percent sign ``%25``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rexview.errors import FilterError
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS, SCORE_MAX, SCORE_MIN

_LONGEST: Final = 7_000
"""Characters of such a word; longer ones are not understood. It has room for two ids."""
MOST_APART: Final = SCORE_MAX - SCORE_MIN
"""Points between the ends of the scale."""
_APART: Final = re.compile(rf"([0-{MOST_APART}])(?:\.\.([0-{MOST_APART}]))?", re.ASCII)
_WRITTEN: Final = {"%": "%25", ":": "%3A"}
_ESCAPED: Final = {written: plain for plain, written in _WRITTEN.items()}


@dataclass(frozen=True)
class ReaderPair:
    """Two readers who both scored a dimension, from ``low`` to ``high`` points apart.

    ``low`` and ``high`` are 0 to 4, both included.
    """

    dimension: str
    readers: tuple[str, str]
    low: int = 0
    high: int = MOST_APART

    def __str__(self) -> str:
        apart = str(self.low) if self.low == self.high else f"{self.low}..{self.high}"
        if (self.low, self.high) == (0, MOST_APART):
            apart = ""
        return ":".join((self.dimension, apart, *map(_escaped, self.readers)))

    @classmethod
    def parse(cls, word: str) -> ReaderPair:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        dimension, apart, *ids = _parts(word, 4, "dimension:apart:reader:reader")
        if dimension not in DIMENSIONS:
            raise FilterError(f"“{dimension[:40]}” is not a dimension that readers score.")
        low, high = 0, MOST_APART
        if apart:
            match = _APART.fullmatch(apart)
            if match is None:
                raise FilterError(f"“{apart[:40]}” are no points between two scores.")
            low, high = int(match[1]), int(match[2] or match[1])
        if low > high:
            raise FilterError(f"“{word[:40]}” is empty: its ends are the wrong way round.")
        return cls(dimension, _two(ids), low, high)

    def words(self, first: str, second: str) -> str:
        """Say it in words, with the readers' names: ``A and B: same Execution score``."""
        name = DIMENSION_NAMES[self.dimension]
        if self.high == 0:
            said = f"same {name} score"
        elif self.low == self.high:
            said = f"{name} scores {_points(self.low)} apart"
        elif (self.low, self.high) == (0, MOST_APART):
            said = f"both scored {name}"
        elif self.low == 0:
            said = f"{name} scores at most {_points(self.high)} apart"
        elif self.high == MOST_APART:
            said = f"{name} scores at least {_points(self.low)} apart"
        else:
            said = f"{name} scores {self.low} to {_points(self.high)} apart"
        return f"{first} and {second}: {said}"


@dataclass(frozen=True)
class ModelPair:
    """Two models that both have a final score on a dimension, or Content, in one case."""

    dimension: str
    models: tuple[str, str]

    def __str__(self) -> str:
        return ":".join((self.dimension, *map(_escaped, self.models)))

    @classmethod
    def parse(cls, word: str) -> ModelPair:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        dimension, *ids = _parts(word, 3, "dimension:model:model")
        if dimension not in DIMENSION_NAMES:
            raise FilterError(f"“{dimension[:40]}” is no score of an answer.")
        return cls(dimension, _two(ids))

    def words(self, first: str, second: str) -> str:
        """Say it in words, with the models' names."""
        return f"{first} and {second}: {DIMENSION_NAMES[self.dimension]} scored for both"


def _parts(word: str, n: int, form: str) -> list[str]:
    parts = word.split(":")
    if len(parts) != n or len(word) > _LONGEST:
        raise FilterError(f"“{word[:40]}” is not {form}.")
    return parts


def _two(ids: list[str]) -> tuple[str, str]:
    first, second = (re.sub("%25|%3A", lambda met: _ESCAPED[met[0]], text) for text in ids)
    if not first or not second or first == second:
        raise FilterError("It takes two to compare.")
    return first, second


def _escaped(text: str) -> str:
    return re.sub("[%:]", lambda met: _WRITTEN[met[0]], text)


def _points(n: int) -> str:
    return f"{n} point" if n == 1 else f"{n} points"

"""Conditions of the filter that one word of the link holds: what a failure is about, scores, pairs.

- What a failure is about: a finding by its id in the lexicon (``pneumothorax``), or all of a region
  (``region:pleura``).
- One score of one reader: ``DIMENSION:SCORE:DAYS:READER``, such as ``execution:2::reader_a`` or
  ``:4..5:2026-03-01..2026-03-07:reader_a``. The reader stands last, because an id is free text and
  may hold colons.
- Two readers: ``DIMENSION:APART:READER:READER``, such as ``execution:0..1:reader_a:reader_b``. Both
  scored this dimension of one answer (one picture of it, for the image dimensions), so many points
  apart.
- Two models: ``DIMENSION:MODEL:MODEL``, such as ``execution:generalist:specialist``. Both have a
  final score on this dimension in one case.

An empty part does not limit. In words with two ids a colon of theirs is ``%3A``, a percent sign
``%25``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final

from rexview.detect import finding_name, finding_region
from rexview.errors import FilterError
from rexview.harm import load_harm
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS, SCORE_MAX, SCORE_MIN, day
from rexview.words import tr

_REGION: Final = "region:"
NOT_KNOWN: Final = "unknown"
"""Stands for failures of which no finding is known."""
_LONGEST_SCORE: Final = 1_000
"""Characters of such a word; longer ones are not understood."""
_SCORES: Final = re.compile(r"([1-5])(?:\.\.([1-5]))?", re.ASCII)
_DAYS: Final = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?", re.ASCII)
_LONGEST_PAIR: Final = 7_000
"""Characters of such a word; longer ones are not understood. It has room for two ids."""
MOST_APART: Final = SCORE_MAX - SCORE_MIN
"""Points between the ends of the scale."""
_APART: Final = re.compile(rf"([0-{MOST_APART}])(?:\.\.([0-{MOST_APART}]))?", re.ASCII)
_WRITTEN: Final = {"%": "%25", ":": "%3A"}
_ESCAPED: Final = {written: plain for plain, written in _WRITTEN.items()}


@dataclass(frozen=True)
class Finding:
    """A finding (``id`` of the lexicon) or, when ``is_region``, all findings of a region.

    The id :data:`NOT_KNOWN` stands for failures whose finding is not known.
    """

    id: str
    is_region: bool = False

    def __str__(self) -> str:
        return f"{_REGION}{self.id}" if self.is_region else self.id

    @classmethod
    def parse(cls, word: str) -> Finding:
        """Read a word of the link.

        Raises
        ------
        FilterError
            There is no such finding or region.
        """
        region = word.startswith(_REGION)
        found = cls(word.removeprefix(_REGION), region)
        known = _by_region() if region else _region_of()
        if found.id not in known and word != NOT_KNOWN:
            raise FilterError(
                tr("“{word}” is no finding that the rules know.").format(word=word[:40])
            )
        return found

    @property
    def ids(self) -> tuple[str, ...]:
        """The findings it stands for."""
        if self.id == NOT_KNOWN:
            return ()
        return _by_region()[self.id] if self.is_region else (self.id,)

    @property
    def name(self) -> str:
        """The name on screen: ``pneumothorax``, ``pleura (region)``."""
        if self.id == NOT_KNOWN:
            return tr("a finding that is not known")
        if self.is_region:
            return tr("{region_name} (region)").format(region_name=region_name(self.id))
        return finding_name(self.id)


def region_name(region: str) -> str:
    """Return the name of a region on screen."""
    return tr("no one region") if region == "whole" else region.replace("_", " ")


def region_of(finding: str) -> str | None:
    """Return the region of a finding; None for one that the lexicon does not have."""
    return _region_of().get(finding)


@cache
def _region_of() -> dict[str, str]:
    return {finding: finding_region(finding) for finding in load_harm().findings}


@cache
def _by_region() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for finding, region in _region_of().items():
        found.setdefault(region, []).append(finding)
    return {region: tuple(ids) for region, ids in found.items()}


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
        if len(parts) < 4 or len(word) > _LONGEST_SCORE:
            raise FilterError(
                tr("“{word}” is not dimension:score:days:reader.").format(word=word[:40])
            )
        dimension, scores, days, reader = parts
        if dimension and dimension not in DIMENSIONS:
            raise FilterError(
                tr("“{dimension}” is not a dimension that readers score.").format(
                    dimension=dimension[:40]
                )
            )
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
            raise FilterError(tr("“{days}” are no days.").format(days=days)) from error
        if found._upside_down:
            raise FilterError(
                tr("“{word}” is empty: its ends are the wrong way round.").format(word=word[:40])
            )
        return found

    @property
    def _upside_down(self) -> bool:
        scores = self.low is not None and self.high is not None and self.low > self.high
        return scores or (
            self.first is not None and self.last is not None and self.first > self.last
        )

    def describe(self, reader_name: str) -> str:
        """Say it in words: ``Reader A: Execution 2``; ``reader_name`` is shown for the reader."""
        what = DIMENSION_NAMES.get(self.dimension, "")
        if self.low is None:
            phrase = tr("{what} scored").format(what=what) if what else tr("scored")
        else:
            given = str(self.low)
            if self.low != self.high:
                given = tr("{low} to {high}").format(low=self.low, high=self.high)
            phrase = f"{what or tr('a score of')} {given}"
        if self.first is not None and self.last is not None:
            phrase += f", {days_text(self.first, self.last)}"
        return f"{reader_name or tr('Any reader')}: {phrase}"


def days_text(first: date, last: date) -> str:
    """Write some days: ``4 Mar 2026``, ``4 to 9 Mar 2026``, ``28 Feb to 3 Mar 2026``."""
    end = day(last)
    if first == last:
        return end
    if first.year != last.year:
        return tr("{first} to {end}").format(first=day(first), end=end)
    if first.month != last.month:
        return tr("{day} {first:%b} to {end}").format(day=first.day, first=first, end=end)
    return tr("{day} to {end}").format(day=first.day, end=end)


def _span(low: object, high: object) -> str:
    if low is None:
        return ""
    return str(low) if low == high else f"{low}..{high}"


def _ends(pattern: re.Pattern[str], text: str) -> tuple[str | None, str | None]:
    if not text:
        return None, None
    match = pattern.fullmatch(text)
    if match is None:
        raise FilterError(tr("“{text}” is not a part of a mark.").format(text=text[:40]))
    return match[1], match[2] or match[1]


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
        return ":".join((self.dimension, apart, *map(escaped, self.readers)))

    @classmethod
    def parse(cls, word: str) -> ReaderPair:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        dimension, apart, *ids = parts_of(word, 4, "dimension:apart:reader:reader")
        if dimension not in DIMENSIONS:
            raise FilterError(
                tr("“{dimension}” is not a dimension that readers score.").format(
                    dimension=dimension[:40]
                )
            )
        low, high = 0, MOST_APART
        if apart:
            match = _APART.fullmatch(apart)
            if match is None:
                raise FilterError(
                    tr("“{apart}” are no points between two scores.").format(apart=apart[:40])
                )
            low, high = int(match[1]), int(match[2] or match[1])
        if low > high:
            raise FilterError(
                tr("“{word}” is empty: its ends are the wrong way round.").format(word=word[:40])
            )
        return cls(dimension, _two(ids), low, high)

    def describe(self, first: str, second: str) -> str:
        """Say it in words, with the readers' names: ``A and B: same Execution score``."""
        name = DIMENSION_NAMES[self.dimension]
        if self.high == 0:
            phrase = tr("same {name} score").format(name=name)
        elif self.low == self.high:
            phrase = tr("{name} scores {points} apart").format(name=name, points=_points(self.low))
        elif (self.low, self.high) == (0, MOST_APART):
            phrase = tr("both scored {name}").format(name=name)
        elif self.low == 0:
            phrase = tr("{name} scores at most {points} apart").format(
                name=name, points=_points(self.high)
            )
        elif self.high == MOST_APART:
            phrase = tr("{name} scores at least {points} apart").format(
                name=name, points=_points(self.low)
            )
        else:
            phrase = tr("{name} scores {low} to {points} apart").format(
                name=name, low=self.low, points=_points(self.high)
            )
        return tr("{first} and {second}: {phrase}").format(
            first=first, second=second, phrase=phrase
        )


@dataclass(frozen=True)
class ModelPair:
    """Two models that both have a final score on a dimension, or Content, in one case."""

    dimension: str
    models: tuple[str, str]

    def __str__(self) -> str:
        return ":".join((self.dimension, *map(escaped, self.models)))

    @classmethod
    def parse(cls, word: str) -> ModelPair:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        dimension, *ids = parts_of(word, 3, "dimension:model:model")
        if dimension not in DIMENSION_NAMES:
            raise FilterError(
                tr("“{dimension}” is no score of an answer.").format(dimension=dimension[:40])
            )
        return cls(dimension, _two(ids))

    def describe(self, first: str, second: str) -> str:
        """Say it in words, with the models' names."""
        return tr("{first} and {second}: {dimension_names} scored for both").format(
            first=first, second=second, dimension_names=DIMENSION_NAMES[self.dimension]
        )


def parts_of(
    word: str, n: int, form: str, *, filled: int = 0, longest: int = _LONGEST_PAIR
) -> list[str]:
    """Split a word of the link at its colons; of its parts the last ``filled`` are not empty.

    Raises
    ------
    FilterError
        It is longer, or not of the ``form``, such as ``dimension:model:model``.
    """
    parts = word.split(":")
    if len(parts) != n or len(word) > longest or not all(parts[n - filled :]):
        raise FilterError(tr("“{word}” is not {form}.").format(word=word[:40], form=form))
    return parts


def _two(ids: list[str]) -> tuple[str, str]:
    first, second = map(unescaped, ids)
    if not first or not second or first == second:
        raise FilterError(tr("It takes two to compare."))
    return first, second


def unescaped(text: str) -> str:
    """Read an id that :func:`escaped` has written."""
    return re.sub("%25|%3A", lambda met: _ESCAPED[met[0]], text)


def escaped(text: str) -> str:
    """Write an id so that it can stand between colons."""
    return re.sub("[%:]", lambda met: _WRITTEN[met[0]], text)


def _points(n: int) -> str:
    return tr("{n} point").format(n=n) if n == 1 else tr("{n} points").format(n=n)

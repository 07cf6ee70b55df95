"""Values of table cells as people and programs write them: numbers, lists, options, scores."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.table.column_names import ColumnName
from rexview.reviewset.json_text import dump
from rexview.reviewset.tables.scalars import NO, YES
from rexview.vocab import DIMENSIONS, SCORE_MAX, SCORE_MIN

_YES: Final = frozenset((*YES, "x", "✓", "✔", "ja", "oui", "present"))
_NO: Final = frozenset((*NO, "-", "nein", "non", "absent"))
_NOT_SCORED: Final = frozenset(("-", "–", "—", "na", "n/a", "none", "x", "?", ".", "not scored"))
_OUT_OF_FIVE: Final = re.compile(r"(\d(?:[.,]\d+)?)\s*(?:/|out of|of)\s*5")
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_INT64_MAX: Final = 2**63 - 1


def read_number(text: str | None) -> float | None:
    """Return a finite number, or None: ``3``, ``3.0``, ``3,5``, ``1,024``, ``4/5`` (a score)."""
    if text is None or len(text) > 40:
        return None
    plain = text.strip().replace("\u00a0", "")
    out_of = _OUT_OF_FIVE.fullmatch(plain)
    if out_of:
        plain = out_of[1]
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    try:
        number = float(plain.replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_whole(text: str | None) -> int | None:
    """Return a whole number that fits 64 bits, or None."""
    number = read_number(text)
    whole = number is not None and number.is_integer() and abs(number) < _INT64_MAX
    return int(number) if number is not None and whole else None


def read_yes_no(text: str | None) -> bool | None:
    """Return True or False for the usual words and ticks, None for anything else."""
    word = (text or "").strip().lower().removesuffix(".0")
    return True if word in _YES else False if word in _NO else None


def is_not_scored(text: str) -> bool:
    """Whether a cell of a score column says that there is no score."""
    return text.strip().lower() in _NOT_SCORED


def read_list(text: str | None) -> list[str]:
    """Return the entries of a cell that may hold several.

    A JSON or Python list, or entries apart by line breaks, ``;`` or ``|``. A comma separates only
    file names (each entry has an ending): text and folders have commas of their own.
    """
    if text is None or not text.strip():
        return []
    plain = text.strip()
    if plain.startswith("[") and plain.endswith("]"):
        for candidate in (plain, plain.replace("'", '"')):
            try:
                values = json.loads(candidate)
            except (ValueError, RecursionError):
                continue
            given = (one for one in values if one is not None)
            texts = (dump(one) if isinstance(one, list | dict) else str(one) for one in given)
            return [text.strip() for text in texts if text.strip()]
    parts = re.split(r"[\n;|]", plain)
    if len(parts) == 1:
        names = plain.split(",")
        if len(names) > 1 and all(re.search(r"\.\w{2,5}\s*$", name) for name in names):
            parts = names
    return [part.strip() for part in parts if part.strip()]


def read_option(text: str | None, options: int) -> int | None:
    """Return the 0-based index of an option given as a letter (``B``, ``(B)``, ``B.``) or index."""
    if text is None:
        return None
    letter = re.fullmatch(r"\W*([A-Za-z])\W*", text.strip()) or re.match(r"([A-Za-z])[.):]\s", text)
    if letter:
        index: int | None = ord(letter[1].upper()) - ord("A")
    else:
        index = read_whole(text)
    return index if index is not None and 0 <= index < max(options, 1) else None


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

        Raises ValueError when it is neither; the message completes "This option ...".
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
        word, number = " ".join(text.lower().split()), read_number(text)
        if self.words:
            number = float(self.words.index(word)) if word in self.words else None
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

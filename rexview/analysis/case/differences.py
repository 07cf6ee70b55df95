"""Differences between two texts, word by word, for showing them side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

MAX_WORDS: Final = 1500
"""Comparing grows with the product of the lengths; beyond this the rest is not compared."""
_TOKEN: Final = re.compile(r"(?:[^\W_]+|[\W_])\s*")


@dataclass(frozen=True)
class Piece:
    """A stretch that both texts share, or that only the first or the second has."""

    where: Literal["both", "first", "second"]
    text: str


def compare_texts(first: str, second: str) -> tuple[list[Piece], bool]:
    """Compare two texts by words, regardless of case; say whether all of both was compared.

    Pieces are in reading order; what only the first has stands before what only the second has.
    """
    a, b = _TOKEN.findall(first.lstrip()), _TOKEN.findall(second.lstrip())
    whole = len(a) <= MAX_WORDS and len(b) <= MAX_WORDS
    a, b = a[:MAX_WORDS], b[:MAX_WORDS]
    matcher = SequenceMatcher(None, _folded(a), _folded(b), autojunk=False)
    pieces: list[Piece] = []
    for operation, a_start, a_end, b_start, b_end in matcher.get_opcodes():
        if operation == "equal":
            pieces.append(Piece("both", "".join(b[b_start:b_end])))
            continue
        if a_end > a_start:
            before = a[a_start - 1] if a_start else ""
            glued = bool(pieces) and not pieces[-1].text[-1:].isspace()
            space = before[len(before.rstrip()) :] if glued else ""
            pieces.append(Piece("first", space + "".join(a[a_start:a_end])))
        if b_end > b_start:
            pieces.append(Piece("second", "".join(b[b_start:b_end])))
    return pieces, whole


def _folded(words: list[str]) -> list[str]:
    return [word.strip().lower() for word in words]

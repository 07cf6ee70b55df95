"""The sum that a reply states, right or not: every one that a line gives."""

from __future__ import annotations

import re
from typing import Final

from rexview.vocab import CRITERIA, SCORE_MAX

_TENS: Final = (
    "four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_WORDS: Final = {word: number for number, word in enumerate(_TENS.split(), start=4)}
_OF_TWENTY: Final = re.compile(
    rf"(?<![\d.,])(?P<number>\d+(?:[.,]\d+)?|\b(?:{'|'.join(_WORDS)}))"
    r"\s*(?:points?\s*)?(?:/|out of|of|von|sur|de)\s*(?:20|twenty)\b",
    re.I,
)
_ADDED: Final = re.compile(r"\d\s*(?:\+\s*\d\s*){3}=\s*(\d{1,3})(?![\d.,]*\d)")
_ALONE: Final = re.compile(r"\W*(?:conclusion|overall|final score)\W*(\d{1,2})\W*", re.I)
_NAMED: Final = re.compile(
    r"\b(?:total|sum|gesamt\w*|summe|somme|suma|somma)\b(?P<after>.{0,80})", re.I
)
_NOT_THE_SUM: Final = re.compile(
    r"\([^)]*\+[^)]*\)|\(?(?:max(?:imum)?\.?|out of|of|/)\s*20\)?", re.I
)
_NUMBER: Final = re.compile(
    r"(?<![\d.,/])(\d{1,3})(?!\d|[.,]\d|\s*(?:/|%|criteria|out of|of|questions?))"
)


def totals_said(line: str) -> set[int]:
    """Return the sums that a line states.

    >>> totals_said("Conclusion: 4 + 5 + 3 + 4 = 16"), totals_said("Total: 17/20 (85 %)")
    ({16}, {17})
    """
    found = {_whole(one["number"]) for one in _OF_TWENTY.finditer(line)}
    found |= {int(one) for one in _ADDED.findall(line)}
    if (alone := _ALONE.fullmatch(line)) and int(alone[1]) > SCORE_MAX:
        found.add(int(alone[1]))
    if not found:
        found = {_after(one["after"]) for one in _NAMED.finditer(line)}
    return {one for one in found if one is not None}


def _whole(number: str) -> int | None:
    return int(number) if number.isdigit() else _WORDS.get(number.lower())


def _after(words: str) -> int | None:
    rest = _NOT_THE_SUM.sub("", words)
    if "+" in rest:
        return None
    number = _NUMBER.search(rest)
    return int(number[1]) if number and int(number[1]) >= len(CRITERIA) else None

"""Texts that give each option a probability and say nothing else: the one that stands out."""

from __future__ import annotations

import re
from typing import Final

from rexview.choices.options import Options

_GIVEN: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:P\s*)?\(?([A-Z])\)?[\s\"'|:=–*-]{1,9}(\d{1,3}(?:\.\d+)?|\.\d+)\s*(%?)(?![\w.])"
)
_OF_THE_OPPOSITE: Final = re.compile(
    r"\b(?:not|no|wrong|error|incorrect|false|un-?like\w+|exclu\w+)\b", re.IGNORECASE
)
_MOST_WORDS: Final = 2
"""Words beside them, such as the head of a table."""
_AT_LEAST: Final = 0.5
_TIMES_THE_NEXT: Final = 2


def most_probable(text: str, options: Options) -> tuple[int, int, int] | None:
    """Return the option that is at least as probable as not, and where that stands.

    It has to be twice as probable as the next; every option has a probability, once.
    """
    given = list(_GIVEN.finditer(text))
    labels = [match[1] for match in given]
    if len(labels) < 2 or sorted(labels) != sorted(options.labels):
        return None
    beside = re.findall(r"[A-Za-z]{2,}", _GIVEN.sub(" ", text))
    shares = [float(match[2]) / (100 if match[3] else 1) for match in given]
    if len(beside) > _MOST_WORDS or _OF_THE_OPPOSITE.search(text) or not 0.9 <= sum(shares) <= 1.1:
        return None
    first, second, *_ = sorted(shares, reverse=True)
    if first < _AT_LEAST or first < _TIMES_THE_NEXT * second:
        return None
    found = given[shares.index(first)]
    return options.labels.index(found[1]), *found.span(1)

"""Words and marks of a text, with their places.

One regular expression without nested repetition: linear in the length of any text.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"\b(?:[rswchRSWCHbB]/[oplwOPLW]|[lL]/[rR])\b"  # r/o, s/p, w/o, c/w, h/o, r/l, b/l
    r"|[^\W\d_]+(?:['’][^\W\d_]+)?"
    r"|\d+(?:[.,]\d+)*(?:st|nd|rd|th)?"
    r"|[.,;:!?()\[\]{}|\"<>/&+=\n•—–]"
    r"|(?<=\s)-+(?=\s)"
)
MAX_WORD: Final = 60
"""Longer runs of letters are no words and are skipped."""


class Tokens:
    """The tokens of a stretch of text: lower-case words and marks, with their offsets."""

    __slots__ = ("ends", "starts", "text", "words")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        lower = text.lower().replace("’", "'")
        if len(lower) != len(text):  # a few letters change their length with their case
            lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
            lower = lower.replace("’", "'")
        spans = [match.span() for match in _TOKEN.finditer(lower, start, end)]
        if any(last - first > MAX_WORD for first, last in spans):
            spans = [span for span in spans if span[1] - span[0] <= MAX_WORD]
        self.words = [lower[first:last] for first, last in spans]
        self.starts = [first for first, _ in spans]
        self.ends = [last for _, last in spans]


def words_of(phrase: str) -> tuple[str, ...]:
    """Split a phrase of the lexicon into the words that :class:`Tokens` would give.

    >>> words_of("Kerley-B lines")
    ('kerley', 'b', 'lines')
    """
    return tuple(Tokens(phrase, 0, len(phrase)).words)

"""Words and marks of a text, with their places.

One regular expression without nested repetition: linear in the length of any text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Final

_LETTER: Final = r"[^\W\d_]"
_FORM: Final = (
    rf"(?=[^ ])({_LETTER}+(?:'{_LETTER}+"  # words, and r/o, s/p, w/o, c/w, h/o, b/l, l/r
    r"|(?<=\b[rswchb])/[oplw]\b|(?<=\bl)/r\b)?"
    r"|[.,;:!?()\[\]{}|\"<>/&+=\n•—–]"
    r"|\d+(?:[.,]\d+)*(?:st|nd|rd|th)?"
    r"|(?<=\s)-+(?=\s)"
    r"|(?<=[^\n#])#(?=s\b| ?[a-z]|[.,;)]|$)"  # "healed # clavicle": a fracture
    r"|(?<![^\n])#(?=\s?(?:[lr]t?\b|(?:left|right)\b(?=[^\n]*\d)|\d|(?:neck|shaft|head|mid|distal|proximal|lateral)\b)"
    r"[^\n#]{0,25}\b(?:ribs?|clav|humer|scap)))"
)
_TOKEN: Final = re.compile(_FORM)
_ASCII_TOKEN: Final = re.compile(_FORM.replace(_LETTER, "[a-z]"))
"""The same for ASCII in lower case, in two thirds of the time."""
MAX_WORD: Final = 60
"""Longer runs of letters are no words and are skipped."""
_CAMEL: Final = re.compile(r"[a-z]{2}[A-Z][a-z]{2}")
_CAMEL_CUT: Final = re.compile(r"[a-z](?=[A-Z])")
_DIGIT: Final = re.compile(r"\d")
_SIDE_LETTERS: Final = ("r", "l")


class Tokens:
    """The tokens of a text: lower-case words and marks, with their offsets.

    ``alike`` are the words with all numbers alike, as no rule asks for any: which they are decides
    whether two sentences are equal.
    """

    __slots__ = ("alike", "ends", "starts", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        lower = text.lower().replace("’", "'")
        if len(lower) != len(text):  # a few letters change their length with their case
            lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
            lower = lower.replace("’", "'")
        token = _ASCII_TOKEN if lower.isascii() else _TOKEN
        pieces = token.split(lower)  # what is between tokens and the tokens, in turn
        sizes = list(map(len, pieces))
        places = list(accumulate(sizes))
        self.words, self.starts, self.ends = pieces[1::2], places[:-1:2], places[1::2]
        if max(sizes[1::2], default=0) > MAX_WORD:
            kept = [k for k, word in enumerate(self.words) if len(word) <= MAX_WORD]
            self.words = [self.words[k] for k in kept]
            self.starts, self.ends = [self.starts[k] for k in kept], [self.ends[k] for k in kept]
        if _CAMEL.search(text):
            self._part_camel_case(text)
        self.alike = self.words
        if _DIGIT.search(lower):
            self.alike = [_number(word) if word[0].isdigit() else word for word in self.words]

    def _part_camel_case(self, text: str) -> None:
        """Part the words of a name of a field: "rightLowerLobe"."""
        words, starts, ends = self.words, self.starts, self.ends
        self.words, self.starts, self.ends = [], [], []
        for word, start, end in zip(words, starts, ends, strict=True):
            cuts = [start + cut.start() + 1 for cut in _CAMEL_CUT.finditer(text[start:end])]
            for first, last in zip((start, *cuts), (*cuts, end), strict=True):
                self.words.append(word[first - start : last - start])
                self.starts.append(first)
                self.ends.append(last)

    def part(self, first: int, last: int) -> Tokens:
        """Return some of the tokens; the text and the offsets into it are those of all."""
        part = object.__new__(Tokens)
        part.text, part.alike = self.text, self.alike[first:last]
        part.words = self.words[first:last]
        part.starts, part.ends = self.starts[first:last], self.ends[first:last]
        return part

    def side_letters(self, start: int, end: int) -> Mapping[int, bool]:
        """Return which tokens are an "R" or "L" by itself, and whether each is in upper case."""
        words, text = self.words, self.text
        return {
            k: text[self.starts[k]].isupper()
            for k in range(start, end)
            if words[k] in _SIDE_LETTERS and not _is_glued(text, self.ends[k])
        }


def _number(word: str) -> str:
    return "0" if word.isalnum() else "0.0"


def _is_glued(text: str, stop: int) -> bool:
    return stop < len(text) and (text[stop].isalnum() or text[stop] in "'’")


@lru_cache(maxsize=4096)
def words_of(phrase: str) -> tuple[str, ...]:
    """Split a phrase of the lexicon into the words that :class:`Tokens` would give.

    >>> words_of("Kerley-B lines")
    ('kerley', 'b', 'lines')
    """
    return tuple(Tokens(f" {phrase}").words)

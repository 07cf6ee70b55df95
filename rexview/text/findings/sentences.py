"""Split a text into tokens, headings, list items and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Final, Literal, NamedTuple

from rexview.text.phrases import word_set

# Words and marks of a text, with their offsets.
#
# One regular expression without nested repetition, so it is linear in the length of any text.

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

    ``alike`` are the words with all numbers made equal, since no rule uses a number's value. They
    determine whether two sentences are equal.
    """

    __slots__ = ("alike", "ends", "starts", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        lower = text.lower().replace("’", "'")
        if len(lower) != len(text):  # a few letters change their length with their case
            lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
            lower = lower.replace("’", "'")
        token = _ASCII_TOKEN if lower.isascii() else _TOKEN
        pieces = token.split(lower)  # the text between tokens and the tokens, in turn
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
        """Split the words of a field name: "rightLowerLobe"."""
        words, starts, ends = self.words, self.starts, self.ends
        self.words, self.starts, self.ends = [], [], []
        for word, start, end in zip(words, starts, ends, strict=True):
            cuts = [start + cut.start() + 1 for cut in _CAMEL_CUT.finditer(text[start:end])]
            for first, last in zip((start, *cuts), (*cuts, end), strict=True):
                self.words.append(word[first - start : last - start])
                self.starts.append(first)
                self.ends.append(last)

    def part(self, first: int, last: int) -> Tokens:
        """Return some of the tokens; the text and the offsets remain those of the whole."""
        part = object.__new__(Tokens)
        part.text, part.alike = self.text, self.alike[first:last]
        part.words = self.words[first:last]
        part.starts, part.ends = self.starts[first:last], self.ends[first:last]
        return part

    def side_letters(self, start: int, end: int) -> Mapping[int, bool]:
        """Return the tokens that are a single "R" or "L", with True for upper case."""
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
def split_words(phrase: str) -> tuple[str, ...]:
    """Split a phrase of the lexicon into the words that :class:`Tokens` would yield.

    >>> split_words("Kerley-B lines")
    ('kerley', 'b', 'lines')
    """
    return tuple(Tokens(f" {phrase}").words)


_LINE_START: Final = re.compile(
    r"[ \t>]*(?:(?P<hash>#{1,6})[ \t]"
    r"|(?P<item>[-*+•–·▪◦]|\d{1,3}[.)]|[a-zA-Z][.)])(?:[ \t]+|(?=\*\*)))?"
)
_ABBREVIATIONS: Final = word_set("sentence", "abbreviation")
_STARTERS: Final = word_set("sentence", "starter")
_STOPS: Final = frozenset((".", "!", "?", ";"))
_FRACTURE: Final = "#"
"""As a token: "# L 7-9 ribs" starts no heading."""
_EVENTFUL: Final = _STARTERS | _STOPS | {"\n"}
"""Words at which a sentence may end or start; all others are skipped."""
_LINKS: Final = word_set("sentence", "link")
_LONGEST: Final = 120
"""Maximum tokens; a longer run is cut, which keeps the time linear in the length of the text."""
_LABEL_WORDS: Final = 7
_NUMBER: Final = 2
"""Tokens; the mark of an item may be a sentence of its own ("1.")."""
_LABEL_STOPS: Final = frozenset(
    (".", ",", "(", ")", ";", "is", "are", "was", "were", "shows", "has")
)


class Sentence(NamedTuple):
    """Tokens ``i`` to ``j`` of a text: a sentence, list item or heading.

    ``label`` is the number of tokens of a leading label ("Right lung: ...", the mark included).
    """

    i: int
    j: int
    kind: Literal["prose", "heading"]
    label: int
    line: int
    item: bool
    asked: bool

    def moved(self, by: int) -> Sentence:
        """Return the sentence with its token positions shifted."""
        return self._replace(i=self.i + by, j=self.j + by)


def split_sentences(tokens: Tokens, start: int, end: int) -> Iterator[Sentence]:
    """Split tokens into sentences, across lines if a sentence continues."""
    words = tokens.words
    i = start
    line = 0
    item, heading = _opening(tokens, start)
    eventful = [k for k, word in enumerate(words[start:end], start) if word in _EVENTFUL]
    for k in eventful:
        while k - i >= _LONGEST:
            yield _sentence(tokens, i, i + _LONGEST, heading, line, item)
            i += _LONGEST
        word = words[k]
        stop = False
        if word == "\n":
            stop = not _goes_on(tokens, i, k, end, heading)
        elif word in _STOPS:
            stop = _is_stop(tokens, k)
        elif k > i and _starts_anew(tokens, k):
            yield _sentence(tokens, i, k, heading, line, item)
            i = k
        if stop:
            if k > i:
                yield _sentence(tokens, i, k + (word == "?"), heading, line, item)
                item = item and k - i < _NUMBER  # the text after it on the line is no item itself
            i = k + 1
            if word == "\n":
                line += 1
                item, heading = _opening(tokens, i)
    while i < end:
        yield _sentence(tokens, i, min(end, i + _LONGEST), heading, line, item)
        i += _LONGEST


def _sentence(tokens: Tokens, i: int, j: int, heading: bool, line: int, item: bool) -> Sentence:
    label = 0
    words = tokens.words
    opening = words[i : min(j, i + _LABEL_WORDS)]
    if ":" in opening:
        colon = opening.index(":")
        label = 0 if not _LABEL_STOPS.isdisjoint(opening[:colon]) else colon + 1
    if label == j - i and label:
        heading = True
    asked = words[j - 1] == "?"
    return Sentence(i, j, "heading" if heading else "prose", label, line, item, asked)


def _opening(tokens: Tokens, k: int) -> tuple[bool, bool]:
    """Return two booleans for the line of token ``k``: a list item, a heading."""
    if k >= len(tokens.words):
        return False, False
    text = tokens.text
    first = text.rfind("\n", 0, tokens.starts[k]) + 1
    if text[first : first + 2].isalpha():  # a word; most lines start with one
        return False, False
    match = _LINE_START.match(text, first)
    if match is None:
        return False, False
    heading = bool(match["hash"]) and tokens.words[k] != _FRACTURE
    if not heading and text.startswith("**", match.end()):
        last = text.find("\n", first)
        line = text[match.end() : last if last >= 0 else match.end() + 200].rstrip(" \t:")
        heading = len(line) < 120 and line.endswith("**") and line.count("**") == 2
    return bool(match["item"]), heading


def _goes_on(tokens: Tokens, i: int, k: int, end: int, heading: bool) -> bool:
    """True if a sentence continues after the end of a line at token ``k``."""
    if heading or k + 1 >= end or k == i:
        return False
    after = tokens.words[k + 1]
    text, at = tokens.text, tokens.starts[k + 1]
    if after == "\n" or tokens.words[k - 1] == ":" or not text[at].isalnum():
        return False
    line = text.rfind("\n", 0, at) + 1
    match = _LINE_START.match(text, line)
    if match is not None and (match["item"] or match["hash"]):
        return False
    if text[at].islower():
        return True
    if text[at].isdigit():
        return False
    width = tokens.starts[k] - (text.rfind("\n", 0, tokens.starts[k]) + 1)
    upper = text[max(0, at - 40) : at].upper() == text[max(0, at - 40) : at]
    return width >= 55 and upper and tokens.words[k - 1] not in (".", "!", "?")


def _is_stop(tokens: Tokens, k: int) -> bool:
    text, at = tokens.text, tokens.ends[k]
    if tokens.words[k] == "?" and (
        _queries(text, tokens.starts[k], at) or text[at : at + 1] in (")", "]")
    ):
        return False
    if tokens.words[k] != ".":
        return tokens.words[k] != "?" or at >= len(text) or not text[at].isalnum()
    before = tokens.words[k - 1] if k else ""
    if at >= len(text):
        return True
    if text[at].isspace():
        if before in _ABBREVIATIONS and tokens.ends[k - 1] == tokens.starts[k]:
            after = text[at + 1 : at + 2]
            return before == "no" or (after.isupper() and before not in ("dr", "mr", "mrs", "vs"))
        return True
    if text[at].isalpha():
        return len(before) > 2
    return not text[at].isdigit()


def _queries(text: str, start: int, end: int) -> bool:
    """True if a question mark precedes what it doubts: "enlarged, ? lymphoma"."""
    after = text[end : end + 2].lstrip(" ")
    return start > 0 and text[start - 1] in " ,(" and after[:1].islower()


def _starts_anew(tokens: Tokens, k: int) -> bool:
    """True if a capital within lower case starts a sentence whose stop is missing."""
    text = tokens.text
    if not text[tokens.starts[k]].isupper():
        return False
    before = tokens.words[k - 1]
    first, last = tokens.starts[k - 1], tokens.ends[k - 1]
    if before in _LINKS or not before.isalpha() or not text[first:last].islower():
        return False
    gap = text[last : tokens.starts[k]]
    return gap.isspace() and (text[tokens.starts[k] : tokens.ends[k]] != "L")

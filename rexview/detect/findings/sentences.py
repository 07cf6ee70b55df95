"""How a text is laid out: headings, list items, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from rexview.detect.findings.tokens import Tokens
from rexview.detect.phrases import word_set

_LINE_START: Final = re.compile(
    r"[ \t>]*(?:(?P<hash>#{1,6})[ \t]"
    r"|(?P<item>[-*+•–·▪◦]|\d{1,3}[.)]|[a-zA-Z][.)])(?:[ \t]+|(?=\*\*)))?"
)
_ABBREVIATIONS: Final = word_set("sentence", "abbreviation")
_STARTERS: Final = word_set("sentence", "starter")
_STOPS: Final = frozenset((".", "!", "?", ";"))
_FRACTURE: Final = "#"
"""As a token: "# L 7-9 ribs" opens no heading."""
_EVENTFUL: Final = _STARTERS | _STOPS | {"\n"}
"""Words at which a sentence may end or begin; all others are passed over."""
_LINKS: Final = word_set("sentence", "link")
_LONGEST: Final = 120
"""Tokens; a longer run without an end is cut, so that no text takes more than its length."""
_LABEL_WORDS: Final = 7
_NUMBER: Final = 2
"""Tokens; the mark that opens an item may make a sentence of its own ("1.")."""
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
        """Return the sentence with its tokens counted from another one on."""
        return self._replace(i=self.i + by, j=self.j + by)


def sentences(tokens: Tokens, start: int, end: int) -> Iterator[Sentence]:
    """Split tokens into sentences, over lines as far as a sentence goes on."""
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
                item = item and k - i < _NUMBER  # what follows on the line is no item itself
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
    """Say whether the line that token ``k`` is on is a list item, and whether it is a heading."""
    if k >= len(tokens.words):
        return False, False
    text = tokens.text
    first = text.rfind("\n", 0, tokens.starts[k]) + 1
    if text[first : first + 2].isalpha():  # a word; most lines open with one
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
    """Whether a sentence goes on after the end of a line at token ``k``."""
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
    """Whether a question mark stands before what it doubts: "enlarged, ? lymphoma"."""
    after = text[end : end + 2].lstrip(" ")
    return start > 0 and text[start - 1] in " ,(" and after[:1].islower()


def _starts_anew(tokens: Tokens, k: int) -> bool:
    """Whether a capital in the midst of lower case opens a sentence whose stop is missing."""
    text = tokens.text
    if not text[tokens.starts[k]].isupper():
        return False
    before = tokens.words[k - 1]
    first, last = tokens.starts[k - 1], tokens.ends[k - 1]
    if before in _LINKS or not before.isalpha() or not text[first:last].islower():
        return False
    gap = text[last : tokens.starts[k]]
    return gap.isspace() and (text[tokens.starts[k] : tokens.ends[k]] != "L")

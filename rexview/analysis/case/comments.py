"""Comments on cases: locating quoted words, threads, counts by case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rexview.store import Comment

_WORD: Final = re.compile(r"\w+")
_NUMBER: Final = re.compile(r"^[ \t>]*(\d{1,9})[.)](?=\s)", re.MULTILINE)
"""The number of a list item, which is not part of the text on screen."""


@dataclass(frozen=True)
class Quote:
    """Words of a text: their offsets, and the index among equal passages, from 0."""

    start: int
    end: int
    nth: int


@dataclass(frozen=True)
class CommentCount:
    """The number of comments on one case; ``unresolved`` counts threads that are not resolved."""

    comments: int
    unresolved: int


def find_quote(text: str, quote: str, before: int) -> Quote | None:
    """Find words selected on screen in the source text that they were rendered from.

    The source ``text`` has markup between words, so words are compared instead of characters.
    ``quote`` has whole words; ``before`` is the number of words before them on screen. Of several
    passages the one nearest to this is returned, because the source may have a few more words, such
    as the language of a code block. Return None if there is none.
    """
    wanted = _WORD.findall(quote)
    words = _words(text)
    places = _find_passages([word.group() for word in words], wanted)
    if not places:
        return None
    place = min(places, key=lambda found: abs(found - before))
    last = words[place + len(wanted) - 1]
    return Quote(words[place].start(), last.end(), places.index(place))


def find_quote_index(text: str, start: int, end: int) -> int:
    """Return the index of a part of a text among the passages with the same words, from 0."""
    wanted = screen_words(text[start:end])
    words = _words(text)
    before = sum(word.start() < start for word in words)
    return sum(place < before for place in _find_passages([word.group() for word in words], wanted))


def screen_words(text: str) -> list[str]:
    """Return the words of a part of a source that are also on screen."""
    return [word.group() for word in _words(text)]


def _words(text: str) -> list[re.Match[str]]:
    numbers = {found.start(1) for found in _NUMBER.finditer(text)}
    return [word for word in _WORD.finditer(text) if word.start() not in numbers]


def _find_passages(words: list[str], wanted: list[str]) -> list[int]:
    if not wanted:
        return []
    size = len(wanted)
    return [
        place
        for place, word in enumerate(words)
        if word == wanted[0] and words[place : place + size] == wanted
    ]


def count_comments_by_case(comments: Iterable[Comment]) -> Mapping[str, CommentCount]:
    """Count comments and unresolved threads for every case that has any."""
    every = list(comments)
    there = {one.id for one in every}
    totals: dict[str, int] = {}
    unresolved: dict[str, int] = {}
    for one in every:
        totals[one.case] = totals.get(one.case, 0) + 1
        begins = one.reply_to not in there  # a reply to a removed one starts a thread
        unresolved[one.case] = unresolved.get(one.case, 0) + (begins and not one.resolved)
    return {case: CommentCount(total, unresolved[case]) for case, total in totals.items()}

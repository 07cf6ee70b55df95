"""Words that mean those of an option though they are not the same: numbers, initials, a slip."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_NUMBERS: Final = (
    *("one first", "two second", "three third", "four fourth", "five fifth", "six sixth"),
    *("seven seventh", "eight eighth", "nine ninth", "ten tenth", "eleven eleventh"),
    "twelve twelfth",
)
_ENDS: Final = {1: "st", 2: "nd", 3: "rd"}
_DIGITS: Final = {
    word: digits
    for number, words in enumerate(_NUMBERS, 1)
    for word, digits in zip(
        words.split(), (str(number), f"{number}{_ENDS.get(number, 'th')}"), strict=True
    )
}
"""Counting and ordering words as the options may write them."""
_LINKS: Final = frozenset(("a", "an", "the", "of", "in", "on", "at", "to", "and", "or", "is"))
_NEGATIVE: Final = frozenset(("no", "not", "none", "without", "cannot", "absent", "neither"))
_OF_THE_CHEST: Final = frozenset(("pulmonary", "lung", "chest", "thoracic"))
"""What every finding here may be called."""
_NO_INITIALS: Final = frozenset(
    ("no", "or", "in", "on", "as", "is", "it", "at", "to", "an", "if", "am", "ap", "pa", "not")
)
"""Words and views, which a text in capitals may hold."""
_LONGEST: Final = 60
"""Characters of a reply that is held against the options as a whole."""
_FEWEST, _MOST = 2, 5
"""Letters of initials."""


def may_be_short(word: str, folded: str) -> bool:
    """Whether a word of a text may stand for others: a number in words, or initials."""
    return folded in _DIGITS or (word.isupper() and _FEWEST <= len(word) <= _MOST)


@lru_cache(maxsize=4_096)
def spelled_out(options: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return what stands for words of the options: "third" for "3rd", "LLL" for three words.

    Initials are those of neighbouring words, of which links may be left out; a word that an option
    has itself stands for itself.
    """
    known = {word for words in options for word in words.split()}
    found: dict[str, tuple[str, ...]] = {
        word: (digits,) for word, digits in _DIGITS.items() if digits in known and word not in known
    }
    for words in options:
        every = words.split()
        for first in range(len(every)):
            for last in range(first + _FEWEST, len(every) + 1):
                run = tuple(every[first:last])
                for initials in _initials(run) - known:
                    if found.setdefault(initials.upper(), run) != run:
                        found[initials.upper()] = ()  # of other words, too: it stands for none
    return {short: run for short, run in found.items() if run}


def _initials(run: Sequence[str]) -> set[str]:
    """Return the initials of some words, with their links and without."""
    if run[0] in _LINKS or run[-1] in _LINKS:
        return set()
    every = {"".join(word[0] for word in run)}
    every.add("".join(word[0] for word in run if word not in _LINKS))
    return {one for one in every - _NO_INITIALS if one.isalpha() and _FEWEST <= len(one) <= _MOST}


def meant_by(reply: str, options: Sequence[str], question: str) -> int | None:
    """Return the one option that a short reply means, None for none or several.

    The reply is an option with slips of the pen, or the last words of one alone where those before
    them say no more than the question does. ``options`` are folded
    (:func:`rexview.choices.markup.folded`).
    """
    if len(reply) > _LONGEST or re.search(r"[.;?\n]\s*\w", reply):
        return None
    said = re.findall(r"\w+", reply.casefold())
    if not said or _NEGATIVE.intersection(said):
        return None
    asked = _OF_THE_CHEST.union(re.findall(r"\w+", question.casefold()))
    met = [place for place, words in enumerate(options) if _is_slip(said, words.split())]
    if not met:
        met = [place for place, words in enumerate(options) if _is_end(said, words.split(), asked)]
        if sum(set(said) <= set(words.split()) for words in options) > 1:
            return None
    return met[0] if len(met) == 1 else None


def _is_slip(said: Sequence[str], words: Sequence[str]) -> bool:
    """Whether words are those of an option with at most a letter wrong in each."""
    return len(said) == len(words) and all(
        one == other or (min(len(one), len(other)) > 2 and _one_slip(one, other))
        for one, other in zip(said, words, strict=True)
    )


def _is_end(said: Sequence[str], words: Sequence[str], asked: frozenset[str]) -> bool:
    """Whether words are the last of an option, links aside, and those before them were asked."""
    own, end = ([one for one in some if one not in _LINKS] for some in (words, said))
    left = own[: len(own) - len(end)]
    return bool(left and end) and own[len(left) :] == end and asked.issuperset(left)


def _one_slip(one: str, other: str) -> bool:
    """Whether a letter was left out, added, changed or two neighbours were exchanged."""
    if not (one.isalpha() and other.isalpha()) or abs(len(one) - len(other)) > 1:
        return False
    pairs = enumerate(zip(one, other, strict=False))
    start = next((n for n, pair in pairs if len({*pair}) > 1), min(len(one), len(other)))
    if one[:start] != other[:start] or start == 0:  # a first letter often turns the meaning
        return False
    if len(one) == len(other):
        exchanged = one[start : start + 2] == other[start : start + 2][::-1]
        return one[start + 1 :] == other[start + 1 :] or (
            exchanged and one[start + 2 :] == other[start + 2 :]
        )
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return longer[start + 1 :] == shorter[start:]

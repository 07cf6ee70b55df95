"""What a sentence says by itself; equal sentences are read once.

The rules for one sentence see its words, without their places in the text, and of the words around
it those that a rule asks for. What they find depends on nothing else and is remembered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from rexview.detect.findings.clauses import WITHIN, Clause, drop_access, read_clauses
from rexview.detect.findings.mention import Side
from rexview.detect.findings.sides.attachment import PARTS
from rexview.detect.findings.sides.cleaning import PAIRED, clean_sides
from rexview.detect.findings.status import AFTERWARDS, EARLIER, SINCE
from rexview.detect.findings.terms import Term, outline, scan
from rexview.detect.findings.tokens import Tokens
from rexview.geometry import OTHER_SIDE

_REMEMBERED: Final = 16_384
"""Sentences whose reading is kept: some thirty megabytes."""
_BEFORE: Final = WITHIN | {"the", "not"}
_BEHIND: Final = (_BEFORE, _BEFORE, _BEFORE | SINCE, _BEFORE | SINCE | PARTS | {"no"})
"""Words before a sentence that rules ask for: among the last four tokens, by place."""
_SEEN_BEHIND: Final = len(_BEHIND)
_EVER_BEHIND: Final = frozenset().union(*_BEHIND)
_ENDS: Final = frozenset(".;,\n")
_AHEAD: Final = AFTERWARDS | EARLIER | {"a", "an", "and", "its", "the", "where"}
"""Words after a sentence that rules ask for."""
_PAST_END: Final = EARLIER | {"where"}
"""Words that they ask for when the sentence has ended."""
_JUST_PAST: Final = 3
"""Tokens after the end of a sentence among which they do."""
_UNSEEN: Final = [""] * _JUST_PAST

_LETTERS: Final = ("r", "l")
"""Sides by their letters."""


class Reading(NamedTuple):
    """What a sentence says by itself; places are tokens of the part that was read.

    ``named`` and ``sided`` say whether any term is a finding, or may be one with a part of the
    body, and whether any names a side, before sides that are no finding's own were taken away;
    ``side`` is the last one that is left. ``relative`` says that the side of an earlier sentence
    matters.
    """

    terms: list[Term]
    clauses: list[Clause]
    cues: set[str]
    matters: bool
    finding: bool
    named: bool
    sided: bool
    side: Side | None
    relative: bool


def read_alone(
    tokens: Tokens, i: int, j: int, *, begin: int, asked: bool = False, before: Side | None = None
) -> tuple[Reading, int]:
    """Read tokens ``i`` to ``j``, a sentence or its label.

    ``begin`` is where the whole sentence begins, ``asked`` says that it is a question, ``before``
    is the last side of the sentences before.

    Returns
    -------
    Reading, int
        The reading, and the token that its places count from.
    """
    first = min(begin, max(0, i - _SEEN_BEHIND))
    words = tokens.words[first : j + PAIRED]
    alike = tokens.alike[i:j]
    letters: tuple[tuple[int, bool], ...] = ()
    if "r" in alike or "l" in alike:
        letters = tuple((k - first, upper) for k, upper in tokens.side_letters(i, j).items())
    i, j = i - first, j - first
    key = (*_before(words, i), *alike, *_after(words, j))
    found = _read(key, i, j, letters, asked, None)
    if found.relative and before is not None:
        found = _read(key, i, j, letters, asked, before)
    return found, first


def _before(words: list[str], i: int) -> list[str]:
    """Return the words before token ``i`` that rules ask for; others are empty."""
    near = words[max(0, i - _SEEN_BEHIND) : i]
    letter = i < len(words) and words[i] in _LETTERS
    if not letter and _EVER_BEHIND.isdisjoint(near):
        return [""] * i
    asked_for = _BEHIND[_SEEN_BEHIND - len(near) :]
    shown = [word if word in some else "" for word, some in zip(near, asked_for, strict=True)]
    if near and letter:
        shown[-1] = words[i - 1]  # "apical r": a letter is a side beside the name of a place
    return shown if i <= _SEEN_BEHIND else [""] * (i - _SEEN_BEHIND) + shown


def _after(words: list[str], j: int) -> list[str]:
    """Return the words from token ``j`` on that rules ask for, and what kind the others are."""
    shown: list[str] = []
    for n, word in enumerate(words[j:], j):
        if word in _ENDS:
            past = words[n + 1 : n + 1 + _JUST_PAST]
            if _PAST_END.isdisjoint(past):
                return [*shown, word, *_UNSEEN[: len(past)]]
            return [*shown, word, *[word if word in _PAST_END else "" for word in past]]
        shown.append(word if word in _AHEAD else _kind(word))
    return shown


@lru_cache(maxsize=_REMEMBERED)
def _kind(word: str) -> str:
    """Return a word that stands for another: the same as to being a word, and a plural."""
    return ("word" if word.isalnum() else "'") + ("s" if word.endswith("s") else "")


@lru_cache(maxsize=_REMEMBERED)
def _read(
    words: tuple[str, ...],
    i: int,
    j: int,
    side_letters: tuple[tuple[int, bool], ...],
    asked: bool,
    before: Side | None,
) -> Reading:
    given = list(words)
    terms = scan(given, i, j, dict(side_letters))
    if any("access" in term.cues for term in terms):
        drop_access(given, terms)
    said = outline(terms)
    named = said.finding or said.near
    if not said.matters:
        return Reading(terms, [], said.cues, False, False, False, False, None, False)
    clean_sides(given, terms, said, before)
    sides = (
        term.side
        for term in reversed(terms)
        if term.side in OTHER_SIDE and "opposite" not in term.cues
    )  # "on the other side" twice is one side
    side = next(sides, None)
    clauses = read_clauses(given, terms, said, asked=asked)
    relative = "same" in said.cues or "opposite" in said.cues
    return Reading(terms, clauses, said.cues, True, said.finding, named, said.side, side, relative)


forget_sentences: Final = _read.cache_clear
"""Forgets all sentences that were read."""

"""Nouns with their number: ``1 answer``, ``1,204 answers``, ``2 entries``."""

from __future__ import annotations


def noun(n: float, word: str) -> str:
    """Return a noun in the form that goes with a number.

    >>> noun(1, "case"), noun(0, "case"), noun(2, "entry"), noun(3, "box"), noun(4, "day")
    ('case', 'cases', 'entries', 'boxes', 'days')
    """
    if n == 1:
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith("x") else f"{word}s"


def counted(n: int, word: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "answer"), counted(1204, "answer")
    ('1 answer', '1,204 answers')
    """
    return f"{n:,} {noun(n, word)}"

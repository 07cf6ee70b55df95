"""The words right and left where they name no side: "right above it", "little of it is left"."""

from __future__ import annotations

from typing import Final

from rexview.detect.findings.terms import Term
from rexview.detect.findings.tokens import words_of

_JUST: Final = frozenset(
    words_of("above below beneath under underneath next beside where here there")
)
"""After a "right" that means "just"."""
_REMAINS: Final = frozenset(words_of("is are was were remains"))
_LITTLE: Final = frozenset(words_of("only little nothing some just anything what all much"))


def is_no_side(words: list[str], term: Term) -> bool:
    """Whether a word for a side means "just" or "remaining"."""
    return _is_exactly(words, term) or _is_remaining(words, term)


def _is_exactly(words: list[str], term: Term) -> bool:
    """Whether "right" means "just": "the lung right above it"."""
    if words[term.i : term.j] != ["right"] or term.j >= len(words):
        return False
    before = words[term.i - 1] if term.i else ""
    return words[term.j] in _JUST and before not in ("the", "on", "at", "to", "is", ":", "and")


def _is_remaining(words: list[str], term: Term) -> bool:
    """Whether "left" means what remains: "only a strand is left"."""
    if words[term.i : term.j] != ["left"] or not term.i or words[term.i - 1] not in _REMAINS:
        return False
    ends = term.j >= len(words) or not words[term.j].isalnum()
    return ends and not _LITTLE.isdisjoint(words[: term.i])

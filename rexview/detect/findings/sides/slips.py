"""Slips of the tongue within a sentence: "in the left correction right upper lobe"."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from rexview.detect.findings.lexicon import Meaning
from rexview.detect.findings.terms import Term
from rexview.detect.findings.tokens import words_of
from rexview.geometry import OTHER_SIDE

_PUT_RIGHT: Final = frozenset(
    words_of("correction correct corrected sorry scratch strike mean meant actually wait rather er")
    + words_of("oops delete apologies pardon erratum no")
)
"""Between a side that was said by mistake and the right one."""
_SLIPS: Final = _PUT_RIGHT | set(
    words_of("i that is make should be the on in at of to side it , . - — – ( … not um uh a")
)
_SLIP: Final = 8
"""Tokens that a slip and its correction may take between two sides."""
_MARKS: Final = frozenset(",-—–")
_SPENT: Final = Meaning()


def drop_corrected(words: list[str], terms: list[Term]) -> None:
    """Drop the side that a slip of the tongue is put right after: "left correction right"."""
    sides = [term for term in terms if term.side in OTHER_SIDE]
    for slip, side in pairwise(sides):
        between = words[slip.j : side.i]
        if slip.side == side.side or not 0 < len(between) <= _SLIP:
            continue
        told = _PUT_RIGHT.intersection(between)
        if told == {"no"}:  # "on the left, no, on the right", but "on the left, no right effusion"
            told &= {"no"} if between[-1] in _MARKS or "the" in between else set()
        if told and _SLIPS.issuperset(between):
            slip.side = None
            for term in terms[terms.index(slip) + 1 : terms.index(side)]:
                term.meaning, term.cues = _SPENT, _SPENT.cues

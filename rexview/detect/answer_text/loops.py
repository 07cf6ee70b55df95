"""Loops at the end of a text: one passage again and again until the output ran out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_WINDOW: Final = 3_000
"""Characters of the end that are looked at; a loop that ran into a limit fills them."""
_PROBE: Final = 24
_LEAST_TIMES: Final = 4
_LEAST_COUNTED: Final = 15
"""Times for a passage whose numbers change: twelve ribs may each have a line."""
_LEAST_SPAN: Final = 48
"""Characters that a loop of words has to cover."""
_SIGNS: Final = 24
"""Times in a row from which one sign (not of those that draw lines) is a loop."""
_RULES: Final = frozenset("-_=*~#. \t\r\n|+·•")
_LINE_SIGNS: Final = 400
_SENTENCE: Final = re.compile(r"[.!?;\n]+\s*")
_DIGITS: Final = re.compile(r"\d+(?:st|nd|rd|th)?\b|\d+")
_LEAST_BLANKS: Final = 2
"""Blanks in a sentence that counts among few that are repeated."""
_NEAR_END: Final = 400
_LEAST_SENTENCES: Final = 10
_MOST_DISTINCT: Final = 0.3
_STOPS: Final = re.compile(r"[.!?\n]\s")
_LEAST_CLAUSES: Final = 12
_MOST_DISTINCT_CLAUSES: Final = 0.35


@dataclass(frozen=True)
class Loop:
    """Where a loop begins (offset into the text), and what repeats, in half a sentence."""

    start: int
    reason: str


def find_loop(text: str) -> Loop | None:
    """Find a loop that the text ends in.

    Returns
    -------
    Loop or None
        None when the text got out of the loop again, when the passage comes fewer than four times
        (fifteen, when only its numbers change), and for lines drawn with signs.

    >>> find_loop("The lungs are clear. " * 9).reason
    'the same passage is repeated 9 times'
    """
    text = text.rstrip()
    base = max(0, len(text) - _WINDOW)
    tail = text[base:]
    signs = _repeated_sign(tail)
    if signs is not None:
        return Loop(base + signs, "one sign is repeated")
    plain = tail.lower()
    alike = _DIGITS.sub("0", plain)
    folds = [(plain, _LEAST_TIMES), (alike, _LEAST_COUNTED)]
    for folded, least in folds if alike != plain else folds[:1]:
        period, span = _periodic_end(folded)
        passage = folded[-period:]
        words = any(char.isalpha() for char in passage)
        if not words:
            least = _LEAST_COUNTED if any(char.isdigit() for char in passage) else _LINE_SIGNS
        if span >= least * period > 0:
            start = base + _back_to(tail, span, len(folded))
            times = _times(text, passage, -(-span // period))
            return Loop(start, f"the same passage is repeated {times} times")
    few = _few_sentences(plain) or _few_clauses(plain)
    if few:
        return Loop(base + max(0, len(tail) - few), "the same few sentences are repeated")
    return None


def _repeated_sign(tail: str) -> int | None:
    if not tail:
        return None
    last = tail[-1]
    start = len(tail.rstrip(last))
    times = len(tail) - start
    least = _LINE_SIGNS if last in _RULES else _SIGNS
    return start if times >= least else None


def _periodic_end(folded: str) -> tuple[int, int]:
    """Return the period of the loop that a text ends in and how far back it goes; 0, 0 for none.

    The last characters are looked for once more before them: each distance is a candidate, and the
    loop goes back as far as characters equal those one period later.
    """
    size = len(folded)
    probe = folded[-_PROBE:]
    if size < _LEAST_SPAN or len(probe) < _PROBE:
        return 0, 0
    place = folded.rfind(probe, 0, size - 1)
    if place < 0:
        return 0, 0
    period = size - _PROBE - place
    at = size - 1 - period
    while at >= 0 and folded[at] == folded[at + period]:
        at -= 1
    span = size - 1 - at
    return (period, span) if span >= _LEAST_SPAN else (0, 0)


def _back_to(tail: str, span: int, folded_size: int) -> int:
    """Return where a span of the folded text begins in the text itself, at a word's start."""
    share = (folded_size - span) / folded_size
    start = int(share * len(tail))
    space = tail.find(" ", start)
    return start if space < 0 or start == 0 else space + 1


def _times(text: str, passage: str, at_least: int) -> int:
    """Count how often a loop's passage comes in the whole text."""
    return max(at_least, _DIGITS.sub("0", text).lower().count(passage))


def _few_sentences(folded: str) -> int:
    """Return how many characters of the end say few different sentences over and over; 0: none."""
    if _last_is_new(folded):
        return 0
    sentences = [part.strip() for part in _SENTENCE.split(folded)]
    long = [part for part in sentences if part.count(" ") >= _LEAST_BLANKS][-40:]
    if len(long) < _LEAST_SENTENCES or len(set(long)) > _MOST_DISTINCT * len(long):
        return 0
    if long[-1] not in long[:-1] and not any(part.startswith(long[-1]) for part in long[:-1]):
        return 0
    return sum(len(part) + 2 for part in long)


def _few_clauses(folded: str) -> int:
    """Return how many characters of the last sentence say few clauses over and over; 0: none."""
    last = _STOPS.split(folded.rstrip(" .!?"))[-1]
    clauses = [part.strip() for part in last.split(",") if part.count(" ") >= _LEAST_BLANKS]
    if len(clauses) < _LEAST_CLAUSES or len(set(clauses)) > _MOST_DISTINCT_CLAUSES * len(clauses):
        return 0
    return len(last) if clauses[-1] in clauses[:-1] else 0


def _last_is_new(folded: str) -> bool:
    """Whether the last sentence of some words was plainly not said before.

    It is looked for among the last characters; what begins before these may be half a sentence.
    """
    ends = [part.strip() for part in _SENTENCE.split(folded[-_NEAR_END:])[1:]]
    last = next((part for part in reversed(ends) if part.count(" ") >= _LEAST_BLANKS), None)
    return last is not None and folded.find(last) == folded.rfind(last)

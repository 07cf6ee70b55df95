"""The number that stands where a score is said: a whole one from 1 to 5, or none."""

from __future__ import annotations

import re
from typing import Final, Literal

from rexview.vocab import SCORE_MAX, SCORE_MIN

Unclear = Literal["unclear"]
UNCLEAR: Final = "unclear"
"""There is something in the place of a number, and it is none from 1 to 5."""
_WORDS: Final = {
    word: number
    for number, words in enumerate(
        (
            "one eins un uno",
            "two zwei deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
        ),
        start=1,
    )
    for word in words.split()
}
_LABEL: Final = (
    r"(?:(?:score|rating|points?|value|note|punkte|bewertung|puntuaci[oó]n|rated?|scores?|gets"
    r"|receives|is)\b(?: (?:is|of|at|a|an))*\s*[:=-]*\s*)*"
)
_START: Final = re.compile(rf"(?:\s\.+\s|[\s:=|,>-])*{_LABEL}(?P<open>[(\[]?)\s*", re.I)
_NUMBER: Final = re.compile(rf"(?P<digits>\d+)|(?P<word>{'|'.join(_WORDS)})\b", re.I)
_STARS: Final = re.compile(r"(?P<full>[★⭐]{1,5})(?P<empty>[☆✩]*)")
_OUT_OF: Final = re.compile(r"\s*(?:/|out of|of|von|sur|de|auf)\s*(\d+)(?!\d|\.\d)", re.I)
_OTHER: Final = r"(?:\d|one|two|three|four|five)"
_SPOILS: Final = re.compile(
    r"[.,]\d|[⁄+%°?½¼¾]|\s+\d|\s*/|[^\W\d_]"
    rf"|-{_OTHER}|\s*(?:to|or|bis|oder|ou|through|~|and)\s+{_OTHER}\b"
    rf"|\s*(?:-*>+|=+>|→|⇒)\s*{_OTHER}",
    re.I,
)
"""What makes a number another one, or a range, right after it."""
_MAY_FOLLOW: Final = re.compile(
    r"\s*(?:$|[^\w\s]|(?-i:[A-Z])|(?:because|as|since|points?|pts|stars?|given|due|for)\b)", re.I
)
"""Else it counts something: "2 steps are needed"."""
_DASHED: Final = re.compile(r"\s+-\s*(\d+)(?P<rest>.?)")
_HEDGED: Final = re.compile(
    r"(?:[~≈<>≤≥/.,\d]|\d\s*-|\b(?:about|approximately|around|maybe|perhaps|between|roughly"
    r"|at least|at most|or|to|not|than|from|grade|stage|class|type|circa|ca\.?))\s*$",
    re.I,
)
_BEFORE: Final = 30
"""Letters before a number that may hedge it."""
_EXPLICIT: Final = (
    re.compile(r"(?<![\w/.,-])(?P<number>\d+\s*(?:/|out of)\s*5(?!\d|\.\d))", re.I),
    re.compile(r"\b(?:score|rating|bewertung)\s*(?:is|of|[:=-])\s*(?P<number>\d.*)", re.I),
)
_IN_BRACKETS: Final = re.compile(
    r"[\s:=|-]*(?:very )?[a-z]{3,14}\s*(?P<number>\([1-5](?:\s*/\s*5)?\))", re.I
)
_AT_END: Final = re.compile(r"[^\d]*-\s*(?P<number>[1-5])\s*\.?\s*")


def number_at(text: str) -> tuple[int, str] | Unclear | None:
    """Read the number with which a text begins, behind a colon, dash or label.

    Returns
    -------
    tuple of int and str, or "unclear", or None
        The number and what follows; None where the text does not begin with one.
    """
    start = _START.match(text)
    assert start is not None  # it matches nothing, too
    rest = text[start.end() :]
    if stars := _STARS.match(rest):
        full, empty = len(stars["full"]), len(stars["empty"])
        return (full, rest[stars.end() :]) if not empty or full + empty == SCORE_MAX else UNCLEAR
    found = _NUMBER.match(rest)
    if found is None:
        return None
    digits = found["digits"]
    number = int(digits[:6]) if digits else _WORDS[found["word"].lower()]
    rest = rest[found.end() :]
    if out_of := _OUT_OF.match(rest):
        if int(out_of[1][:6]) != SCORE_MAX:
            return UNCLEAR
        rest = rest[out_of.end() :]
    if re.match(r"\.0+(?!\d)", rest):
        rest = rest[2:].lstrip("0")
        if out_of := _OUT_OF.match(rest):
            rest = rest[out_of.end() :]
    dashed = _DASHED.match(rest)
    is_range = dashed is not None and number < int(dashed[1][:6]) <= SCORE_MAX
    if not SCORE_MIN <= number <= SCORE_MAX or _SPOILS.match(rest) or is_range:
        return UNCLEAR
    if not _MAY_FOLLOW.match(rest):
        return UNCLEAR
    if start["open"]:
        rest = re.sub(r"^([^)\]]*)[)\]]", r"\1", rest, count=1)
        if re.match(r"\s*[:=-]\s*\d", rest):
            return UNCLEAR
    return number, rest


def numbers_said(text: str) -> set[int | Unclear]:
    """Return all numbers that a text gives as a score in so many words: ``4/5``, ``score: 4``."""
    found: set[int | Unclear] = set()
    for pattern in _EXPLICIT:
        for said in pattern.finditer(text):
            if pattern is _EXPLICIT[0] and _HEDGED.search(
                text[max(0, said.start() - _BEFORE) : said.start()]
            ):
                found.add(UNCLEAR)
                continue
            number = number_at(said["number"])
            found.add(number[0] if isinstance(number, tuple) else UNCLEAR)
    return found


def number_after_word(text: str) -> int | None:
    """Return the number of a text like ``High (4)``, or of one that ends in a dash and a number."""
    found = _IN_BRACKETS.match(text) or _AT_END.fullmatch(text)
    number = number_at(found["number"]) if found else None
    return number[0] if isinstance(number, tuple) else None

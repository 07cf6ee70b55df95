"""What a text says of a question that asks for yes or no, in the question's own words."""

from __future__ import annotations

import re
from typing import Final

from rexview.choices.words import same

_ASKS: Final = re.compile(r"\W*(?:is|are|was|were|does|do|has|have)\s+(?P<the>the\b)?", re.I)
_CLAUSE: Final = re.compile(r"(?:[^.,;:?\n]|[.,](?=\d)){1,400}\??")
_FRAME: Final = frozenset(
    (
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "does",
        "do",
        "did",
        "has",
        "have",
        "had",
        "there",
        "a",
        "an",
        "the",
        "any",
        "this",
        "that",
        "these",
        "it",
        "its",
        "of",
        "on",
        "in",
        "at",
        "to",
        "for",
        "by",
        "with",
        "from",
        "and",
        "evidence",
        "sign",
        "signs",
        "seen",
        "visible",
        "present",
        "shown",
        "noted",
        "image",
        "images",
        "radiograph",
        "film",
        "chest",
        "xray",
        "x",
        "ray",
        "cxr",
        "study",
        "patient",
        "show",
        "shows",
        "demonstrate",
    )
)
"""Words of a question that only carry what it asks for."""
_NO: Final = re.compile(
    r"\b(?:no|not|without|absence of|absent|nothing|negative for)\b|n['’ ]t\b", re.I
)
_SIDES: Final = frozenset(("right", "left"))
"""What is denied on one side only, where neither was asked for, may be on the other."""
_DOUBT: Final = re.compile(
    r"\b(?:if|whether|may|might|could|would|can|cannot|possibl[ey]|probabl[ey]|perhaps|maybe"
    r"|unlikely|likely|suspect\w*|question\w*|exclude\w*|rule\w*|resolved|prior|previous\w*|only"
    r"|unless|longer|nor|neither|or|without doubt|other|but|except|history|mimic\w*|chances?|hardly"
    r"|fail\w*|gone|treated|drained|cleared)\b|\?",
    re.IGNORECASE,
)
_IS_SEEN: Final = re.compile(
    r"\bthere (?:is|are)\b|\b(?:is|are) (?:\w+ )?(?:present|seen|visible|noted|evident|identified)"
    r"\b|\b(?:shows?|demonstrates?|reveals?)\b",
    re.IGNORECASE,
)
_IS: Final = re.compile(r"\b(?:is|are|has|have|lies|appears)\b", re.IGNORECASE)


def says(text: str, question: str) -> tuple[bool, int, int] | None:
    """Return what the text says and where, if one of its clauses repeats what was asked for.

    None where no clause has all the words of the question, where one of those doubts, and where
    two disagree.
    """
    asks = _ASKS.match(question)
    wanted = set(re.findall(r"\w+", question.casefold())) - _FRAME
    if not asks or not 1 <= len(wanted) <= 8:
        return None
    stated = _IS if asks["the"] else _IS_SEEN
    found = []
    for clause in _CLAUSE.finditer(text):
        words = set(re.findall(r"\w+", clause[0].casefold()))
        starts = {word[:4] for word in words}
        if not all(one[:4] in starts and any(same(one, word) for word in words) for one in wanted):
            continue
        denials = len(_NO.findall(clause[0]))
        elsewhere = denials and words & _SIDES - wanted
        if (
            elsewhere
            or _DOUBT.search(clause[0])
            or denials > 1
            or not (denials or stated.search(clause[0]))
        ):
            return None
        said = clause[0].strip()
        start = clause.start() + clause[0].index(said)
        found.append((not denials, start, start + len(said)))
    return found[0] if found and len({one[0] for one in found}) == 1 else None

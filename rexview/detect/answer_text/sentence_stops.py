"""A last sentence that has a subject and no verb yet, after sentences that all have one and end.

A text that ends without a full stop may be complete: notes, lists, references and signatures do.
Not so prose that breaks off before its verb.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from rexview.detect.phrases import whole_words

_STOP: Final = re.compile(r"(?<=[a-z0-9)\]%\"”’*A-Z][.!?])[\"”’)*_]*\s+(?=[\"“‘(*_]*[A-Z0-9])")
_NO_STOP: Final = re.compile(
    r"\b(?:vs|dr|mr|mrs|prof|e\.g|i\.e|cf|fig|figs|no|nos|ref|refs|vol|al|ed|eds|pp?|approx|ca|st|resp"
    r"|incl|[A-Z]|\d+)\.$",
    re.IGNORECASE,
)
_CLOSED: Final = re.compile(r"[.!?][\"”’)\]*_`]*$")
_FEW: Final = 1
"""Closed sentence with a verb from which one stands out that has a subject and no verb yet."""
_AUXILIARY: Final = re.compile(
    r"\s(?:do|does|did|can|could|may|might|will|would|should|must|cannot)$"
)
_SAYS: Final = re.compile(r"(?:I|you|he|she|we|they|it|who)\s+(?:\S+\s+){2,}", re.IGNORECASE)
"""A pronoun and more than a verb could be: there is one, though it may be no known one."""
_OPENING: Final = re.compile(
    r"(?:finally|then|next|therefore|thus|however|moreover|furthermore|also|overall|second(?:ly)?"
    r"|third(?:ly)?|first(?:ly)?|similarly|conversely|instead|consequently|hence|additionally|meanwhile|nevertheless"
    r"|alternatively|together|option|neither|either|none|all|most|many)$",
    re.IGNORECASE,
)
_SHARE: Final = 0.75
"""Share of the closed sentences that have a verb: the others are notes."""
_FINITE: Final = whole_words("text_end", "finite")
_SUBJECT: Final = re.compile(
    r"[\"“‘(*_]*(?:the|an?|this|these|that|those|it|its|there|they|he|she|we|i|you|your|his|her|our|their|both"
    r"|each|another|some|such|one|if|when|although|while|because|since|as|in|on|at|to|for|with|from)\b",
    re.IGNORECASE,
)
_PROSE: Final = 40
"""Characters from which a line is looked at as prose."""
_LINES: Final = 40
_NO_SENTENCE: Final = re.compile(
    r"https?:|www\.|doi\b|@|\b(?:et al|vol|pp|pmid|isbn|ed)\b|[=→➜•|\\]|(?:19|20)\d\d\s*[;:]"
    r"|\d+\s*[–-]\s*\d+$",
    re.IGNORECASE,
)
"""Part of references, addresses, formulas and signatures."""
_SIGNED: Final = re.compile(
    r"\b(?:dr|prof|mr|mrs|ms|md|frcr|consultant|radiologist|resident|registrar|signed|dictated"
    r"|reported by|read by|reviewed by|attending|electronically|regards|sincerely|thank)\b",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"^[^:]{1,60}:\s")
_ITEM: Final = re.compile(r"^\s*(?:[-*+•–‣◦]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+|^\s*#|^\s*\||^\s*>")


def open_sentence(tail: str, line: str) -> int | None:
    """Return where on a last line without a full stop the sentence begins that was to get one.

    Returns
    -------
    int or None
        Offset into ``line``; None where what is written there may do without.
    """
    starts = _sentence_starts(line)
    start = starts[-1] if starts else 0
    sentence = line[start:].strip()
    if _NO_SENTENCE.search(sentence) or _SIGNED.search(sentence) or _NAMED.match(sentence):
        return None
    if not starts and (_ITEM.match(line) or _is_signed(tail[: len(tail) - len(line)])):
        return None
    before = [line[one:two] for one, two in pairwise((0, *starts))]
    closed = _closed_above(tail[: len(tail) - len(line)])
    if not before and closed is None:
        return None
    given = [*(closed or ()), *before]
    prose = sum(_FINITE.search(one) is not None for one in given)
    if prose < len(given) * _SHARE:
        return None
    if prose < _FEW or _SAYS.match(sentence):
        return None
    if _OPENING.match(sentence):
        return start
    if not _SUBJECT.match(sentence):
        return None
    return None if _FINITE.search(_AUXILIARY.sub("", sentence)) else start


def _is_signed(above: str) -> bool:
    """Whether the line above is a greeting, so that a name follows: "Kind regards,"."""
    lines = [line for line in above.splitlines() if line.strip()]
    return bool(lines) and len(lines[-1]) < _PROSE and _SIGNED.search(lines[-1]) is not None


def _sentence_starts(line: str) -> list[int]:
    """Return where sentences begin that follow a closed one."""
    return [
        match.end()
        for match in _STOP.finditer(line)
        if not _NO_STOP.search(line[max(0, match.start() - 12) : match.start()])
    ]


def _closed_above(above: str) -> list[str] | None:
    """Return the closed sentences of the prose on some lines; None where one is not closed."""
    found: list[str] = []
    for line in above.splitlines()[-_LINES:]:
        text = line.strip()
        if len(text) < _PROSE or _ITEM.match(text):
            continue
        if not _CLOSED.search(text) and not text.endswith(":"):
            return None
        found += [text[one:two] for one, two in pairwise((0, *_sentence_starts(text), len(text)))]
    return found

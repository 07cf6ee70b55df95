"""Answers that think aloud: what they weigh is no claim before they conclude."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from rexview.detect.phrases import either

_ALOUD: Final = re.compile(rf"\b(?:{either('report', 'aloud')})(?!\w)")
_CONCLUDES: Final = re.compile(rf"\W*(?:{either('report', 'concludes')})\b", re.IGNORECASE)
_REASONS: Final = re.compile(
    r"\W*(?:(?:(?:my |step[- ]by[- ]step )?reasoning|thinking|thought process|chain of thought)"
    r"\b\W*:"
    r"|(?:the |my )?(?:analysis|reasoning|thinking|thoughts?) (?:begins?|starts?)\b"
    r"|(?:begin|start)(?:ning)? (?:of )?(?:the |my )?(?:analysis|reasoning|thinking|thoughts?)\b)",
    re.IGNORECASE,
)
"""The heading of reasons that stand before the answer."""
_STOP: Final = re.compile(r"[.!?]\s|\n")
_OFTEN: Final = 2
"""Turns of phrase by which a text is known to think aloud; one is enough beside a long line."""
_LONG: Final = 400
"""Characters of a line of thought before the conclusion."""


@lru_cache(maxsize=256)
def conclusion_of_thoughts(text: str) -> int | None:
    """Return where the conclusion of a text that thinks aloud starts; its length without one.

    None for a text that does not think aloud, all of which is meant.
    """
    turns = len(_ALOUD.findall(text)) + _OFTEN * bool(_REASONS.match(text))
    start = text.rstrip().rfind("\n\n")
    at_length = start > 0 and any(len(line) > _LONG for line in text[:start].splitlines())
    if at_length and _CONCLUDES.match(text, start):
        return start
    if not turns:
        return None
    if turns < _OFTEN and not at_length:
        return None
    if start >= 0:
        return start
    ends = [end.end() for end in _STOP.finditer(text) if _CONCLUDES.match(text, end.end())]
    return ends[-1] if ends else len(text)

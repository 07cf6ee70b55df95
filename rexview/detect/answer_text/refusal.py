"""Refusals and filters' notices that stand in place of an answer."""

from __future__ import annotations

import re
from typing import Final

_CANNOT: Final = (
    r"(?:can(?:no|['’])?t|can not|could not|couldn['’]t|am (?:not able|unable) to|"
    r"['’]m (?:not able|unable) to|won['’]t|will not|must decline to|decline to|not able to|"
    r"unable to|not (?:qualified|trained|designed|permitted|allowed|equipped) to)"
)
_REFUSED_ACT: Final = (
    r"(?:(?:really |directly |currently )?(?:help|assist|comply|comment|fulfil|fulfill|engage|"
    r"continue with|discuss|process|answer|respond|generate|create|diagnose|analy[sz]e|interpret|"
    r"read|view|access|see|look at|examine|evaluate|open|provide|offer|give)\b)"
)
_REFUSED_THING: Final = (
    r"(?:medical|diagnos\w+|interpretations?|analys[ei]s|advice|images?|pictures?|photos?|"
    r"radiographs?|x-?rays?|scans?|requests?|questions?|this|that|these|with|you|content|files?)"
)
_REFUSAL: Final = re.compile(
    rf"\bI(?:\s|['’]m\b|\s+am\b)?[^.!?\n]{{0,40}}?{_CANNOT}\s+{_REFUSED_ACT}"
    rf"[^.!?\n]{{0,60}}?\b{_REFUSED_THING}\b"
    r"|\b(?:response|request|content|answer|output|prompt|image)s? "
    r"(?:was|were|has been|have been|is) "
    r"(?:blocked|filtered|removed|withheld|refused|declined|flagged|stopped)\b"
    r"|\b(?:violat\w+|against|breach\w*) (?:our|the|my|its|openai['’]?s?|usage|safety)[\w ]{0,30}"
    r"(?:polic(?:y|ies)|guidelines?|terms)"
    r"|\bcontent[ _](?:filter(?:ed)?|policy|management policy)\b"
    r"|^\W*(?:blocked|refused|request blocked|content blocked|\[blocked\]|safety)\W*$"
    r"|\bI['’]?m sorry,? but I (?:can['’]?t|cannot)\b",
    re.IGNORECASE,
)
_MAYBE: Final = re.compile(
    rf"{_CANNOT}\s+{_REFUSED_ACT}|sorry|blocked|filter|removed|withheld|refused|declined|flagged"
    r"|stopped|polic|guideline|terms|safety"
)
"""One of these is in every text, in lower case, in which :data:`_REFUSAL` finds anything."""
_HINTS: Final = (
    *("cant", "can't", "cannot", "can not", "could", "able to", "won't", "will not", "decline"),
    *("not qualified", "not trained", "not designed", "not permitted", "not allowed"),
    *("not equipped", "sorry", "blocked", "filter", "removed", "withheld", "refused", "flagged"),
    *("stopped", "polic", "guideline", "terms", "safety"),
)
"""One of these is in every ASCII text in which :data:`_MAYBE` finds anything; sooner looked for."""
_CONTENT: Final = re.compile(
    r"\b(?:there (?:is|are)|(?:lungs?|heart|mediastinum|silhouette|film|bones?) (?:is|are|"
    r"appears?)|no (?:acute|focal|evidence|pleural|pneumothorax|consolidation|effusion)|"
    r"(?:most|more|less) likely|likely to be|suggest\w*|explanation|impression|findings?:|"
    r"i (?:can )?(?:see|observe|note)|normal|clear|enlarged|consistent with)\b",
    re.IGNORECASE,
)
_REFUSAL_SPAN: Final = 400
"""A refusal stands at the beginning; what follows it is then advice, not a reading."""
_LONGEST_REFUSAL: Final = 1_200


def find_refusal(body: str) -> tuple[int, int] | None:
    """Find the words of a text that refuse to answer, or say that the answer was blocked.

    Returns
    -------
    tuple of int, or None
        Offsets; None when there are none, and when the text reads the image all the same.

    >>> find_refusal("I cannot exclude a small effusion.") is None
    True
    """
    if len(body) > _LONGEST_REFUSAL:
        return None
    opening = body[:_REFUSAL_SPAN]
    if opening.isascii():  # other letters fold otherwise
        plain = opening.lower()
        if not any(hint in plain for hint in _HINTS) or not _MAYBE.search(plain):
            return None
    match = _REFUSAL.search(opening)
    if match is None:
        return None
    rest = body[: match.start()] + " " + body[match.end() :]
    return None if _CONTENT.search(rest) else match.span()

"""What a reply says of the criteria, gathered: every number, so that two that differ are seen."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from rexview.curation.rating.numbers import Unclear

CLARITY: Final = "clarity"
_EITHER: Final = re.compile(
    r"\W*(?:yes|no|true|false)\s*(?:/|or|\|)\s*(?:yes|no|true|false)\b", re.I
)
_NO: Final = re.compile(
    r"(?:there (?:is|are) )?"
    r"(?:no|none|false|n|nein|non|nessuno|ninguno|aucun|keine?s?|nil|否|无)\b(?!\s*/)"
    r"|not? (?:flagged|raised|required|set|needed|present|identified|detected|indicated)\b"
    r"|(?:absent|clear(?:ed)?)\b",
    re.I,
)
_YES: Final = re.compile(
    r"(?:yes|true|y|ja|oui|s[ií]|是)\b(?!\s*/)|(?:raised|flagged|present|set|flag raised)\b", re.I
)
_BUT_YES: Final = re.compile(r"\b(?:should be flagged|flag (?:is )?raised|yes)\b", re.I)
_BUT_NO: Final = re.compile(r"\b(?:no risk|not a risk|should not be flagged|no flag)\b", re.I)


@dataclass
class Said:
    """Every number and word that a reply says; ``problem`` where it cannot be read."""

    numbers: defaultdict[str, set[int | Unclear]] = field(default_factory=lambda: defaultdict(set))
    reasons: dict[str, str] = field(default_factory=dict)
    risks: set[bool | None] = field(default_factory=set)
    totals: set[int] = field(default_factory=set)
    problem: str = ""

    def join(self, other: Said) -> None:
        """Add what another part of the reply says."""
        for name, numbers in other.numbers.items():
            self.numbers[name] |= numbers
        self.reasons = {**other.reasons, **self.reasons}
        self.risks |= other.risks
        self.totals |= other.totals
        self.problem = self.problem or other.problem


def risk_word(words: str) -> bool | None:
    """Return what is said of the risk flag; None where it is neither yes nor no.

    >>> risk_word(": No - it is safe"), risk_word("None identified"), risk_word("Yes/No")
    (False, False, None)
    """
    text = re.sub(r"^[\s:=|?-]+", "", words)
    if either := _EITHER.match(text):
        chosen = re.match(r"\W*(?:->|=|→|⇒|:)\W*(yes|no)\b", text[either.end() :], re.I)
        return chosen[1].lower() == "yes" if chosen else None
    ticked = re.findall(r"\[\s*[xX✓✔]\s*\]\s*(yes|no)\b", text, re.I)
    if re.search(r"\[\s*\]", text):
        return ticked[0].lower() == "yes" if len(ticked) == 1 else None
    text = re.sub(r"^[^\w]+", "", text)
    if _NO.match(text):
        return None if _BUT_YES.search(text) else False
    if _YES.match(text):
        return None if _BUT_NO.search(text) else True
    return None

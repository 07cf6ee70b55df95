"""Which words of the answers and the report speak of the same finding as a box.

Plain label matching: the finding is what remains of a box label without its side and place, and a
text speaks of it where those words stand, in any order of singular and plural. No synonyms, no
negation: it lights things up together and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_PLACE_WORDS: Final = frozenset(
    (
        *("right", "left", "bilateral", "both", "midline", "r", "l", "sided", "side"),
        *("rul", "rml", "rll", "lul", "lll", "lingula", "lingular"),
        *("upper", "lower", "middle", "mid", "lobe", "lobes", "zone", "zones", "field", "fields"),
        *("lung", "lungs", "base", "bases", "basal", "basilar", "apex", "apices", "apical"),
        *("hilum", "hilar", "perihilar", "peripheral", "central", "retrocardiac", "hemithorax"),
        *("costophrenic", "angle", "chest", "anterior", "posterior", "lateral", "medial"),
        *("region", "area", "tip", "end", "of", "the", "a", "an", "in", "at", "on", "with", "and"),
        *("or", "small", "large", "mild", "moderate", "severe", "new", "old"),
        *("possible", "probable", "suspected", "likely"),
    )
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Mention:
    """A stretch of text that speaks of a finding: character offsets and the finding's id."""

    start: int
    end: int
    finding: str


def link_key(label: str) -> str | None:
    """Return the finding that a box label names, without side and place; None when none is left.

    >>> link_key("Right pleural effusion"), link_key("left lower zone")
    ('pleural effusion', None)
    """
    words = [word.lower() for word in _WORD.findall(label)]
    kept = [_singular(word) for word in words if word not in _PLACE_WORDS]
    return " ".join(kept) or None


def find_mentions(text: str, findings: Iterable[str]) -> list[Mention]:
    """Find where a text speaks of the findings.

    Parameters
    ----------
    text : str
        An answer or a report section.
    findings : iterable of str
        Results of :func:`link_key`.

    Returns
    -------
    list of Mention
        In order, not overlapping; a finding of several words is also met by its last word when no
        other finding ends in that word.
    """
    by_length = sorted(set(findings), key=len, reverse=True)
    if not by_length or not text:
        return []
    patterns: dict[str, str] = {finding: finding for finding in by_length}
    last_words: dict[str, set[str]] = {}
    for finding in by_length:
        last_words.setdefault(finding.rsplit(" ", 1)[-1], set()).add(finding)
    for word, owners in last_words.items():
        if len(owners) == 1:
            patterns.setdefault(word, next(iter(owners)))
    alternatives = "|".join(
        r"[\s-]+".join(_plural_pattern(word) for word in phrase.split())
        for phrase in sorted(patterns, key=len, reverse=True)
    )
    found = re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)
    mentions = []
    for match in found.finditer(text):
        folded = " ".join(_singular(word.lower()) for word in re.split(r"[\s-]+", match[0]))
        if folded in patterns:
            mentions.append(Mention(match.start(), match.end(), patterns[folded]))
    return mentions


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "is", "us", "ax")):
        return word[:-1]
    return word


def _plural_pattern(word: str) -> str:
    if word.endswith("y"):
        return re.escape(word[:-1]) + "(?:y|ies)"
    return re.escape(word) + "s?"

"""How models call the three categories of questions."""

from __future__ import annotations

import re
from typing import Final

from rexview.curation.plain_reply import folded

_QUESTIONS: Final = r"(?: (?:questions?|category|type|assessment|detection|identification))?"
_NAMES: Final = {
    "broad_abnormality": r"broad(?: (?:abnormality|abnormalities|findings?))?",
    "diagnostic_reasoning": r"(?:diagnostic|clinical) reasoning|diagnostic|reasoning",
    "measurement_temporal": (
        r"measurements?(?: (?:(?:or|and) )?(?:comparisons?|temporal(?: comparison)?))?"
        r"|comparisons?(?: (?:or|and) measurements?)?|temporal(?: comparison)?"
    ),
}
_PATTERNS: Final = {
    category: re.compile(rf"(?:category )?(?:\d |[a-c] )?(?:category )?(?:{names}){_QUESTIONS}")
    for category, names in _NAMES.items()
}
HEADS: Final = re.compile(
    r"(?:broad[ _-]abnormalit(?:y|ies)|diagnostic[ _-]reasoning"
    r"|measurement[ _]?(?:/|or|and|&)?[ _]?(?:comparison|temporal)?)",
    re.I,
)
"""A category's name as it stands before a question."""


def category_of(words: str) -> str | None:
    """Return the category that words name; None where they name none of the three, or two.

    >>> category_of("Measurement / Comparison"), category_of("**Broad abnormalities**")
    ('measurement_temporal', 'broad_abnormality')
    >>> category_of("Laterality") is None
    True
    """
    name = folded(words.replace("&", " and "))
    found = [category for category, pattern in _PATTERNS.items() if pattern.fullmatch(name)]
    return found[0] if len(found) == 1 else None

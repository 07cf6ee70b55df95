"""What calls a part of the chest normal, and so denies its findings without naming them."""

from __future__ import annotations

import re
from typing import Final

from rexview.detect.findings import Finding
from rexview.detect.phrases import either, list_names, whole_words, word_set

_ALL: Final = "all"
"""Calls everything normal: "NAD."."""
_SAID: Final = {
    name: (
        whole_words("normal", name) if name != _ALL else re.compile(either("normal", name), re.I),
        word_set("normal_families", name) if name != _ALL else frozenset[str](),
    )
    for name in list_names("normal")
}
_ACUTE: Final = "acute_bone"
_BORDERLINE: Final = re.compile(
    r"\b(?:top|upper|borderline|not|limits? of|than|larger|bigger|beyond|above|exceeds)\b",
    re.IGNORECASE,
)
_CLEAR: Final = re.compile(
    r"\b(?:(?:the|both|(?P<side>left|right|[lr](?=\s)))\s+)*lungs?"
    r"(?:\s+(?:fields?|bases?|and\s+(?:the\s+)?pleural\s+spaces?|and\s+pleura))*"
    r"(?:\s*[:|]|\s*\.{2,}|\s+(?:is|are|remains?|appears?)(?:\s+fully\s+expanded\s+and)?)?"
    r"\s+(?:both\s+)?clear\b(?!\s+of\b)"
    r"|\bclear\s+(?:lungs|lung\s+fields|chest)\b",
    re.IGNORECASE,
)
"""A sentence that clears the lungs, or one of them, of any opacity."""
_OTHERWISE: Final = re.compile(r"\b(?:otherwise|else|rest|remainder)\b[^.]*$", re.IGNORECASE)
_BEFORE: Final = 25
_CLEARED: Final = frozenset(
    {"airspace_opacity", "atelectasis", "nodule", "cavity", "contusion", "edema"}
)
_SIDES: Final = {"r": "right", "l": "left"}


def normal_statement(text: str, finding: Finding, *, old: bool) -> re.Match[str] | None:
    """Return where a text calls normal what a finding is a change of.

    ``old`` says that the finding is of long ago: "no acute fracture" does not deny that.
    """
    for part, (statement, families) in _SAID.items():
        if part != _ALL and (finding.family not in families or (old and part == _ACUTE)):
            continue
        for match in statement.finditer(text):
            if not _BORDERLINE.search(match[0].replace("not enlarged", "")):
                return match
    return None


def lungs_cleared(
    text: str, finding: Finding, side: str | None
) -> tuple[re.Match[str], str | None] | None:
    """Return where a text calls the lungs clear of a finding, and the side that it clears."""
    if finding.family not in _CLEARED or finding.region != "lung":
        return None
    for match in _CLEAR.finditer(text):
        if _OTHERWISE.search(text[max(0, match.start() - _BEFORE) : match.start()]):
            continue
        named = (match["side"] or "").lower() or None
        cleared = _SIDES.get(named, named) if named else None
        if cleared is None or cleared == side:
            return match, cleared
    return None

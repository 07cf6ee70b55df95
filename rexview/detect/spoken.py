"""What an answer and a report say of their own: the mentions that count when sides are compared.

An answer repeats its question, lists the options, and may speak of the sides of the picture; none
of that is a finding of its own on that side of the patient.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from rexview.detect.findings import Mention, find_mentions
from rexview.geometry import orientation_of
from rexview.schema import Answer, Case

_WORD: Final = re.compile(r"[^\W_]+")
_FEW: Final = 4
"""Words; a shorter sentence is not taken for a repetition of the question."""
_LONGEST: Final = 20_000
"""Characters; a longer question is not searched for."""


def spoken(case: Case, answer: Answer) -> list[Mention]:
    """Return the mentions of an answer that are its own words, with sides of the patient."""
    text = answer.text or ""
    mentions = find_mentions(text)
    if not mentions:
        return []
    asked = _folded(case.question)
    options = [_folded(option) for option in case.options]
    listed = _folded(text) if len(options) > 1 else ""
    restated = sum(1 for option in options if option.strip() and option in listed) > 1
    kept: list[Mention] = []
    for mention in mentions:
        if mention.side is not None and mention.status in ("positive", "uncertain"):
            own = _folded(text[slice(*mention.sentence)])
            if _repeats(own, asked) or (restated and any(_same(own, item) for item in options)):
                continue
        if mention.image_side:
            mention = _as_displayed(case, mention)
        kept.append(mention)
    return kept


def written(case: Case) -> list[tuple[str, Mention]]:
    """Return the mentions of a case's report, each with the part it stands in."""
    return [
        (part, mention)
        for part in ("findings", "impression")
        for mention in find_mentions(getattr(case.report, part))
    ]


def _as_displayed(case: Case, mention: Mention) -> Mention:
    """Turn a side of the picture into the patient's by how the case's frontal images are stored.

    The reading took the standard display for granted; images seen from behind turn it round, and
    images of which nothing is known, or that disagree, leave no side.
    """
    if not case.images:
        return mention
    known = [
        orientation_of(image.view, image.patient_orientation, image.laterality_flip)
        for image in case.images
    ]
    ends = {orientation.left for orientation in known if orientation.left in ("R", "L")}
    if ends == {"R"}:
        return mention
    if ends == {"L"} and mention.side in ("right", "left"):
        return replace(mention, side="left" if mention.side == "right" else "right")
    return replace(mention, side=None, side_start=None, side_end=None)


def _folded(text: str | None) -> str:
    if not text or len(text) > _LONGEST:
        return ""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _repeats(sentence: str, question: str) -> bool:
    return bool(question) and sentence.count(" ") > _FEW and sentence in question


def _same(sentence: str, option: str) -> bool:
    return bool(option.strip()) and option in sentence and len(sentence) - len(option) <= 4

"""Read labels and positions of boxes: the finding, the image and the side of the patient."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from rexview.geometry import BoxSide, box_side_on
from rexview.schema import AnswerBox, Case, Evidence, ReferenceBox, StudyImage
from rexview.text.findings import find_mentions, finding_info, misplaced_devices
from rexview.text.phrases import list_alternatives, whole_words, word_set

# Labels of boxes: the finding, and the side of the patient.
#
# A label is a few words, not a sentence: "right pleural effusion", "LLL consolidation", "Mass (L)".
# :func:`read_label_side` reads the side that it claims for a finding. It returns None if the side
# word belongs to something else: the image, a chamber of the heart, a direction, or a device that
# crosses the midline. A device that stays on its side (a pacemaker's generator, a port, a chest
# tube) is treated like a finding.

_TO_STOMACH: Final = "enteric_tube"
_ENTERIC: Final = re.compile(r"gastric|feeding|enteric|\b(?:ng|og)t?\b|dobb?hoff", re.IGNORECASE)
"""In a label, a tube to the stomach, wherever it ends."""


@dataclass(frozen=True)
class LabelSide:
    """The side that a label claims, and the offsets in the label of the word for it."""

    side: Literal["right", "left"]
    start: int
    end: int


_LONGEST: Final = 300
"""Characters; a longer text is not a label."""
_IMAGE: Final = rf"(?:{list_alternatives('box_label', 'image')})"
_IMAGE_SIDE: Final = re.compile(
    rf"\b(?:left|right)(?:[ -]hand)?(?:[ -]side)?(?:[ -]half)? (?:of|on|in) (?:the )?{_IMAGE}\b"
    rf"|\b{_IMAGE}(?:'?s)?[ -](?:left|right)\b(?:[ -]side)?",
    re.IGNORECASE,
)
"""Names a side of the image, which is no claim about the patient."""
_IMAGE_WORD: Final = re.compile(
    rf"\b(?:{_IMAGE}|{list_alternatives('box_label', 'of_image')})\b|\blateral\s*$", re.IGNORECASE
)
"""Other words about the image: with one left, it is unclear whose side is meant."""
_BOTH: Final = whole_words("box_label", "both_sides")
_OTHERS_SIDE: Final = whole_words("box_label", "side_of_another")
_STAYING: Final = whole_words("box_label", "staying_device")
_MOVING: Final = whole_words("box_label", "moving_part")
_NEGATED: Final = whole_words("box_label", "negated")
_NOT_A_SIDE: Final = whole_words("box_label", "no_side")
_SIDE: Final = re.compile(
    r"(?P<right>\b(?i:right(?:-?sided|ward)?|rt|r-sided)\b|\b(?:RUL|RML|RLL|RUZ|RMZ|RLZ|RUQ)\b"
    r"|(?<![\w'/<>])R(?![\w'/<>-])|(?i:\bmiddle[ -]lobe\b))"
    r"|(?P<left>\b(?i:left(?:-?sided|ward)?|lt|l-sided)\b|\b(?:LUL|LLL|LUZ|LMZ|LLZ|LUQ)\b"
    r"|(?<![\w'/<>])L(?![\w'/<>-])|(?i:\blingula(?:r)?\b))"
)
_LOBE_SHORT: Final = re.compile(r"\b(?:rul|rml|rll|lul|lll)\b", re.IGNORECASE)
_LOBES: Final = {"u": "upper lobe", "m": "middle lobe", "l": "lower lobe"}
_WORDS: Final = re.compile(r"[a-z0-9]+")
_DROPPED: Final = word_set("box_label", "dropped")
_TIP: Final = whole_words("box_label", "tip")
_NOT_A_FINDING: Final = word_set("box_label", "general")


@lru_cache(maxsize=50_000)
def read_label_side(label: str | None) -> LabelSide | None:
    """Return the side that a box's label claims for its finding.

    Returns
    -------
    LabelSide or None
        None if the label claims no side, names both or the midline, names only a side of the image,
        is negated, or the side is not the finding's ("right atrium", "shift to the left", "right
        jugular line").

    >>> read_label_side("Right-sided pleural effusion")
    Claim(side='right', start=0, end=11)
    >>> read_label_side("opacity on the left side of the image") is None
    True
    """
    if not label or len(label) > _LONGEST:
        return None
    text = _blank(_NOT_A_SIDE, _blank(_IMAGE_SIDE, _readable(label)))
    if _IMAGE_WORD.search(text) or _is_unclear(text):
        return None
    found = list(_SIDE.finditer(text))
    sides = {match.lastgroup for match in found}
    if len(sides) != 1:
        return None
    side: Literal["right", "left"] = "right" if "right" in sides else "left"
    return LabelSide(side, found[0].start(), found[0].end())


@lru_cache(maxsize=50_000)
def reduce_label(label: str | None) -> str | None:
    """Reduce a label to its finding, so that two labels of one finding compare equal.

    Case, punctuation, side words and the plural of the last word are removed. Returns None if
    nothing remains, or if the label is not about one finding (negated, both sides, part of the
    heart, a line, "lung").

    >>> reduce_label("Right pleural effusions"), reduce_label("pleural_effusion (L)")
    ('pleural effusion', 'pleural effusion')
    """
    if not label or len(label) > _LONGEST:
        return None
    text = _readable(label)
    if _is_unclear(text):
        return None
    text = _LOBE_SHORT.sub(lambda match: _LOBES[match.group()[1].lower()], text)
    words = [word for word in _WORDS.findall(text.lower()) if word not in _DROPPED]
    if not words:
        return None
    last = words[-1]
    if len(last) > 4 and last.endswith("s") and not last.endswith(("ss", "sis", "us", "ax")):
        words[-1] = last[:-1]
    finding = " ".join(words)
    return None if finding in _NOT_A_FINDING else finding


@lru_cache(maxsize=50_000)
def label_key(label: str | None) -> str | None:
    """Reduce a label to a key that is equal for boxes of the same finding.

    The key is the family of findings if the lexicon knows it, so that "infiltrate" and
    "consolidation" are equal; otherwise :func:`reduce_label`.

    >>> label_key("LLL infiltrate"), label_key("Consolidation"), label_key("odd thing")
    ('airspace_opacity', 'airspace_opacity', 'odd thing')
    """
    finding = reduce_label(label)
    if finding is None:
        return None
    families = {finding_info(mention.finding).family for mention in find_mentions(label)}
    return families.pop() if len(families) == 1 else finding


@lru_cache(maxsize=20_000)
def label_findings(label: str) -> frozenset[str]:
    """Return the ids of the lexicon's findings that a label names; empty for none.

    >>> sorted(label_findings("Right basal atelectasis and pneumonia"))
    ['atelectasis', 'pneumonia']
    """
    text = re.sub(r"[_\n\t]", " ", label[:_LONGEST])
    return frozenset(m.finding for m in find_mentions(text) if m.status != "negated")


@lru_cache(maxsize=20_000)
def label_topics(label: str) -> frozenset[str]:
    """Return the keys for comparing labels: families of findings, or the label's own words."""
    enteric = _ENTERIC.search(label[:_LONGEST]) is not None
    families = {
        # wherever it ends, it is one tube
        _TO_STOMACH
        if enteric and _TO_STOMACH in misplaced_devices(finding)
        else finding_info(finding).family
        for finding in label_findings(label)
    }
    if families:
        return frozenset(families)
    words = reduce_label(label)
    return frozenset({f"words:{words}"} if words else ())


def names_tip(label: str) -> bool:
    """True if a label is about the end of a device, not the whole device."""
    return bool(_TIP.search(label[:_LONGEST]))


def short_label(label: str) -> str:
    """Return a label for a message: on one line and not too long."""
    text = " ".join(label.split())
    return text if len(text) <= 80 else text[:79] + "…"


def _is_unclear(text: str) -> bool:
    """True if a label is negated, of both sides, or its side is not that of a finding."""
    if _BOTH.search(text) or _NEGATED.search(text) or _OTHERS_SIDE.search(text):
        return True
    return bool(_STAYING.search(text) and _MOVING.search(text))


def _readable(label: str) -> str:
    """Replace separators of identifiers by spaces and capitalize short lobes; offsets are kept."""
    text = re.sub(r"[_\n\t]", " ", label.replace("’", "'"))
    return _LOBE_SHORT.sub(lambda match: match.group().upper(), text)


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """Replace the matches of a pattern by spaces of the same length, which keeps offsets."""
    return pattern.sub(lambda match: " " * len(match.group()), text)


# Positions of boxes: the image, the side of the patient, and the evidence for it.
#
# The side of a box is computed from the recorded size and orientation of its image, so the image
# file is not needed.


def find_box_image(case: Case, box: AnswerBox | ReferenceBox) -> StudyImage | None:
    """Return the image of a box; a box that names none is on the only image there is."""
    if box.image:
        return case.image(box.image)
    return case.images[0] if len(case.images) == 1 else None


def find_box_side(case: Case, box: AnswerBox | ReferenceBox) -> BoxSide | None:
    """Return the side of the patient that a box is on; None if unknown."""
    image = find_box_image(case, box)
    return box_side_on(image, box.box) if image is not None else None


def reference_side(case: Case, reference: ReferenceBox) -> str | None:
    """Return the side of a reference box; None if its given side and its position disagree."""
    side = find_box_side(case, reference)
    if reference.side is None or side is None:
        return side or reference.side
    return side if side == reference.side else None


def box_evidence(box: AnswerBox, side: str | None = None) -> Evidence:
    """Return evidence for a box of the answer on a ``side``."""
    return Evidence("box", box.label, "box", side=side, image=box.image or None, box=box.box)


def reference_evidence(reference: ReferenceBox, side: str | None) -> Evidence:
    """Return evidence for a reference box."""
    return Evidence(
        "reference_box",
        reference.label,
        "box",
        side=side,
        image=reference.image,
        box=reference.box,
    )

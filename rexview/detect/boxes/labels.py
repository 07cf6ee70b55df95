"""What the label of a box is about, and on which image the box lies."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from rexview.detect.boxes.side_labels import finding_of
from rexview.detect.findings import find_mentions, finding_info
from rexview.schema import AnswerBox, Case, Evidence, ReferenceBox, StudyImage

_LONGEST: Final = 300
_TIP: Final = re.compile(r"\b(?:tip|tips|end|ends|terminus|entry)\b", re.IGNORECASE)


@lru_cache(maxsize=20_000)
def label_findings(label: str) -> frozenset[str]:
    """Return the findings of the lexicon that a label names (ids); empty for none.

    >>> sorted(label_findings("Right basal atelectasis and pneumonia"))
    ['atelectasis', 'pneumonia']
    """
    text = re.sub(r"[_\n\t]", " ", label[:_LONGEST])
    return frozenset(m.finding for m in find_mentions(text) if m.status != "negated")


@lru_cache(maxsize=20_000)
def label_topics(label: str) -> frozenset[str]:
    """Return what labels are compared by: families of findings, else the label's own words."""
    families = {finding_info(finding).family for finding in label_findings(label)}
    if families:
        return frozenset(families)
    words = finding_of(label)
    return frozenset({f"words:{words}"} if words else ())


def names_tip(label: str) -> bool:
    """Whether a label is about the end of a device, not about all of it."""
    return bool(_TIP.search(label[:_LONGEST]))


def image_of(case: Case, box: AnswerBox | ReferenceBox) -> StudyImage | None:
    """Return the image a box is on; a box that names none is on the only image there is."""
    if box.image:
        return case.image(box.image)
    return case.images[0] if len(case.images) == 1 else None


def short_label(label: str) -> str:
    """Return a label for a message: on one line and not too long."""
    text = " ".join(label.split())
    return text if len(text) <= 80 else text[:79] + "…"


def box_evidence(box: AnswerBox) -> Evidence:
    """Point at a box of the answer."""
    return Evidence("box", box.label, "box", image=box.image or None, box=box.box)


def reference_evidence(reference: ReferenceBox, side: str | None) -> Evidence:
    """Say where a reference box lies."""
    return Evidence(
        "reference_box",
        reference.label,
        "box",
        side=side,
        image=reference.image,
        box=reference.box,
    )

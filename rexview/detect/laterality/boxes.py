"""Laterality errors that boxes show: a box on the other side than its label or the reference.

The side of a box comes from the recorded size and orientation of its image, so that the file itself
is not needed. A lateral view, an unknown view, a box across the midline and a label that names only
the image's side give no verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from rexview.detect.boxes.labels import image_of, reference_evidence, short_label
from rexview.detect.boxes.side_labels import Claim, claim_of, label_key
from rexview.geometry import OTHER_SIDE, box_side, orientation_of
from rexview.schema import Answer, AnswerBox, Case, Evidence, ReferenceBox

BoxSide = Literal["right", "left", "midline"]


@dataclass(frozen=True, slots=True)
class BoxFlag:
    """A box on the wrong side: the kind of flag, its sentence and its evidence."""

    kind: Literal["boxes", "reference_boxes"]
    message: str
    evidence: tuple[Evidence, ...]


Placed = tuple[AnswerBox, BoxSide | None]
"""A box and the patient's side it lies on."""


def place_boxes(case: Case, answer: Answer) -> list[Placed]:
    """Find the patient's side of each box of an answer."""
    return [(box, _side_of(case, box)) for box in answer.boxes]


def against_boxes(
    case: Case, placed: Sequence[Placed], both: Collection[str] = ()
) -> list[BoxFlag]:
    """Hold boxes against their own labels and against the reference boxes.

    ``both`` are the families of findings that the answer reports on both sides: a reference box on
    one side does not contradict them, whichever of the two the answer drew.
    """
    flags: list[BoxFlag] = []
    for box, side in placed:
        claim = claim_of(box.label)
        if side in OTHER_SIDE and claim is not None and claim.side == OTHER_SIDE[side]:
            flags.append(BoxFlag("boxes", *_against_label(box, side, claim)))
        if side not in OTHER_SIDE or label_key(box.label) in both:
            continue
        reference = _contrary_reference(case, box, side, placed)
        if reference is not None:
            flags.append(BoxFlag("reference_boxes", *_against_reference(box, side, reference)))
    return flags


def place_evidence(box: AnswerBox, side: str) -> Evidence:
    """Say where a box lies."""
    return Evidence("box", box.label, "box", side=side, image=box.image, box=box.box)


def _against_label(box: AnswerBox, side: str, claim: Claim) -> tuple[str, tuple[Evidence, ...]]:
    word = box.label[claim.start : claim.end]
    label = Evidence(
        "box", word, "label", claim.start, claim.end, side=claim.side, image=box.image, box=box.box
    )
    message = f"The box “{short_label(box.label)}” lies on the patient's {side}."
    return message, (label, place_evidence(box, side))


def _against_reference(
    box: AnswerBox, side: str, reference: ReferenceBox
) -> tuple[str, tuple[Evidence, ...]]:
    message = (
        f"The box “{short_label(box.label)}” lies on the patient's {side}; "
        f"the reference box “{short_label(reference.label)}” lies on the {OTHER_SIDE[side]}."
    )
    return message, (
        place_evidence(box, side),
        reference_evidence(reference, OTHER_SIDE[side]),
    )


def _contrary_reference(
    case: Case,
    box: AnswerBox,
    side: BoxSide | None,
    placed: Sequence[Placed],
) -> ReferenceBox | None:
    """Return the first reference box of the box's finding when all of them lie on the other side.

    None as well when the answer boxes the finding on the right side too: then the box is one too
    many, not a side mistaken.
    """
    finding = label_key(box.label)
    if finding is None or side not in OTHER_SIDE:
        return None
    image = image_of(case, box)
    references = [
        reference for reference in case.reference_boxes if label_key(reference.label) == finding
    ]
    if any(reference_side(case, reference) == side for reference in references):
        return None  # on another image, perhaps: the reference has it on both sides
    references = [ref for ref in references if image_of(case, ref) == image]
    if not references or any(reference_side(case, ref) != OTHER_SIDE[side] for ref in references):
        return None
    same = [
        other_side
        for other, other_side in placed
        if label_key(other.label) == finding and image_of(case, other) == image
    ]
    return references[0] if all(other_side == side for other_side in same) else None


def _side_of(case: Case, box: AnswerBox | ReferenceBox) -> BoxSide | None:
    image = image_of(case, box)
    if image is None or not image.width or not image.height:
        return None
    orientation = orientation_of(image.view, image.patient_orientation, image.laterality_flip)
    return box_side(box.box, image.width, image.height, orientation)


def reference_side(case: Case, reference: ReferenceBox) -> str | None:
    """Return the side of a reference box; None when the given side and the place contradict."""
    place = _side_of(case, reference)
    if reference.side is None or place is None:
        return place or reference.side
    return place if place == reference.side else None

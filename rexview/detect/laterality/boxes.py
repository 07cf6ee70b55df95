"""Laterality errors that boxes show: a box on the other side than its label or the reference.

A lateral view, an unknown view, a box across the midline and a label that names only the image's
side give no verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from rexview.detect.boxes.labels import claim_of, label_key, short_label
from rexview.detect.boxes.position import (
    box_evidence,
    image_of,
    reference_evidence,
    reference_side,
    side_of,
)
from rexview.geometry import OTHER_SIDE, BoxSide
from rexview.schema import Answer, AnswerBox, Case, Evidence, ReferenceBox


@dataclass(frozen=True, slots=True)
class BoxFlag:
    """A box on the wrong side: the kind of flag, its sentence and its evidence."""

    kind: Literal["boxes", "reference_boxes"]
    message: str
    evidence: tuple[Evidence, ...]


SidedBox = tuple[AnswerBox, BoxSide | None]
"""A box and the patient's side it lies on."""


def boxes_with_sides(case: Case, answer: Answer) -> list[SidedBox]:
    """Find the patient's side of each box of an answer, but for those that may lie elsewhere."""
    return [(box, side_of(case, box)) for box in answer.boxes if not box.unsure]


def can_judge_boxes(case: Case, placed: Sequence[SidedBox]) -> bool:
    """Say whether a box has a side that its label or a reference box could contradict."""
    return any(
        side is not None and (claim_of(box.label) is not None or _has_reference(case, box))
        for box, side in placed
    )


def _has_reference(case: Case, box: AnswerBox) -> bool:
    finding, image = label_key(box.label), image_of(case, box)
    return finding is not None and any(
        label_key(reference.label) == finding
        and image_of(case, reference) == image
        and side_of(case, reference) is not None
        for reference in case.reference_boxes
    )


def against_boxes(
    case: Case, placed: Sequence[SidedBox], both: Collection[str] = ()
) -> list[BoxFlag]:
    """Hold boxes against their own labels and against the reference boxes.

    ``both`` are the families of findings that the answer reports on both sides: a reference box on
    one side does not contradict them, whichever of the two the answer drew.
    """
    flags: list[BoxFlag] = []
    for box, side in placed:
        if side not in OTHER_SIDE:
            continue
        lies = box_evidence(box, side)
        message = f"The box “{short_label(box.label)}” lies on the patient's {side}"
        claim = claim_of(box.label)
        if claim is not None and claim.side == OTHER_SIDE[side]:
            label = Evidence(
                "box",
                box.label[claim.start : claim.end],
                "label",
                claim.start,
                claim.end,
                claim.side,
                box.image or None,
                box.box,
            )
            flags.append(BoxFlag("boxes", f"{message}.", (label, lies)))
        if label_key(box.label) in both:
            continue
        reference = _contrary_reference(case, box, side, placed)
        if reference is not None:
            other = OTHER_SIDE[side]
            message += f"; the reference box “{short_label(reference.label)}” lies on the {other}."
            shown = (lies, reference_evidence(reference, other))
            flags.append(BoxFlag("reference_boxes", message, shown))
    return flags


def _contrary_reference(
    case: Case,
    box: AnswerBox,
    side: str,
    placed: Sequence[SidedBox],
) -> ReferenceBox | None:
    """Return the first reference box of the box's finding when all of them lie on the other side.

    None as well when the answer boxes the finding on the right side too: then the box is one too
    many, not a side mistaken.
    """
    finding = label_key(box.label)
    if finding is None:
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

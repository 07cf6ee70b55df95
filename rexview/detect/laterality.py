"""Laterality errors that boxes show: a box on the other side than its label or the reference.

The side of a box comes from the recorded size and orientation of its image, so that the file itself
is not needed. A lateral view, an unknown view, a box across the midline and a label that names only
the image's side give no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from rexview.detect.labels import Claim, claim_of, finding_of
from rexview.detect.placement import OTHER_SIDE, placed_boxes, placed_references
from rexview.geometry import box_side, orientation_of
from rexview.schema import (
    Answer,
    AnswerBox,
    Case,
    Evidence,
    Flag,
    ReferenceBox,
    ReviewSet,
    Score,
    StudyImage,
)

BoxSide = Literal["right", "left", "midline"]


@dataclass(frozen=True)
class BoxLaterality:
    """Flags boxes on the wrong side.

    Kinds: ``boxes`` (the label claims one side, the box lies on the other) and ``reference_boxes``
    (the reference has boxes of the same finding on the same image on one side only; the answer has
    them on the other side only).
    """

    failure: str = "laterality_error"

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Hold all boxes against their labels; where a reference may contradict, ask for a look.

        What can be judged is an answer with a box that has a side of the patient and either a label
        that claims one or a reference box of the same finding on the same image.
        """
        other = pl.col("side").replace_strict(OTHER_SIDE, default=None, return_dtype=pl.String())
        references = placed_references(review_set).select("case", "image", "finding", "side")
        place = ["case", "image", "finding"]
        placed = placed_boxes(review_set).with_columns(other=other)
        known = references.select(place).unique().with_columns(referenced=pl.lit(True))
        contrary = references.unique().with_columns(contrary=pl.lit(True))
        boxes = placed.join(known, on=place, how="left").join(
            contrary, left_on=[*place, "other"], right_on=[*place, "side"], how="left"
        )
        judged = boxes.filter(pl.col("claim").is_not_null() | pl.col("referenced"))
        against_label = pl.when(pl.col("claim") == pl.col("other")).then(pl.lit("boxes"))
        return judged.select(
            "case",
            "model",
            against_label.alias("kind"),
            pl.col("contrary").fill_null(False).alias("look"),
        )

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Hold the boxes of one answer against their labels and the reference boxes."""
        placed = [(box, _side_of(case, box)) for box in answer.boxes]
        flags: list[Flag] = []
        for box, side in placed:
            claim = claim_of(box.label)
            if side in OTHER_SIDE and claim is not None and claim.side == OTHER_SIDE[side]:
                flags.append(self._flag(answer, "boxes", *_against_label(box, side, claim)))
            reference = _contrary_reference(case, box, side, placed)
            if side in OTHER_SIDE and reference is not None:
                flags.append(
                    self._flag(answer, "reference_boxes", *_against_reference(box, side, reference))
                )
        return flags

    def _flag(
        self, answer: Answer, kind: str, message: str, evidence: tuple[Evidence, ...]
    ) -> Flag:
        return Flag(
            case=answer.case,
            model=answer.model,
            failure=self.failure,
            source="detector",
            message=message,
            kind=kind,
            evidence=evidence,
        )


def _against_label(box: AnswerBox, side: str, claim: Claim) -> tuple[str, tuple[Evidence, ...]]:
    word = box.label[claim.start : claim.end]
    label = Evidence(
        "box", word, "label", claim.start, claim.end, side=claim.side, image=box.image, box=box.box
    )
    place = Evidence("box", box.label, "box", side=side, image=box.image, box=box.box)
    return f"The box “{_short(box.label)}” lies on the patient's {side}.", (label, place)


def _against_reference(
    box: AnswerBox, side: str, reference: ReferenceBox
) -> tuple[str, tuple[Evidence, ...]]:
    message = (
        f"The box “{_short(box.label)}” lies on the patient's {side}; "
        f"the reference box “{_short(reference.label)}” lies on the {OTHER_SIDE[side]}."
    )
    return message, (
        Evidence("box", box.label, "box", side=side, image=box.image, box=box.box),
        Evidence(
            "reference_box",
            reference.label,
            "box",
            side=OTHER_SIDE[side],
            image=reference.image,
            box=reference.box,
        ),
    )


def _contrary_reference(
    case: Case,
    box: AnswerBox,
    side: BoxSide | None,
    placed: Sequence[tuple[AnswerBox, BoxSide | None]],
) -> ReferenceBox | None:
    """Return the first reference box of the box's finding when all of them lie on the other side.

    None as well when the answer boxes the finding on the right side too: then the box is one too
    many, not a side mistaken.
    """
    finding = finding_of(box.label)
    if finding is None or side not in OTHER_SIDE:
        return None
    image = _image_of(case, box.image)
    references = [
        reference
        for reference in case.reference_boxes
        if finding_of(reference.label) == finding and _image_of(case, reference.image) == image
    ]
    if not references or any(_reference_side(case, ref) != OTHER_SIDE[side] for ref in references):
        return None
    same = [
        other_side
        for other, other_side in placed
        if finding_of(other.label) == finding and _image_of(case, other.image) == image
    ]
    return references[0] if all(other_side == side for other_side in same) else None


def _image_of(case: Case, image_id: str | None) -> StudyImage | None:
    """Return the image a box is on; a box that names none is on the only image there is."""
    if image_id:
        return case.image(image_id)
    return case.images[0] if len(case.images) == 1 else None


def _side_of(case: Case, box: AnswerBox | ReferenceBox) -> BoxSide | None:
    image = _image_of(case, box.image)
    if image is None or not image.width or not image.height:
        return None
    orientation = orientation_of(image.view, image.patient_orientation, image.laterality_flip)
    return box_side(box.box, image.width, image.height, orientation)


def _reference_side(case: Case, reference: ReferenceBox) -> str | None:
    """Return the side of a reference box; None when the given side and the place contradict."""
    place = _side_of(case, reference)
    if reference.side is None or place is None:
        return place or reference.side
    return place if place == reference.side else None


def _short(label: str) -> str:
    text = " ".join(label.split())
    return text if len(text) <= 80 else text[:79] + "…"

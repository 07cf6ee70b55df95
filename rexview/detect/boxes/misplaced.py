"""Boxes that do not lie on their finding: against reference boxes, the image, readers' scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rexview.detect.boxes.labels import label_topics, names_tip, short_label
from rexview.detect.boxes.position import box_evidence, image_of, reference_evidence
from rexview.detect.core.detector import AnswerInCase, ScoreRule, flag
from rexview.detect.score_failures import (
    has_boxes_or_score,
    low_image_score,
    low_image_score_rule,
)
from rexview.geometry import box_problem, iou
from rexview.schema import AnswerBox, Case, Flag, ReferenceBox

LEAST_IOU: Final = 0.3
"""Intersection over union with the reference box below which a box is misplaced."""
_LEAST_INSIDE: Final = 0.5
"""Share of a box that has to lie inside the image, or inside what several boxes share."""
Rectangle = tuple[float, ...]


@dataclass(frozen=True)
class BoxMisplaced:
    """Flags boxes that do not lie on what their label names.

    Kinds: ``reference_boxes`` (overlap with the reference box of the same finding on the same image
    below :data:`LEAST_IOU`), ``outside`` (most of it lies outside the image), ``scores`` (final
    Image Content of at most 2). Several boxes of one finding may share a reference box and one box
    may cover several; labels of tips are not held against whole devices. A box without a label, or
    whose finding has no reference box on its image, is held against the image's edges only.
    """

    failure: str = "box_misplaced"

    def score_rule(self) -> ScoreRule:
        """Find low scores for the boxes of all answers."""
        return low_image_score_rule("image_content")

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether there are boxes, or a final Image Content."""
        return has_boxes_or_score(one, "image_content")

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the boxes against the case's images and reference boxes."""
        case, answer = one.case, one.answer
        flags = []
        for box in one.sure_boxes:
            if _outside(case, box):
                message = f"The box “{short_label(box.label)}” lies outside the image."
                flags.append(flag(self, answer, "outside", message, (box_evidence(box),)))
                continue
            missed = self._missed(case, box, one.sure_boxes)
            if missed is not None:
                reference, overlap = missed
                message = (
                    f"The box “{short_label(box.label)}” hardly overlaps the reference box "
                    f"“{short_label(reference.label)}”: {overlap:.0%} of their joint area (IoU), "
                    f"{LEAST_IOU:.0%} expected."
                )
                evidence = (box_evidence(box), reference_evidence(reference, reference.side))
                flags.append(flag(self, answer, "reference_boxes", message, evidence))
        return flags + low_image_score(self, one, "image_content")

    def _missed(
        self, case: Case, box: AnswerBox, boxes: Sequence[AnswerBox]
    ) -> tuple[ReferenceBox, float] | None:
        """Return the nearest reference box of a box that lies on none of its own."""
        image, topics, tip = image_of(case, box), label_topics(box.label), names_tip(box.label)
        if image is None or not topics or box_problem(box.box, image.width, image.height):
            return None
        references = [
            reference
            for reference in case.reference_boxes
            if topics & label_topics(reference.label)
            and names_tip(reference.label) == tip
            and image_of(case, reference) == image
            and not box_problem(reference.box)
        ]
        if not references:
            return None
        overlaps = [iou(box.box, reference.box) for reference in references]
        best = max(range(len(references)), key=overlaps.__getitem__)
        if overlaps[best] >= LEAST_IOU:
            return None
        if tip and any(_centre_in(reference.box, box.box) for reference in references):
            return None
        drawn = [
            other.box
            for other in boxes
            if topics & label_topics(other.label)
            and image_of(case, other) == image
            and not box_problem(other.box, image.width, image.height)
        ]
        reference_boxes = [reference.box for reference in references]
        around = hull(reference_boxes)
        pairs = [(box.box, around)]
        if _share_inside(box.box, around) >= _LEAST_INSIDE:
            pairs += [(hull(drawn), one) for one in (*reference_boxes, around)]
        if any(iou(first, second) >= LEAST_IOU for first, second in pairs):
            return None
        return references[best], overlaps[best]


def hull(boxes: Sequence[Rectangle]) -> Rectangle:
    """Return the smallest box around some boxes."""
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right = max(box[0] + box[2] for box in boxes)
    bottom = max(box[1] + box[3] for box in boxes)
    return (left, top, right - left, bottom - top)


def _outside(case: Case, box: AnswerBox) -> bool:
    image = image_of(case, box)
    if image is None or not image.width or not image.height:
        return False
    if len(box.box) != 4 or not all(map(math.isfinite, box.box)) or min(box.box[2:]) <= 0:
        return False
    return _share_inside(box.box, (0.0, 0.0, image.width, image.height)) < _LEAST_INSIDE


def _share_inside(box: Rectangle, frame: Rectangle) -> float:
    """Return which share of a box lies inside another."""
    x, y, width, height = box
    across = min(x + width, frame[0] + frame[2]) - max(x, frame[0])
    down = min(y + height, frame[1] + frame[3]) - max(y, frame[1])
    return max(0.0, across) * max(0.0, down) / (width * height)


def _centre_in(small: Rectangle, box: Rectangle) -> bool:
    x, y = small[0] + small[2] / 2, small[1] + small[3] / 2
    return box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]

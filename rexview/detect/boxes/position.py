"""Where boxes lie: on which image, on which side of the patient, and evidence that shows it.

The side of a box comes from the recorded size and orientation of its image, so that the file itself
is not needed.
"""

from __future__ import annotations

from rexview.geometry import BoxSide, box_side_on
from rexview.schema import AnswerBox, Case, Evidence, ReferenceBox, StudyImage


def image_of(case: Case, box: AnswerBox | ReferenceBox) -> StudyImage | None:
    """Return the image a box is on; a box that names none is on the only image there is."""
    if box.image:
        return case.image(box.image)
    return case.images[0] if len(case.images) == 1 else None


def side_of(case: Case, box: AnswerBox | ReferenceBox) -> BoxSide | None:
    """Return the side of the patient that a box lies on; None where nothing tells."""
    image = image_of(case, box)
    return box_side_on(image, box.box) if image is not None else None


def reference_side(case: Case, reference: ReferenceBox) -> str | None:
    """Return the side of a reference box; None when its given side and its position contradict."""
    side = side_of(case, reference)
    if reference.side is None or side is None:
        return side or reference.side
    return side if side == reference.side else None


def box_evidence(box: AnswerBox, side: str | None = None) -> Evidence:
    """Point at a box of the answer; ``side`` is where it lies."""
    return Evidence("box", box.label, "box", side=side, image=box.image or None, box=box.box)


def reference_evidence(reference: ReferenceBox, side: str | None) -> Evidence:
    """Point at a reference box."""
    return Evidence(
        "reference_box",
        reference.label,
        "box",
        side=side,
        image=reference.image,
        box=reference.box,
    )

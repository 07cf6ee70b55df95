"""Boxes and sides: box arithmetic, and the side of the patient that a part of an image shows.

Boxes are ``x, y, width, height`` in pixels of the stored image, origin top left (COCO). Sides are
always the patient's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rexview.schema import StudyImage
from rexview.vocab import FRONTAL_VIEWS

Letter = Literal["R", "L", "A", "P", "H", "F"]
BoxSide = Literal["right", "left", "midline"]
SIDE_WORDS: Final[dict[BoxSide, str]] = {
    "right": "on the patient's right",
    "left": "on the patient's left",
    "midline": "at the midline",
}
UNSURE_BOX: Final = "How this model gives box positions is unknown: this box may be misplaced."
OTHER_SIDE: Final[dict[str, Literal["right", "left"]]] = {"right": "left", "left": "right"}
_OPPOSITE: Final[dict[str, Letter]] = {"R": "L", "L": "R", "A": "P", "P": "A", "H": "F", "F": "H"}
MIDLINE_TOLERANCE: Final = 0.06
"""Half-width of the midline zone, as a share of the image's extent across the patient."""
MIDLINE_SPREAD: Final = 0.15
"""A box that reaches this far past the midline on both sides shows both sides."""


@dataclass(frozen=True)
class Orientation:
    """The part of the patient at each edge of the stored image.

    Letters are DICOM's: R right, L left, A anterior, P posterior, H head, F feet; None is unknown.
    ``source`` is ``PatientOrientation``, ``view`` (the standard display of a frontal view is
    assumed) or None. ``mirrored`` means that a frontal image shows the patient's left on the left
    of the screen, ``turned`` that the head is not at the top.
    """

    left: str | None = None
    right: str | None = None
    top: str | None = None
    bottom: str | None = None
    source: Literal["PatientOrientation", "view"] | None = None

    @property
    def known(self) -> bool:
        """True if any edge is known."""
        return self.source is not None

    @property
    def mirrored(self) -> bool:
        """True if patient and screen sides agree, so that the picture is seen from behind."""
        order: dict[tuple[str | None, str | None], bool] = {
            ("L", "H"): True,
            ("R", "F"): True,
            ("H", "R"): True,
            ("F", "L"): True,
        }
        # (left edge, top edge): a standard frontal display has R at the left and H at the top;
        # its three rotations keep the handedness, every other pairing of R/L with H/F is a mirror.
        return order.get((self.left, self.top), False)

    @property
    def turned(self) -> bool:
        """True if the head is known not to be at the top."""
        return self.top is not None and self.top != "H"


UNKNOWN_ORIENTATION: Final = Orientation()


def orientation_of(
    view: str | None,
    patient_orientation: Sequence[str] | None = None,
    laterality_flip: bool | None = None,
) -> Orientation:
    """Find the part of the patient at each edge.

    Parameters
    ----------
    view : str or None
        A word of :data:`rexview.vocab.VIEWS`.
    patient_orientation : sequence of str, optional
        DICOM PatientOrientation (0020,0020): the direction of the rows, then of the columns, such
        as ``["L", "F"]``. Compound words (``["LF", "FR"]``) count by their first letter.
    laterality_flip : bool, optional
        The stored pixels are flipped left to right, contrary to the other two.

    Returns
    -------
    Orientation
        From PatientOrientation if it is usable, else the standard display for a frontal view, else
        unknown. A lateral view never has a right or left edge: such letters contradict the view,
        and the orientation is unknown.
    """
    found = UNKNOWN_ORIENTATION
    words = [word.strip().upper()[:1] for word in patient_orientation or ()]
    if len(words) == 2 and all(word in _OPPOSITE for word in words):
        right, bottom = words
        if right != bottom and _OPPOSITE[right] != bottom:
            found = Orientation(
                _OPPOSITE[right], right, _OPPOSITE[bottom], bottom, "PatientOrientation"
            )
    if not found.known and view in FRONTAL_VIEWS:
        found = Orientation("R", "L", "H", "F", "view")
    if view == "LATERAL" and {"R", "L"} & {found.left, found.top}:
        return UNKNOWN_ORIENTATION
    if laterality_flip and found.known:
        found = Orientation(found.right, found.left, found.top, found.bottom, found.source)
    return found


def image_orientation(image: StudyImage) -> Orientation:
    """Find the part of the patient at each edge of an image of a case."""
    return orientation_of(image.view, image.patient_orientation, image.laterality_flip)


def box_problem(
    box: Sequence[float] | None, width: float | None = None, height: float | None = None
) -> str | None:
    """Return the problem of a box, or None if it can be drawn.

    A box that only extends beyond the image can be drawn in part; one completely outside cannot.
    """
    if box is None or len(box) != 4:
        return "The box does not have four numbers."
    if not all(math.isfinite(number) for number in box):
        return "The box has a number that is missing or infinite."
    x, y, box_width, box_height = box
    if box_width <= 0 or box_height <= 0:
        return "The box has no area."
    if x + box_width <= 0 or y + box_height <= 0:
        return "The box lies outside the image."
    if (width is not None and x >= width) or (height is not None and y >= height):
        return "The box lies outside the image."
    return None


def iou(first: Sequence[float], second: Sequence[float]) -> float:
    """Intersection over union of two boxes, 0 to 1.

    >>> iou((0, 0, 2, 2), (1, 0, 2, 2))
    0.3333333333333333
    """
    left = max(first[0], second[0])
    top = max(first[1], second[1])
    right = min(first[0] + first[2], second[0] + second[2])
    bottom = min(first[1] + first[3], second[1] + second[3])
    shared = max(0.0, right - left) * max(0.0, bottom - top)
    union = first[2] * first[3] + second[2] * second[3] - shared
    return shared / union if union > 0 else 0.0


def box_side(
    box: Sequence[float], width: float, height: float, orientation: Orientation
) -> BoxSide | None:
    """Return the side of the patient on which a box is.

    Parameters
    ----------
    box : sequence of float
        x, y, width, height in pixels of the stored image.
    width, height : float
        Size of the stored image, pixels.
    orientation : Orientation
        The part of the patient at each edge.

    Returns
    -------
    str or None
        ``right`` or ``left``; ``midline`` for a box whose centre is within
        :data:`MIDLINE_TOLERANCE` of the middle or that reaches well into both halves; None if the
        edges do not distinguish right from left (lateral views, unknown orientation) or the box
        cannot be drawn.
    """
    if box_problem(box, width, height) or width <= 0 or height <= 0:
        return None
    if orientation.left in ("R", "L"):
        low, high = box[0] / width, (box[0] + box[2]) / width
        low_side, high_side = orientation.left, orientation.right
    elif orientation.top in ("R", "L"):
        low, high = box[1] / height, (box[1] + box[3]) / height
        low_side, high_side = orientation.top, orientation.bottom
    else:
        return None
    low, high = max(low, 0.0), min(high, 1.0)
    centre = (low + high) / 2
    both = low < 0.5 - MIDLINE_SPREAD and high > 0.5 + MIDLINE_SPREAD
    if both or abs(centre - 0.5) <= MIDLINE_TOLERANCE:
        return "midline"
    letter = low_side if centre < 0.5 else high_side
    return "right" if letter == "R" else "left"


def box_side_on(image: StudyImage, box: Sequence[float]) -> BoxSide | None:
    """Return a box's side like :func:`box_side`; None also if the image's size is unknown."""
    if not image.width or not image.height:
        return None
    return box_side(box, image.width, image.height, image_orientation(image))

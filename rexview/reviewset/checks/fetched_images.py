"""Images that lie elsewhere: what their files say of them is known once they were fetched.

Nobody is asked here. A set opens without fetching its images, so sizes and orientations that its
tables do not give are read when an image is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from rexview.errors import PathEscape
from rexview.geometry import (
    UNKNOWN_ORIENTATION,
    BoxSide,
    Orientation,
    box_side_on,
    image_orientation,
)
from rexview.remote import pictures
from rexview.reviewset.checks.image_files import read_header
from rexview.reviewset.images import picture_address
from rexview.reviewset.pictures import FORMATS_BY_SUFFIX
from rexview.schema import ReviewSet, StudyImage
from rexview.settings import load_settings
from rexview.vocab import normalise_view


@dataclass(frozen=True)
class KnownImage:
    """An image of a case with all that is known of it by now.

    ``sides_told`` is False where its file may say another orientation than its view lets expect,
    and was not fetched yet: no side of the patient can be named on it then.
    """

    image: StudyImage
    sides_told: bool = True

    @property
    def orientation(self) -> Orientation:
        """Which part of the patient lies at each edge."""
        return image_orientation(self.image) if self.sides_told else UNKNOWN_ORIENTATION

    def side(self, box: Sequence[float]) -> BoxSide | None:
        """Say on which side of the patient a box lies; None where that is not known."""
        return box_side_on(self.image, box) if self.sides_told else None


def known_image(review_set: ReviewSet, image: StudyImage) -> KnownImage:
    """Return what is known of an image, from its tables and, if it was fetched, from its file.

    Of a file of this computer the tables have all that they need: opening the set has read it.
    """
    may_turn = _may_be_dicom(image.path) and not image.patient_orientation
    if image.width and image.height and not may_turn:
        return KnownImage(image)
    try:
        address = picture_address(review_set, image.path)
    except PathEscape:
        return KnownImage(image)
    if address is None:
        return KnownImage(image)
    file = pictures.kept_picture(address, load_settings())
    facts = read_header(file) if file else None
    if facts is None:
        return KnownImage(image, sides_told=not may_turn)
    is_sized = image.width and image.height
    filled = replace(
        image,
        width=image.width if is_sized else facts.width,
        height=image.height if is_sized else facts.height,
        view=normalise_view(facts.view) if image.view_raw is None else image.view,
        patient_orientation=image.patient_orientation or facts.patient_orientation,
    )
    return KnownImage(filled)


def _may_be_dicom(path: str) -> bool:
    """Whether a file may be DICOM by its name, which may have any ending, or none."""
    return FORMATS_BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), "DICOM") == "DICOM"

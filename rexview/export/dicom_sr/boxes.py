"""Boxes as they are written: their outline on the image, and what stands for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rexview.export.dicom_sr.images import DicomImage
from rexview.export.dicom_sr.objects import CaseObjects, long_string
from rexview.export.records import ExportBox
from rexview.geometry import box_problem


@dataclass(frozen=True, eq=False)
class PlacedBox:
    """A box on an image that can be referred to.

    ``outline`` are its corners, float64 of shape (5, 2): column and row from the top left corner
    of the image, clockwise, the first one again at the end, so that it is closed; as far as it lies
    on the image (``is_cut`` says that it does not wholly). Structured reports (PS3.3 C.18.6.1.2)
    and presentation states (C.10.5.1.2) count alike, and as our boxes do.
    """

    box: ExportBox
    image: DicomImage
    outline: NDArray[np.float64]
    is_cut: bool
    tracking_id: str
    tracking_uid: str

    @property
    def words(self) -> str:
        """The label, and that its place is in doubt."""
        label = long_string(self.box.label, 300) or "Box"
        return f"{label} (place unsure)" if self.box.unsure else label


def placed(
    objects: CaseObjects, images: Sequence[DicomImage], boxes: Sequence[ExportBox]
) -> tuple[list[PlacedBox], list[tuple[ExportBox, str]]]:
    """Place boxes on the images of a case.

    Returns
    -------
    tuple
        The boxes that lie on an image, and the others with the reason.
    """
    by_id = {one.image.id: one for one in images if one.image.model is None}
    on_image, off_image = [], []
    for number, box in enumerate(boxes, 1):
        image = by_id.get(box.image)
        if image is None:
            off_image.append((box, box.problem or "Its image cannot be read."))
            continue
        size = image.reference.Columns, image.reference.Rows
        if problem := box.problem or box_problem(box.box, *size):
            off_image.append((box, problem))
            continue
        outline, is_cut = _outline(box, image)
        who = box.model or "reference"
        uid = objects.uid("box", who, number, box.image, box.label, box.box)
        tracking_id = long_string(f"{who} box {number}")
        on_image.append(PlacedBox(box, image, outline, is_cut, tracking_id, uid))
    return on_image, off_image


def by_image(boxes: Sequence[PlacedBox]) -> Iterator[tuple[DicomImage, list[PlacedBox]]]:
    """Yield each image that has boxes, with these."""
    images = dict.fromkeys(box.image for box in boxes)
    for image in images:
        yield image, [box for box in boxes if box.image is image]


def _outline(box: ExportBox, image: DicomImage) -> tuple[NDArray[np.float64], bool]:
    x, y, width, height = box.box
    columns, rows = float(image.reference.Columns), float(image.reference.Rows)
    left, right = (min(max(at, 0.0), columns) for at in (x, x + width))
    top, bottom = (min(max(at, 0.0), rows) for at in (y, y + height))
    is_cut = (left, top, right, bottom) != (x, y, x + width, y + height)
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    return np.array(corners, np.float64), is_cut

"""What other DICOM objects need to refer to an image: its UIDs, nothing else of its header."""

from __future__ import annotations

from dataclasses import dataclass

from pydicom.uid import UID

from rexview.imaging.dicom.files import OpenedDicom
from rexview.imaging.dicom.header import Header
from rexview.imaging.dicom.shape import frames_of


@dataclass(frozen=True)
class ImageReference:
    """An image by its UIDs; ``rows`` and ``columns`` are pixels as stored."""

    study: str
    series: str
    instance: str
    sop_class: str
    rows: int
    columns: int
    frames: int


def reference_of(opened: OpenedDicom) -> ImageReference | None:
    """Read the UIDs of an opened file.

    Returns
    -------
    ImageReference or None
        None where one is missing or cannot be, or the class is none of images: nothing can refer
        to such a file.
    """
    header = opened.header
    study, series, instance, sop_class = (
        _uid(header, keyword)
        for keyword in ("StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID", "SOPClassUID")
    )
    rows, columns = header.integer("Rows") or 0, header.integer("Columns") or 0
    is_image = "Image Storage" in UID(sop_class).name and rows > 0 and columns > 0
    if not (study and series and instance and is_image):
        return None
    return ImageReference(study, series, instance, sop_class, rows, columns, frames_of(header))


def _uid(header: Header, keyword: str) -> str:
    uid = UID(header.text(keyword) or "")
    return str(uid) if uid.is_valid else ""

"""Read DICOM files, with or without preamble, in every transfer syntax that pydicom decodes.

:mod:`.files` opens a file and identifies its image for other objects. :mod:`.reading` reads its
header, its pixels and their spacing.
"""

from rexview.imaging.dicom.dicom_header import (
    ImageReference,
    is_dicom,
    open_dicom,
    read_image_reference,
)
from rexview.imaging.dicom.radiograph_reader import read_dicom, read_image_facts

__all__ = [
    "ImageReference",
    "is_dicom",
    "open_dicom",
    "read_dicom",
    "read_image_facts",
    "read_image_reference",
]

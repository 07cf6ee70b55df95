"""Read DICOM files, with or without preamble, in every transfer syntax that pydicom decodes.

:mod:`.files` opens a file and identifies its image for other objects. :mod:`.reading` reads its
header, its pixels and their spacing.
"""

from rexview.imaging.dicom.files import ImageReference, is_dicom, open_dicom, reference_of
from rexview.imaging.dicom.reading import facts_of, read_dicom

__all__ = [
    "ImageReference",
    "facts_of",
    "is_dicom",
    "open_dicom",
    "read_dicom",
    "reference_of",
]

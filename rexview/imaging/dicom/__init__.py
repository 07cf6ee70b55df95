"""DICOM files: with or without preamble and file meta, in every transfer syntax pydicom decodes.

:mod:`.files` opens a file and names an image for other objects, :mod:`.reading` reads its header,
its pixels and their spacing.
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

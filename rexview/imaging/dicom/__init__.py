"""DICOM files: with or without preamble and file meta, in every transfer syntax pydicom decodes.

:mod:`.files` opens, :mod:`.header` looks up, :mod:`.pixels` decodes, :mod:`.grey` and
:mod:`.spacing` interpret, :mod:`.reading` puts it together,
:mod:`.reference` names an image for other objects.
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

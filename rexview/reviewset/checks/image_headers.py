"""What the beginning of an image file says: its size, and for DICOM the orientation and the view.

Pixels are not decoded. Only the tables' gaps are filled from here; showing an image is the work of
:mod:`rexview.imaging`.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

DICOM_ENDINGS: Final = ("", ".dcm", ".dicom", ".ima")
"""Ends of names (lower case) that suggest DICOM; no ending at all does, too."""


@dataclass(frozen=True)
class ImageHeader:
    """Size of the stored image in pixels; DICOM (0020,0020) and (0018,5101) where given."""

    width: int | None = None
    height: int | None = None
    patient_orientation: tuple[str, ...] | None = None
    view: str | None = None


def read_header(path: Path | str) -> ImageHeader | None:
    """Read the header of an image file; None when it cannot be read as one.

    Asking again is free as long as the file does not change.
    """
    try:
        stat = Path(path).stat()
        return _read(os.fspath(path), stat.st_mtime_ns, stat.st_size)
    except OSError:
        return None


@lru_cache(maxsize=20_000)
def _read(path: str, modified: int, size: int) -> ImageHeader | None:
    with Path(path).open("rb") as file:
        start = file.read(132)
    named_dicom = Path(path).suffix.lower() in DICOM_ENDINGS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if start[128:] == b"DICM":
            return _dicom(path)
        return _raster(path) or (_dicom(path) if named_dicom else None)


def _raster(path: str) -> ImageHeader | None:
    from PIL import Image

    try:
        with Image.open(path) as image:
            return ImageHeader(*image.size)
    except Exception:  # Pillow's plugins raise all sorts of errors on broken files
        return None


def _dicom(path: str) -> ImageHeader | None:
    import pydicom

    tags = ["Rows", "Columns", "PatientOrientation", "ViewPosition"]
    try:
        dataset = pydicom.dcmread(path, stop_before_pixels=True, force=True, specific_tags=tags)
        rows, columns = int(dataset.Rows), int(dataset.Columns)
        words = dataset.get("PatientOrientation") or ()
        words = words.split("\\") if isinstance(words, str) else words
        orientation = tuple(str(word).strip() for word in words)
        view = str(dataset.get("ViewPosition") or "").strip()
    except Exception:  # pydicom raises all sorts of errors on broken files
        return None
    return ImageHeader(
        columns, rows, orientation if all(orientation) and orientation else None, view or None
    )

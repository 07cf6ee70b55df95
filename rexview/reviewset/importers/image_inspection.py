"""Whether an image file is there and whole, and which study a DICOM file belongs to.

DICOM headers hold who the patient is. :class:`StudyHeader` is all that leaves this module of them;
its ``study`` and ``patient`` serve to group files and are never shown or written.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rexview.errors import ImageBroken
from rexview.imaging import ImageFacts, read_facts

RASTER_SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".webp")
DICOM_SUFFIXES: Final = (".dcm", ".dicom", ".ima")
_TAGS: Final = [
    *("StudyInstanceUID", "PatientID", "PatientName", "PatientAge", "PatientSex", "Modality"),
    *("Rows", "Columns", "BitsAllocated", "SamplesPerPixel", "NumberOfFrames"),
    *("AcquisitionTime", "ContentTime", "InstanceNumber"),
]
_NATIVE_SYNTAXES: Final = ("1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2")


@dataclass(frozen=True)
class StudyHeader:
    """What groups DICOM files into studies; what identifies a person is not in its ``repr``.

    ``order`` sorts the images of a study: by time, then by number. ``named`` says that the header
    carries a name or an id of the patient.
    """

    study: str = field(repr=False)
    patient: str = field(repr=False)
    age: str | None = field(repr=False)
    order: tuple[str, int] = field(repr=False)
    sex: str | None
    modality: str
    named: bool


def is_dicom(path: Path) -> bool:
    """Whether a file has the DICOM mark, or one of its usual endings."""
    if path.suffix.lower() in DICOM_SUFFIXES:
        return True
    try:
        with path.open("rb") as stream:
            return stream.read(132)[128:] == b"DICM"
    except OSError:
        return False


def inspect_image(path: Path) -> ImageFacts:
    """Read size, view and orientation of an image file, and check cheaply that it is whole.

    Raises
    ------
    ImageMissing, ImageBroken, ImageTooLarge
        With the reason; the message names neither the file nor a value of it.
    """
    facts = read_facts(path)
    _check_whole(path)
    return facts


def _check_whole(path: Path) -> None:
    """Find files that were cut off, without decoding the intact ones."""
    with path.open("rb") as stream:
        start = stream.read(16)
        size = path.stat().st_size
        if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
            whole = int.from_bytes(start[4:8], "little") + 8 <= size
        elif start.startswith(b"\xff\xd8"):
            stream.seek(max(0, size - 65536))  # padding and comments may follow the end mark
            whole = b"\xff\xd9" in stream.read() or _loads(path)
        elif start.startswith(b"\x89PNG"):
            whole = _loads(path, verify=True)
        else:
            return
    if not whole:
        raise ImageBroken("The file is damaged or cut off.")


def _loads(path: Path, *, verify: bool = False) -> bool:
    """Whether Pillow can decode the picture or, with ``verify``, finds its checksums in order."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as image:
                if verify:
                    image.verify()
                else:
                    image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


def read_study(path: Path) -> StudyHeader:
    """Read what groups a DICOM file with others.

    Raises
    ------
    ImageBroken
        When the header cannot be read, or the pixels of an uncompressed file are cut off. The
        message holds no value of the file.
    """
    from pydicom import dcmread

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = dcmread(path, stop_before_pixels=True, specific_tags=_TAGS, force=True)
            header = _study(data)
            needed = _native_bytes(data)
    except Exception:  # pydicom raises whatever the bytes provoke, and quotes them
        raise ImageBroken("The DICOM header is damaged and cannot be read.") from None
    if needed > path.stat().st_size:
        raise ImageBroken("The file ends before the picture does: it is cut off.")
    return header


def _study(data: Any) -> StudyHeader:
    number = 0
    with contextlib.suppress(TypeError, ValueError):
        number = int(data.get("InstanceNumber") or 0)
    return StudyHeader(
        study=str(data.get("StudyInstanceUID") or ""),
        patient=str(data.get("PatientID") or ""),
        age=str(data.get("PatientAge") or "") or None,
        order=(str(data.get("AcquisitionTime") or data.get("ContentTime") or ""), number),
        sex=str(data.get("PatientSex") or "") or None,
        modality=str(data.get("Modality") or "").upper(),
        named=bool(data.get("PatientName") or data.get("PatientID")),
    )


def _native_bytes(data: Any) -> int:
    """Bytes that the pixels need in the file; 0 where they are compressed or nothing tells."""
    syntax = str(getattr(data, "file_meta", {}).get("TransferSyntaxUID", ""))
    if syntax not in _NATIVE_SYNTAXES:
        return 0
    bits = int(data.get("BitsAllocated") or 0)
    samples, frames = int(data.get("SamplesPerPixel") or 1), int(data.get("NumberOfFrames") or 1)
    pixels = int(data.get("Rows") or 0) * int(data.get("Columns") or 0)
    # Colour may be stored with half the chroma samples (YBR_FULL_422): two bytes a pixel.
    return pixels * frames * min(samples, 2) * bits // 8

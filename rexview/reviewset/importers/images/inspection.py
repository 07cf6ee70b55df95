"""Whether an image file is there and whole, and which study a DICOM file belongs to.

DICOM headers hold who the patient is. :class:`StudyHeader` is all that leaves this module of them;
its ``study`` and ``patient`` serve to group files and are never shown or written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rexview.errors import ImageBroken, ImageError
from rexview.imaging import MAX_PIXELS, ImageFacts, read_facts, read_image
from rexview.imaging.dicom import is_dicom as has_dicom_mark
from rexview.imaging.dicom import open_dicom
from rexview.imaging.dicom.header import Header
from rexview.imaging.quiet import quietly
from rexview.reviewset.importers.images.names import DICOM_SUFFIXES
from rexview.schema import StudyImage
from rexview.vocab import normalise_view

_UNTOLD_LENGTH: Final = 0xFFFFFFFF
"""Length of compressed pixels, which end with a mark instead."""


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
    return path.suffix.lower() in DICOM_SUFFIXES or _marked(path)


def _marked(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return has_dicom_mark(stream.read(132))
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


def image_of(path: str, facts: ImageFacts, view: str | None = None) -> StudyImage:
    """Make the record of an image; its ``view`` is that of the file unless another is given."""
    raw = view or facts.view
    return StudyImage(
        id="",
        path=path,
        view=normalise_view(raw),
        view_raw=raw,
        width=facts.width,
        height=facts.height,
        patient_orientation=facts.patient_orientation,
    )


def _check_whole(path: Path) -> None:
    """Find files that were cut off, without decoding the intact ones."""
    with path.open("rb") as stream:
        start = stream.read(16)
        size = path.stat().st_size
        if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
            whole = int.from_bytes(start[4:8], "little") + 8 <= size
        elif start.startswith(b"\xff\xd8"):
            stream.seek(max(0, size - 65536))  # padding and comments may follow the end mark
            whole = b"\xff\xd9" in stream.read() or _decodes(path)
        elif start.startswith(b"\x89PNG"):
            whole = _checksums_hold(path)
        else:
            return
    if not whole:
        raise ImageBroken("The file is damaged or cut off.")


def _decodes(path: Path) -> bool:
    try:
        read_image(path)
    except ImageBroken:
        return False
    return True


def _checksums_hold(path: Path) -> bool:
    """Whether Pillow finds the checksums of a PNG in order."""
    from PIL import Image

    try:
        with quietly(), Image.open(path) as image:
            image.verify()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


def read_study(path: Path) -> StudyHeader:
    """Read what groups a DICOM file with others.

    Raises
    ------
    ImageBroken
        When the header cannot be read, or uncompressed pixels are cut off. The message holds no
        value of the file.
    """
    try:
        with quietly(), open_dicom(path, _marked(path), MAX_PIXELS) as opened:
            pixels = opened.pixels
            short = pixels is not None and opened.size - pixels.start < pixels.length
            if pixels is not None and short and pixels.length != _UNTOLD_LENGTH:
                raise ImageBroken("The file ends before the picture does: it is cut off.")
            return _study(opened.header)
    except ImageError:
        raise
    except Exception:  # whatever a damaged header provokes quotes its values
        raise ImageBroken("The DICOM header is damaged and cannot be read.") from None


def _study(header: Header) -> StudyHeader:
    patient = header.text("PatientID") or ""
    return StudyHeader(
        study=header.text("StudyInstanceUID") or "",
        patient=patient,
        age=header.text("PatientAge"),
        order=(
            header.text("AcquisitionTime") or header.text("ContentTime") or "",
            header.integer("InstanceNumber") or 0,
        ),
        sex=header.text("PatientSex"),
        modality=(header.text("Modality") or "").upper(),
        named=bool(patient or header.text("PatientName")),
    )

"""What an image file is, and which study a DICOM file belongs to.

DICOM headers hold who the patient is. :class:`StudyHeader` is all that leaves this module of them;
its ``study`` and ``patient`` serve to group files and are never shown or written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rexview.errors import FileRefused, ImageBroken, ImageError
from rexview.imaging import MAX_PIXELS, ImageFacts
from rexview.imaging.dicom import is_dicom as has_dicom_mark
from rexview.imaging.dicom import open_dicom
from rexview.imaging.dicom.header import Header
from rexview.imaging.quiet import quietly
from rexview.imaging.raster import is_raster
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.recognise import PICTURES, Probe
from rexview.reviewset.pictures import remarks

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


def is_picture(path: Path) -> bool:
    """Whether a file is a picture by its first bytes, whatever its name says."""
    return is_raster(_head(path)) or is_dicom(path) or _kind(path) in PICTURES


def is_dicom(path: Path) -> bool:
    """Whether a file is DICOM by its first bytes, with preamble or without."""
    head = _head(path)
    return has_dicom_mark(head) or (not is_raster(head) and _kind(path) == "dicom")


def _kind(path: Path) -> str:
    try:
        return Probe(path).kind
    except (OSError, FileRefused):
        return "unknown"


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(132)
    except OSError:
        return b""


def warn_of(path: str, facts: ImageFacts, log: ProblemLog) -> None:
    """Warn of what is unusual about a picture that can be shown."""
    for kind, message, remedy in remarks(path, facts):
        log.warning(path, message, remedy, kind=kind)


def read_study(path: Path) -> StudyHeader:
    """Read what groups a DICOM file with others.

    Raises
    ------
    ImageBroken
        When the header cannot be read, or uncompressed pixels are cut off. The message holds no
        value of the file.
    """
    try:
        with quietly(), open_dicom(path, has_dicom_mark(_head(path)), MAX_PIXELS) as opened:
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

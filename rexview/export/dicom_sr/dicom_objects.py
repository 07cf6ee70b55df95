"""Shared parts of all DICOM objects of an export: UIDs, the patient, texts, saving."""

from __future__ import annotations

import hashlib
import io
import json
import re
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from highdicom.coding_schemes import CodingSchemeIdentificationItem
from highdicom.sr import CodedConcept
from pydicom import Dataset, dcmwrite
from pydicom.uid import UID

from rexview import __version__
from rexview.export.export_records import ExportCase, ExportContent
from rexview.package_data import read_package_table
from rexview.text.findings import Mention, find_mentions, finding_info

MANUFACTURER: Final = "rexview"
PRIVATE_SCHEME: Final = "99REXVIEW"
"""Coding scheme for the app's own words; 99 marks a private one (PS3.16 8.2)."""
_NAMESPACE: Final = uuid.UUID("5a0c2d0e-6f1f-4c0e-9d7a-3f4f0c1b7e52")
_NO_NAME: Final = "^"
"""An empty name: DCMTK rejects a presentation state whose name has no characters at all."""
_LONG_STRING: Final = 64
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")


def plain_text(text: str) -> str:
    """Return a text without control characters, with DICOM's line ends (PS3.5 6.1.2.3)."""
    readable = text.encode("utf-8", "replace").decode().replace("\t", "    ")
    return _LINE_BREAK.sub("\r\n", _CONTROLS.sub("", readable)).strip()


def long_string(text: str, longest: int = _LONG_STRING) -> str:
    """Return a text as one line that fits a Long String (PS3.5 6.2), cut if needed.

    Bytes are counted, as some readers do, although the standard counts characters.
    """
    line = " ".join(plain_text(text).replace("\\", "/").split())
    whole = line.encode()
    if len(whole) <= longest:
        return line
    return f"{whole[: longest - 3].decode(errors='ignore')}..."


@dataclass(frozen=True)
class CaseObjects:
    """Makes the UIDs and common elements of all objects of one case.

    UIDs stay the same in repeated exports while their content does. With pseudonyms ``root``
    differs in each export; otherwise UIDs computed from a known case would reveal it. ``prefix`` is
    the start of the case's file paths.
    """

    root: str
    case: ExportCase
    notice: str
    made: datetime
    prefix: Path

    def uid(self, *of: object) -> str:
        """Derive a UID from the parts that identify an object (PS3.5 B.2)."""
        name = json.dumps([self.root, self.case.id, self.case.question, *of], default=str)
        return f"2.25.{uuid.uuid5(_NAMESPACE, name).int}"

    @cached_property
    def patient_id(self) -> str:
        """The case as PatientID; one that is too long is cut and made unique by a digest."""
        if long_string(self.case.id) == self.case.id:
            return self.case.id
        digest = hashlib.sha256(self.case.id.encode("utf-8", "replace")).hexdigest()[:16]
        return f"{long_string(self.case.id, _LONG_STRING - 17)} {digest}"

    def header(self, study: str) -> Dataset:
        """Return patient and study of an object, empty except for their identity."""
        made = Dataset()
        made.SpecificCharacterSet = "ISO_IR 192"
        made.PatientID = self.patient_id
        made.PatientName = _NO_NAME
        for empty in (
            *("PatientBirthDate", "PatientSex", "AccessionNumber", "StudyID"),
            *("StudyDate", "StudyTime", "ReferringPhysicianName"),
        ):
            setattr(made, empty, None)
        if self.notice:
            made.PatientComments = plain_text(self.notice)[:10_240]
        made.StudyInstanceUID = study
        return made

    def numbered(self, kind: str, study: str, number: int) -> dict[str, Any]:
        """Return an object's arguments for series, equipment and time.

        The object's UID is provisional; :meth:`save` replaces it.
        """
        return {
            "series_instance_uid": self.uid("series", kind, study),
            "series_number": {"OT": 9001, "SR": 9002, "PR": 9003, "KO": 9004}[kind],
            "sop_instance_uid": self.uid("instance", kind, study, number),
            "instance_number": number,
            "manufacturer": MANUFACTURER,
            "manufacturer_model_name": MANUFACTURER,
            "software_versions": __version__,
            "device_serial_number": "none",
            "content_date": self.made.date(),
            "content_time": self.made.time(),
        }

    def save(self, made: Dataset, name: str) -> None:
        """Give an object the UID of its content and the time of the export, and write it.

        Every change of content changes the UID (PS3.5 B.1).
        """
        for moment in ("InstanceCreation", "PresentationCreation"):
            if f"{moment}Date" in made:
                setattr(made, f"{moment}Date", self.made.date())
                setattr(made, f"{moment}Time", self.made.time())
        made.TimezoneOffsetFromUTC = "+0000"
        for equipment in made.get("ContributingEquipmentSequence", ()):
            del equipment.ContributionDateTime
        if made.Modality in ("OT", "PR"):
            made.BodyPartExamined = "CHEST"
        for keyword in ("DateOfSecondaryCapture", "TimeOfSecondaryCapture"):
            if keyword in made:
                delattr(made, keyword)
        if self.notice:
            made.PatientComments = plain_text(self.notice)[:10_240]
        uid = UID(self.uid("instance", made.Modality, _digest(made)))
        made.SOPInstanceUID = made.file_meta.MediaStorageSOPInstanceUID = uid
        dcmwrite(Path(f"{self.prefix}{name}.dcm"), made, enforce_file_format=True)


def coding_scheme() -> list[CodingSchemeIdentificationItem]:
    """Describe the private coding scheme of an object (PS3.3 C.12.1, 0008,0110)."""
    return [
        CodingSchemeIdentificationItem(
            PRIVATE_SCHEME, name="rexview", version=__version__, responsible_organization="rexview"
        )
    ]


def export_root(content: ExportContent) -> str:
    """Return the root from which an export's UIDs are derived."""
    return uuid.uuid4().hex if content.pseudonyms else content.set_name


_OF_THE_MOMENT: Final = (
    *("SOPInstanceUID", "InstanceNumber", "InstanceCreationDate", "InstanceCreationTime"),
    *("ContentDate", "ContentTime", "PresentationCreationDate", "PresentationCreationTime"),
)


def _digest(made: Dataset) -> str:
    """Return a digest of an object's content, independent of the time of writing."""
    lasting = Dataset(dict(made.items()))
    for keyword in _OF_THE_MOMENT:
        if keyword in lasting:
            delattr(lasting, keyword)
    digest = hashlib.sha256()
    if "PixelData" in lasting:  # separately: a film is large
        digest.update(lasting.PixelData)
        del lasting.PixelData
    out = io.BytesIO()
    dcmwrite(out, lasting, implicit_vr=False, little_endian=True)
    digest.update(out.getvalue())
    return digest.hexdigest()


# Codes for findings and sites of boxes (``codes.yaml``), and private ones for our own words.

_LONGEST_LABEL: Final = 300


@dataclass(frozen=True)
class CodedLabel:
    """The finding and the site of a label as codes; None without one."""

    finding: CodedConcept | None = None
    site: CodedConcept | None = None
    side: CodedConcept | None = None


def private_code(value: str, meaning: str) -> CodedConcept:
    """Return a private code."""
    return CodedConcept(
        long_string(value) or "none", PRIVATE_SCHEME, long_string(meaning) or "none"
    )


def find_label_codes(label: str, side: str | None) -> CodedLabel:
    """Find codes for the label of a box.

    Parameters
    ----------
    label : str
        The model's label. Several findings, a negated one or none give no codes.
    side : str, optional
        The side of the patient that the box is on.
    """
    beside = _concept(_table()["sides"].get(side))
    mentions = find_mentions(label[:_LONGEST_LABEL].replace("_", " "))
    if len({one.finding for one in mentions}) != 1 or mentions[0].status != "positive":
        return CodedLabel(side=beside)
    mention = mentions[0]
    words = label[mention.start : mention.end].replace("_", " ").replace("-", " ").lower()
    found = next(
        (
            row
            for row in _table()["findings"]
            if row["finding"] == mention.finding and row["word"] in words
        ),
        None,
    )
    return CodedLabel(_concept(found), _concept(_site(mention)), beside)


def _site(mention: Mention) -> dict[str, Any] | None:
    table = _table()
    region = finding_info(mention.finding).region
    by_zone = table["zones"].get(mention.zone) if region == "lung" else None
    found: dict[str, Any] | None = (
        by_zone or table["sites"].get(mention.finding) or table["regions"].get(region)
    )
    return found


def _concept(row: dict[str, Any] | None) -> CodedConcept | None:
    return CodedConcept(row["code"], row["scheme"], row["meaning"]) if row else None


@cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = read_package_table(Path(__file__).with_name("codes.yaml"))
    return found

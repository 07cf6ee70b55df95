"""Make a review set from an archive's radiographs: one case per study, pictures by their addresses.

Only QIDO-RS queries are sent; no picture is fetched. Studies and patients are numbered, as in an
import of files. Names, dates and ids of patients are neither requested nor stored. An address
contains the UIDs of its instance, which are needed to find it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexview.addresses import DICOMWEB_SCHEMES, RemoteAddress, parse_address
from rexview.errors import AddressRefused, ImportSourceError, Problem
from rexview.remote.dicomweb import first_tag_value, is_uid, search_archive, text_tag_values
from rexview.reviewset.set_files import INFO_FILE
from rexview.reviewset.set_info import dump_yaml

RADIOGRAPHS: Final = ("CR", "DX", "RG")
"""DICOM modalities that are imported."""
QUESTION: Final = "Describe the findings."
_MOST_STUDIES: Final = 100_000
_STUDY, _SERIES, _INSTANCE = "0020000D", "0020000E", "00080018"
_PATIENT, _MODALITY, _VIEW = "00100020", "00080060", "00185101"
_ROWS, _COLUMNS, _ORIENTATION = "00280010", "00280011", "00200020"
_WANTED: Final = ("ViewPosition", "PatientOrientation", "Rows", "Columns")


@dataclass(frozen=True)
class ArchiveSummary:
    """Summary of an archive's list."""

    studies: int
    pictures: int
    without: int
    """Studies without a radiograph, which are left out."""


def archive_address(text: str) -> RemoteAddress:
    """Read the address of a DICOMweb service; ``https://`` addresses are accepted, too.

    Raises
    ------
    AddressRefused
    """
    address = parse_address(text)
    if address.scheme in ("https", "http"):
        return RemoteAddress(f"dicomweb+{address.scheme}", address.host, address.path)
    if address.scheme not in DICOMWEB_SCHEMES:
        raise AddressRefused("The address of a DICOMweb service begins with https://.")
    return address


def import_archive(
    base: RemoteAddress, out: Path, *, studies: Sequence[str] = (), question: str = QUESTION
) -> ArchiveSummary:
    """Make a review set from the radiographs of an archive, of some studies or of all.

    Raises
    ------
    ImportSourceError
        The folder exists already, or there is no radiograph. Nothing is written.
    StorageMissing, StorageAway, StorageRefused
        The archive does not respond as it should. Nothing is written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise _refusal(out.name, "There is something in this folder already.", "Name a new one.")
    wrong = [uid for uid in studies if not is_uid(uid)]
    if wrong:
        raise _refusal("--study", "This is no Study Instance UID.", "Give digits and dots.")
    patients: dict[str, str] = {}
    cases: list[dict[str, Any]] = []
    without = 0
    for study in _studies(base, studies):
        images = list(_images(base, first_tag_value(study, _STUDY)))
        if not images:
            without += 1
            continue
        number = f"s{len(cases) + 1}"
        case = {"id": number, "study_id": number, "question": question, "question_type": "open"}
        if patient := first_tag_value(study, _PATIENT):
            case["patient_id"] = patients.setdefault(patient, f"p{len(patients) + 1}")
        images[0]["key"] = True
        cases.append({**case, "images": images})
    if not cases:
        kinds = ", ".join(RADIOGRAPHS)
        remedy = f"It takes studies with modality {kinds}."
        raise _refusal(base.origin, "No radiograph was found in the archive.", remedy)
    _write(out, base, cases)
    return ArchiveSummary(len(cases), sum(len(case["images"]) for case in cases), without)


def _refusal(file: str, message: str, remedy: str) -> ImportSourceError:
    problem = Problem("error", file, None, None, message, remedy)
    return ImportSourceError("Nothing was imported.", [problem])


def _studies(base: RemoteAddress, wanted: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for uid in wanted:
        there = list(search_archive(base, "studies", StudyInstanceUID=uid))
        if not there:
            raise _refusal(base.origin, f"The archive has no study {uid}.", "Correct its UID.")
        yield there[0]
    if not wanted:
        for count, study in enumerate(search_archive(base, "studies")):
            if count >= _MOST_STUDIES:
                remedy = "Name some with --study."
                raise _refusal(base.origin, "The archive has too many studies.", remedy)
            if is_uid(first_tag_value(study, _STUDY)):
                yield study


def _images(base: RemoteAddress, study: str) -> Iterator[dict[str, Any]]:
    """Yield the radiographs of a study, as image rows of its case."""
    number = 0
    for series in search_archive(base, f"studies/{study}/series"):
        uid = first_tag_value(series, _SERIES)
        if first_tag_value(series, _MODALITY) not in RADIOGRAPHS or not is_uid(uid):
            continue
        place = f"studies/{study}/series/{uid}/instances"
        for instance in search_archive(base, place, _WANTED):
            name = first_tag_value(instance, _INSTANCE)
            if not is_uid(name):
                continue
            number += 1
            path = base.joined(f"{place}/{name}").text
            image: dict[str, Any] = {"id": f"i{number}", "path": path}
            if view := first_tag_value(instance, _VIEW):
                image["view"] = view
            rows, columns = first_tag_value(instance, _ROWS), first_tag_value(instance, _COLUMNS)
            if rows.isdigit() and columns.isdigit():
                image |= {"width": int(columns), "height": int(rows)}
            if (ends := text_tag_values(instance, _ORIENTATION)) and len(ends) == len("xy"):
                image["patient_orientation"] = ends
            yield image


def _write(out: Path, base: RemoteAddress, cases: Sequence[Mapping[str, Any]]) -> None:
    """Write the set to a temporary folder, then move it to its place."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as beside:
            work = Path(beside) / "set"
            work.mkdir()
            info = {"format": 1, "name": out.name, "description": f"Studies of {base.origin}"}
            (work / INFO_FILE).write_text(dump_yaml(info), encoding="utf-8")
            lines = "".join(f"{json.dumps(case, ensure_ascii=False)}\n" for case in cases)
            (work / "cases.jsonl").write_text(lines, encoding="utf-8")
            if out.exists():
                out.rmdir()
            work.rename(out)
    except OSError as error:
        why = f"The folder cannot be written: {error.strerror}."
        raise _refusal(out.name, why, "Look at the rights and the disk.") from None

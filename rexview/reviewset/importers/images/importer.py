"""Files of images: DICOM files by study, pictures by folder or one by one.

Nothing that identifies a person is carried over from DICOM headers: studies and patients are
numbered, of the rest only age (folded above 89), sex, view and orientation are kept. With the
format ``images``, tables of boxes and metadata beside the images are recognised by their columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rexview.reviewset.importers.annotations import box_table
from rexview.reviewset.importers.coco.importer import add_data_set_boxes
from rexview.reviewset.importers.core.recognise import PICTURES, Probe
from rexview.reviewset.importers.core.report_text import read_age, read_sex
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile
from rexview.reviewset.importers.images import metadata
from rexview.reviewset.importers.images.collection import (
    TABLE_SUFFIXES,
    FoundImage,
    base_folder,
    by_folder,
    by_study,
    find_images,
    mimic_study,
)
from rexview.reviewset.importers.images.metadata import mark_key_image
from rexview.reviewset.importers.images.placement import describe, rebase
from rexview.reviewset.tables.source import At

_LARGEST_TABLE_LOOKED_AT: Final = 50_000_000


def recognises(probe: Probe) -> str | None:
    """Say why a file is a picture."""
    return probe.type if probe.kind in PICTURES else None


def read_images(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read folders or files of images, and the tables beside them where folders are given."""
    sources = [file.path for file in files]
    base = base_folder(sources)
    rows.name = rows.name or base.name.replace("_", " ") or "Images"
    rows.description = rows.description or f"Imported from a folder of images ({base.name})."
    base = rebase(rows, base)
    add_images(sources, base, rows, options)
    if rows.cases:
        _add_tables(files, rows, options)


def add_images(
    sources: Sequence[Path], base: Path, rows: SetRows, options: Mapping[str, Any]
) -> None:
    """Add the images below ``base`` as cases: a study, a folder or a file each."""
    images = find_images(sources, base, rows.log)
    for one in [one for one in images if one.path in rows.files]:
        if rows.files[one.path].resolve() != (base / one.path).resolve():
            rows.receipt.file_unread(one.path, "picture", "There is another picture of that name.")
            images.remove(one)
    rows.files |= {one.path: base / one.path for one in images}
    of_mimic = {one: place for one in images if (place := mimic_study(f"{base}/{one.path}"))}
    _add_mimic(of_mimic, rows)
    others = [one for one in images if one not in of_mimic]
    _add_dicom(by_study(others), rows)
    _add_pictures(
        [one for one in others if one.study is None], options.get("group") or "auto", rows
    )


def _row(image: FoundImage) -> dict[str, Any]:
    row: dict[str, Any] = {"path": image.path, "view": image.view}
    describe(row, image.facts)
    return row


def _add_mimic(images: Mapping[FoundImage, tuple[str, str]], rows: SetRows) -> None:
    """Add the studies of MIMIC-CXR's folders, which have pseudonyms for names."""
    studies: dict[tuple[str, str], list[FoundImage]] = {}
    for image, place in images.items():
        studies.setdefault(place, []).append(image)
    for (patient, study), inside in studies.items():
        # its tables call the study s50414267 by the number alone
        case: dict[str, Any] = {"id": study, "study_id": study[1:], "patient_id": patient[1:]}
        case["images"] = [_row(image) for image in inside]
        mark_key_image(case)
        rows.add_case(case, At(inside[0].path))


def _add_dicom(studies: Sequence[Sequence[FoundImage]], rows: SetRows) -> None:
    named = 0
    for number, study in enumerate(studies, start=1):
        first = study[0].study
        assert first is not None
        named += sum(image.study is not None and image.study.named for image in study)
        case_id = f"study-{number:03}"
        images = [{**_row(image), "id": str(place)} for place, image in enumerate(study, start=1)]
        case: dict[str, Any] = {
            "id": case_id,
            "study_id": case_id,
            "context": {"age": read_age(first.age), "sex": read_sex(first.sex)},
            "images": images,
        }
        if first.patient:
            new = f"patient-{len(rows.patients) + 1:03}"
            case["patient_id"] = rows.patients.setdefault(first.patient, new)
        mark_key_image(case)
        rows.add_case(case, At(study[0].path))
        for image, row in zip(study, images, strict=True):
            suffix = PurePosixPath(image.path).suffix or ".dcm"
            rows.copy_names[image.path] = f"{case_id}/{row['id']}{suffix}"
    if studies:
        rows.log.note(f"{len(studies):,} DICOM studies were numbered; their own ids were left out.")
    if named:
        rows.log.warning(
            "DICOM headers",
            f"{named:,} files carry a patient's name or id in their header, and the review set "
            "refers to them by their own file names.",
            "Nothing of that is shown. De-identify the files before you pass them on.",
            field="PatientName",
        )


def _add_pictures(pictures: Sequence[FoundImage], how: str, rows: SetRows) -> None:
    cases = by_folder(pictures, how)
    if pictures:
        rows.groupings = {way: len(by_folder(pictures, way)) for way in ("auto", "folder", "file")}
    for case_id, inside in cases.items():
        case: dict[str, Any] = {"id": case_id, "images": [_row(image) for image in inside]}
        mark_key_image(case)
        rows.add_case(case, At(inside[0].path))
    if how == "auto":
        _note_grouping(pictures, rows)


def _note_grouping(pictures: Sequence[FoundImage], rows: SetRows) -> None:
    """Say what was taken for a study, and how many cases the other ways would give."""
    cases = by_folder(pictures, "auto")
    counts = {how: len(by_folder(pictures, how)) for how in ("file", "folder")}
    together = sum(len(inside) > 1 for inside in cases.values())
    if together:
        rows.log.note(
            f"{together:,} folders with a few pictures each were taken for one study each: "
            f"{len(cases):,} cases of pictures. With every picture a study they would be "
            f"{counts['file']:,} (group: file), with every folder one {counts['folder']:,} "
            "(group: folder)."
        )
    elif counts["folder"] < counts["file"]:
        rows.log.note(
            f"Every picture was taken for a study: {len(cases):,} cases. With every folder a study "
            f"they would be {counts['folder']:,} (group: folder)."
        )


def _add_tables(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    given: list[Path] = [path for path in (options.get("boxes"), options.get("metadata")) if path]
    for path in given:
        if not _add_table(SourceFile(path, path.name), rows, options):
            rows.log.error(
                path.name,
                "The file is neither a table of boxes or metadata nor COCO JSON.",
                "It needs a column with the image's file name, and x, y, width, height or view, "
                "age, sex, labels.",
            )
    if not options.get("tables"):
        return
    for folder in [file.path for file in files if file.path.is_dir()]:
        for path in sorted(folder.iterdir()):
            small = path.is_file() and path.stat().st_size <= _LARGEST_TABLE_LOOKED_AT
            if path not in given and small and path.suffix.lower() in TABLE_SUFFIXES:
                _add_table(SourceFile(path, path.name), rows, options)


def _add_table(file: SourceFile, rows: SetRows, options: Mapping[str, Any]) -> bool:
    """Add what a table holds; False when it is none that is known."""
    probe = Probe(file.path, file.label)
    if add_data_set_boxes(file, probe, rows, options):
        return True
    if box_table.recognises(probe):
        box_table.read_box_tables([file], rows, options)
        return True
    if metadata.recognises(probe):
        metadata.read_metadata([file], rows, options)
        return True
    return False

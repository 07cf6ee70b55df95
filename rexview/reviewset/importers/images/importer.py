"""A folder of images: DICOM files by study, pictures by folder or one by one.

Nothing that identifies a person is carried over from DICOM headers: studies and patients are
numbered, of the rest only age (folded above 89), sex, view and orientation are kept. Tables of
boxes and metadata beside the images are recognised by their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from unicodedata import normalize

from rexview.reviewset.importers.coco.box_placement import FoundBox, Key, Target, add_boxes
from rexview.reviewset.importers.coco.file import looks_like_coco, read_coco_file
from rexview.reviewset.importers.core.draft import OPEN_QUESTION, Draft
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.report_text import read_age, read_sex
from rexview.reviewset.importers.images.collection import (
    TABLE_SUFFIXES,
    FoundImage,
    base_folder,
    by_folder,
    by_study,
    find_images,
)
from rexview.reviewset.importers.images.inspection import image_of
from rexview.reviewset.importers.images.names import name_images, safe_path
from rexview.reviewset.importers.images.tables import ImageMetadata, read_image_table
from rexview.schema import Case, Context, StudyImage
from rexview.vocab import FRONTAL_VIEWS, normalise_view

_LARGEST_TABLE_LOOKED_AT = 50_000_000


def read_images(sources: Sequence[Path], options: Mapping[str, Any], log: ProblemLog) -> Draft:
    """Read folders of images, with the tables beside them, into one draft."""
    base = base_folder(sources)
    draft = Draft(name=options["name"] or base.name.replace("_", " ") or "Images")
    draft.description = f"Imported from a folder of images ({base.name})."
    draft.images_base = base
    images = find_images(sources, base, log)
    question = options["question"] or OPEN_QUESTION
    _add_dicom(draft, by_study(images), question, log)
    _add_pictures(draft, images, options["group"], question, log)
    if draft.cases:
        _add_tables(draft, base, options, log)
    return draft


def _add_dicom(
    draft: Draft, studies: Sequence[Sequence[FoundImage]], question: str, log: ProblemLog
) -> None:
    patients: dict[str, str] = {}
    named = 0
    for number, study in enumerate(studies, start=1):
        first = study[0].study
        assert first is not None
        named += sum(image.study is not None and image.study.named for image in study)
        case_id = f"study-{number:03}"
        patient = None
        if first.patient:
            patient = patients.setdefault(first.patient, f"patient-{len(patients) + 1:03}")
        images = [
            replace(image_of(image.path, image.facts, image.view), id=str(place))
            for place, image in enumerate(study, start=1)
        ]
        draft.cases[case_id] = Case(
            id=case_id,
            question=question,
            study_id=case_id,
            patient_id=patient,
            context=Context(age=read_age(first.age), sex=read_sex(first.sex)),
            images=_with_key(images),
        )
        for image in images:
            suffix = PurePosixPath(image.path).suffix or ".dcm"
            draft.copy_names[image.path] = f"{case_id}/{image.id}{suffix}"
    if studies:
        log.note(f"{len(studies):,} DICOM studies were numbered; their own ids were left out.")
    if named:
        log.warning(
            "DICOM headers",
            f"{named:,} files carry a patient's name or id in their header, and the review set "
            "refers to them by their own file names.",
            "Nothing of that is shown. De-identify the files before you pass them on.",
            field="PatientName",
        )


def _add_pictures(
    draft: Draft, images: Sequence[FoundImage], how: str, question: str, log: ProblemLog
) -> None:
    pictures = [image for image in images if image.study is None]
    cases = by_folder(pictures, how)
    for case_id, inside in cases.items():
        named = name_images([image_of(one.path, one.facts, one.view) for one in inside])
        images_of_case = _with_key(list(named))
        draft.cases[case_id] = Case(id=case_id, question=question, images=images_of_case)
    if how == "auto":
        _note_grouping(pictures, log)


def _note_grouping(pictures: Sequence[FoundImage], log: ProblemLog) -> None:
    """Say what was taken for a study, and how many cases the other ways would give."""
    cases = by_folder(pictures, "auto")
    counts = {how: len(by_folder(pictures, how)) for how in ("file", "folder")}
    together = sum(len(inside) > 1 for inside in cases.values())
    if together:
        log.note(
            f"{together:,} folders with a few pictures each were taken for one study each: "
            f"{len(cases):,} cases of pictures. With every picture a study they would be "
            f"{counts['file']:,} (group: file), with every folder one {counts['folder']:,} "
            "(group: folder)."
        )
    elif counts["folder"] < counts["file"]:
        log.note(
            f"Every picture was taken for a study: {len(cases):,} cases. With every folder a study "
            f"they would be {counts['folder']:,} (group: folder)."
        )


def _with_key(images: list[StudyImage]) -> tuple[StudyImage, ...]:
    """Mark the first frontal image as the primary one."""
    first = next((image for image in images if image.view in FRONTAL_VIEWS), None)
    return tuple(replace(image, key=image is first) for image in images)


def _folded(name: str) -> str:
    """A name without regard to case and to how its accented letters are stored."""
    return normalize("NFC", name).lower()


class _Names:
    """Finds images by the names that tables use: a path, a file name, a name without ending."""

    def __init__(self, draft: Draft) -> None:
        self._found: dict[str, list[tuple[str, str]]] = {}
        for case in draft.cases.values():
            for image in case.images:
                path = PurePosixPath(image.path)
                for name in {str(path), path.name, path.stem}:
                    self._found.setdefault(_folded(name), []).append((case.id, image.id))

    def find(self, written: str) -> tuple[str, str] | None:
        """Return case and image, or None when no image or several have that name."""
        path = safe_path(written)
        if path is None:
            return None
        for name in (path, PurePosixPath(path).name):
            targets = self._found.get(_folded(name), [])
            if targets:
                return targets[0] if len(targets) == 1 else None
        return None


def _add_tables(draft: Draft, base: Path, options: Mapping[str, Any], log: ProblemLog) -> None:
    names = _Names(draft)
    given: list[Path] = [path for path in (options["boxes"], options["metadata"]) if path]
    for path in given:
        if not _add_table(draft, path, names, log):
            log.error(
                path.name,
                "The file is neither a table of boxes or metadata nor COCO JSON.",
                "It needs a column with the image's file name, and x, y, width, height or view, "
                "age, sex, labels.",
            )
    if not options["tables"]:
        return
    for path in sorted(base.iterdir()):
        small = path.is_file() and path.stat().st_size <= _LARGEST_TABLE_LOOKED_AT
        if path not in given and small and path.suffix.lower() in TABLE_SUFFIXES:
            _add_table(draft, path, names, log)


def _add_table(draft: Draft, path: Path, names: _Names, log: ProblemLog) -> bool:
    """Add what a table holds; False when it is none that is known."""
    if path.suffix.lower() == ".json":
        coco = read_coco_file(path, log) if looks_like_coco(path) else None
        if coco is None:
            return False
        names_of = {key: image.name for key, image in coco.images.items()}
        sizes = {key: image.size for key, image in coco.images.items()}
        _add_found(
            draft, path, coco.boxes, sizes, lambda key: names.find(names_of.get(key, "")), log
        )
        return True
    table = read_image_table(path, log)
    if table is None:
        return False
    boxes_found, metadata = table
    if boxes_found:
        _add_found(draft, path, boxes_found, {}, lambda name: names.find(str(name)), log)
    if metadata:
        _describe(draft, path, metadata, names, log)
    return True


def _add_found(
    draft: Draft,
    path: Path,
    boxes: Sequence[FoundBox],
    sizes: Mapping[Key, tuple[int, int] | None],
    find: Callable[[Key], Target | None],
    log: ProblemLog,
) -> None:
    added, absent = add_boxes(draft, boxes, find, sizes, path.name, log)
    log.note(f"{path.name}: recognised as boxes by its columns; {added:,} reference boxes.")
    _warn_absent(path, absent, "boxes", log)


def _warn_absent(path: Path, number: int, what: str, log: ProblemLog) -> None:
    if number:
        log.warning(
            path.name,
            f"{number:,} {what} are for images that are not in the folder, or whose name occurs "
            "there more than once; they were left out.",
            "Nothing, if the folder is meant to hold only some of the images.",
            field="image",
        )


def _describe(
    draft: Draft, path: Path, metadata: Sequence[ImageMetadata], names: _Names, log: ProblemLog
) -> None:
    patients: dict[str, str] = {
        case.patient_id: case.patient_id for case in draft.cases.values() if case.patient_id
    }
    absent = used = 0
    for row in metadata:
        target = names.find(row.image)
        if target is None:
            absent += 1
            continue
        used += 1
        case = draft.cases[target[0]]
        images = [
            replace(image, view=normalise_view(row.view), view_raw=row.view)
            if image.id == target[1] and row.view and image.view == "UNKNOWN"
            else image
            for image in case.images
        ]
        patient = case.patient_id
        if row.patient and patient is None:
            patient = patients.setdefault(row.patient, f"patient-{len(patients) + 1:03}")
        labels = {"labels": list(row.labels)} if row.labels else {}
        draft.cases[target[0]] = replace(
            case,
            images=_with_key(images),
            patient_id=patient,
            normal=row.normal if case.normal is None else case.normal,
            context=replace(
                case.context, age=case.context.age or row.age, sex=case.context.sex or row.sex
            ),
            extra={**labels, **row.extra, **case.extra},
        )
    log.note(f"{path.name}: recognised as metadata by its columns; {used:,} images described.")
    _warn_absent(path, absent, "rows", log)

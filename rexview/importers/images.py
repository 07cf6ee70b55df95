"""Read folders of images: DICOM files by study, pictures by folder or one by one."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rexview.errors import ImageError
from rexview.imaging import ImageFacts
from rexview.imaging.decode_all import DecodeResult
from rexview.importers import box_table
from rexview.importers.box_table import box_columns
from rexview.importers.coco import add_data_set_boxes
from rexview.importers.image_placement import (
    StudyHeader,
    extend_images_folder,
    is_picture_file,
    read_study,
    warn_of_picture,
    write_image_facts,
)
from rexview.importers.receipt import ProblemLog
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import PICTURE_TYPES, Probe, SourceFile
from rexview.importers.table.cells import FIELD_COLUMN_NAMES, IMAGE_TABLES, ColumnName, read_list
from rexview.importers.table.roles import (
    CellsByColumn,
    column_values,
    columns_by_meaning,
    fold_picture_names,
    has_field,
    is_path,
    picture_column,
    record_table,
    sample_rows,
    share_passing,
)
from rexview.importers.table.sheet import SheetRow, read_table_sheet
from rexview.reviewset.image_paths import has_unicode_twin
from rexview.reviewset.picture_decoding import FORMATS_BY_SUFFIX, decode_pictures
from rexview.reviewset.report_text import read_age, read_sex
from rexview.reviewset.tables.source import RowOrigin
from rexview.vocab import FRONTAL_VIEWS, normalise_view

# Nothing that identifies a person is copied from DICOM headers. Studies and patients are numbered;
# otherwise only age (folded above 89), sex, view and orientation are kept. The format ``images``
# also recognises tables of boxes and metadata in the same folders by their columns.

TABLE_SUFFIXES: Final = (".csv", ".tsv", ".xlsx", ".json")
NOT_RADIOGRAPHS: Final = frozenset(("CT", "MR", "PT", "NM", "US", "SM", "OCT", "OP", "ES", "ECG"))
"""DICOM modalities (0008,0060) that an import of radiographs leaves out."""
MAX_STUDY_PICTURES: Final = 8
"""A folder with more pictures than this is not taken for one study."""
_MIMIC_STUDY: Final = re.compile(r"(?:^|/)(p\d{8})/(s\d{8})/[^/]+$")
_SKIPPED_FOLDERS: Final = frozenset(("__MACOSX", "__pycache__", "node_modules"))
_KINDS_SHOWN: Final = 12


@dataclass(frozen=True)
class SourceImage:
    """An image file: its path from the base folder, its facts, and its DICOM study if any."""

    path: str
    facts: ImageFacts
    study: StudyHeader | None = None

    @property
    def view(self) -> str | None:
        """The view given in the file, or else in its name (``view1_frontal.jpg``).

        In a name only whole words count, and PA, AP and LAT only as the last word.
        """
        words = ColumnName.of(PurePosixPath(self.path).stem).words
        clear = {word for word in words if word in ("frontal", "lateral")}
        clear |= {word for word in words[-1:] if word in ("pa", "ap", "lat")}
        return self.facts.view or (clear.pop().upper() if len(clear) == 1 else None)


def base_folder(sources: Sequence[Path]) -> Path:
    """Return the folder that contains all sources: a single folder itself, else the common one."""
    folders = [source if source.is_dir() else source.parent for source in sources]
    return Path(os.path.commonpath([folder.resolve() for folder in folders]))


def files_below(sources: Sequence[Path]) -> Iterator[Path]:
    """Yield files in and below the sources in a fixed order, without hidden ones and sets."""
    for source in sources:
        if source.is_file():
            yield source
            continue
        for folder, folders, names in os.walk(source):
            if "reviewset.yaml" in names:
                folders.clear()
                continue
            folders[:] = sorted(
                name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS
            )
            for name in sorted(names):
                path = Path(folder, name)
                named = not name.startswith(".") and name.lower() not in ("thumbs.db", "dicomdir")
                if named and path.is_file():  # reading a pipe would block
                    yield path


def find_images(sources: Sequence[Path], base: Path, log: ProblemLog) -> list[SourceImage]:
    """Find and inspect every image file; warn of broken ones and of other modalities."""
    files: dict[Path, str] = {}
    others: list[str] = []
    for path in dict.fromkeys(file.absolute() for file in files_below(sources)):
        named = path.suffix.lower() in FORMATS_BY_SUFFIX
        if not named and not is_picture_file(path):
            others.append(path.suffix.lower() or path.name)
            continue
        folder, here = path.resolve().parent, base.resolve()
        if not (folder.is_relative_to(here) and path.resolve().is_relative_to(here)):
            message = "The file is a link to a place outside of the folder; it was left out."
            remedy = "Put the file itself into the folder."
            log.warning(path.name, message, remedy, kind="link")
            continue
        files[path] = folder.relative_to(here).joinpath(path.name).as_posix()
    for path, shown in files.items():
        if has_unicode_twin(path):
            message = "Another file's name differs only in how an accented letter is stored."
            log.warning(shown, message, "Rename one of them; both are used.", kind="twin")
    looked = decode_pictures(list(files))
    found = [_inspect_image(path, shown, looked[path], log) for path, shown in files.items()]
    _note_others(others, log)
    return [image for image in found if image is not None]


def _inspect_image(
    path: Path, shown: str, decoded: DecodeResult, log: ProblemLog
) -> SourceImage | None:
    try:
        if isinstance(decoded, ImageError):
            raise decoded
        study = read_study(path) if decoded.format == "DICOM" else None
    except ImageError as error:
        message = f"{error} It was left out."
        remedy = "Replace it by an intact file if it should be a radiograph."
        log.warning(shown, message, remedy, kind="broken")
        return None
    if study is not None and study.modality in NOT_RADIOGRAPHS:
        message = f"The file is not a radiograph ({study.modality}); it was left out."
        log.warning(shown, message, "Nothing, if that is right.", kind="not a radiograph")
        return None
    warn_of_picture(shown, decoded, log)
    return SourceImage(shown, decoded, study)


def _note_others(others: Sequence[str], log: ProblemLog) -> None:
    """Log the files that are no pictures: their number per ending, or their names without one."""
    if others:
        kinds = Counter(others)
        shown = [f"{kind} ({count:,})" if count > 1 else kind for kind, count in kinds.items()]
        more = ", …" if len(shown) > _KINDS_SHOWN else ""
        listed = ", ".join(shown[:_KINDS_SHOWN]) + more
        log.note(f"Files in the folder that are no pictures: {len(others):,}: {listed}.")


def mimic_path_study(path: str) -> tuple[str, str] | None:
    """Return patient and study of a path in MIMIC-CXR's layout: ``p10000032/s50414267``.

    Both are pseudonyms that the data set itself publishes.
    """
    found = _MIMIC_STUDY.search(path)
    return (found[1], found[2]) if found else None


def group_by_study(images: Iterable[SourceImage]) -> list[list[SourceImage]]:
    """Group DICOM files by StudyInstanceUID, in the order of first occurrence.

    A file without one is a study of its own. Within a study: by time, number, path.
    """
    studies: dict[str, list[SourceImage]] = {}
    for image in images:
        if image.study is not None:
            studies.setdefault(image.study.study or image.path, []).append(image)
    return [
        sorted(study, key=lambda one: (one.study.order if one.study else ("", 0), one.path))
        for study in studies.values()
    ]


def group_by_folder(images: Iterable[SourceImage], how: str) -> dict[str, list[SourceImage]]:
    """Group pictures into cases: each case's id, and its images.

    ``file`` makes each picture a case, ``folder`` each folder. ``auto`` makes a sub-folder a case
    if it has at most :data:`MAX_STUDY_PICTURES` pictures.
    """
    folders: dict[str, list[SourceImage]] = {}
    for image in images:
        folders.setdefault(str(PurePosixPath(image.path).parent), []).append(image)
    cases: dict[str, list[SourceImage]] = {}
    for folder, inside in folders.items():
        few = folder != "." and len(inside) <= MAX_STUDY_PICTURES
        if how == "folder" or (how == "auto" and few):
            cases["images" if folder == "." else folder] = inside
            continue
        for image in inside:
            name = str(PurePosixPath(image.path).with_suffix(""))
            cases.setdefault(image.path if name in cases else name, []).append(image)
    return cases


_LARGEST_TABLE_LOOKED_AT: Final = 50_000_000


def recognises(probe: Probe) -> str | None:
    """Return why a file is a picture, or None."""
    return probe.type if probe.kind in PICTURE_TYPES else None


def read_images(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read folders or files of images, and the tables in given folders."""
    sources = [file.path for file in files]
    base = base_folder(sources)
    rows.name = rows.name or base.name.replace("_", " ") or "Images"
    rows.description = rows.description or f"Imported from a folder of images ({base.name})."
    base = extend_images_folder(rows, base)
    add_images(sources, base, rows, options)
    if rows.cases:
        _add_tables(files, rows, options)


def add_images(
    sources: Sequence[Path], base: Path, rows: SetRows, options: Mapping[str, Any]
) -> None:
    """Add the images below ``base`` as cases: one per study, folder or file."""
    images = find_images(sources, base, rows.log)
    for one in [one for one in images if one.path in rows.files]:
        if rows.files[one.path].resolve() != (base / one.path).resolve():
            rows.receipt.file_unread(one.path, "picture", "There is another picture of that name.")
            images.remove(one)
    rows.files |= {one.path: base / one.path for one in images}
    of_mimic = {one: place for one in images if (place := mimic_path_study(f"{base}/{one.path}"))}
    studies: dict[tuple[str, str], list[SourceImage]] = {}
    for image, place in of_mimic.items():
        studies.setdefault(place, []).append(image)
    for (patient, study), inside in studies.items():
        # its tables give study s50414267 by the number alone
        ids = {"study_id": study[1:], "patient_id": patient[1:]}
        _add_case(study, [_image_row(image) for image in inside], inside, rows, **ids)
    others = [one for one in images if one not in of_mimic]
    _add_dicom(group_by_study(others), rows)
    _add_pictures(
        [one for one in others if one.study is None], options.get("group") or "auto", rows
    )


def _image_row(image: SourceImage) -> dict[str, Any]:
    row: dict[str, Any] = {"path": image.path, "view": image.view}
    write_image_facts(row, image.facts)
    return row


def _add_case(
    case_id: str,
    images: list[dict[str, Any]],
    files: Sequence[SourceImage],
    rows: SetRows,
    **about: Any,
) -> None:
    case = {"id": case_id, **about, "images": images}
    mark_key_image(case)
    rows.add_case(case, RowOrigin(files[0].path))


def _add_dicom(studies: Sequence[Sequence[SourceImage]], rows: SetRows) -> None:
    named = 0
    for number, study in enumerate(studies, start=1):
        first = study[0].study
        assert first is not None
        named += sum(image.study is not None and image.study.named for image in study)
        case_id = f"study-{number:03}"
        images = [
            {**_image_row(image), "id": str(place)} for place, image in enumerate(study, start=1)
        ]
        about: dict[str, Any] = {
            "context": {"age": read_age(first.age), "sex": read_sex(first.sex)}
        }
        if first.patient:
            new = f"patient-{len(rows.patients) + 1:03}"
            about["patient_id"] = rows.patients.setdefault(first.patient, new)
        _add_case(case_id, images, study, rows, study_id=case_id, **about)
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


def _add_pictures(pictures: Sequence[SourceImage], how: str, rows: SetRows) -> None:
    cases = group_by_folder(pictures, how)
    if pictures:
        rows.groupings = {
            way: len(group_by_folder(pictures, way)) for way in ("auto", "folder", "file")
        }
    for case_id, inside in cases.items():
        _add_case(case_id, [_image_row(image) for image in inside], inside, rows)
    if how == "auto":
        _note_grouping(pictures, rows)


def _note_grouping(pictures: Sequence[SourceImage], rows: SetRows) -> None:
    """Log what was taken for a study, and how many cases the other groupings would give."""
    cases, counts = group_by_folder(pictures, "auto"), rows.groupings
    together = sum(len(inside) > 1 for inside in cases.values())
    if together:
        rows.log.note(
            f"{together:,} folders with a few pictures each were taken for one study each: "
            f"{len(cases):,} cases of pictures. With every picture a study they would be "
            f"{counts['file']:,} (group: file), with every folder one {counts['folder']:,} "
            "(group: folder)."
        )
    elif cases and counts["folder"] < counts["file"]:
        rows.log.note(
            f"Every picture was taken for a study: {len(cases):,} cases. With every folder a study "
            f"they would be {counts['folder']:,} (group: folder)."
        )


def _add_tables(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    given: list[Path] = [path for path in (options.get("boxes"), options.get("metadata")) if path]
    for path in given:
        if not _add_table(SourceFile(path, path.name), rows, options):
            message = "The file is neither a table of boxes or metadata nor COCO JSON."
            remedy = "It needs a column with the image's file name, and x, y, width, height or "
            rows.log.error(path.name, message, f"{remedy}view, age, sex, labels.")
    if not options.get("tables"):
        return
    for folder in [file.path for file in files if file.path.is_dir()]:
        for path in sorted(folder.iterdir()):
            small = path.is_file() and path.stat().st_size <= _LARGEST_TABLE_LOOKED_AT
            if path not in given and small and path.suffix.lower() in TABLE_SUFFIXES:
                _add_table(SourceFile(path, path.name), rows, options)


def _add_table(file: SourceFile, rows: SetRows, options: Mapping[str, Any]) -> bool:
    """Add the content of a table; return False if its kind is unknown."""
    probe = Probe(file.path, file.label)
    if add_data_set_boxes(file, probe, rows, options):
        return True
    if box_table.recognises(probe):
        box_table.read_box_tables([file], rows, options)
        return True
    if recognises_metadata(probe):
        read_metadata([file], rows, options)
        return True
    return False


_METADATA: Final = ("view", "age", "sex", "labels")
_NOT_METADATA: Final = ("answer", "question", "report", "model", "findings", "impression")
_IDS: Final = ("case", "study_id")
_NORMAL_LABELS: Final = frozenset(("no finding", "normal", "no findings"))
_NO_IMAGE: Final = "Its image is not there, or several have that name."
_NO_CELLS: Final[CellsByColumn] = {}
_MAX_METADATA_ROWS: Final = 0.5


def metadata_columns(
    names: Sequence[str],
    cells: CellsByColumn = _NO_CELLS,
    pictures: Collection[str] = (),
) -> Mapping[str, str] | None:
    """Return a table's columns by their meaning if it describes images, else None.

    Known layouts: NIH ChestX-ray14 (``Data_Entry_2017.csv``), MIMIC-CXR (``metadata.csv``). A table
    that names a case or a study of several images in each row is a table of cases.
    """
    if has_field(names, _NOT_METADATA, cells):
        return None
    known = {meaning: IMAGE_TABLES[meaning] for meaning in ("image", "patient", *_METADATA)}
    columns = columns_by_meaning(names, known, cells)
    image = columns.get("image")
    if image is None or ColumnName.of(image).plain == "patient id":
        image = picture_column(names, cells, pictures)
        more = {"labels": [*IMAGE_TABLES["labels"], *IMAGE_TABLES["label"]]}
        columns |= columns_by_meaning([name for name in names if name != image], more, cells)
        columns = {meaning: name for meaning, name in columns.items() if name != image}
    if image is None or columns.keys().isdisjoint(_METADATA):
        return None
    columns["image"] = image
    if box_columns(names, cells):
        return None
    ids = columns_by_meaning(names, {one: FIELD_COLUMN_NAMES[one] for one in _IDS}, cells)
    named = cells.get(image, ())
    counts = [len({*cells.get(one, ())}) for one in ids.values() if one != image]
    several = share_passing(named, is_path) > _MAX_METADATA_ROWS and any(
        0 < n < len({*named}) for n in counts
    )
    return None if several else columns


def recognises_metadata(probe: Probe) -> str | None:
    """Return why a file describes images, or None."""
    sheet = sample_rows(probe)
    columns = (
        metadata_columns(sheet.columns, column_values(sheet), probe.pictures) if sheet else None
    )
    if columns is None:
        return None
    return f"a table about images ({', '.join(columns[o] for o in _METADATA if o in columns)})"


def read_metadata(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read tables about known images; rows about others are reported as not used."""
    pictures = fold_picture_names(image["path"] for _, image in rows.images())
    for file in files:
        sheet = read_table_sheet(file.path, rows.log, label=file.label)
        columns = metadata_columns(sheet.columns, column_values(sheet), pictures) if sheet else None
        if sheet is None or columns is None:
            continue
        others = record_table(sheet, columns.values(), rows, kept_as="case")
        found = [_describe(row, others, rows) for row in sheet.read(columns, rows.log)]
        described, absent = sum(found), len(found) - sum(found)
        rows.log.note(
            f"{file.label}: recognised as metadata by its columns; {described:,} images described."
        )
        if absent:
            message = f"{absent:,} rows are for images that are not in the folder, or whose name "
            message += "occurs there more than once; they were left out."
            remedy = "Nothing, if the folder is meant to hold only some of the images."
            rows.log.warning(file.label, message, remedy, field="image")


def _describe(row: SheetRow, others: Sequence[str], rows: SetRows) -> bool:
    """Write a row's fields into the case of its image; return False if there is no such image."""
    at = row.at
    name = row["image"]
    place = rows.find_case(image=name, case=name) if name is not None else None
    case = rows.case(place[0]) if place else None
    if place is None or case is None:
        rows.receipt.unused(at, _NO_IMAGE)
        return False
    for image in case.get("images") or []:
        unknown = normalise_view(image.get("view")) == "UNKNOWN"
        if image.get("id") == place[1] and row["view"] and unknown:
            image["view"] = row["view"]
    mark_key_image(case)
    labels = read_list(row["labels"])
    context = {"age": read_age(row["age"]), "sex": read_sex(row["sex"])}
    given = case.get("context") or {}
    case["context"] = {**{name: one for name, one in context.items() if one}, **given}
    if labels and case.get("normal") is None:
        case["normal"] = all(label.lower() in _NORMAL_LABELS for label in labels)
    if labels:
        case.setdefault("labels", labels)
    if row["patient"] and case.get("patient_id") is None:
        new = f"patient-{len(rows.patients) + 1:03}"  # the same in all tables
        case["patient_id"] = rows.patients.setdefault(row["patient"], new)
    for name in others:
        if row.cells[name] is not None:
            case.setdefault(name, row.value(name))
    rows.receipt.used(at)
    return True


def mark_key_image(case: dict[str, Any]) -> None:
    """Mark the first frontal image as the primary one, unless the marked one is frontal."""
    images = case.get("images") or []
    first = next((one for one in images if normalise_view(one.get("view")) in FRONTAL_VIEWS), None)
    for image in images:
        image.pop("key", None)
    if first is not None:
        first["key"] = True

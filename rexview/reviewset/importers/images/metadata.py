"""Tables that describe images, recognised by their columns: view, age, sex, labels, patient.

Known layouts: NIH ChestX-ray14 (``Data_Entry_2017.csv``), MIMIC-CXR (``metadata.csv``) and an image
with view, age, sex or labels. The names of columns stand in ``table/column_names.yaml``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_table import box_columns
from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile
from rexview.reviewset.importers.table.cell_values import read_list
from rexview.reviewset.importers.table.column_names import (
    FIELD_NAMES,
    IMAGE_TABLES,
    ColumnName,
)
from rexview.reviewset.importers.table.roles import (
    CellsByColumn,
    cells_of,
    columns_by_meaning,
    enter_table,
    holds_any,
    is_path,
    named_pictures,
    picture_names,
    sample_of,
    share,
)
from rexview.reviewset.importers.table.sheet import Row, read_sheet
from rexview.reviewset.report_text import read_age, read_sex
from rexview.reviewset.tables.source import At
from rexview.vocab import FRONTAL_VIEWS, normalise_view

_METADATA: Final = ("view", "age", "sex", "labels")
_NOT_METADATA: Final = ("answer", "question", "report", "model", "findings", "impression")
_IDS: Final = ("case", "study_id")
_NORMAL_LABELS: Final = frozenset(("no finding", "normal", "no findings"))
_NO_IMAGE: Final = "Its image is not there, or several have that name."
_NO_CELLS: Final[CellsByColumn] = {}
_MOST: Final = 0.5


def metadata_columns(
    names: Sequence[str],
    cells: CellsByColumn = _NO_CELLS,
    pictures: Collection[str] = (),
) -> Mapping[str, str] | None:
    """Tell whether a table with these columns describes images, and which holds what.

    One that names a case or a study of several images a row is a table of cases.
    """
    if holds_any(names, _NOT_METADATA, cells):
        return None
    known = {meaning: IMAGE_TABLES[meaning] for meaning in ("image", "patient", *_METADATA)}
    columns = columns_by_meaning(names, known, cells)
    image = columns.get("image")
    if image is None or ColumnName.of(image).plain == "patient id":
        image = named_pictures(names, cells, pictures)
        more = {"labels": [*IMAGE_TABLES["labels"], *IMAGE_TABLES["label"]]}
        columns |= columns_by_meaning([name for name in names if name != image], more, cells)
        columns = {meaning: name for meaning, name in columns.items() if name != image}
    if image is None or columns.keys().isdisjoint(_METADATA):
        return None
    columns["image"] = image
    if box_columns(names, cells) or _of_studies(names, cells, image):
        return None
    return columns


def _of_studies(names: Sequence[str], cells: CellsByColumn, image: str) -> bool:
    """Whether a column names the case or study of each image, and some have several images."""
    ids = columns_by_meaning(names, {one: FIELD_NAMES[one] for one in _IDS}, cells)
    files = len({*cells.get(image, ())})
    if share(cells.get(image, ()), is_path) <= _MOST:
        return False
    return any(0 < len({*cells.get(one, ())}) < files for one in ids.values() if one != image)


def recognises(probe: Probe) -> str | None:
    """Say why a file describes images."""
    sheet = sample_of(probe)
    columns = metadata_columns(sheet.columns, cells_of(sheet), probe.pictures) if sheet else None
    if columns is None:
        return None
    return (
        f"a table about images ({', '.join(columns[one] for one in _METADATA if one in columns)})"
    )


def read_metadata(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read tables about images that are there; rows about others are named as not used."""
    pictures = picture_names(image["path"] for _, image in rows.images())
    for file in files:
        sheet = read_sheet(file.path, rows.log, label=file.label)
        columns = metadata_columns(sheet.columns, cells_of(sheet), pictures) if sheet else None
        if sheet is None or columns is None:
            continue
        others = enter_table(sheet, columns.values(), rows, kept_as="case")
        described = absent = 0
        for row in sheet.read(columns, rows.log):
            if _describe(row, others, rows):
                described += 1
            else:
                absent += 1
        rows.log.note(
            f"{file.label}: recognised as metadata by its columns; {described:,} images described."
        )
        warn_of_absent(file.label, absent, "rows", rows)


def warn_of_absent(file: str, number: int, what: str, rows: SetRows) -> None:
    """Say how many rows are about images that are not there."""
    if number:
        message = (
            f"{number:,} {what} are for images that are not in the folder, or whose name occurs "
            "there more than once; they were left out."
        )
        remedy = "Nothing, if the folder is meant to hold only some of the images."
        rows.log.warning(file, message, remedy, field="image")


def _describe(row: Row, others: Sequence[str], rows: SetRows) -> bool:
    """Write what a row says into the case of its image; False when that is not there."""
    at = At(row.file, row.number)
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
        case["patient_id"] = _patient(row["patient"], rows)
    for name in others:
        if row.cells[name] is not None:
            case.setdefault(name, row.value(name))
    rows.receipt.used(at)
    return True


def _patient(given: str, rows: SetRows) -> str:
    """Number the patients of a table: the same patient gets the same number in all of them."""
    return rows.patients.setdefault(given, f"patient-{len(rows.patients) + 1:03}")


def mark_key_image(case: dict[str, Any]) -> None:
    """Mark the first frontal image as the primary one, unless one is marked that is frontal."""
    images = case.get("images") or []
    first = next((one for one in images if normalise_view(one.get("view")) in FRONTAL_VIEWS), None)
    for image in images:
        image.pop("key", None)
    if first is not None:
        first["key"] = True

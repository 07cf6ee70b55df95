"""Tables with one box a row, recognised by their columns.

Known layouts: NIH ChestX-ray14 (``BBox_List_2017.csv``), VinDr-CXR (``x_min`` ... ``y_max``), RSNA
(``patientId, x, y, width, height``), and plain ``image, label, x, y, width, height``; with a model
or a confidence they are a model's boxes. The names of columns stand in
``table/column_names.yaml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_placement import place_boxes
from rexview.reviewset.importers.annotations.box_reading import (
    SHAPES,
    BoxReading,
    Shape,
    four_numbers,
)
from rexview.reviewset.importers.annotations.box_values import BoxValue, parse_boxes, shape_in_name
from rexview.reviewset.importers.annotations.found_box import FoundBox
from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile
from rexview.reviewset.importers.table.cell_values import read_number
from rexview.reviewset.importers.table.column_names import (
    FIELD_NAMES,
    IMAGE_TABLES,
)
from rexview.reviewset.importers.table.known_columns import (
    columns_by_meaning,
    columns_of,
    enter_table,
    holds_any,
)
from rexview.reviewset.importers.table.sheet import Row, Sheet, read_sheet
from rexview.reviewset.tables.source import At

_LAYOUTS: Final[tuple[tuple[tuple[str, ...], tuple[Shape, ...]], ...]] = (
    (("x_center", "y_center", "width", "height"), ("cxcywh",)),
    (("x_min", "y_min", "x_max", "y_max"), ("xyxy",)),
    (("x", "y", "width", "height"), ("xywh", "cxcywh")),
    (("box",), SHAPES),
)
"""Columns of the four numbers, and the shapes that their names allow."""
_NOT_BOXES: Final = ("answer", "question", "report")
_REFERENCE: Final = frozenset(
    ("gt", "ground truth", "groundtruth", "reference", "truth", "radiologist", "expert", "human")
)
_LOOKED_AT: Final = 200


@dataclass(frozen=True)
class BoxColumns:
    """Which columns of a table hold what of a box; ``numbers`` are one column or four."""

    by_meaning: Mapping[str, str]
    numbers: tuple[str, ...]
    shapes: tuple[Shape, ...]

    @property
    def expected(self) -> BoxReading | None:
        """The reading that the names of the columns prescribe, if they do."""
        return BoxReading(self.shapes[0], "pixels") if self.shapes != SHAPES else None


def box_columns(names: Sequence[str], *, anywhere: bool = False) -> BoxColumns | None:
    """Tell whether a table with these columns has a box a row, and where.

    One of answers, questions or reports is none, unless boxes are looked for ``anywhere``.
    """
    if not anywhere and holds_any(names, _NOT_BOXES):
        return None
    columns = columns_by_meaning(names, IMAGE_TABLES)
    whole = next((name for name in names if shape_in_name(name)), None)
    if whole is not None and "x_min" not in columns:
        columns["box"] = whole
    if "image" not in columns:
        case = columns_by_meaning(names, {"image": FIELD_NAMES["case"]})
        if not case:
            return None
        columns |= case
    for parts, shapes in _LAYOUTS:
        if columns.keys() >= set(parts):
            numbers = tuple(columns[part] for part in parts)
            told = shape_in_name(numbers[0]) if len(numbers) == 1 else None
            return BoxColumns(columns, numbers, (told,) if told else shapes)
    return None


def recognises(probe: Probe) -> str | None:
    """Say why a file is a table of boxes."""
    columns = columns_of(probe)
    found = box_columns(columns) if columns else None
    return f"a table of boxes ({', '.join(found.numbers)})" if found else None


def read_box_tables(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read tables of boxes: the reference, or with a model or a confidence a model's."""
    for file in files:
        sheet = read_sheet(file.path, rows.log, label=file.label)
        columns = box_columns(sheet.columns) if sheet else None
        if sheet is not None and columns is not None:
            _read(file, sheet, columns, rows, options)


def _read(
    file: SourceFile,
    sheet: Sheet,
    columns: BoxColumns,
    rows: SetRows,
    options: Mapping[str, Any],
) -> None:
    used = (*columns.by_meaning.values(), *columns.numbers)
    others = enter_table(sheet, used, rows, kept_as="box")
    model = options.get("model")
    if model is None and "score" in columns.by_meaning and "model" not in columns.by_meaning:
        model = file.path.stem
    boxes: list[FoundBox] = []
    for row in sheet.read(columns.by_meaning, rows.log):
        boxes += _boxes(row, columns, model, others, rows)
    expected = columns.expected
    if _in_percent(sheet, columns):
        expected = BoxReading(columns.shapes[0], "percent")
    added = place_boxes(boxes, file.label, rows, options, shapes=columns.shapes, expected=expected)
    rows.log.note(f"{file.label}: recognised as boxes by its columns; {added:,} boxes.")


def _in_percent(sheet: Sheet, columns: BoxColumns) -> bool:
    """Whether the numbers are written with a percent sign."""
    cells = [cell for cell in sheet.column(columns.numbers[0])[:_LOOKED_AT] if cell is not None]
    return bool(cells) and all("%" in cell for cell in cells)


def _boxes(
    row: Row, columns: BoxColumns, model: str | None, others: Sequence[str], rows: SetRows
) -> list[FoundBox]:
    at = At(row.file, row.number)
    name = row["image"]
    who = row["model"] if "model" in columns.by_meaning else model
    if who is not None and who.strip().lower().replace("_", " ") in _REFERENCE:
        who = None
    if name is None:
        rows.receipt.unused(at, "The row names no image.")
        return []
    if all(row.cells[column] is None for column in columns.numbers):
        _add_without_box(name, who, at, rows)  # VinDr and RSNA list images without a finding
        return []
    if len(columns.numbers) == 1:
        numbers = parse_boxes(row.value(columns.numbers[0]))
    else:
        one = four_numbers([_number(row.cells[column]) for column in columns.numbers])
        numbers = None if one is None else [BoxValue(one)]
    if numbers is None:
        message = "The box does not have four finite numbers; it was left out."
        row.warn(message, "Give x, y, width and height.", columns.numbers[0])
        rows.receipt.unused(at, "The box does not have four finite numbers.")
        return []
    if not numbers:
        _add_without_box(name, who, at, rows)
    score = read_number(row["score"])
    extra = {other: row.value(other) for other in others if row.cells[other] is not None}
    return [
        FoundBox(
            name,
            row["label"] or box.label,
            box.numbers,
            row.number,
            who,
            box.score if score is None else score,
            extra=extra,
        )
        for box in numbers
    ]


def _number(cell: str | None) -> float | None:
    return read_number(cell.strip().removesuffix("%") if cell else None)


def _add_without_box(name: str, model: str | None, at: At, rows: SetRows) -> None:
    """Take a row that lists an image and has no box: the model, or the reference, found nothing."""
    place = rows.find_case(image=name, case=name)
    if place is None:
        rows.receipt.unused(at, "The row has no box, and its image is not there.")
    elif model is None:
        rows.receipt.used(at)
    else:
        rows.add_answer({"case": place[0], "model": model}, at)

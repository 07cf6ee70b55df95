"""Tables with one box a row, recognised by their columns.

Known layouts: NIH ChestX-ray14 (``BBox_List_2017.csv``), VinDr-CXR (``x_min`` ... ``y_max``), RSNA
(``patientId, x, y, width, height``), and plain ``image, label, x, y, width, height``; with a model
or a confidence they are a model's boxes. The names of columns stand in
``table/column_names.yaml``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_placement import make_cases, place_boxes
from rexview.reviewset.importers.annotations.box_reading import (
    SHAPES,
    BoxReading,
    FoundBox,
    boxes_of_string,
    parallel,
    picture_size,
    prediction_string,
    says_no_finding,
)
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, warn_of_no_model
from rexview.reviewset.importers.table.cell_values import read_list, read_number
from rexview.reviewset.importers.table.column_names import FIELD_NAMES, IMAGE_TABLES
from rexview.reviewset.importers.table.roles import (
    CellsByColumn,
    cells_of,
    columns_by_meaning,
    enter_table,
    holds_any,
    named_pictures,
    picture_names,
    sample_of,
)
from rexview.reviewset.importers.table.sheet import Row, Sheet, read_sheet
from rexview.reviewset.tables.source import At
from rexview.written_boxes.forms import Corners, corners_in_name
from rexview.written_boxes.texts import WrittenBox, four_numbers, parse_boxes

_LAYOUTS: Final[tuple[tuple[tuple[str, ...], tuple[Corners, ...]], ...]] = (
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
_NO_FINDING: Final = frozenset(("no finding", "no findings", "normal", "negative"))
_NAMES_LOOKED_AT: Final = 20_000
_KEPT: Final = frozenset(("class_id", "patient", "age", "sex", "view", "labels", "predictions"))
"""Roles that a table of boxes has, and a box has no place for: they are kept as extra fields."""
_LOOKED_AT: Final = 200
_NO_CELLS: Final[CellsByColumn] = {}


@dataclass(frozen=True)
class BoxColumns:
    """Which columns of a table hold what of a box; ``numbers`` are one column or four.

    ``string`` is how many numbers a box has, where the column holds prediction strings.
    """

    by_meaning: Mapping[str, str]
    numbers: tuple[str, ...]
    shapes: tuple[Corners, ...]
    string: int | None = None

    @property
    def expected(self) -> BoxReading | None:
        """The reading that the names of the columns prescribe, if they do."""
        return BoxReading(self.shapes[0], "pixels") if self.shapes != SHAPES else None

    def boxes(self, row: Row) -> list[WrittenBox] | None:
        """Return the boxes of a row, each with its label and score; None where they are none."""
        first = row.cells[self.numbers[0]]
        if self.string and first is not None:
            return boxes_of_string(first, self.string)
        if len(self.numbers) > 1:
            one = four_numbers([_number(row.cells[column]) for column in self.numbers])
            found = None if one is None else [WrittenBox(one)]
        else:
            found = parse_boxes(row.value(self.numbers[0]))
        if found is None:
            return None
        labels = _listed(row, self.by_meaning.get("label"))
        scores = [read_number(one) for one in _listed(row, self.by_meaning.get("score"))]
        if len(scores) == 1:
            scores *= len(found)
        return parallel(found, labels, scores)


def _listed(row: Row, column: str | None) -> list[str]:
    """Return the entries of a cell that is a list; of any other the cell itself."""
    cell = row.cells[column] if column else None
    if column is None or cell is None:
        return []
    given = row.value(column)
    if isinstance(given, list):
        return [str(one) for one in given]
    return read_list(cell) if cell.strip().startswith("[") else [cell]


def box_columns(
    names: Sequence[str],
    cells: CellsByColumn = _NO_CELLS,
    pictures: Collection[str] = (),
    *,
    anywhere: bool = False,
) -> BoxColumns | None:
    """Tell whether a table with these columns has a box a row, and where.

    One of answers, questions or reports is none, unless boxes are looked for ``anywhere``.
    """
    if not anywhere and holds_any(names, _NOT_BOXES, cells):
        return None
    columns = columns_by_meaning(names, IMAGE_TABLES, cells)
    whole = next((name for name in names if corners_in_name(name)), None)
    if whole is not None and "x_min" not in columns:
        columns["box"] = whole
    if "image" not in columns:
        case = columns_by_meaning(names, {"image": FIELD_NAMES["case"]}, cells)
        named = named_pictures(names, cells, pictures)
        if not case and named is None:
            return None
        columns |= case if named is None else {"image": named}
    if "predictions" in columns:
        given = cells.get(columns["predictions"], ())
        size = prediction_string(given) or (5 if not given and cells else None)
        if size is not None:
            shapes: tuple[Corners, ...] = ("xywh",) if size == 5 else ("xyxy", "xywh")
            return BoxColumns(columns, (columns["predictions"],), shapes, size)
    for parts, shapes in _LAYOUTS:
        if columns.keys() >= set(parts):
            numbers = tuple(columns[part] for part in parts)
            told = corners_in_name(numbers[0]) if len(numbers) == 1 else None
            return BoxColumns(columns, numbers, (told,) if told else shapes)
    return None


def recognises(probe: Probe) -> str | None:
    """Say why a file is a table of boxes."""
    sheet = sample_of(probe)
    found = box_columns(sheet.columns, cells_of(sheet), probe.pictures) if sheet else None
    return f"a table of boxes ({', '.join(found.numbers)})" if found else None


def pictures_of(file: SourceFile) -> set[str]:
    """Return the pictures that the first rows of a table of boxes name."""
    sheet = read_sheet(file.path, ProblemLog(), max_rows=_NAMES_LOOKED_AT, label=file.label)
    columns = box_columns(sheet.columns, cells_of(sheet)) if sheet else None
    if sheet is None or columns is None:
        return set()
    return {name for name in sheet.column(columns.by_meaning["image"]) if name}


def read_box_tables(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read tables of boxes: the reference, or with a model or a confidence a model's."""
    pictures = picture_names(image["path"] for _, image in rows.images())
    tables = []
    for file in files:
        sheet = read_sheet(file.path, rows.log, label=file.label)
        columns = box_columns(sheet.columns, cells_of(sheet), pictures) if sheet else None
        if sheet is not None and columns is not None:
            tables.append((file, sheet, columns))
    if not any(True for _ in rows.images()):
        for _, sheet, columns in tables:
            read = sheet.read(columns.by_meaning, rows.log)
            sizes = {row["image"]: _size(row) for row in read if row["image"]}
            make_cases({name: size for name, size in sizes.items() if name}, sheet.file, rows)
    classes = _class_names(tables)
    for file, sheet, columns in tables:
        _BoxTable(file, sheet, columns, rows, options, classes).read()


def _class_names(tables: Sequence[tuple[SourceFile, Sheet, BoxColumns]]) -> dict[str, str]:
    """Return the name of each class by its number, where a table of the import has both."""
    found: dict[str, str] = {}
    for _, sheet, columns in tables:
        number, name = map(columns.by_meaning.get, ("class_id", "label"))
        if number and name and number != name:
            pairs = zip(sheet.column(number), sheet.column(name), strict=True)
            found |= {_whole(one): word for one, word in pairs if one and word}
    return found


class _BoxTable:
    """Reads one table of boxes into the cases of its images."""

    def __init__(
        self,
        file: SourceFile,
        sheet: Sheet,
        columns: BoxColumns,
        rows: SetRows,
        options: Mapping[str, Any],
        classes: Mapping[str, str],
    ) -> None:
        self.file, self.sheet, self.columns, self.rows = file, sheet, columns, rows
        self.options, self.classes = options, classes
        self.model: str | None = options.get("model")
        scored = columns.string or "score" in columns.by_meaning
        if self.model is None and scored and "model" not in columns.by_meaning:
            self.model = file.folder or file.path.stem
        self.others: list[str] = []
        self.empty: dict[str, list[Row]] = {}
        self.boxed: set[str] = set()

    def read(self) -> None:
        """Read every row, place the boxes, and name what was left out."""
        columns, rows = self.columns, self.rows
        told = (name for role, name in columns.by_meaning.items() if role not in _KEPT)
        used = (*told, *columns.numbers)
        self.others = enter_table(self.sheet, used, rows, kept_as="box")
        if columns.string and self.model is not None:
            warn_of_no_model(self.file, self.model, rows.log)
        boxes = [
            box for row in self.sheet.read(columns.by_meaning, rows.log) for box in self._boxes(row)
        ]
        expected = columns.expected
        if _in_percent(self.sheet, columns):
            expected = BoxReading(columns.shapes[0], "percent")
        added = place_boxes(
            boxes, self.file.label, rows, self.options, shapes=columns.shapes, expected=expected
        )
        self._mark_normal()
        rows.log.note(f"{self.file.label}: recognised as boxes by its columns; {added:,} boxes.")

    def _boxes(self, row: Row) -> list[FoundBox]:
        columns, rows = self.columns, self.rows
        at = row.at
        name = row["image"]
        who = row["model"] if "model" in columns.by_meaning else self.model
        if who is not None and who.strip().lower().replace("_", " ") in _REFERENCE:
            who = None
        if name is None:
            rows.receipt.unused(at, "The row names no image.")
            return []
        if all(row.cells[column] is None for column in columns.numbers):
            self._add_without_box(name, who, at, row)  # VinDr and RSNA list images without one
            return []
        found = columns.boxes(row)
        if found is None:
            message = "The box does not have four finite numbers; it was left out."
            if len(columns.numbers) == 1 and parse_boxes(row.value(columns.numbers[0])):
                message = "There are not as many labels as boxes; the boxes were left out."
            row.warn(message, "Give x, y, width and height, and a label each.", columns.numbers[0])
            rows.receipt.unused(at, message)
            return []
        nothing = [box for box in found if columns.string and says_no_finding(box)]
        found = [box for box in found if box not in nothing]
        if not found:
            self._add_without_box(name, who, at, row, nothing)
        self.boxed |= {name} if found else set()
        extra = {one: row.value(one) for one in self.others if row.cells[one] is not None}
        return [
            FoundBox(
                name,
                self._label(box),
                box.numbers,
                at.row or 0,
                who,
                box.score,
                size=_size(row),
                extra=extra,
            )
            for box in found
        ]

    def _label(self, box: WrittenBox) -> str:
        if not (self.columns.string and box.label.isdigit()):
            return box.label
        return self.classes.get(box.label, f"class {box.label}")

    def _add_without_box(
        self, name: str, model: str | None, at: At, row: Row, nothing: Sequence[WrittenBox] = ()
    ) -> None:
        """Take a row that lists an image and has no box: nothing was found, or nothing new."""
        rows = self.rows
        place = rows.find_case(image=name, case=name)
        case = rows.case(place[0]) if place else None
        if place is None or case is None:
            rows.receipt.unused(at, "The row has no box, and its image is not there.")
        elif model is None:
            rows.receipt.used(at)
            self.empty.setdefault(name, []).append(row)
            for one in self.others:
                if row.cells[one] is not None:
                    case.setdefault(one, row.value(one))
        else:
            score = {"no_finding": nothing[0].score} if nothing else {}
            rows.add_answer({"case": place[0], "model": model, **score}, at)

    def _mark_normal(self) -> None:
        """Say of images that are normal, where all rows of one say that there is no finding."""
        for name, listed in self.empty.items():
            place = self.rows.find_case(image=name, case=name)
            case = self.rows.case(place[0]) if place else None
            words = {(row["label"] or "").strip().lower() for row in listed}
            if case is not None and words <= _NO_FINDING and name not in self.boxed:
                case.setdefault("normal", True)


def _in_percent(sheet: Sheet, columns: BoxColumns) -> bool:
    """Whether the numbers are written with a percent sign."""
    cells = [cell for cell in sheet.column(columns.numbers[0])[:_LOOKED_AT] if cell is not None]
    return bool(cells) and all("%" in cell for cell in cells)


def _number(cell: str | None) -> float | None:
    return read_number(cell.strip().removesuffix("%") if cell else None)


def _whole(number: str) -> str:
    return number.strip().removesuffix(".0")


def _size(row: Row) -> tuple[int, int] | None:
    """Return the size of the picture that a box was drawn on, where its row says so."""
    return picture_size(*(read_number(row[name]) for name in ("image_width", "image_height")))

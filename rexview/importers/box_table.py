"""Read boxes from tables: one a row, or boxes of answers, in a column or in their texts.

Known layouts are NIH ChestX-ray14 (``BBox_List_2017.csv``), VinDr-CXR (``x_min`` ... ``y_max``),
RSNA (``patientId, x, y, width, height``), and plain ``image, label, x, y, width, height``. With a
model or a confidence they are a model's boxes. The names of columns are in
``table/column_names.yaml``. For a model known by its name (:mod:`rexview.text.written_boxes`),
boxes in its answers are read as its model card defines. Boxes of any other model, and of a model
whose picture may have been cropped, are unsure.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rexview.importers.box_placement import (
    SHAPES,
    BoxReading,
    SourceBox,
    boxes_of_string,
    make_picture_cases,
    means_no_finding,
    pair_labels,
    picture_size,
    place_boxes,
    prediction_string_size,
)
from rexview.importers.receipt import ProblemLog
from rexview.importers.set_rows import CaseImage, SetRows
from rexview.importers.source_files import Probe, SourceFile, warn_of_missing_model
from rexview.importers.table.cells import FIELD_COLUMN_NAMES, IMAGE_TABLES, read_list, read_number
from rexview.importers.table.roles import (
    CellsByColumn,
    column_values,
    columns_by_meaning,
    fold_picture_names,
    has_field,
    picture_column,
    record_table,
    sample_rows,
)
from rexview.importers.table.sheet import SheetRow, TableSheet, read_table_sheet
from rexview.reviewset.tables.source import RowOrigin
from rexview.text.written_boxes import (
    UNIT_LENGTHS,
    BoxForm,
    Convention,
    Corners,
    ModelBoxes,
    ParsedBoxes,
    WrittenBox,
    boxes_in_text,
    corners_in_name,
    find_model_boxes,
    four_numbers,
    order_corners,
    parse_boxes,
    strip_box_marks,
)

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
"""Roles that a table of boxes can have but a box cannot: they are kept as extra fields."""
_LOOKED_AT: Final = 200
_NO_CELLS: Final[CellsByColumn] = {}


@dataclass(frozen=True)
class BoxColumns:
    """The columns of a table by their meaning for a box; ``numbers`` are one column or four.

    ``string`` is the count of numbers per box in a column of prediction strings.
    """

    by_meaning: Mapping[str, str]
    numbers: tuple[str, ...]
    shapes: tuple[Corners, ...]
    string: int | None = None

    @property
    def expected(self) -> BoxReading | None:
        """The reading that the names of the columns prescribe, if any."""
        return BoxReading(self.shapes[0], "pixels") if self.shapes != SHAPES else None

    def boxes(self, row: SheetRow) -> list[WrittenBox] | None:
        """Return a row's boxes with labels and scores; None if its cells are no boxes."""
        first = row.cells[self.numbers[0]]
        if self.string and first is not None:
            return boxes_of_string(first, self.string)
        if len(self.numbers) > 1:
            cells = [row.cells[column] for column in self.numbers]
            bare = [cell.strip().removesuffix("%") if cell else None for cell in cells]
            one = four_numbers([read_number(cell) for cell in bare])
            found = None if one is None else [WrittenBox(one)]
        else:
            found = parse_boxes(row.value(self.numbers[0]))
        if found is None:
            return None
        labels = _list_entries(row, self.by_meaning.get("label"))
        scores = [read_number(one) for one in _list_entries(row, self.by_meaning.get("score"))]
        if len(scores) == 1:
            scores *= len(found)
        return pair_labels(found, labels, scores)


def _list_entries(row: SheetRow, column: str | None) -> list[str]:
    """Return the entries of a cell with a list; for any other cell, the cell itself."""
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
    """Return the columns of a table with one box a row; None for another table.

    A table of answers, questions or reports is not one, unless boxes are looked for ``anywhere``.
    """
    if not anywhere and has_field(names, _NOT_BOXES, cells):
        return None
    columns = columns_by_meaning(names, IMAGE_TABLES, cells)
    whole = next((name for name in names if corners_in_name(name)), None)
    if whole is not None and "x_min" not in columns:
        columns["box"] = whole
    if "image" not in columns:
        case = columns_by_meaning(names, {"image": FIELD_COLUMN_NAMES["case"]}, cells)
        named = picture_column(names, cells, pictures)
        if not case and named is None:
            return None
        columns |= case if named is None else {"image": named}
    if "predictions" in columns:
        given = cells.get(columns["predictions"], ())
        size = prediction_string_size(given) or (5 if not given and cells else None)
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
    """Return why a file is a table of boxes, or None."""
    sheet = sample_rows(probe)
    found = box_columns(sheet.columns, column_values(sheet), probe.pictures) if sheet else None
    return f"a table of boxes ({', '.join(found.numbers)})" if found else None


def pictures_with_boxes(file: SourceFile) -> set[str]:
    """Return the pictures that the first rows of a table of boxes name."""
    sheet = read_table_sheet(file.path, ProblemLog(), max_rows=_NAMES_LOOKED_AT, label=file.label)
    columns = box_columns(sheet.columns, column_values(sheet)) if sheet else None
    if sheet is None or columns is None:
        return set()
    return {name for name in sheet.column(columns.by_meaning["image"]) if name}


def read_box_tables(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read tables of boxes: the reference, or a model's if they have a model or a confidence."""
    pictures = fold_picture_names(image["path"] for _, image in rows.images())
    tables = []
    for file in files:
        sheet = read_table_sheet(file.path, rows.log, label=file.label)
        columns = box_columns(sheet.columns, column_values(sheet), pictures) if sheet else None
        if sheet is not None and columns is not None:
            tables.append((file, sheet, columns))
    if not any(True for _ in rows.images()):
        for _, sheet, columns in tables:
            read = sheet.read(columns.by_meaning, rows.log)
            sizes = {row["image"]: _size(row) for row in read if row["image"]}
            make_picture_cases(
                {name: size for name, size in sizes.items() if name}, sheet.file, rows
            )
    classes = _class_names(tables)
    for file, sheet, columns in tables:
        _BoxTable(file, sheet, columns, rows, options, classes).read()


def _class_names(tables: Sequence[tuple[SourceFile, TableSheet, BoxColumns]]) -> dict[str, str]:
    """Return the name of each class by its number, from tables of the import that have both."""
    found: dict[str, str] = {}
    for _, sheet, columns in tables:
        number, name = map(columns.by_meaning.get, ("class_id", "label"))
        if number and name and number != name:
            pairs = zip(sheet.column(number), sheet.column(name), strict=True)
            found |= {one.strip().removesuffix(".0"): word for one, word in pairs if one and word}
    return found


class _BoxTable:
    def __init__(
        self,
        file: SourceFile,
        sheet: TableSheet,
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
        self.empty: dict[str, list[SheetRow]] = {}
        self.boxed: set[str] = set()

    def read(self) -> None:
        """Read every row, place the boxes, and list what was left out."""
        columns, rows = self.columns, self.rows
        told = (name for role, name in columns.by_meaning.items() if role not in _KEPT)
        used = (*told, *columns.numbers)
        self.others = record_table(self.sheet, used, rows, kept_as="box")
        if columns.string and self.model is not None:
            warn_of_missing_model(self.file, self.model, rows.log)
        boxes = [
            box for row in self.sheet.read(columns.by_meaning, rows.log) for box in self._boxes(row)
        ]
        expected = columns.expected
        cells = [cell for cell in self.sheet.column(columns.numbers[0])[:_LOOKED_AT] if cell]
        if cells and all("%" in cell for cell in cells):
            expected = BoxReading(columns.shapes[0], "percent")
        added = place_boxes(
            boxes, self.file.label, rows, self.options, shapes=columns.shapes, expected=expected
        )
        self._mark_normal()
        rows.log.note(f"{self.file.label}: recognised as boxes by its columns; {added:,} boxes.")

    def _boxes(self, row: SheetRow) -> list[SourceBox]:
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
            self._add_without_box(name, who, at, row)  # VinDr and RSNA list images without a box
            return []
        found = columns.boxes(row)
        if found is None:
            message = "The box does not have four finite numbers; it was left out."
            if len(columns.numbers) == 1 and parse_boxes(row.value(columns.numbers[0])):
                message = "There are not as many labels as boxes; the boxes were left out."
            row.warn(message, "Give x, y, width and height, and a label each.", columns.numbers[0])
            rows.receipt.unused(at, message)
            return []
        nothing = [box for box in found if columns.string and means_no_finding(box)]
        found = [box for box in found if box not in nothing]
        if not found:
            self._add_without_box(name, who, at, row, nothing)
        self.boxed |= {name} if found else set()
        extra = {one: row.value(one) for one in self.others if row.cells[one] is not None}
        line, size = at.row or 0, _size(row)
        if columns.string:  # classes by their numbers
            found = [
                replace(box, label=self.classes.get(box.label, f"class {box.label}"))
                if box.label.isdigit()
                else box
                for box in found
            ]
        return [
            SourceBox(name, box.label, box.numbers, line, who, box.score, size=size, extra=extra)
            for box in found
        ]

    def _add_without_box(
        self,
        name: str,
        model: str | None,
        at: RowOrigin,
        row: SheetRow,
        nothing: Sequence[WrittenBox] = (),
    ) -> None:
        """Record a row that lists an image without a box: no finding, or nothing new."""
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
        """Mark images as normal if all their rows report no finding."""
        for name, listed in self.empty.items():
            place = self.rows.find_case(image=name, case=name)
            case = self.rows.case(place[0]) if place else None
            words = {(row["label"] or "").strip().lower() for row in listed}
            if case is not None and words <= _NO_FINDING and name not in self.boxed:
                case.setdefault("normal", True)


def _size(row: SheetRow) -> tuple[int, int] | None:
    """Return the size of the picture that a box was drawn on, if its row gives it."""
    return picture_size(*(read_number(row[name]) for name in ("image_width", "image_height")))


_MAY_HAVE_BOXES: Final = re.compile(r"box|<point|<x\d|<obj>", re.IGNORECASE)
_POINT: Final = re.compile(r"<points? ", re.IGNORECASE)
_ASKS_FOR_BOXES: Final = re.compile(r"\bbox(?:es)?\b|bounding|coordinates|localis|localiz", re.I)
_OF_THE_SET: Final = RowOrigin("answers")
_GIVEN: Final = "text_as_given"
_SENTENCE: Final = ("sentence", "sentence_en", "phrase", "text", "finding")
_BOXES: Final = ("boxes", "box", "bbox", "bboxes")
_IN_WORDS: Final[Mapping[Convention, str]] = {
    "pixels_sent": "pixels of the picture as it was sent",
    "pixels_stored": "pixels of the picture",
    "normalised_1000": "thousandths of the picture",
    "normalised_100": "percent of the picture",
    "normalised_1": "fractions of the picture",
}

GroundedSentence = tuple[str, list[WrittenBox], Mapping[str, Any]]


def grounded_sentences(value: Any) -> list[GroundedSentence] | None:
    """Return the sentences of a grounded report with their boxes; None for another value.

    A sentence is a pair (``["An effusion.", [[0.1, 0.2, 0.3, 0.4]]]``, MAIRA-2) or an object with a
    sentence and boxes (PadChest-GR); boxes may be null.
    """
    if isinstance(value, str) and value.lstrip().startswith(("[[", "[{")):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list) or not value:
        return None
    found = [_sentence(one) for one in value]
    return None if None in found else [one for one in found if one is not None]


def _sentence(entry: Any) -> GroundedSentence | None:
    if isinstance(entry, Mapping):
        text = next((entry[key] for key in _SENTENCE if isinstance(entry.get(key), str)), None)
        named = [key for key in _BOXES if key in entry]
        if text is None or not named:
            return None
        given, about = entry[named[0]], entry
    elif isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[0], str):
        text, given, about = entry[0], entry[1], {}
    else:
        return None
    boxes = parse_boxes(given) if given else []
    if boxes is None:
        return None
    return text.strip(), [WrittenBox(box.numbers, text.strip()) for box in boxes], about


def read_boxes_of_texts(rows: SetRows) -> None:
    """Add to each answer without boxes those that its text contains.

    The log lists what was read, and how, for each model of each file.
    """
    read: dict[tuple[str, str], list[tuple[int, bool, Convention]]] = {}
    points: dict[tuple[str, str], int] = {}
    table = rows.tables["answers"]
    for answer, at in zip(table.rows, table.places, strict=True):
        text, model = answer.get("text"), answer.get("model") or ""
        if not isinstance(text, str) or at == _OF_THE_SET or answer.get("boxes"):
            continue
        case = rows.case(answer.get("case") or "") or {}
        sentences = grounded_sentences(text) if text.startswith(("[[", "[{")) else None
        may = _MAY_HAVE_BOXES.search(text) is not None
        bare = "[" in text and _ASKS_FOR_BOXES.search(str(case.get("question"))) is not None
        if sentences is None and not may and not bare:
            continue
        if _POINT.search(text):
            points[at.file, model] = points.get((at.file, model), 0) + 1
        sent = find_model_boxes(model)
        plain = strip_box_marks(text)
        if sentences is not None:
            found = ParsedBoxes(tuple(box for _, boxes, _ in sentences for box in boxes))
            plain = " ".join(sentence for sentence, _, _ in sentences)
        else:
            found = boxes_in_text(text, sent.form, bare=bare)
        if plain != text:
            answer["text"], answer[_GIVEN] = plain, text
        if not found.boxes:
            continue
        boxes, unsure, convention = _boxes_in_pixels(found.boxes, case, sent)
        if not boxes:
            message = "The text has boxes, and the case no image; they stay in the text alone."
            rows.log.warning(at.file, message, "Give the images, too.", row=at.row, field="boxes")
            continue
        answer["boxes"] = boxes
        rows.declare_model(model, draws_boxes=True)
        read.setdefault((at.file, model), []).append((len(boxes), unsure, convention))
    _log_boxes(read, points, rows)


def _log_boxes(
    read: Mapping[tuple[str, str], Sequence[tuple[int, bool, Convention]]],
    points: Mapping[tuple[str, str], int],
    rows: SetRows,
) -> None:
    for (file, model), found in read.items():
        how = " and ".join(dict.fromkeys(_IN_WORDS[one] for _, _, one in found))
        count = sum(number for number, *_ in found)
        message = f"{count:,} boxes in the texts of {model} were read as {how}."
        if any(unsure for _, unsure, _ in found):
            message += " How it counts is not known for sure: they are shown as unsure."
            rows.log.warning(file, message, "Give the boxes in a column, if so.", field="boxes")
        else:
            rows.log.note(f"{file}: {message}")
    for (file, model), count in points.items():
        message = f"{count:,} answers of {model} mark points, which are no boxes; they stay text."
        rows.log.warning(file, message, "Nothing, if points are enough.", field="boxes")


def _boxes_in_pixels(
    written: Sequence[WrittenBox], case: Mapping[str, Any], sent: ModelBoxes
) -> tuple[list[dict[str, Any]], bool, Convention]:
    """Return boxes in pixels of stored images, whether they are unsure, and their convention."""
    images = case.get("images") or []
    first = next((one for one in images if one.get("key")), images[0] if images else None)
    form, unsure = sent.form, False
    sizes = [(one.get("width"), one.get("height")) for one in images]
    if form.convention == "unknown":
        form, unsure = replace(form, convention=_likeliest(written, sizes)), True
    found: list[dict[str, Any]] = []
    for one in written:
        told = int(str(one.image)) if str(one.image).isdigit() else one.image
        named = (
            images[told - 1 : told]
            if isinstance(told, int) and told > 0
            else [image for image in images if told and image.get("id") == told]
        )
        image = named[0] if named else first
        if image is None:
            continue
        own = replace(form, corners=one.corners) if one.corners else form
        box, is_sure = _to_pixels(one.numbers, own, image, sent)
        unsure = unsure or not is_sure
        side = "" if (one.side or "") in one.label.lower() else f"{one.side} "
        label = f"{side}{one.label}".strip()
        row: dict[str, Any] = {"image": image.get("id"), "label": label, "box": box}
        found.append(row if one.score is None else row | {"score": one.score})
    return [row | ({"unsure": True} if unsure else {}) for row in found], unsure, form.convention


def _likeliest(
    written: Sequence[WrittenBox], sizes: Sequence[tuple[int | None, int | None]]
) -> Convention:
    """Return pixels, or fractions or thousandths of the picture if only these fit the numbers."""
    largest = max(abs(number) for one in written for number in one.numbers)
    sides = [max(width, height) for width, height in sizes if width and height]
    if largest <= 1:
        return "normalised_1"
    return "normalised_1000" if sides and min(sides) < largest <= 1000 else "pixels_stored"


def _to_pixels(
    numbers: Sequence[float], form: BoxForm, image: Mapping[str, Any], sent: ModelBoxes
) -> tuple[list[float], bool]:
    """Return x, y, width, height in pixels of the stored image, and whether that is sure."""
    left, top, right, bottom = order_corners(numbers, form.corners)
    width, height = image.get("width"), image.get("height")
    if not width or not height:
        sure = form.convention == "pixels_stored"
        return [left, top, right - left, bottom - top], sure
    across, down, sure = 1.0, 1.0, True
    if whole := UNIT_LENGTHS.get(form.convention):
        across, down = width / whole, height / whole
        sure = not sent.square or width == height
    elif form.convention == "pixels_sent":
        factor = min(1.0, (sent.longest_side or math.inf) / max(width, height))
        factor = min(factor, math.sqrt((sent.most_pixels or math.inf) / (width * height)))
        across = down = 1 / factor
        sure = factor == 1.0
    box = (left * across, top * down, (right - left) * across, (bottom - top) * down)
    return [round(part, 2) for part in box], sure


_FRACTIONS: Final = BoxReading("xyxy", "fraction")
_OTHER_LANGUAGES: Final = ("sentence_en", "sentence_es")
_OF_SENTENCES: Final = frozenset(
    (*_OTHER_LANGUAGES, "sentence", "boxes", "box", "bbox", "bboxes", "labels", "abnormal")
)
_MIN_BOX_SHARE: Final = 0.5
"""The share of a column's cells that have to be boxes for it to be a column of boxes."""


class AnswerBoxes:
    """The boxes of one table, collected row by row and placed once the images are found.

    ``columns`` are those with boxes; empty if the table has none.
    """

    def __init__(self, sheet: TableSheet, used: Sequence[str]) -> None:
        self._sheet = sheet
        self._found: list[SourceBox] = []
        self._grounded: list[SourceBox] = []
        self._targets: dict[int, tuple[str, str | None]] = {}
        free = [name for name in sheet.columns if name not in used]
        columns = box_columns([*free, "image"], column_values(sheet), anywhere=True)
        if columns and len(columns.numbers) == 1 and not columns.string:
            cells = [one for one in sheet.column(columns.numbers[0])[:_LOOKED_AT] if one]
            boxes = sum(parse_boxes(cell) is not None for cell in cells)
            columns = columns if cells and boxes >= len(cells) * _MIN_BOX_SHARE else None
        self._columns = columns
        self.columns: tuple[str, ...] = self._columns.numbers if self._columns else ()
        label = self._columns.by_meaning.get("label") if self._columns else None
        self._label = label if label in free else None
        if self._columns and label not in free:
            beside = {k: v for k, v in self._columns.by_meaning.items() if v in free}
            self._columns = replace(self._columns, by_meaning=beside)

    def take(self, row: SheetRow, case_id: str, models: Sequence[str]) -> bool:
        """Collect the boxes of a row; return False if it has none."""
        columns = self._columns
        if columns is None or len(models) > 1 or row.at.row is None:
            return False
        empty = all(row.cells[column] is None for column in columns.numbers)
        boxes = None if empty else columns.boxes(row)
        if boxes is None:
            return False
        for column in columns.numbers:
            row.take_column(column)
        if self._label and boxes:
            row.take_column(self._label)
        self._targets[row.at.row] = (case_id, row.peek("image"))
        told = [box.corners for box in boxes if box.corners]
        if told and columns.shapes == SHAPES:
            self._columns = replace(columns, shapes=(told[0],))
        line, model = row.at.row, models[0] if models else None
        self._found += [
            SourceBox(line, box.label, box.numbers, line, model, box.score) for box in boxes
        ]
        return bool(boxes)

    def take_grounded(self, row: SheetRow, case_id: str) -> dict[str, Any]:
        """Collect the boxes of a grounded report (PadChest-GR); its text stays in the row.

        Returns further fields of the case: normal, labels, the report in other languages.
        """
        said: dict[str, Any] = {}
        for field in ("report", "findings"):
            sentences = (
                grounded_sentences(row.value(row.fields[field])) if row.peek(field) else None
            )
            if sentences is None or row.at.row is None:
                continue
            row.rewrite(field, " ".join(sentence for sentence, _, _ in sentences))
            self._targets[row.at.row] = (case_id, row.peek("image"))
            labels: dict[str, None] = {}
            for sentence, boxes, about in sentences:
                words = [str(one) for one in about.get("labels") or () if one]
                labels |= dict.fromkeys(words if about.get("abnormal", True) else ())
                kept = {k: v for k, v in about.items() if k not in _OF_SENTENCES and v}
                for box in boxes:
                    label, extra = ", ".join(words) or sentence, {"sentence": sentence, **kept}
                    found = SourceBox(row.at.row, label, box.numbers, row.at.row, extra=extra)
                    self._grounded.append(found)
            told = [about.get("abnormal") for _, _, about in sentences]
            if all(isinstance(one, bool) for one in told):
                said["normal"] = not any(told)
            said |= {"labels": list(labels)} if labels else {}
            others = {key for _, _, about in sentences for key in about if key in _OTHER_LANGUAGES}
            for key in sorted(others - {"sentence_en"} if "sentence_en" in sentences[0][2] else ()):
                texts = [str(about.get(key) or "") for _, _, about in sentences]
                said[key.replace("sentence", "report")] = " ".join(filter(None, texts))
        return said

    def place(self, rows: SetRows, options: Mapping[str, Any]) -> None:
        """Place the boxes on the images, which have been found by now."""

        def find(box: SourceBox) -> CaseImage | None:
            case_id, image = self._targets[box.row]
            place = rows.find_case(case=case_id, image=image)
            if place is None or place[1] is not None:
                return place
            return _with_picture(case_id, rows) or place

        for found in (self._found, self._grounded):
            shapes = self._columns.shapes if self._columns else SHAPES
            expected = self._columns.expected if self._columns else None
            if found is self._grounded:
                shapes, expected = ("xyxy", "xywh"), _FRACTIONS
            if found:
                place_boxes(
                    found,
                    self._sheet.file,
                    rows,
                    options,
                    find=find,
                    shapes=shapes,
                    expected=expected,
                    part=self._sheet.name or "",
                    absent_from="are not there, or of a case with several",
                )


def _with_picture(case_id: str, rows: SetRows) -> CaseImage | None:
    """Give a case without an image the picture with its name."""
    picture = rows.find_case(image=case_id)
    case = rows.case(picture[0]) if picture else None
    if picture is None or case is None or picture[0] == case_id:
        return None
    image = next((one for one in case["images"] if one.get("id") == picture[1]), None)
    mine = rows.case(case_id)
    if image is None or mine is None or mine.get("images"):
        return None
    mine["images"] = [dict(image)]
    return case_id, image["id"]

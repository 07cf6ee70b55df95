"""Boxes in a column of a table of answers: those of the row's model, or the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_placement import place_boxes
from rexview.reviewset.importers.annotations.box_reading import SHAPES, BoxReading
from rexview.reviewset.importers.annotations.box_table import BoxColumns, box_columns
from rexview.reviewset.importers.annotations.box_values import parse_boxes
from rexview.reviewset.importers.annotations.found_box import FoundBox
from rexview.reviewset.importers.annotations.text_boxes import grounded_sentences
from rexview.reviewset.importers.core.set_rows import Place, SetRows
from rexview.reviewset.importers.table.mapped_row import MappedRow
from rexview.reviewset.importers.table.roles import cells_of
from rexview.reviewset.importers.table.sheet import Sheet

_FRACTIONS: Final = BoxReading("xyxy", "fraction")
_OTHER_LANGUAGES: Final = ("sentence_en", "sentence_es")
_OF_SENTENCES: Final = frozenset(
    (*_OTHER_LANGUAGES, "sentence", "boxes", "box", "bbox", "bboxes", "labels", "abnormal")
)
_ENOUGH: Final = 0.5
"""The share of the cells of a column that have to be boxes for it to be one of boxes."""
_LOOKED_AT: Final = 200


class AnswerBoxes:
    """The boxes of one table, gathered row by row and placed once the images are found.

    ``columns`` are those that hold them, none where the table has no boxes.
    """

    def __init__(self, sheet: Sheet, used: Sequence[str]) -> None:
        self._sheet = sheet
        self._found: list[FoundBox] = []
        self._grounded: list[FoundBox] = []
        self._targets: dict[int, tuple[str, str | None]] = {}
        free = [name for name in sheet.columns if name not in used]
        columns = box_columns([*free, "image"], cells_of(sheet), anywhere=True)
        self._columns = columns if columns and self._hold_boxes(columns) else None
        self.columns: tuple[str, ...] = self._columns.numbers if self._columns else ()
        label = self._columns.by_meaning.get("label") if self._columns else None
        self._label = label if label in free else None
        if self._columns and label not in free:
            beside = {k: v for k, v in self._columns.by_meaning.items() if v in free}
            self._columns = replace(self._columns, by_meaning=beside)

    def _hold_boxes(self, columns: BoxColumns) -> bool:
        cells = [cell for cell in self._sheet.column(columns.numbers[0])[:_LOOKED_AT] if cell]
        if len(columns.numbers) > 1 or columns.string:
            return True
        boxes = sum(parse_boxes(cell) is not None for cell in cells)
        return bool(cells) and boxes >= len(cells) * _ENOUGH

    def take(self, row: MappedRow, case_id: str, models: Sequence[str]) -> bool:
        """Take the boxes of a row; False when it has none."""
        columns = self._columns
        if columns is None or len(models) > 1 or row.at.row is None:
            return False
        empty = all(row.row.cells[column] is None for column in columns.numbers)
        boxes = None if empty else columns.boxes(row.row)
        if boxes is None:
            return False
        for column in columns.numbers:
            row.take_column(column)
        if self._label and boxes:
            row.take_column(self._label)
        self._targets[row.at.row] = (case_id, row.peek("image"))
        told = [box.shape for box in boxes if box.shape]
        if told and columns.shapes == SHAPES:
            self._columns = replace(columns, shapes=(told[0],))
        self._found += [
            FoundBox(
                row.at.row,
                box.label,
                box.numbers,
                row.at.row,
                models[0] if models else None,
                box.score,
            )
            for box in boxes
        ]
        return bool(boxes)

    def take_grounded(self, row: MappedRow, case_id: str) -> dict[str, Any]:
        """Take the sentences of a grounded report (PadChest-GR), which stays in the row as a text.

        Returns
        -------
        dict
            What they say of the case: normal, labels, the report in other languages.
        """
        said: dict[str, Any] = {}
        for field in ("report", "findings"):
            sentences = grounded_sentences(row.value(field)) if row.peek(field) else None
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
                    found = FoundBox(row.at.row, label, box.numbers, row.at.row, extra=extra)
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

        def find(box: FoundBox) -> Place | None:
            case_id, image = self._targets[box.row]
            place = rows.find_case(case=case_id, image=image)
            if place is None or place[1] is not None:
                return place
            return _with_picture(case_id, rows) or place

        for found in (self._found, self._grounded):
            shapes = self._columns.shapes if self._columns else SHAPES
            expected = BoxReading(shapes[0], "pixels") if shapes != SHAPES else None
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


def _with_picture(case_id: str, rows: SetRows) -> Place | None:
    """Give a case without an image the picture that has its name."""
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

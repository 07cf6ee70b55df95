"""Boxes of answers: in a column of their table, or in their texts as a run of the model reads them.

A model that is known by its name (:mod:`rexview.written_boxes.forms`) counts as its card says. The
boxes of any other, and of one whose picture may have been cut, are marked as unsure.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_placement import place_boxes
from rexview.reviewset.importers.annotations.box_reading import SHAPES, BoxReading, FoundBox
from rexview.reviewset.importers.annotations.box_table import BoxColumns, box_columns
from rexview.reviewset.importers.core.set_rows import Place, SetRows
from rexview.reviewset.importers.table.roles import cells_of
from rexview.reviewset.importers.table.sheet import Row, Sheet
from rexview.reviewset.tables.source import At
from rexview.written_boxes.forms import (
    WHOLE,
    BoxForm,
    Convention,
    SentBoxes,
    corners_of,
    sent_boxes,
)
from rexview.written_boxes.texts import Found, WrittenBox, boxes_in_text, parse_boxes, without_marks

_MAY_HAVE_BOXES: Final = re.compile(r"box|<point|<x\d|<obj>", re.IGNORECASE)
_POINT: Final = re.compile(r"<points? ", re.IGNORECASE)
_ASKS_FOR_BOXES: Final = re.compile(r"\bbox(?:es)?\b|bounding|coordinates|localis|localiz", re.I)
_OF_THE_SET: Final = At("answers")
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

Sentence = tuple[str, list[WrittenBox], Mapping[str, Any]]


def grounded_sentences(value: Any) -> list[Sentence] | None:
    """Return the sentences of a grounded report with their boxes; None where a value is none.

    A sentence is a pair (``["An effusion.", [[0.1, 0.2, 0.3, 0.4]]]``, MAIRA-2) or an object with
    a sentence and boxes (PadChest-GR); boxes may be null.
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


def _sentence(entry: Any) -> Sentence | None:
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
    """Give each answer of the import the boxes that its text holds, where it has none yet.

    The log has what was read, and how, for each model of each file.
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
        sent = sent_boxes(model)
        plain = without_marks(text)
        if sentences is not None:
            found = Found(tuple(box for _, boxes, _ in sentences for box in boxes))
            plain = " ".join(sentence for sentence, _, _ in sentences)
        else:
            found = boxes_in_text(text, sent.form, bare=bare)
        if plain != text:
            answer["text"], answer[_GIVEN] = plain, text
        if not found.boxes:
            continue
        boxes, unsure, convention = _placed(found.boxes, case, sent)
        if not boxes:
            message = "The text has boxes, and the case no image; they stay in the text alone."
            rows.log.warning(at.file, message, "Give the images, too.", row=at.row, field="boxes")
            continue
        answer["boxes"] = boxes
        rows.declare_model(model, draws_boxes=True)
        read.setdefault((at.file, model), []).append((len(boxes), unsure, convention))
    _log(read, points, rows)


def _log(
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


def _placed(
    written: Sequence[WrittenBox], case: Mapping[str, Any], sent: SentBoxes
) -> tuple[list[dict[str, Any]], bool, Convention]:
    """Return boxes in pixels of the stored images, whether they are unsure, and how they count."""
    images = case.get("images") or []
    first = next((one for one in images if one.get("key")), images[0] if images else None)
    form, unsure = sent.form, False
    sizes = [(one.get("width"), one.get("height")) for one in images]
    if form.convention == "unknown":
        form, unsure = replace(form, convention=_likeliest(written, sizes)), True
    found: list[dict[str, Any]] = []
    for one in written:
        image = _image_of(one, images) or first
        if image is None:
            continue
        own = replace(form, corners=one.corners) if one.corners else form
        box, is_sure = _to_pixels(one.numbers, own, image, sent)
        unsure = unsure or not is_sure
        row: dict[str, Any] = {"image": image.get("id"), "label": _label(one), "box": box}
        found.append(row if one.score is None else row | {"score": one.score})
    return [row | ({"unsure": True} if unsure else {}) for row in found], unsure, form.convention


def _label(one: WrittenBox) -> str:
    side = one.side or ""
    return f"{side} {one.label}".strip() if side not in one.label.lower() else one.label


def _image_of(one: WrittenBox, images: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    told = one.image
    if isinstance(told, str) and told.isdigit():
        told = int(told)
    if isinstance(told, int):
        return images[told - 1] if 1 <= told <= len(images) else None
    return next((image for image in images if told and image.get("id") == told), None)


def _likeliest(
    written: Sequence[WrittenBox], sizes: Sequence[tuple[int | None, int | None]]
) -> Convention:
    """Return pixels, unless the numbers fit a part of the picture only."""
    largest = max(abs(number) for one in written for number in one.numbers)
    sides = [max(width, height) for width, height in sizes if width and height]
    if largest <= 1:
        return "normalised_1"
    return "normalised_1000" if sides and min(sides) < largest <= 1000 else "pixels_stored"


def _to_pixels(
    numbers: Sequence[float], form: BoxForm, image: Mapping[str, Any], sent: SentBoxes
) -> tuple[list[float], bool]:
    """Return x, y, width, height in pixels of the stored image, and whether that is sure."""
    left, top, right, bottom = corners_of(numbers, form.corners)
    width, height = image.get("width"), image.get("height")
    if not width or not height:
        sure = form.convention == "pixels_stored"
        return [left, top, right - left, bottom - top], sure
    across, down, sure = 1.0, 1.0, True
    if whole := WHOLE.get(form.convention):
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

    def take(self, row: Row, case_id: str, models: Sequence[str]) -> bool:
        """Take the boxes of a row; False when it has none."""
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

    def take_grounded(self, row: Row, case_id: str) -> dict[str, Any]:
        """Take the sentences of a grounded report (PadChest-GR), which stays in the row as a text.

        Returns what they say of the case: normal, labels, the report in other languages.
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

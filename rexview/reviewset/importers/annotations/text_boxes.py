"""Boxes inside the texts of answers, read as a run of the model reads them.

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

from rexview.reviewset.importers.annotations.box_values import parse_boxes
from rexview.reviewset.importers.core.row_table import Row
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.tables.source import At
from rexview.written_boxes.forms import WHOLE, BoxForm, Convention, SentBoxes, sent_boxes
from rexview.written_boxes.texts import Found, WrittenBox, boxes_in_text, without_marks

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

    What was read, and how, is said for each model of each file.
    """
    said: dict[tuple[str, str], list[tuple[int, bool, Convention]]] = {}
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
        said.setdefault((at.file, model), []).append((len(boxes), unsure, convention))
    _say(said, points, rows)


def _say(
    said: Mapping[tuple[str, str], Sequence[tuple[int, bool, Convention]]],
    points: Mapping[tuple[str, str], int],
    rows: SetRows,
) -> None:
    for (file, model), found in said.items():
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
) -> tuple[list[Row], bool, Convention]:
    """Return boxes in pixels of the stored images, whether they are unsure, and how they count."""
    images = case.get("images") or []
    first = next((one for one in images if one.get("key")), images[0] if images else None)
    form, unsure = sent.form, False
    sizes = [(one.get("width"), one.get("height")) for one in images]
    if form.convention == "unknown":
        form, unsure = replace(form, convention=_likeliest(written, sizes)), True
    found: list[Row] = []
    for one in written:
        image = _image_of(one, images) or first
        if image is None:
            continue
        own = replace(form, corners=one.corners) if one.corners else form
        box, is_sure = _to_pixels(one.numbers, own, image, sent)
        unsure = unsure or not is_sure
        row: Row = {"image": image.get("id"), "label": _label(one), "box": box}
        found.append(row if one.score is None else row | {"score": one.score})
    return [row | ({"unsure": True} if unsure else {}) for row in found], unsure, form.convention


def _label(one: WrittenBox) -> str:
    side = one.side or ""
    return f"{side} {one.label}".strip() if side not in one.label.lower() else one.label


def _image_of(one: WrittenBox, images: Sequence[Row]) -> Row | None:
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
    numbers: Sequence[float], form: BoxForm, image: Row, sent: SentBoxes
) -> tuple[list[float], bool]:
    """Return x, y, width, height in pixels of the stored image, and whether that is sure."""
    a, b, c, d = numbers
    match form.corners:
        case "yxyx":
            left, top, right, bottom = b, a, d, c
        case "xywh":
            left, top, right, bottom = a, b, a + c, b + d
        case "cxcywh":
            left, top, right, bottom = a - c / 2, b - d / 2, a + c / 2, b + d / 2
        case _:
            left, top, right, bottom = a, b, c, d
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

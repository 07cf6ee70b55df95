"""Boxes in one value: four numbers as a list, as text, as an object, and lists of such."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rexview.reviewset.importers.annotations.box_reading import Shape, four_numbers

_IN_A_NAME: Final[dict[str, Shape]] = {
    "xywh": "xywh",
    "xywidthheight": "xywh",
    "lefttopwidthheight": "xywh",
    "x1y1x2y2": "xyxy",
    "xminyminxmaxymax": "xyxy",
    "x0y0x1y1": "xyxy",
    "xyxy": "xyxy",
    "lefttoprightbottom": "xyxy",
    "y1x1y2x2": "yxyx",
    "yminxminymaxxmax": "yxyx",
    "box2d": "yxyx",
    "cxcywh": "cxcywh",
    "xcenterycenterwidthheight": "cxcywh",
}
"""What the name of a column of whole boxes says, its letters and digits only."""
_NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_LABELS: Final = ("label", "finding", "class", "class_name", "category", "name", "phrase")
_SCORES: Final = ("score", "confidence", "probability")
_PARTS: Final[tuple[tuple[tuple[str, ...], Shape], ...]] = (
    (("x", "y", "width", "height"), "xywh"),
    (("x", "y", "w", "h"), "xywh"),
    (("x1", "y1", "x2", "y2"), "xyxy"),
    (("xmin", "ymin", "xmax", "ymax"), "xyxy"),
    (("x_min", "y_min", "x_max", "y_max"), "xyxy"),
    (("left", "top", "right", "bottom"), "xyxy"),
    (("left", "top", "width", "height"), "xywh"),
    (("cx", "cy", "w", "h"), "cxcywh"),
)
_DEEPEST: Final = 5


@dataclass(frozen=True)
class BoxValue:
    """A box as written: its numbers, what is said beside them, and the shape that names tell."""

    numbers: tuple[float, float, float, float]
    label: str = ""
    score: float | None = None
    shape: Shape | None = None


def shape_in_name(name: str) -> Shape | None:
    """Return the shape that a column of whole boxes is named for.

    >>> shape_in_name("Bbox [x,y,w,h]"), shape_in_name("box_xyxy"), shape_in_name("box")
    ('xywh', 'xyxy', None)
    """
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    without = re.sub(r"^(bounding)?b?box(es)?(coords|coordinates)?", "", letters)
    return _IN_A_NAME.get(without) or _IN_A_NAME.get(letters)


def parse_boxes(value: Any, depth: int = 0) -> list[BoxValue] | None:
    """Return the boxes that a value holds; None when it holds anything else.

    >>> [box.numbers for box in parse_boxes("[10, 20, 30, 40]") or ()]
    [(10.0, 20.0, 30.0, 40.0)]
    >>> parse_boxes("[]"), parse_boxes("no box here")
    ([], None)
    """
    if isinstance(value, str):
        value = _of_text(value)
    if isinstance(value, Mapping):
        return _of_object(value, depth)
    if not isinstance(value, list | tuple) or depth > _DEEPEST:
        return None
    if value and all(isinstance(one, list | tuple | Mapping) for one in value):
        found = [parse_boxes(one, depth + 1) for one in value]
        return None if None in found else [box for boxes in found for box in boxes or ()]
    if not value:
        return []
    numbers = four_numbers(value)
    return None if numbers is None else [BoxValue(numbers)]


def _of_text(text: str) -> Any:
    try:
        return json.loads(text.replace("(", "[").replace(")", "]"))
    except (ValueError, RecursionError):
        if re.sub(r"[-\d.,;:eE+\s()\[\]{}%]", "", text):
            return None  # words, so no box
        return [word.replace(",", ".") for word in _NUMBER.findall(text)]


def _of_object(value: Mapping[str, Any], depth: int) -> list[BoxValue] | None:
    keys = {str(key).lower(): key for key in value}
    label = next((str(value[keys[name]]) for name in _LABELS if name in keys), "")
    score = next((value[keys[name]] for name in _SCORES if name in keys), None)
    rated = four_numbers([score, 0, 0, 0])
    for parts, shape in _PARTS:
        if keys.keys() >= set(parts):
            numbers = four_numbers([value[keys[part]] for part in parts])
            found = None if numbers is None else [BoxValue(numbers, shape=shape)]
            break
    else:
        name = next((key for key in value if _names_a_box(str(key))), None)
        found = None if name is None else parse_boxes(value[name], depth + 1)
        told = shape_in_name(name) if name is not None else None
        if found and told:
            found = [replace(box, shape=box.shape or told) for box in found]
    if found is None:
        return None
    return [
        replace(box, label=box.label or label, score=rated[0] if rated else box.score)
        for box in found
    ]


def _names_a_box(key: str) -> bool:
    plain = re.sub(r"[^a-z0-9]", "", key.lower())
    return shape_in_name(key) is not None or plain in (
        *("box", "bbox", "boundingbox", "boxes", "bboxes", "boundingboxes", "coordinates"),
    )


def parallel(
    boxes: Sequence[BoxValue], labels: Sequence[str], scores: Sequence[float | None]
) -> list[BoxValue] | None:
    """Give each box of a list its own label and score; None where the lists do not fit.

    A list of one label is that of all boxes.
    """
    if len(labels) > 1 and len(labels) != len(boxes):
        return None
    words = list(labels) * len(boxes) if len(labels) == 1 else list(labels) or [""] * len(boxes)
    rated = list(scores) if len(scores) == len(boxes) else [None] * len(boxes)
    return [
        replace(box, label=box.label or word, score=box.score if score is None else score)
        for box, word, score in zip(boxes, words, rated, strict=True)
    ]


def prediction_string(cells: Sequence[str]) -> int | None:
    """Return how many numbers a box has in a column of prediction strings: 5, 6, or None.

    Kaggle's RSNA has confidence, x, y, width, height; VinBigData has class, confidence and corners.
    The class may be a word.

    >>> prediction_string(["0.9 264 152 213 379", "0.5 10 20 30 40 0.4 1 2 3 4"])
    5
    >>> prediction_string(["14 1 0 0 1 1", "3 0.9 691 1375 1653 1831"])
    6
    """
    for size in (6, 5):
        if cells and all(_fits_string(cell.replace(",", " ").split(), size) for cell in cells):
            return size
    return None


def _fits_string(words: Sequence[str], size: int) -> bool:
    if not words or len(words) % size:
        return False
    scores = words[size - 5 :: size]
    numbers = [word for place, word in enumerate(words) if size == 5 or place % size]
    if four_numbers([*scores[:1], 0, 0, 0]) is None or not all(map(_NUMBER.fullmatch, numbers)):
        return False
    classes = words[::size] if size == 6 else []
    whole = all(word.isdigit() or not _NUMBER.fullmatch(word) for word in classes)
    return whole and all(0 <= float(score) <= 1 for score in scores)


def boxes_of_string(cell: str, size: int) -> list[BoxValue]:
    """Return the boxes of a prediction string; one of one pixel in the corner says no finding."""
    words = cell.replace(",", " ").split()
    found = []
    for start in range(0, len(words), size):
        *label, score, a, b, c, d = words[start : start + size]
        numbers = four_numbers([a, b, c, d])
        if numbers is not None:
            shape: Shape = "xywh" if size == 5 else "xyxy"
            found.append(BoxValue(numbers, "".join(label), float(score), shape))
    return found


def says_no_finding(box: BoxValue) -> bool:
    """Whether an entry of a prediction string is the mark for an image without a finding."""
    return box.numbers == (0.0, 0.0, 1.0, 1.0)

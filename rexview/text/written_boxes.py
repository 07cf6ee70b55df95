"""Read boxes as models write them into texts, in their various conventions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from rexview.package_data import read_package_table

# Conventions for boxes: the order of the numbers, and their unit.

Convention = Literal[
    "pixels_sent", "pixels_stored", "normalised_1000", "normalised_100", "normalised_1", "unknown"
]
"""Unit of a model's boxes: pixels of the picture as sent or as stored, or parts of the picture as
sent (0 to 1000, 0 to 100, 0 to 1).
"""
Corners = Literal["xyxy", "yxyx", "xywh", "cxcywh"]
UNIT_LENGTHS: Final[dict[Convention, float]] = {
    "normalised_1000": 1000.0,
    "normalised_100": 100.0,
    "normalised_1": 1.0,
}
"""Width or height of the picture in conventions that use parts of it."""
Named = tuple[tuple[str, str, str, str], Corners]
NAMED_EDGES: Final[tuple[Named, ...]] = (
    (("x1", "y1", "x2", "y2"), "xyxy"),
    (("xmin", "ymin", "xmax", "ymax"), "xyxy"),
    (("x_min", "y_min", "x_max", "y_max"), "xyxy"),
    (("left", "top", "right", "bottom"), "xyxy"),
)
"""Fields of an object that are the edges of a box, and the order of its numbers."""
NAMED_SIZES: Final[tuple[Named, ...]] = (
    (("x", "y", "width", "height"), "xywh"),
    (("x", "y", "w", "h"), "xywh"),
)
"""Fields that are a position and a size."""
NAMED_OFFSETS: Final[Named] = (("left", "top", "width", "height"), "xywh")
"""The same in the terms of CSS; used if nothing else names a box."""
NAMED_CENTRES: Final[Named] = (("cx", "cy", "w", "h"), "cxcywh")
SCORES: Final = ("score", "confidence", "probability")
"""Fields for a model's confidence in a box, in order of preference."""
_LIMITS: Final = ("longest_side", "most_pixels", "square")
_MODELS: Final = Path(__file__).with_name("model_boxes.yaml")


@dataclass(frozen=True)
class BoxForm:
    """How a model writes boxes.

    ``key`` is the JSON field of the coordinates; ``source`` is the origin of this information.
    ``calibrated`` is the date and prompt, set by the phantom.
    """

    convention: Convention = "unknown"
    corners: Corners = "xyxy"
    key: str = "box"
    source: str = ""
    calibrated: str = ""


@dataclass(frozen=True)
class ModelBoxes:
    """How a known model writes boxes, and the usual limits of its pictures.

    ``longest_side`` and ``most_pixels`` limit the picture, None for no limit. A ``square`` picture
    is padded to a square.
    """

    form: BoxForm = BoxForm()
    longest_side: int | None = None
    most_pixels: int | None = None
    square: bool = False


def order_corners(numbers: Iterable[Any], corners: Corners) -> tuple[Any, Any, Any, Any]:
    """Return left, top, right, bottom from four numbers, or arrays, in a given order."""
    a, b, c, d = numbers
    match corners:
        case "xyxy":
            return a, b, c, d
        case "yxyx":
            return b, a, d, c
        case "xywh":
            return a, b, a + c, b + d
        case _:
            return a - c / 2, b - d / 2, a + c / 2, b + d / 2


_IN_A_NAME: Final[dict[str, Corners]] = {
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
"""Orders implied by names of whole boxes (letters and digits only)."""


def corners_in_name(name: str) -> Corners | None:
    """Return the order of numbers implied by the name of a field or column of whole boxes.

    >>> corners_in_name("Bbox [x,y,w,h]"), corners_in_name("box_xyxy"), corners_in_name("box")
    ('xywh', 'xyxy', None)
    """
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    without = re.sub(r"^(bounding)?b?box(es)?(coords|coordinates)?", "", letters)
    return _IN_A_NAME.get(without) or _IN_A_NAME.get(letters)


def find_model_boxes(model: str) -> ModelBoxes:
    """Return how a model writes boxes, by its name; unknown without an entry."""
    known = dict(find_box_settings(model))
    return ModelBoxes(known.pop("boxes", BoxForm()), **known)


def find_box_settings(model: str) -> Mapping[str, Any]:
    """Return the form of a model's ``boxes`` and the limits of its pictures; empty if unknown."""
    name = model.lower().rstrip("/\\")
    names = {name, name.replace("\\", "/").rpartition("/")[2], name.replace("_", "-")}
    for entry in _entries():
        if any(fnmatchcase(one, pattern) for one in names for pattern in entry["match"]):
            return {
                "boxes": BoxForm(**entry["boxes"]),
                **{key: entry[key] for key in _LIMITS if key in entry},
            }
    return {}


@cache
def _entries() -> tuple[Mapping[str, Any], ...]:
    return tuple(read_package_table(_MODELS)["models"])


# Boxes in the output of models and tools: JSON, also inside a text, tags, lists in prose.
#
# Models write boxes as JSON (in a fence, after "Final Answer:", in the middle of a sentence), as
# ``<box>(x, y), (x, y)</box>``, or in words: ``right effusion: [12, 30, 200, 400]``. JSON takes
# precedence over tags, and tags over prose. Four numbers that cannot be read are reported, never
# ignored.

MOST_READ: Final = 400_000
"""Characters of a text that are searched for boxes."""
MOST_BOXES: Final = 500
_MOST_STARTS: Final = 1_000
_DEEPEST: Final = 8
_LARGEST: Final = 1e9
_KEYS: Final[dict[str, Corners | None]] = {
    "box_2d": "yxyx",
    "bbox_2d": "xyxy",
    "box": None,
    "bbox": None,
    "bounding_box": None,
    "boundingbox": None,
    "coordinates": None,
    "location": None,
}
"""Fields that contain a box, with the order that their name implies, if any."""
_HOLDS_BOXES: Final = re.compile(r"(?:bounding)?b?box(?:es)?|coordinates")
_NAMED: Final = (*NAMED_EDGES, *NAMED_SIZES, NAMED_OFFSETS, NAMED_CENTRES)
_LABELS: Final = (
    *("label", "finding", "class", "class_name", "category", "name", "phrase", "text"),
    "description",
)
_IMAGES: Final = ("image", "image_number", "image_index", "image_id")
_START: Final = re.compile(r"[\[{]")
_NUMBER: Final = r"[-+]?\d{1,6}(?:\.\d{1,8})?"
_PAIRS: Final = rf"\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\)"
_TAG: Final = re.compile(
    rf"<\|?box(?:_start)?\|?>\s*(?:{_PAIRS}\s*,?\s*{_PAIRS}|\[*\s*({_NUMBER})\s*,\s*({_NUMBER})"
    rf"\s*,\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\]*)\s*<(?:\|?/box\|?|\|box_end\|)>",
    re.IGNORECASE,
)
_REF: Final = re.compile(
    r"<\|?(?:ref|object_ref_start)\|?>\s*([^<]{1,200}?)\s*<(?:\|?/ref\|?|\|object_ref_end\|)>\s*$",
    re.IGNORECASE,
)
_BINS: Final = re.compile(r"<x(\d{1,2})><y(\d{1,2})><x(\d{1,2})><y(\d{1,2})>")
"""A box in hundredths of the picture, for which MAIRA-2 has special tokens."""
_OBJECT: Final = re.compile(r"<obj>\s*(.*?)\s*(?:<box>|</obj>|$)", re.DOTALL)
_LIST: Final = re.compile(
    rf"[\[(]\s*({_NUMBER})\s*,\s*({_NUMBER})\s*,\s*({_NUMBER})\s*,\s*({_NUMBER})\s*[\])]"
)
_TAGS: Final = re.compile(r"<[^<>\n]{1,40}>")
_END: Final = re.compile(
    r"[\s:=*_`\"'“”–—([{-]+$"
    r"|\b(?:the )?(?:bounding[ -]?)?box(?:es)?(?: (?:is|are|at|coordinates))*$"
    r"|\b(?:is )?(?:located|seen|marked)?(?: ?(?:at|in|with|by))$|\bcoordinates?$",
    re.IGNORECASE,
)
"""Possible text between the name of a finding and its box."""
_START_OF_LINE: Final = re.compile(r"^(?:[-*•\s]+|\d{1,3}[.)]\s)+")
_APART: Final = re.compile(r"[.;!?,]\s|[\[\](){}|]")


@dataclass(frozen=True)
class WrittenBox:
    """A box as a model wrote it: its numbers and the model's description.

    ``corners`` is the order implied by its field names, None if they imply none. ``image`` is the
    number of the picture, from 1, or the id that was written.
    """

    numbers: tuple[float, float, float, float]
    label: str = ""
    side: str | None = None
    image: int | str | None = None
    score: float | None = None
    corners: Corners | None = None


@dataclass(frozen=True)
class ParsedBoxes:
    """The boxes of a text, and the number of things that looked like boxes but are none."""

    boxes: tuple[WrittenBox, ...] = ()
    unread: int = 0


def boxes_in_value(value: Any, form: BoxForm, *, bare: bool = True) -> ParsedBoxes:
    """Find the boxes in a JSON value, at any depth; ``bare``: four numbers alone may be one."""
    found: list[WrittenBox] = []
    unread = _gather(value, form, found, 0, bare=bare)
    return ParsedBoxes(tuple(found[:MOST_BOXES]), unread + max(0, len(found) - MOST_BOXES))


def parse_boxes(value: Any) -> list[WrittenBox] | None:
    """Return the boxes of a value that contains nothing else; None if it does.

    >>> [box.numbers for box in parse_boxes("[10, 20, 30, 40]") or ()]
    [(10.0, 20.0, 30.0, 40.0)]
    >>> parse_boxes("[]"), parse_boxes("no box here")
    ([], None)
    """
    found: list[WrittenBox] = []
    return None if _gather(value, BoxForm(), found, 0, strict=True) else found


def boxes_in_text(text: str, form: BoxForm, *, bare: bool = True) -> ParsedBoxes:
    """Find the boxes in a free text.

    ``bare`` is True if four numbers alone may be one: ribs [4, 5, 6, 7] are none.
    """
    text = text[:MOST_READ]
    boxes: list[WrittenBox] = []
    unread = 0
    prose = text
    for value, start, end in _json_values(text):
        prose = prose[:start] + " " * (end - start) + prose[end:]
        found = boxes_in_value(value, form, bare=bare)
        unread += found.unread
        if found.boxes:
            if found.boxes[0].label == "" and len(found.boxes) == 1:
                alone = found.boxes[0]  # [1, 2, 3, 4] in a sentence
                label = _label_before(text[:start])
                boxes.append(WrittenBox(alone.numbers, label, corners=alone.corners))
            else:
                boxes += found.boxes
    if not boxes:
        for match in _TAG.finditer(text):
            numbers = four_numbers([one for one in match.groups() if one is not None])
            reference = _REF.search(text, max(0, match.start() - 300), match.start())
            label = reference[1] if reference else _label_before(text[: match.start()])
            if numbers is not None:
                boxes.append(WrittenBox(numbers, label, corners="xyxy"))
    if not boxes:
        boxes += _of_bins(text)
    if not boxes and bare:
        for match in _LIST.finditer(prose):
            numbers = four_numbers(match.groups())
            if numbers is not None:
                boxes.append(WrittenBox(numbers, _label_before(prose[: match.start()])))
    kept = list(dict.fromkeys(boxes))
    return ParsedBoxes(tuple(kept[:MOST_BOXES]), unread + max(0, len(kept) - MOST_BOXES))


def _of_bins(text: str) -> Iterator[WrittenBox]:
    """Yield the boxes of a grounded report of MAIRA-2, as fractions of the picture."""
    for match in _BINS.finditer(text):
        start = text.rfind("<obj>", 0, match.start())
        label = _OBJECT.match(text, start) if start >= 0 else None
        a, b, c, d = ((int(bin) + 0.5) / 100 for bin in match.groups())
        yield WrittenBox((a, b, c, d), label[1] if label else "", corners="xyxy")


def strip_box_marks(text: str) -> str:
    """Return a grounded report without the marks of its objects and boxes.

    >>> trip_box_marks(
    ...     "<obj> An effusion.<box><x5><y27><x44><y66></box></obj><obj> No mass.</obj>"
    ... )
    'An effusion. No mass.'
    """
    if not _BINS.search(text) and "<obj>" not in text:
        return text
    plain = re.sub(r"</?(?:obj|box)>", " ", _BINS.sub("", text))
    return " ".join(plain.split())


def _json_values(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield the JSON objects and lists anywhere in a text, outermost ones only."""
    decoder = json.JSONDecoder(parse_int=_bounded_int)
    at = tried = 0
    while tried < _MOST_STARTS and (match := _START.search(text, at)):
        tried += 1
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.end()
            continue
        yield value, match.start(), end
        at = end


def _bounded_int(digits: str) -> float:
    return float(digits) if len(digits) > 15 else int(digits)


def _gather(
    value: Any,
    form: BoxForm,
    found: list[WrittenBox],
    depth: int,
    *,
    bare: bool = True,
    strict: bool = False,
) -> int:
    """Add the boxes of a value; return the number of things that looked like boxes but are none.

    ``bare`` is True if four numbers alone may be one: not in a field about something else. With
    ``strict`` anything that is no box counts, and a text may contain the numbers.
    """
    if strict and isinstance(value, str):
        value = _of_text(value)
    if depth > _DEEPEST or not isinstance(value, Mapping | list | tuple):
        return int(strict)
    if isinstance(value, Mapping):
        return _of_object(value, form, found, depth, strict=strict)
    inner = [one for one in value if isinstance(one, list | tuple | Mapping)]
    if value and not inner and (strict or not any(isinstance(one, str) for one in value)):
        numbers = four_numbers(value) if bare else None
        if numbers is not None:
            found.append(WrittenBox(numbers))
        return int(strict and numbers is None)
    others = sum(one is not None for one in value) - len(inner) if strict else 0
    return others + sum(
        _gather(one, form, found, depth + 1, bare=bare, strict=strict) for one in inner
    )


def _of_text(text: str) -> Any:
    """Return the numbers in a text as JSON or a list; None if it contains words."""
    try:
        return json.loads(text.replace("(", "[").replace(")", "]"))
    except (ValueError, RecursionError):
        if re.sub(r"[-\d.,;:eE+\s()\[\]{}%]", "", text):
            return None
        words = re.findall(r"-?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?", text)
        return [word.replace(",", ".") for word in words]


def _of_object(
    value: Mapping[str, Any],
    form: BoxForm,
    found: list[WrittenBox],
    depth: int,
    *,
    strict: bool,
) -> int:
    keys = {str(key).lower(): key for key in value}
    named = next((names for names in _NAMED if keys.keys() >= set(names[0])), None)
    if named is not None:
        numbers = four_numbers([value[keys[name]] for name in named[0]])
        if numbers is None:
            return 1
        found.append(_described(WrittenBox(numbers), value, keys, named[1]))
        return 0
    held = [name for name in (form.key.lower(), *_KEYS) if name in keys]
    if strict and not held:
        held = [name for name in keys if corners_in_name(name) or _holds_boxes(name)]
    if not held:
        return strict or sum(
            _gather(value[key], form, found, depth + 1, bare="box" in name)
            for name, key in keys.items()
        )
    name = held[0]
    # a phantom has shown the order, whatever the field's name usually implies
    known = name == form.key.lower() or bool(form.calibrated)
    corners = None if known else _KEYS.get(name) or corners_in_name(name)
    inner: list[WrittenBox] = []
    given = value[keys[name]]
    nothing = given is None or (given == [] and not strict)
    unread = 0 if nothing else _gather(given, form, inner, depth + 1, strict=True)
    found += [_described(one, value, keys, one.corners or corners) for one in inner]
    return unread


def _holds_boxes(name: str) -> bool:
    return _HOLDS_BOXES.fullmatch(re.sub(r"[^a-z0-9]", "", name)) is not None


def _described(
    box: WrittenBox, value: Mapping[str, Any], keys: Mapping[str, str], corners: Corners | None
) -> WrittenBox:
    """Return a box with the description in the object that contains it."""

    def first(names: Sequence[str]) -> Any:
        return next((value[keys[name]] for name in names if name in keys), None)

    label, side, image = first(_LABELS), first(("side",)), first(_IMAGES)
    plain = isinstance(image, int | str) and not isinstance(image, bool)
    score = one_number(first(SCORES))
    return WrittenBox(
        box.numbers,
        str(label).strip() if isinstance(label, str | int | float) and label != "" else box.label,
        side.strip().lower() if isinstance(side, str) else box.side,
        image if plain else box.image,
        box.score if score is None else score,
        corners,
    )


def four_numbers(values: Sequence[Any]) -> tuple[float, float, float, float] | None:
    """Return four finite numbers of a reasonable size, or None."""
    if len(values) != 4 or any(isinstance(one, bool) for one in values):
        return None
    try:
        a, b, c, d = (float(one) for one in values)
    except (TypeError, ValueError, OverflowError):
        return None
    within = all(abs(one) <= _LARGEST for one in (a, b, c, d))  # False for a NaN
    return (a, b, c, d) if within else None


def one_number(value: Any) -> float | None:
    """Return a finite number of a reasonable size, or None."""
    found = four_numbers((value, 0, 0, 0))
    return found[0] if found else None


def _label_before(text: str) -> str:
    """Return the words right before a box in prose."""
    words = _TAGS.sub("", text[-200:].replace("**", "")).rpartition("\n")[2]
    before = ""
    while words != before:
        before, words = words, _END.sub("", words)
    words = _APART.split(_START_OF_LINE.sub("", words))[-1].strip()
    return words if re.search(r"[^\W\d_]", words) else ""

"""Boxes as models write them into texts: the ways they count, and how a text is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from rexview.package_data import read_table

# How models write boxes: the order of the numbers, and what they count in.

Convention = Literal[
    "pixels_sent", "pixels_stored", "normalised_1000", "normalised_100", "normalised_1", "unknown"
]
"""How a model counts in boxes: pixels of the picture as sent or as stored, or parts of the picture
as sent (0 to 1000, 0 to 100, 0 to 1)."""
Corners = Literal["xyxy", "yxyx", "xywh", "cxcywh"]
WHOLE: Final[dict[Convention, float]] = {
    "normalised_1000": 1000.0,
    "normalised_100": 100.0,
    "normalised_1": 1.0,
}
"""What the width or height of the picture is, in conventions that count in parts of it."""
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
"""Fields that are a place and a size."""
NAMED_OFFSETS: Final[Named] = (("left", "top", "width", "height"), "xywh")
"""The same in the words of a page's style: read where nothing else names a box."""
NAMED_CENTRES: Final[Named] = (("cx", "cy", "w", "h"), "cxcywh")
SCORES: Final = ("score", "confidence", "probability")
"""Fields that say how sure a model is of a box, the first of them first."""
_LIMITS: Final = ("longest_side", "most_pixels", "square")
_MODELS: Final = Path(__file__).with_name("model_boxes.yaml")


@dataclass(frozen=True)
class BoxForm:
    """How a model writes boxes.

    ``key`` is the JSON field of the coordinates, ``source`` says where this is known from.
    ``calibrated`` is written by the phantom: date and prompt.
    """

    convention: Convention = "unknown"
    corners: Corners = "xyxy"
    key: str = "box"
    source: str = ""
    calibrated: str = ""


@dataclass(frozen=True)
class SentBoxes:
    """How a model that is known by its name writes boxes, and what it is usually sent.

    ``longest_side`` and ``most_pixels`` bound the picture, None where nothing does; a ``square``
    one is padded to a square.
    """

    form: BoxForm = BoxForm()
    longest_side: int | None = None
    most_pixels: int | None = None
    square: bool = False


def corners_of(numbers: Iterable[Any], corners: Corners) -> tuple[Any, Any, Any, Any]:
    """Return left, top, right, bottom of four numbers, or arrays of them, in some order."""
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
"""What a name of whole boxes says, its letters and digits only."""


def corners_in_name(name: str) -> Corners | None:
    """Return the order of numbers that a field or column of whole boxes is named for.

    >>> corners_in_name("Bbox [x,y,w,h]"), corners_in_name("box_xyxy"), corners_in_name("box")
    ('xywh', 'xyxy', None)
    """
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    without = re.sub(r"^(bounding)?b?box(es)?(coords|coordinates)?", "", letters)
    return _IN_A_NAME.get(without) or _IN_A_NAME.get(letters)


def sent_boxes(model: str) -> SentBoxes:
    """Return how a model writes boxes, by its name; unknown where nothing says so."""
    known = dict(known_boxes(model))
    return SentBoxes(known.pop("boxes", BoxForm()), **known)


def known_boxes(model: str) -> Mapping[str, Any]:
    """Return the form of a model's ``boxes`` with the limits of its pictures; empty if unknown."""
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
    return tuple(read_table(_MODELS)["models"])


# Boxes as models and tools write them: JSON, also inside a text, tags, lists in prose.
#
# Models write boxes as JSON (in a fence, after "Final Answer:", in the middle of a sentence), as
# ``<box>(x, y), (x, y)</box>``, or in words: ``right effusion: [12, 30, 200, 400]``. JSON counts
# before tags, tags before prose. What has four numbers and cannot be read is told, never passed
# over.

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
"""Fields that hold a box, and the order that their name stands for, where it does for one."""
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
"""A box in the hundredths of a picture that MAIRA-2 has words for."""
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
"""What may stand between the name of a finding and its box."""
_START_OF_LINE: Final = re.compile(r"^(?:[-*•\s]+|\d{1,3}[.)]\s)+")
_APART: Final = re.compile(r"[.;!?,]\s|[\[\](){}|]")


@dataclass(frozen=True)
class WrittenBox:
    """A box as a model wrote it: its numbers, and what it says of them.

    ``corners`` is the order that its field names stand for, None where they say nothing. ``image``
    is the number of the picture, from 1, or the id that was written.
    """

    numbers: tuple[float, float, float, float]
    label: str = ""
    side: str | None = None
    image: int | str | None = None
    score: float | None = None
    corners: Corners | None = None


@dataclass(frozen=True)
class Found:
    """The boxes of a text, and how many things looked like one and are none."""

    boxes: tuple[WrittenBox, ...] = ()
    unread: int = 0


def boxes_in_value(value: Any, form: BoxForm, *, bare: bool = True) -> Found:
    """Find the boxes in a value of JSON, at any depth; ``bare``: four numbers alone may be one."""
    found: list[WrittenBox] = []
    unread = _gather(value, form, found, 0, bare=bare)
    return Found(tuple(found[:MOST_BOXES]), unread + max(0, len(found) - MOST_BOXES))


def parse_boxes(value: Any) -> list[WrittenBox] | None:
    """Return the boxes of a value that holds nothing else; None when it does.

    >>> [box.numbers for box in parse_boxes("[10, 20, 30, 40]") or ()]
    [(10.0, 20.0, 30.0, 40.0)]
    >>> parse_boxes("[]"), parse_boxes("no box here")
    ([], None)
    """
    found: list[WrittenBox] = []
    return None if _gather(value, BoxForm(), found, 0, strict=True) else found


def boxes_in_text(text: str, form: BoxForm, *, bare: bool = True) -> Found:
    """Find the boxes that a free text holds.

    ``bare`` says whether four numbers alone may be one: ribs [4, 5, 6, 7] are none.
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
    return Found(tuple(kept[:MOST_BOXES]), unread + max(0, len(kept) - MOST_BOXES))


def _of_bins(text: str) -> Iterator[WrittenBox]:
    """Yield the boxes of a grounded report of MAIRA-2, as fractions of the picture."""
    for match in _BINS.finditer(text):
        start = text.rfind("<obj>", 0, match.start())
        label = _OBJECT.match(text, start) if start >= 0 else None
        a, b, c, d = ((int(bin) + 0.5) / 100 for bin in match.groups())
        yield WrittenBox((a, b, c, d), label[1] if label else "", corners="xyxy")


def without_marks(text: str) -> str:
    """Return a grounded report without the marks of its objects and boxes.

    >>> without_marks("<obj> An effusion.<box><x5><y27><x44><y66></box></obj><obj> No mass.</obj>")
    'An effusion. No mass.'
    """
    if not _BINS.search(text) and "<obj>" not in text:
        return text
    plain = re.sub(r"</?(?:obj|box)>", " ", _BINS.sub("", text))
    return " ".join(plain.split())


def _json_values(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield the objects and lists of JSON that stand anywhere in a text, outermost ones."""
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
    """Add the boxes of a value; return how many things looked like one and are none.

    ``bare`` says whether four numbers alone are one: not in a field that is about something else.
    With ``strict`` whatever is no box counts, and a text may hold the numbers.
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
    """Return a text that holds numbers as JSON or a list; None where it has words."""
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
    # a phantom has shown the order, whatever the name of the field usually stands for
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
    """Return a box with what the object that holds it says of it."""

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
    """Return four finite numbers of a bearable size, or None."""
    if len(values) != 4 or any(isinstance(one, bool) for one in values):
        return None
    try:
        a, b, c, d = (float(one) for one in values)
    except (TypeError, ValueError, OverflowError):
        return None
    within = all(abs(one) <= _LARGEST for one in (a, b, c, d))  # not so for a NaN
    return (a, b, c, d) if within else None


def one_number(value: Any) -> float | None:
    """Return a finite number of a bearable size, or None."""
    found = four_numbers((value, 0, 0, 0))
    return found[0] if found else None


def _label_before(text: str) -> str:
    """Return the words right before a box that stands in prose."""
    words = _TAGS.sub("", text[-200:].replace("**", "")).rpartition("\n")[2]
    before = ""
    while words != before:
        before, words = words, _END.sub("", words)
    words = _APART.split(_START_OF_LINE.sub("", words))[-1].strip()
    return words if re.search(r"[^\W\d_]", words) else ""

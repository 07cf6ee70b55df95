"""How models write boxes: the order of the numbers, and what they count in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from rexview.own_tables import read_table

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

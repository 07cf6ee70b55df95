"""Boxes as tools write them: which four numbers they are, in which unit, and in which form.

The same four numbers are a different box to every tool: COCO writes ``x, y, width, height`` in
pixels, Pascal VOC corners, YOLO the centre in fractions of the image, Label Studio percent, several
vision-language models thousandths, some of them with y first. A reading is tried on all boxes of a
source at once: a wrong one puts some of them outside their images or turns them inside out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from rexview.written_boxes.forms import Corners, corners_of
from rexview.written_boxes.texts import WrittenBox, four_numbers, one_number

Unit = Literal["fraction", "percent", "per-mille", "pixels"]
Numbers = npt.NDArray[np.float64]

SHAPES: Final[tuple[Corners, ...]] = ("xywh", "xyxy", "yxyx", "cxcywh")
"""The likelier first."""
UNITS: Final[dict[Unit, float | None]] = {
    "fraction": 1.0,
    "percent": 100.0,
    "per-mille": 1000.0,
    "pixels": None,
}
"""What the whole width or height of an image is in each unit; None is the image's own size."""
_SHAPE_NAMES: Final[dict[Corners, str]] = {
    "xywh": "left, top, width, height",
    "xyxy": "left, top, right, bottom",
    "cxcywh": "centre, width, height",
    "yxyx": "top, left, bottom, right",
}
_UNIT_NAMES: Final[dict[Unit, str]] = {
    "fraction": "fractions of the image",
    "percent": "percent of the image",
    "per-mille": "thousandths of the image",
    "pixels": "pixels",
}
_OVER: Final = 0.01
"""How far, as a share of the image, a box may stick out before it counts as outside: models and
people round, and draw up to the very edge."""
_FITS: Final = 0.98
"""The share of boxes that have to be inside for a reading to fit."""
_CROWDED: Final = 0.6
"""Boxes that as pixels all lie in this corner of every image, and fill 0 to 100 or 0 to 1000 well,
are no pixels."""
_FILLS: Final = 0.6
_ENOUGH: Final = 5
"""Boxes from which on an empty rest of the image is more than chance."""


@dataclass(frozen=True)
class BoxReading:
    """How four numbers are read: ``xywh:pixels`` is COCO, ``cxcywh:fraction`` is YOLO."""

    shape: Corners
    unit: Unit

    def __str__(self) -> str:
        return f"{self.shape}:{self.unit}"

    @property
    def in_words(self) -> str:
        """For a person: ``left, top, width, height in pixels``."""
        return f"{_SHAPE_NAMES[self.shape]} in {_UNIT_NAMES[self.unit]}"

    @classmethod
    def parse(cls, text: str) -> BoxReading:
        """Read ``shape`` or ``shape:unit`` (pixels where it is left out).

        Raises ValueError when there is no such reading; the message completes "This option
        ...".
        """
        shape, _, unit = text.strip().lower().partition(":")
        for one in SHAPES:
            for known in UNITS:
                if (shape, unit or "pixels") == (one, known):
                    return cls(one, known)
        shapes, units = ", ".join(SHAPES), ", ".join(UNITS)
        raise ValueError(f"must be one of {shapes}, with a colon and one of {units}.")

    def to_pixels(self, numbers: Numbers, sizes: Numbers) -> Numbers:
        """Turn boxes as given, shape (n, 4), into x, y, width, height in pixels.

        ``sizes``, shape (n, 2), are width and height of each box's image in pixels. One that is not
        known is NaN, and so are then boxes in another unit than pixels.
        """
        whole = UNITS[self.unit]
        scale = np.ones_like(sizes) if whole is None else sizes / whole
        left, top, right, bottom = corners_of(numbers.T, self.shape)
        boxes = np.column_stack([left, top, right - left, bottom - top])
        return boxes * np.hstack([scale, scale])


@dataclass(frozen=True)
class ReadingProposal:
    """The reading that is proposed for all boxes of a source.

    ``others`` fit the values as well; ``sure`` says that there are none. ``why`` is a sentence,
    ``fits`` is False where not even the proposed reading puts the boxes inside their images;
    ``prescribed`` says that the format, its columns or a person give the reading.
    """

    reading: BoxReading
    others: tuple[BoxReading, ...]
    why: str
    fits: bool = True
    prescribed: bool = False

    @property
    def sure(self) -> bool:
        """Whether no other reading fits."""
        return not self.others


def propose_reading(
    boxes: Sequence[Sequence[float]],
    sizes: Sequence[tuple[float, float] | None],
    *,
    shapes: Sequence[Corners] = SHAPES,
    expected: BoxReading | None = None,
) -> ReadingProposal:
    """Find out how the boxes of a source, or of one model in it, are meant.

    ``boxes`` are four numbers each, one box at least, and ``sizes`` width and height of their
    images in pixels. ``shapes`` are those that the names of the columns allow, the likelier first:
    where several fit, the first is proposed. ``expected`` is what the format prescribes; it is
    taken where it fits or none does. Else it is the reading with most boxes inside their images.
    """
    numbers = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)
    extents = np.array([size or (np.nan, np.nan) for size in sizes], dtype=np.float64)
    finite = np.isfinite(numbers).all(axis=1)
    numbers, extents = numbers[finite], extents.reshape(-1, 2)[finite]
    units = _units(numbers, extents)
    if not np.isfinite(extents).any() and _are_corners(numbers):
        shapes = sorted(shapes, key=lambda shape: shape != "xyxy")
    tried = {
        reading: _share_inside(reading, numbers, extents)
        for one in units
        for reading in (BoxReading(each, one) for each in shapes)
    }
    if expected is not None and expected.unit != "pixels":  # tiny boxes fit pixels, too
        tried[expected] = _share_inside(expected, numbers, extents)
    fitting = [reading for reading, share in tried.items() if share >= _FITS]
    if expected is not None and (expected in fitting or not fitting):
        return ReadingProposal(expected, (), "The format says so.", prescribed=True)
    if fitting:
        best, others = fitting[0], tuple(fitting[1:])
        why = "It is the only reading that puts the boxes inside their images."
        if others:
            also = "; or ".join(one.in_words for one in others)
            why = f"The boxes would also fit as {also}."
        if best.unit == "fraction":
            why = f"All numbers lie between 0 and 1. {why}"
        return ReadingProposal(best, others, why)
    best = max(tried, key=lambda reading: tried[reading])
    outside = round((1 - tried[best]) * len(numbers))
    why = f"No reading puts all boxes inside their images; with this one {outside:,} are outside."
    return ReadingProposal(best, (), why, fits=False)


def _are_corners(numbers: Numbers) -> bool:
    """Whether every second pair is beyond the first: boxes of a size rarely all look so."""
    return len(numbers) > 1 and bool((numbers[:, 2:] > numbers[:, :2]).all())


def _units(numbers: Numbers, extents: Numbers) -> list[Unit]:
    """Return the units that the size of the numbers allows, the likelier first."""
    if not len(numbers):
        return ["pixels"]
    largest = float(numbers.max())
    if largest <= 1 + _OVER and float(numbers.min()) >= -_OVER:
        return ["fraction"]  # as pixels every box would be smaller than one
    known = np.isfinite(extents).all(axis=1)
    numbers, extents = numbers[known], extents[known]
    if not len(numbers):
        return ["pixels"]
    found: list[Unit] = []
    wholes: tuple[tuple[Unit, float], ...] = (("percent", 100.0), ("per-mille", 1000.0))
    for unit, whole in wholes:
        if largest > whole * (1 + _OVER):
            continue
        if (numbers.max(axis=1) > np.nanmax(extents, axis=1) * (1 + _OVER)).any():
            return [unit, *found, "pixels"]  # beyond their image, as pixels
        crowded = whole / float(np.nanmin(extents)) <= _CROWDED
        if crowded and len(numbers) >= _ENOUGH and largest >= whole * _FILLS:
            return [unit]
        if crowded and largest >= whole * _FILLS:
            found.append(unit)
    return ["pixels", *found]


def _share_inside(reading: BoxReading, numbers: Numbers, extents: Numbers) -> float:
    """Return the share of boxes that have an area and lie inside their image, 0 to 1."""
    if not len(numbers):
        return 1.0
    known = np.where(np.isfinite(extents), extents, np.inf if reading.unit == "pixels" else 1.0)
    x, y, width, height = reading.to_pixels(numbers, known).T
    over = np.where(np.isfinite(known), known * _OVER, 0.0)
    inside = (width > 0) & (height > 0) & (x >= -over[:, 0] - 1) & (y >= -over[:, 1] - 1)
    inside &= (x + width <= known[:, 0] + over[:, 0] + 1) & (
        y + height <= known[:, 1] + over[:, 1] + 1
    )
    return float(inside.mean())


def turned_box(
    box: tuple[float, float, float, float], degrees: float, *, about_centre: bool = False
) -> tuple[float, float, float, float]:
    """Return the upright box around one that is turned clockwise, x, y, width, height in pixels.

    It is turned about its left top corner (Label Studio), or about its centre (CVAT).

    >>> [round(one) for one in turned_box((500, 500, 200, 100), 90)]
    [400, 500, 100, 200]
    """
    x, y, width, height = box
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], dtype=np.float64)
    middle = np.array((width / 2, height / 2)) if about_centre else np.zeros(2)
    turned = (corners - middle) @ np.array(((cosine, sine), (-sine, cosine))) + middle
    left, top = (turned.min(axis=0) + np.array((x, y))).round(6).tolist()
    across, down = np.ptp(turned, axis=0).round(6).tolist()
    return left, top, across, down


def picture_size(width: Any, height: Any) -> tuple[int, int] | None:
    """Return width and height in pixels where a source says both, else None."""
    across, down = one_number(width), one_number(height)
    known = across is not None and down is not None and min(across, down) > 0
    return (int(across), int(down)) if known else None  # type: ignore[arg-type]


@dataclass(frozen=True)
class FoundBox:
    """A box of a source.

    ``image`` is what the source calls its picture: a path, a file name, a name without ending, or a
    number that the source gave it. ``numbers`` are as written. ``model`` is None for a reference
    box; ``size`` is width and height in pixels of the picture that the box was drawn on, where the
    source says so. ``row`` is where the box stands in its file, which ``file`` names where a source
    has many. ``extra`` is what else is said of it.
    """

    image: str | int
    label: str
    numbers: tuple[float, float, float, float]
    row: int
    model: str | None = None
    score: float | None = None
    size: tuple[int, int] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""


_NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")


def parallel(
    boxes: Sequence[WrittenBox], labels: Sequence[str], scores: Sequence[float | None]
) -> list[WrittenBox] | None:
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
    if one_number(scores[0]) is None or not all(map(_NUMBER.fullmatch, numbers)):
        return False
    classes = words[::size] if size == 6 else []
    whole = all(word.isdigit() or not _NUMBER.fullmatch(word) for word in classes)
    return whole and all(0 <= float(score) <= 1 for score in scores)


def boxes_of_string(cell: str, size: int) -> list[WrittenBox]:
    """Return the boxes of a prediction string; one of one pixel in the corner says no finding."""
    words = cell.replace(",", " ").split()
    found = []
    for start in range(0, len(words), size):
        *label, score, a, b, c, d = words[start : start + size]
        numbers = four_numbers([a, b, c, d])
        if numbers is not None:
            corners: Corners = "xywh" if size == 5 else "xyxy"
            found.append(WrittenBox(numbers, "".join(label), score=float(score), corners=corners))
    return found


def says_no_finding(box: WrittenBox) -> bool:
    """Whether an entry of a prediction string is the mark for an image without a finding."""
    return box.numbers == (0.0, 0.0, 1.0, 1.0)

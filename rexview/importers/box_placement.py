"""Read boxes of any convention and place them on the images of an import."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from rexview.geometry import box_problem
from rexview.importers.case_names import safe_path
from rexview.importers.set_rows import CaseImage, SetRows
from rexview.reviewset.tables.source import RowOrigin
from rexview.text.written_boxes import Corners, WrittenBox, four_numbers, one_number, order_corners

# Boxes are added as the reference or as a model's boxes.
#
# The same four numbers are a different box in every tool. COCO writes ``x, y, width, height`` in
# pixels, Pascal VOC corners, YOLO the centre in fractions of the image, Label Studio percent.
# Several vision-language models write thousandths, some of them with y first. If neither the format
# nor the user gives the reading, each one is tried on all boxes of a file and model at once: a
# wrong one puts some of them outside their images or turns them inside out. A picture that no
# source contains becomes a new case.

BoxUnit = Literal["fraction", "percent", "per-mille", "pixels"]
Numbers = npt.NDArray[np.float64]

SHAPES: Final[tuple[Corners, ...]] = ("xywh", "xyxy", "yxyx", "cxcywh")
"""The likelier shapes first."""
UNITS: Final[dict[BoxUnit, float | None]] = {
    "fraction": 1.0,
    "percent": 100.0,
    "per-mille": 1000.0,
    "pixels": None,
}
"""The whole width or height of an image in each unit; None is the image's own size in pixels."""
_SHAPE_NAMES: Final[dict[Corners, str]] = {
    "xywh": "left, top, width, height",
    "xyxy": "left, top, right, bottom",
    "cxcywh": "centre, width, height",
    "yxyx": "top, left, bottom, right",
}
_UNIT_NAMES: Final[dict[BoxUnit, str]] = {
    "fraction": "fractions of the image",
    "percent": "percent of the image",
    "per-mille": "thousandths of the image",
    "pixels": "pixels",
}
_OVER: Final = 0.01
"""How far, as a share of the image, a box may extend before it counts as outside: models and people
round, and draw up to the very edge."""
_FITS: Final = 0.98
"""The share of boxes that have to be inside for a reading to fit."""
_CROWDED: Final = 0.6
"""If all boxes, read as pixels, are in this corner of every image and fill 0 to 100 or 0 to 1000
well, they are not pixels."""
_FILLS: Final = 0.6
_ENOUGH: Final = 5
"""From this number of boxes on, an empty rest of the image is more than chance."""


@dataclass(frozen=True)
class BoxReading:
    """How four numbers are read: ``xywh:pixels`` is COCO, ``cxcywh:fraction`` is YOLO."""

    shape: Corners
    unit: BoxUnit

    def __str__(self) -> str:
        return f"{self.shape}:{self.unit}"

    @property
    def in_words(self) -> str:
        """The reading in words: ``left, top, width, height in pixels``."""
        return f"{_SHAPE_NAMES[self.shape]} in {_UNIT_NAMES[self.unit]}"

    @classmethod
    def parse(cls, text: str) -> BoxReading:
        """Read ``shape`` or ``shape:unit`` (pixels if left out).

        Raises ValueError for an unknown reading; the message completes "This option ...".
        """
        shape, _, unit = text.strip().lower().partition(":")
        for one in SHAPES:
            for known in UNITS:
                if (shape, unit or "pixels") == (one, known):
                    return cls(one, known)
        shapes, units = ", ".join(SHAPES), ", ".join(UNITS)
        raise ValueError(f"must be one of {shapes}, with a colon and one of {units}.")

    def to_pixels(self, numbers: Numbers, sizes: Numbers) -> Numbers:
        """Convert boxes as given, shape (n, 4), to x, y, width, height in pixels.

        ``sizes``, shape (n, 2), are the width and height of each box's image in pixels. An unknown
        size is NaN; boxes in other units than pixels then become NaN, too.
        """
        whole = UNITS[self.unit]
        scale = np.ones_like(sizes) if whole is None else sizes / whole
        left, top, right, bottom = order_corners(numbers.T, self.shape)
        boxes = np.column_stack([left, top, right - left, bottom - top])
        return boxes * np.hstack([scale, scale])


@dataclass(frozen=True)
class ReadingProposal:
    """The reading proposed for all boxes of a source.

    ``others`` fit the values as well; ``sure`` means that there are none. ``why`` is a sentence.
    ``fits`` is False if even the proposed reading leaves boxes outside their images. ``prescribed``
    means that the format, its columns or the user give the reading.
    """

    reading: BoxReading
    others: tuple[BoxReading, ...]
    why: str
    fits: bool = True
    prescribed: bool = False

    @property
    def sure(self) -> bool:
        """True if no other reading fits."""
        return not self.others


def propose_reading(
    boxes: Sequence[Sequence[float]],
    sizes: Sequence[tuple[float, float] | None],
    *,
    shapes: Sequence[Corners] = SHAPES,
    expected: BoxReading | None = None,
) -> ReadingProposal:
    """Propose a reading for the boxes of a source, or of one model in it.

    ``boxes`` are four numbers each, one box at least, and ``sizes`` the width and height of their
    images in pixels. ``shapes`` are those that the names of the columns allow, the likelier first;
    where several fit, the first is proposed. ``expected`` is the format's own reading; it is used
    if it fits or if none does. Otherwise the reading with most boxes inside their images is
    proposed.
    """
    numbers = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)
    extents = np.array([size or (np.nan, np.nan) for size in sizes], dtype=np.float64)
    finite = np.isfinite(numbers).all(axis=1)
    numbers, extents = numbers[finite], extents.reshape(-1, 2)[finite]
    units = _units(numbers, extents)
    # if the numbers are x, y and a size, the second pair is rarely larger than the first in all
    # boxes
    corners = len(numbers) > 1 and bool((numbers[:, 2:] > numbers[:, :2]).all())
    if corners and not np.isfinite(extents).any():
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


def _units(numbers: Numbers, extents: Numbers) -> list[BoxUnit]:
    """Return the units that fit the size of the numbers, the likelier first."""
    if not len(numbers):
        return ["pixels"]
    largest = float(numbers.max())
    if largest <= 1 + _OVER and float(numbers.min()) >= -_OVER:
        return ["fraction"]  # as pixels every box would be smaller than one
    known = np.isfinite(extents).all(axis=1)
    numbers, extents = numbers[known], extents[known]
    if not len(numbers):
        return ["pixels"]
    found: list[BoxUnit] = []
    wholes: tuple[tuple[BoxUnit, float], ...] = (("percent", 100.0), ("per-mille", 1000.0))
    for unit, whole in wholes:
        if largest > whole * (1 + _OVER):
            continue
        if (numbers.max(axis=1) > np.nanmax(extents, axis=1) * (1 + _OVER)).any():
            return [unit, *found, "pixels"]  # as pixels, they exceed their image
        crowded = whole / float(np.nanmin(extents)) <= _CROWDED
        if crowded and len(numbers) >= _ENOUGH and largest >= whole * _FILLS:
            return [unit]
        if crowded and largest >= whole * _FILLS:
            found.append(unit)
    return ["pixels", *found]


def _share_inside(reading: BoxReading, numbers: Numbers, extents: Numbers) -> float:
    """Return the share of boxes with an area and inside their image, 0 to 1."""
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


def upright_box(
    box: tuple[float, float, float, float], degrees: float, *, about_centre: bool = False
) -> tuple[float, float, float, float]:
    """Return the upright box around a box turned clockwise: x, y, width, height in pixels.

    It is turned about its top left corner (Label Studio), or about its centre (CVAT).

    >>> [round(one) for one in upright_box((500, 500, 200, 100), 90)]
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
    """Return width and height in pixels if a source gives both, else None."""
    across, down = one_number(width), one_number(height)
    known = across is not None and down is not None and min(across, down) > 0
    return (int(across), int(down)) if known else None  # type: ignore[arg-type]


@dataclass(frozen=True)
class SourceBox:
    """A box of a source.

    ``image`` is the source's name for the picture: a path, a file name, a name without ending, or a
    number that the source gave it. ``numbers`` are as written. ``model`` is None for a reference
    box. ``size`` is the width and height in pixels of the picture that the box was drawn on, if the
    source gives it. ``row`` is the place of the box in its file; ``file`` names the file if a
    source has many. ``extra`` has further fields.
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


def pair_labels(
    boxes: Sequence[WrittenBox], labels: Sequence[str], scores: Sequence[float | None]
) -> list[WrittenBox] | None:
    """Pair each box of a list with its own label and score; None if the lists do not fit.

    A list of one label applies to all boxes.
    """
    if len(labels) > 1 and len(labels) != len(boxes):
        return None
    words = list(labels) * len(boxes) if len(labels) == 1 else list(labels) or [""] * len(boxes)
    rated = list(scores) if len(scores) == len(boxes) else [None] * len(boxes)
    return [
        replace(box, label=box.label or word, score=box.score if score is None else score)
        for box, word, score in zip(boxes, words, rated, strict=True)
    ]


def prediction_string_size(cells: Sequence[str]) -> int | None:
    """Return the numbers per box in a column of prediction strings: 5, 6, or None.

    Kaggle's RSNA has confidence, x, y, width, height; VinBigData has class, confidence and corners.
    The class may be a word.

    >>> prediction_string_size(["0.9 264 152 213 379", "0.5 10 20 30 40 0.4 1 2 3 4"])
    5
    >>> prediction_string_size(["14 1 0 0 1 1", "3 0.9 691 1375 1653 1831"])
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
    """Return the boxes of a prediction string; a one-pixel box in the corner means no finding."""
    words = cell.replace(",", " ").split()
    found = []
    for start in range(0, len(words), size):
        *label, score, a, b, c, d = words[start : start + size]
        numbers = four_numbers([a, b, c, d])
        if numbers is not None:
            corners: Corners = "xywh" if size == 5 else "xyxy"
            found.append(WrittenBox(numbers, "".join(label), score=float(score), corners=corners))
    return found


def means_no_finding(box: WrittenBox) -> bool:
    """True if an entry of a prediction string marks an image without a finding."""
    return box.numbers == (0.0, 0.0, 1.0, 1.0)


class PictureCases:
    """Find or make the cases for the pictures of one file.

    Cases of other sources are found by the picture's name, whatever its folder. Two pictures of
    this file that differ only in their folder are two.
    """

    def __init__(self, rows: SetRows) -> None:
        self._rows = rows
        self._before = {case["id"] for case in rows.cases}

    def find(self, *names: str) -> CaseImage | None:
        """Return case and image of the first of these names that is known."""
        for name in names:
            path = safe_path(name)
            place = self._rows.find_case(image=path) if path else None
            case = (self._rows.case(place[0]) if place else None) or {}
            shows = any(image["path"] == path for image in case.get("images") or [])
            if place is not None and (place[0] in self._before or shows):
                return place
        return None

    def case_of(
        self,
        names: tuple[str, ...],
        at: RowOrigin,
        otherwise: str,
        *,
        study: str | None = None,
        image: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> str:
        """Add fields to a picture's case, and return the case's id.

        ``names`` are the picture's possible names; the first one is used if no source has the
        picture. ``study`` names a case of several pictures, ``image`` has further fields of the
        picture.
        """
        known = self.find(*names)
        path = safe_path(names[0]) if names else None
        case_id = study or (str(PurePosixPath(path).with_suffix("")) if path else otherwise)
        row: dict[str, Any] = {"id": known[0] if known else case_id, **fields}
        if known is None and path is not None:
            row["images"] = [{"path": path, **(image or {})}]
        return self._rows.add_case(row, at)


_SAME_SHAPE: Final = 0.01
_PICTURES_SHOWN: Final = 3
_NO_IMAGE: Final = "Its image is not there, or several have that name."

PictureSize = tuple[int, int]
PictureFinder = Callable[[SourceBox], CaseImage | None]


@dataclass(frozen=True)
class BoxPreview:
    """Some boxes of a file as they are read, for a check by the user before the import.

    ``pictures`` has up to three images (ids of the case and the image, size in pixels) with their
    boxes: label, and the four numbers as given, so that another reading can be tried.
    """

    file: str
    model: str | None
    count: int
    proposal: ReadingProposal
    pictures: tuple[
        tuple[str, str, PictureSize, tuple[tuple[str, tuple[float, float, float, float]], ...]], ...
    ]


@dataclass(frozen=True)
class _PlacedBox:
    found: SourceBox
    case: str
    image: str
    stored: PictureSize | None

    @property
    def size(self) -> PictureSize | None:
        """The size of the picture to which the numbers refer."""
        return self.found.size or self.stored


def place_boxes(
    found: Sequence[SourceBox],
    file: str,
    rows: SetRows,
    options: Mapping[str, Any],
    *,
    find: PictureFinder | None = None,
    shapes: Sequence[Corners] = SHAPES,
    expected: BoxReading | None = None,
    part: str = "",
    absent_from: str = "are not in the folder, or whose name occurs there more than once",
) -> int:
    """Add boxes to their cases, as the reference or to answers of their model; return their number.

    Boxes that cannot be drawn are added all the same, with a warning: where a model puts a box
    matters even if that is outside the image. Boxes measured on a picture of another size are
    scaled to the stored one if both have the same shape. If no source gives any image, cases are
    made from the names of the pictures.

    ``found`` are from one file, or from many small ones that are one export (``box.file`` is then
    the file). ``file`` and ``part`` name it and the list in it for the user. ``find`` returns case
    and image of a box; by default it uses the name of the picture. ``shapes`` are those that the
    names of the columns allow, ``expected`` is the format's own reading. ``absent_from`` completes
    "boxes are for images that ..." for images that are not found.
    """
    if find is None:
        if not any(True for _ in rows.images()):
            make_picture_cases(
                {str(box.image): box.size for box in reversed(found)}, file, rows, part
            )

        def find(box: SourceBox) -> CaseImage | None:
            name = str(box.image)
            return rows.find_case(image=name, case=name, at=_box_origin(box, file, part))

    targets = {one.image: find(one) for one in {box.image: box for box in found}.values()}
    images = {(case, image["id"]): image for case, image in rows.images()}
    groups: dict[str | None, list[_PlacedBox]] = {}
    absent = 0
    for box in found:
        target = targets[box.image]
        image = images.get((target[0], target[1] or "")) if target else None
        if target is None or image is None:
            absent += 1
            rows.receipt.unused(_box_origin(box, file, part), _NO_IMAGE)
            continue
        stored = picture_size(image.get("width"), image.get("height"))
        groups.setdefault(box.model, []).append(_PlacedBox(box, target[0], image["id"], stored))
    if absent:
        message = f"{absent:,} boxes are for images that {absent_from}; they were left out."
        remedy = "Nothing, if only some of the images are meant. Else give the images, too."
        rows.log.warning(file, message, remedy, field="image")
    said: BoxReading | Mapping[Any, BoxReading] | None = options.get("boxes_as")
    added = 0
    for model, boxes in groups.items():
        own = said.get((file, model)) if isinstance(said, Mapping) else said
        if own is not None:
            proposal = ReadingProposal(own, (), "It was said so.", prescribed=True)
        else:
            numbers, sizes = [one.found.numbers for one in boxes], [one.size for one in boxes]
            proposal = propose_reading(numbers, sizes, shapes=shapes, expected=expected)
        added += _add_group(model, boxes, file, rows, part, proposal)
    return added


def _add_group(
    model: str | None,
    boxes: Sequence[_PlacedBox],
    file: str,
    rows: SetRows,
    part: str,
    proposal: ReadingProposal,
) -> int:
    """Add the boxes of one model, or the reference, in one reading; return their number."""
    _log_reading(proposal, len(boxes), model, file, rows)
    rows.box_previews.append(_preview(file, model, boxes, proposal))
    reading = proposal.reading
    sizes = [one.size if reading.unit == "pixels" else one.stored or one.size for one in boxes]
    known = np.array([size or (np.nan, np.nan) for size in sizes], dtype=np.float64)
    numbers = np.array([one.found.numbers for one in boxes], dtype=np.float64)
    pixels = reading.to_pixels(numbers, known).round(6)
    added = scaled = 0
    for one, size, box in zip(boxes, sizes, pixels.tolist(), strict=True):
        at = _box_origin(one.found, file, part)
        if not np.isfinite(box).all():
            _keep_unplaced(one, reading, at, rows)
            continue
        drawn, was_scaled = _scaled(box, size, one.stored, at, rows)
        scaled += was_scaled
        problem = box_problem(drawn, *(one.stored or one.size or (None, None)))
        if problem:
            message = f"{problem} It is kept, and not drawn."
            rows.log.warning(at.file, message, "Correct the box.", row=at.row, field="box")
        row = {"image": one.image, "label": one.found.label, "box": drawn, **one.found.extra}
        if model is None:
            rows.add_boxes(one.case, one.image, [row], at)
        else:
            rows.add_model_boxes(one.case, model, [row | {"score": one.found.score}], at)
        added += 1
    if scaled:
        rows.log.note(f"{file}: {scaled:,} boxes were scaled to the size of their image file.")
    return added


def _log_reading(
    proposal: ReadingProposal, count: int, model: str | None, file: str, rows: SetRows
) -> None:
    whose = f"boxes of {model}" if model is not None else "reference boxes"
    how = proposal.reading.in_words
    rows.log.note(f"{file}: {count:,} {whose}, read as {how}.")
    certain = proposal.sure and proposal.fits and proposal.reading.unit == "pixels"
    if certain or proposal.prescribed:
        return
    message = f"The {whose} are read as {how}. {proposal.why}"
    remedy = f"Say how they are meant (option boxes-as), if not {proposal.reading}."
    rows.log.warning(file, message, remedy, field="box")


def _keep_unplaced(one: _PlacedBox, reading: BoxReading, at: RowOrigin, rows: SetRows) -> None:
    """Keep a box in relative units on an image of unknown size as an extra field of its case."""
    message = f"The box is in {reading.unit} of an image whose size is not known; it is kept as "
    message += "the extra field boxes_as_given, and not drawn."
    rows.log.warning(at.file, message, "Give the images, too.", row=at.row, field="box")
    case = rows.case(one.case)
    assert case is not None
    given: dict[str, Any] = {
        "image": one.image,
        "label": one.found.label,
        "numbers": [*one.found.numbers],
    }
    given |= {"reading": str(reading), "model": one.found.model}
    case["boxes_as_given"] = [*(case.get("boxes_as_given") or []), given]
    rows.receipt.used(at)


def _scaled(
    box: Sequence[float],
    size: PictureSize | None,
    stored: PictureSize | None,
    at: RowOrigin,
    rows: SetRows,
) -> tuple[list[float], bool]:
    if size is None or stored is None or size == stored:
        return list(box), False
    across, down = stored[0] / size[0], stored[1] / size[1]
    if abs(across / down - 1) > _SAME_SHAPE:
        message = "The box was measured on a picture of another shape than the image file; it may "
        message += "be misplaced."
        remedy = "Give the image that the boxes were drawn on."
        rows.log.warning(at.file, message, remedy, row=at.row, field="box")
        return list(box), False
    return [one * scale for one, scale in zip(box, (across, down) * 2, strict=True)], True


def _box_origin(box: SourceBox, file: str, part: str) -> RowOrigin:
    return RowOrigin(box.file or file, box.row, part)


def make_picture_cases(
    sizes: Mapping[str, PictureSize | None], file: str, rows: SetRows, part: str = ""
) -> None:
    """Make a case from each picture that a file names, with its size if known."""
    pictures = PictureCases(rows)
    for name, size in sizes.items():
        known = dict(zip(("width", "height"), size, strict=True)) if size else {}
        pictures.case_of((name,), RowOrigin(file, None, part), name, image=known)
    if sizes:
        rows.log.note(f"{file}: cases were made of the {len(sizes):,} pictures that it names.")


def _preview(
    file: str, model: str | None, boxes: Sequence[_PlacedBox], proposal: ReadingProposal
) -> BoxPreview:
    pictures: dict[tuple[str, str, PictureSize], list[_PlacedBox]] = {}
    for one in boxes:
        if one.size is not None:
            pictures.setdefault((one.case, one.image, one.size), []).append(one)
    fullest = sorted(pictures.items(), key=lambda item: -len(item[1]))[:_PICTURES_SHOWN]
    shown = tuple(
        (*place, tuple((one.found.label, one.found.numbers) for one in inside))
        for place, inside in fullest
    )
    return BoxPreview(file, model, len(boxes), proposal, shown)


def assign_model(found: Sequence[SourceBox], model: str | None) -> list[SourceBox]:
    """Return boxes as those of ``model``, if one is named."""
    return list(found) if model is None else [replace(box, model=model) for box in found]


def list_unread_kinds(unread: Mapping[str, int], file: str, rows: SetRows) -> None:
    """List kinds of annotations that are not read, with their numbers, in the receipt."""
    for kind, count in unread.items():
        why = f"{count:,} of them are there; they are not read."
        rows.receipt.column_unused(file, kind, None, why)

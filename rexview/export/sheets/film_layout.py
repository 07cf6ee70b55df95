"""Lay out a film with its boxes on a sheet, and their labels next to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2

from rexview.analysis.colours import REFERENCE_IMAGE_COLOUR
from rexview.export.export_records import ExportBox, ExportContent, ExportImage
from rexview.export.sheets.sheet import (
    INK,
    LINE_HEIGHT,
    SURFACE,
    BoxMark,
    Leader,
    Paragraph,
    Rectangle,
    SheetFilm,
    Tag,
    TextBlock,
    TextRun,
    break_paragraph,
    make_paragraph,
    printable_sheet_text,
    text_width,
)
from rexview.export.sheets.text_flow import column_height
from rexview.imaging.radiograph import Radiograph
from rexview.imaging.raster import encode_picture_file
from rexview.imaging.rendering import render_small

# A film on a sheet: the viewer's first display, as a JPEG of bounded size.

LONG_SIDE: Final = 1600
MAX_PICTURE_BYTES: Final = 1_200_000
_QUALITIES: Final = (92, 85, 75, 60, 40)


@dataclass(frozen=True, eq=False)
class SheetPicture:
    """A picture ready for a sheet; ``width`` and ``height`` are stored pixels.

    ``shape`` is its height / width on the sheet.
    """

    jpeg: bytes
    width: int
    height: int
    shape: float


def encode_picture(radiograph: Radiograph) -> SheetPicture:
    """Encode a decoded picture as JPEG: at most 1600 pixels on its long side, at most 1.2 MB."""
    small = render_small(radiograph, LONG_SIDE)
    content = b""
    for quality in _QUALITIES:
        content = encode_picture_file(small, ".jpg", [cv2.IMWRITE_JPEG_QUALITY, quality])
        if len(content) <= MAX_PICTURE_BYTES:
            break
    shape = radiograph.height * radiograph.aspect / radiograph.width
    return SheetPicture(content, radiograph.width, radiograph.height, shape)


TAG_SIZE: Final = 10.0
_TAG_HEIGHT: Final = 14.0
_TAG_PAD: Final = 3.0
_LABEL_WIDTH: Final = 86.0
_MOST_LABELS: Final = 12
"""With more boxes on a film, they only get numbers."""
_EDGE: Final = 4.0
_ON_FILM: Final = "#F2F2F2"


@dataclass(frozen=True)
class NumberedBox:
    """A box with its number on the sheet, from 1."""

    number: int
    box: ExportBox


def fit_place(shape: float, most: Rectangle) -> Rectangle:
    """Return the largest place of ``shape`` (height / width) within another, at its left."""
    width = min(most.width, most.height / shape)
    return Rectangle(most.x, most.y, width, width * shape)


def lay_out_film(
    content: ExportContent,
    image: ExportImage,
    made: SheetPicture | None,
    most: Rectangle,
    boxes: Sequence[NumberedBox],
) -> SheetFilm:
    """Lay out a film in a place with all boxes over it, as in the stored image.

    The boxes have numbers; a list next to the film explains them.
    """
    place = fit_place(_shape(image, made), most)
    marks = _marks(content, image, made, place, boxes)
    tags = [*_letters(image, place)]
    for one, mark in zip(boxes, marks, strict=False):
        tags.append(_tag(one.number, mark, place, [tag.place for tag in tags]))
    return _film(image, made, place, marks, tags, [])


def labelled_film(
    content: ExportContent,
    image: ExportImage,
    made: SheetPicture | None,
    most: Rectangle,
    boxes: Sequence[NumberedBox],
) -> tuple[SheetFilm, tuple[TextBlock, ...]]:
    """Lay out a film in a place with its boxes' labels next to it, so that nothing covers the lung.

    A thin line leads from each box to its label. If there is no room for all labels, the boxes get
    numbers (:func:`lay_out_film`) and no labels.
    """
    width, height = _size(image, made)
    if not width or not height or len(boxes) > _MOST_LABELS:
        return lay_out_film(content, image, made, most, boxes), ()
    at_left = [one.box.box[0] + one.box.box[2] / 2 < width / 2 for one in boxes]
    left = _LABEL_WIDTH + _EDGE if any(at_left) else 0.0
    right = _LABEL_WIDTH + _EDGE if not all(at_left) else 0.0
    inner = Rectangle(most.x + left, most.y, most.width - left - right, most.height)
    place = fit_place(_shape(image, made), inner)
    marks = _marks(content, image, made, place, boxes)
    labels: list[TextBlock] = []
    leaders: list[Leader] = []
    for is_left, x in ((True, most.x), (False, place.right + _EDGE)):
        own = [at for at, side in enumerate(at_left) if side == is_left]
        own.sort(key=lambda at: marks[at].place.y)
        words = [_label(content, boxes[at]) for at in own]
        heights = [column_height(one) for one in words]
        if sum(heights) + _EDGE * len(own) > place.height:
            return lay_out_film(content, image, made, most, boxes), ()
        for at, column, y in zip(
            own,
            words,
            _spread_labels([marks[one].place.y for one in own], heights, place),
            strict=True,
        ):
            mark = marks[at]
            beside = Rectangle(x, y, _LABEL_WIDTH, column_height(column))
            labels.append(TextBlock(beside, column, f"Label: {mark.told}", at_right=is_left))
            leaders.append(_leader(mark, beside, place, is_left=is_left))
    return _film(image, made, place, marks, _letters(image, place), leaders), tuple(labels)


def _size(image: ExportImage, made: SheetPicture | None) -> tuple[int, int]:
    """Return the width and height in stored pixels, 0 if unknown."""
    return (made.width, made.height) if made else (image.width or 0, image.height or 0)


def _shape(image: ExportImage, made: SheetPicture | None) -> float:
    width, height = _size(image, made)
    return made.shape if made else height / width if width and height else 1.0


def _marks(
    content: ExportContent,
    image: ExportImage,
    made: SheetPicture | None,
    place: Rectangle,
    boxes: Sequence[NumberedBox],
) -> list[BoxMark]:
    width, height = _size(image, made)
    if not width or not height:
        return []
    return [_mark(content, one, place_on_film(one.box.box, place, width, height)) for one in boxes]


def _film(
    image: ExportImage,
    made: SheetPicture | None,
    place: Rectangle,
    marks: Iterable[BoxMark],
    tags: Iterable[Tag],
    leaders: Iterable[Leader],
) -> SheetFilm:
    title = printable_sheet_text(image.title)
    return SheetFilm(
        place,
        made.jpeg if made else None,
        f"Film: {title}",
        f"Chest radiograph, {title}",
        tuple(marks),
        tuple(tags),
        tuple(leaders),
    )


def _label(content: ExportContent, one: NumberedBox) -> tuple[Paragraph, ...]:
    """Return a box's label: whose it is, and its finding."""
    box = one.box
    model = content.model(box.model) if box.model is not None else None
    swatch = TextRun("■ ", True, model.colour) if model else TextRun("□ ", True)
    name = TextRun(printable_sheet_text(model.name) if model else "Reference", True)
    words = " ".join(printable_sheet_text(box.label).split())
    every = [make_paragraph(swatch, name, size=TAG_SIZE)]
    every += [make_paragraph(words, size=TAG_SIZE)] if words else []
    return tuple(break_paragraph(line, _LABEL_WIDTH) for line in every)


def _spread_labels(
    wanted: Sequence[float], heights: Sequence[float], film: Rectangle
) -> list[float]:
    """Return the tops of labels in order, close to the wanted heights without overlap."""
    places: list[float] = []
    y = film.y
    for want, height in zip(wanted, heights, strict=True):
        y = max(y, want)
        places.append(y)
        y += height + _EDGE
    end = film.bottom
    for at in reversed(range(len(places))):
        places[at] = min(places[at], end - heights[at])
        end = places[at] - _EDGE
    return places


def _leader(mark: BoxMark, label: Rectangle, film: Rectangle, *, is_left: bool) -> Leader:
    """Return the line from a box's edge to the film's edge at its label."""
    y = label.y + TAG_SIZE * LINE_HEIGHT / 2
    box = mark.place
    at_box = (box.x if is_left else box.right, min(max(y, box.y), box.bottom))
    return Leader(at_box, (film.x if is_left else film.right, y), mark.colour)


def place_on_film(box: Sequence[float], film: Rectangle, width: int, height: int) -> Rectangle:
    """Return a box's place on the sheet, clipped to the film.

    ``width`` and ``height`` are stored pixels, like the box.
    """
    x, y, wide, high = box
    left, right = max(x, 0.0) / width, min(x + wide, width) / width
    top, bottom = max(y, 0.0) / height, min(y + high, height) / height
    return Rectangle(
        film.x + left * film.width,
        film.y + top * film.height,
        (right - left) * film.width,
        (bottom - top) * film.height,
    )


def readable_ink(colour: str) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    return SURFACE if _contrast(colour, SURFACE) >= _contrast(colour, INK) else INK


def _contrast(first: str, second: str) -> float:
    """Return the contrast as defined by WCAG 2, from 1 to 21."""
    dark, light = sorted((_luminance(first), _luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mark(content: ExportContent, one: NumberedBox, place: Rectangle) -> BoxMark:
    box = one.box
    label = printable_sheet_text(box.label).replace("\n", " ")
    if box.model is None:
        name = "Reference"
        return BoxMark(place, REFERENCE_IMAGE_COLOUR, f"{name}: {label}", f"{name}: {label}", True)
    model = content.model(box.model)
    name = printable_sheet_text(model.name)
    return BoxMark(place, model.colour, f"Box: {name}: {label}", f"{name}: {label}")


def _letters(image: ExportImage, film: Rectangle) -> Iterator[Tag]:
    """Yield letters for the patient's side at the film's edges, if known."""
    size = _TAG_HEIGHT
    middle = film.y + (film.height - size) / 2
    across = film.x + (film.width - size) / 2
    edges: Mapping[str, tuple[float, float]] = {
        "left": (film.x + _EDGE, middle),
        "right": (film.right - size - _EDGE, middle),
        "top": (across, film.y + _EDGE),
        "bottom": (across, film.bottom - size - _EDGE),
    }
    for edge, (x, y) in edges.items():
        letter = getattr(image.orientation, edge)
        if letter and (edge in ("left", "right") or image.orientation.turned):
            yield Tag(Rectangle(x, y, size, size), letter, None, _ON_FILM, f"Side at the {edge}")


def _tag(number: int, mark: BoxMark, film: Rectangle, taken: Sequence[Rectangle]) -> Tag:
    text = str(number)
    width = text_width(text, TAG_SIZE, bold=True) + 2 * _TAG_PAD
    for x, y in _tag_places(mark.place, width):
        place = Rectangle(x, y, width, _TAG_HEIGHT)
        if film.holds(place) and not any(place.meets(other) for other in taken):
            break
    else:
        place = Rectangle(mark.place.x, mark.place.y, width, _TAG_HEIGHT)
    return Tag(place, text, mark.colour, readable_ink(mark.colour), f"Label: {mark.told}")


def _tag_places(box: Rectangle, width: float) -> Iterator[tuple[float, float]]:
    """Yield places for a tag: outside at the edges, then inside, then down the left edge."""
    above, below = box.y - _TAG_HEIGHT, box.bottom
    flush = box.right - width
    yield from ((box.x, above), (flush, above), (box.x, below), (flush, below))
    inside = box.bottom - _TAG_HEIGHT
    yield from ((box.x, box.y), (flush, box.y), (box.x, inside), (flush, inside))
    yield from ((box.right, box.y), (box.x - width, box.y), (box.right, inside))
    steps = int(box.height // _TAG_HEIGHT)
    yield from ((box.x, box.y + step * _TAG_HEIGHT) for step in range(1, steps))
    yield from ((flush, box.y + step * _TAG_HEIGHT) for step in range(1, steps))

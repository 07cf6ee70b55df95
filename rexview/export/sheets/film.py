"""A film with its boxes on a sheet, and words at the boxes where there is room for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.colours import REFERENCE_ON_FILM
from rexview.export.records import Content, ExportBox, ExportImage
from rexview.export.sheets.measure import printable, text_width
from rexview.export.sheets.pictures import Picture
from rexview.export.sheets.sheet import INK, SURFACE, BoxMark, Film, Place, Tag

TAG_SIZE: Final = 11.0
_TAG_HEIGHT: Final = 15.0
_TAG_PAD: Final = 3.0
_WIDEST: Final = 0.8
"""A tag takes at most so much of the width of its film."""
_MOST_LABELS: Final = 12
"""With more boxes on a film, numbers alone stand at them."""
_EDGE: Final = 4.0
_ON_FILM: Final = "#F2F2F2"


@dataclass(frozen=True)
class Numbered:
    """A box with the number that it has on its sheet, from 1."""

    number: int
    box: ExportBox


def fitted(shape: float, most: Place) -> Place:
    """Return the largest place with ``shape`` (height / width), at the left of another one."""
    width = min(most.width, most.height / shape)
    return Place(most.x, most.y, width, width * shape)


def film(
    content: Content,
    image: ExportImage,
    made: Picture | None,
    most: Place,
    boxes: Sequence[Numbered],
) -> Film:
    """Lay a film into a place with all boxes over it, each where it lies in the stored image."""
    width = made.width if made else image.width or 0
    height = made.height if made else image.height or 0
    shape = made.shape if made else height / width if width and height else 1.0
    place = fitted(shape, most)
    title = printable(image.title)
    marks: list[BoxMark] = []
    if width and height:
        marks = [_mark(content, one, on_film(one.box.box, place, width, height)) for one in boxes]
    letters = tuple(_letters(image, place))
    tags = [*letters]
    for one, mark in zip(boxes, marks, strict=False):
        label = printable(one.box.label).replace("\n", " ") if len(boxes) <= _MOST_LABELS else ""
        tags.append(_tag(one.number, label, mark, place, [tag.place for tag in tags]))
    return Film(
        place,
        made.jpeg if made else None,
        f"Film: {title}",
        f"Chest radiograph, {title}",
        tuple(marks),
        tuple(tags),
    )


def on_film(box: Sequence[float], film: Place, width: int, height: int) -> Place:
    """Return where a box lies on the sheet, as far as it is on the film.

    ``width`` and ``height`` are those of the stored image in pixels, as the box counts.
    """
    x, y, wide, high = box
    left, right = max(x, 0.0) / width, min(x + wide, width) / width
    top, bottom = max(y, 0.0) / height, min(y + high, height) / height
    return Place(
        film.x + left * film.width,
        film.y + top * film.height,
        (right - left) * film.width,
        (bottom - top) * film.height,
    )


def ink_on(colour: str) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    return SURFACE if _contrast(colour, SURFACE) >= _contrast(colour, INK) else INK


def _contrast(first: str, second: str) -> float:
    """Contrast as WCAG 2 defines it, from 1 to 21."""
    dark, light = sorted((_luminance(first), _luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mark(content: Content, one: Numbered, place: Place) -> BoxMark:
    box = one.box
    label = printable(box.label).replace("\n", " ")
    if box.model is None:
        name = "Reference"
        return BoxMark(place, REFERENCE_ON_FILM, f"{name}: {label}", f"{name}: {label}", True)
    model = content.model(box.model)
    name = printable(model.name)
    return BoxMark(place, model.colour, f"Box: {name}: {label}", f"{name}: {label}")


def _letters(image: ExportImage, film: Place) -> Iterator[Tag]:
    """Say which side of the patient lies at an edge of the film, as far as that is known."""
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
            yield Tag(Place(x, y, size, size), letter, None, _ON_FILM, f"Side at the {edge}")


def _tag(number: int, label: str, mark: BoxMark, film: Place, taken: Sequence[Place]) -> Tag:
    for text in (f"{number} {label}".rstrip(), str(number)):
        width = text_width(text, TAG_SIZE, bold=True) + 2 * _TAG_PAD
        if width > film.width * _WIDEST:
            continue
        for x, y in _around(mark.place, width):
            place = Place(x, y, width, _TAG_HEIGHT)
            if film.holds(place) and not any(place.meets(other) for other in taken):
                return Tag(place, text, mark.colour, ink_on(mark.colour), f"Label: {mark.told}")
    place = Place(mark.place.x, mark.place.y, width, _TAG_HEIGHT)
    return Tag(place, text, mark.colour, ink_on(mark.colour), f"Label: {mark.told}")


def _around(box: Place, width: float) -> Iterator[tuple[float, float]]:
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

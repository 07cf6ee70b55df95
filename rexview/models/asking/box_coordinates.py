"""Convert boxes between a model's coordinates and pixels of the stored image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rexview.geometry import box_problem
from rexview.models.backend import ModelRequest, SentImage
from rexview.schema import AnswerBox
from rexview.text.written_boxes import (
    UNIT_LENGTHS,
    BoxForm,
    Convention,
    Corners,
    WrittenBox,
    order_corners,
)
from rexview.vocab import SIDES, english_count

# Coordinates of a model, and pixels of the stored image.
#
# A model counts in pixels of the picture as sent or as stored, or in fractions of the picture as
# sent. It writes corners or sizes, x or y first. Both conversions are exact: only the model rounds.

FourNumbers = tuple[float, float, float, float]
_ORDER_WORDS: Final[dict[Corners, str]] = {
    "xyxy": "[left, top, right, bottom]",
    "yxyx": "[top, left, bottom, right]",
    "xywh": "[left, top, width, height]",
    "cxcywh": "[centre x, centre y, width, height]",
}
_UNIT_WORDS: Final[dict[Convention, str]] = {
    "pixels_sent": "in pixels of the image as you were given it",
    "pixels_stored": "in pixels of the original image",
    "normalised_1000": "as whole numbers from 0 to 1000, where 1000 is the whole width or height",
    "normalised_100": "as numbers from 0 to 100, where 100 is the whole width or height",
    "normalised_1": "as fractions from 0 to 1, where 1 is the whole width or height",
    "unknown": "in pixels of the image as you were given it",
}


def describe_box_form(form: BoxForm) -> str:
    """Return the words that ask a model for boxes in this form."""
    return f"{_ORDER_WORDS[form.corners]} {_UNIT_WORDS[form.convention]}"


def to_stored_pixels(numbers: Sequence[float], form: BoxForm, image: SentImage) -> FourNumbers:
    """Convert a model's four numbers to x, y, width, height in pixels of the stored image.

    An unknown convention is read as pixels of the picture as sent. Nothing is clipped; a width or
    height may be negative.
    """
    left, top, right, bottom = order_corners(numbers, form.corners)
    scale_x, scale_y, shift_x, shift_y = _scale(form.convention, image)
    x0, x1 = left * scale_x + shift_x, right * scale_x + shift_x
    y0, y1 = top * scale_y + shift_y, bottom * scale_y + shift_y
    return x0, y0, x1 - x0, y1 - y0


def from_stored_pixels(box: Sequence[float], form: BoxForm, image: SentImage) -> FourNumbers:
    """Convert x, y, width, height in pixels of the stored image to a model's four numbers."""
    x, y, width, height = box
    scale_x, scale_y, shift_x, shift_y = _scale(form.convention, image)
    left, right = (x - shift_x) / scale_x, (x + width - shift_x) / scale_x
    top, bottom = (y - shift_y) / scale_y, (y + height - shift_y) / scale_y
    match form.corners:
        case "xyxy":
            return left, top, right, bottom
        case "yxyx":
            return top, left, bottom, right
        case "xywh":
            return left, top, right - left, bottom - top
        case _:
            return (left + right) / 2, (top + bottom) / 2, right - left, bottom - top


def _scale(convention: Convention, image: SentImage) -> FourNumbers:
    """Return the factors and offsets from a model's numbers to stored pixels: x, y, x, y."""
    if convention == "pixels_stored":
        return 1.0, 1.0, 0.0, 0.0
    whole = UNIT_LENGTHS.get(convention)
    across = image.width / whole if whole else 1.0
    down = image.height / whole if whole else 1.0
    place = image.placement
    return (
        across / place.scale_x,
        down / place.scale_y,
        -place.left / place.scale_x,
        -place.top / place.scale_y,
    )


# Boxes of a reply as boxes on the images of a case, in stored pixels.

UNKNOWN_CONVENTION_NOTE: Final = (
    "How this model counts in boxes is not known ({read}): they are shown as unsure and count for "
    "no failure. Calibrate the model to know."
)
_GUESS_WORDS: Final[dict[Convention, str]] = {
    "pixels_sent": "read as pixels of the picture as sent",
    "normalised_1000": "read as thousandths of the picture",
    "normalised_1": "read as fractions of the picture",
}
_LONGEST_LABEL: Final = 300


def place_boxes(
    written: Iterable[WrittenBox], request: ModelRequest, form: BoxForm
) -> tuple[tuple[AnswerBox, ...], tuple[str, ...]]:
    """Convert written boxes to x, y, width, height in pixels of the stored images.

    A box that sticks out of its image is clipped. A box without area, or outside its image, is left
    out. The notes report both, and every other change to what the model wrote.

    Returns
    -------
    tuple
        The boxes, and notes about them as sentences.
    """
    written = list(written)
    images = request.images
    if not written:
        return (), ()
    if not images:
        return (), (f"{_count_boxes(len(written))} left out: no image was sent.",)
    notes: list[str] = []
    guessed = form.convention == "unknown"
    if guessed:
        form = replace(form, convention=_guess_convention(written, images))
        notes.append(UNKNOWN_CONVENTION_NOTE.format(read=_GUESS_WORDS[form.convention]))
    placed = []
    unnamed = clipped = degenerate = other_order = 0
    for one in written:
        image, named = _image_of(one, images)
        unnamed += not named
        own = replace(form, corners=one.corners) if one.corners else form
        other_order += own.corners != form.corners
        x, y, width, height = to_stored_pixels(one.numbers, own, image)
        size = image.stored_width, image.stored_height
        if box_problem((x, y, width, height), *size):
            degenerate += 1
            continue
        left, top = max(0.0, x), max(0.0, y)
        right, bottom = min(float(size[0]), x + width), min(float(size[1]), y + height)
        # rounding there and back may cost half a pixel
        clipped += max(left - x, top - y, x + width - right, y + height - bottom) > 1
        box = tuple(round(part, 2) for part in (left, top, right - left, bottom - top))
        placed.append(AnswerBox(image.image, _label(one), box, one.score, unsure=guessed or None))
    if unnamed and len(images) > 1:
        first = images[0].image
        notes.append(
            f"{_count_boxes(unnamed)} without the number of an image: taken to be on {first}."
        )
    if other_order:
        notes.append(
            f"{_count_boxes(other_order)} in the order that the names of their fields say."
        )
    if clipped:
        notes.append(f"{_count_boxes(clipped)} cut at the edge of the image.")
    if degenerate:
        notes.append(f"{_count_boxes(degenerate)} left out: without area, or outside the image.")
    return tuple(placed), tuple(notes)


def _count_boxes(count: int) -> str:
    return f"{english_count(count, 'box').capitalize()}"


def _image_of(one: WrittenBox, images: tuple[SentImage, ...]) -> tuple[SentImage, bool]:
    """Return the picture that a box is on, and whether the model named it."""
    told = one.image
    if isinstance(told, str) and told.strip().isdigit():
        told = int(told)
    if isinstance(told, int):
        return (images[told - 1], True) if 1 <= told <= len(images) else (images[0], False)
    by_id = next((image for image in images if image.image == told), None)
    return (by_id, True) if by_id else (images[0], False)


def _guess_convention(written: list[WrittenBox], images: tuple[SentImage, ...]) -> Convention:
    """Return pixels as sent, unless the numbers only fit fractions or thousandths of a picture."""
    largest = max(abs(number) for one in written for number in one.numbers)
    sides = [max(image.width, image.height) for image in images]
    if largest <= UNIT_LENGTHS["normalised_1"]:
        return "normalised_1"
    if largest > min(sides) and largest <= UNIT_LENGTHS["normalised_1000"]:
        return "normalised_1000"
    return "pixels_sent"


def _label(one: WrittenBox) -> str:
    """Return the model's label for a box, with the side that it gave."""
    label = one.label[:_LONGEST_LABEL]
    if one.side in SIDES and one.side not in label.lower():
        return f"{one.side} {label}".strip()
    return label

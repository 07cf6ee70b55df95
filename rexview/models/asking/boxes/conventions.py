"""From pixels of the stored image to a model's way of counting, and back.

A model counts in pixels of the picture as it was sent or stored, or in parts of the picture as
sent; and it writes corners or sizes, x or y first. Both ways are exact: what is rounded is rounded
by the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rexview.models.request import SentImage
from rexview.written_boxes.forms import WHOLE, BoxForm, Convention, Corners, corners_of

Four = tuple[float, float, float, float]
_ORDERS: Final[dict[Corners, str]] = {
    "xyxy": "[left, top, right, bottom]",
    "yxyx": "[top, left, bottom, right]",
    "xywh": "[left, top, width, height]",
    "cxcywh": "[centre x, centre y, width, height]",
}
_UNITS: Final[dict[Convention, str]] = {
    "pixels_sent": "in pixels of the image as you were given it",
    "pixels_stored": "in pixels of the original image",
    "normalised_1000": "as whole numbers from 0 to 1000, where 1000 is the whole width or height",
    "normalised_100": "as numbers from 0 to 100, where 100 is the whole width or height",
    "normalised_1": "as fractions from 0 to 1, where 1 is the whole width or height",
    "unknown": "in pixels of the image as you were given it",
}


def in_words(form: BoxForm) -> str:
    """Say to a model how it is to write a box."""
    return f"{_ORDERS[form.corners]} {_UNITS[form.convention]}"


def to_stored(numbers: Sequence[float], form: BoxForm, image: SentImage) -> Four:
    """Turn a model's four numbers into x, y, width, height in pixels of the stored image.

    What a model counts in when it is not known is taken to be pixels as sent. Nothing is clipped;
    a width or height may come out negative.
    """
    left, top, right, bottom = corners_of(numbers, form.corners)
    scale_x, scale_y, shift_x, shift_y = _scale(form.convention, image)
    x0, x1 = left * scale_x + shift_x, right * scale_x + shift_x
    y0, y1 = top * scale_y + shift_y, bottom * scale_y + shift_y
    return x0, y0, x1 - x0, y1 - y0


def from_stored(box: Sequence[float], form: BoxForm, image: SentImage) -> Four:
    """Turn x, y, width, height in pixels of the stored image into a model's four numbers."""
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


def _scale(convention: Convention, image: SentImage) -> Four:
    """Return what a number is times and plus to be a pixel of the stored image: x, y, x, y."""
    if convention == "pixels_stored":
        return 1.0, 1.0, 0.0, 0.0
    whole = WHOLE.get(convention)
    across = image.width / whole if whole else 1.0
    down = image.height / whole if whole else 1.0
    place = image.placement
    return (
        across / place.scale_x,
        down / place.scale_y,
        -place.left / place.scale_x,
        -place.top / place.scale_y,
    )

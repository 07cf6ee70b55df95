"""Encode pictures for a model: as the viewer first shows them, shrunk and padded.

The bytes are the same for the same file and card, so that their digest identifies a request. They
contain only pixels of the file: no names, no dates, no EXIF.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from rexview.errors import ImageError, PathEscape
from rexview.imaging import MAX_PIXELS, DiskCache, read_image, render_display
from rexview.imaging.cache import get_or_make_file
from rexview.imaging.limits import DECODING_MEMORY
from rexview.imaging.raster import encode_picture_file
from rexview.models.backend import AttemptFailed, Card, Placement, SentImage
from rexview.schema import Case, StudyImage

ImageFinder = Callable[[StudyImage], Path]
"""Returns the path of an image's file; raises ImageError or PathEscape."""
_LENGTH: Final = struct.Struct("<L")


def choose_images(case: Case, card: Card) -> tuple[list[StudyImage], list[str]]:
    """Choose the images of a case that a model is sent, in order.

    The key frontal image comes first, then other views, then images of earlier studies, as many as
    the card allows.

    Returns
    -------
    tuple
        The images, and notes on what is left out, as sentences.
    """
    key = case.key_image
    current = [image for image in case.images if not image.prior and image is not key]
    priors = [image for image in case.images if image.prior and image is not key]
    first = [key] if key else []
    current.sort(key=lambda image: not image.frontal)  # equal images keep their order
    priors.sort(key=lambda image: (not image.key, not image.frontal))
    one_prior = priors if card.all_views else priors[:1]
    wanted = [*first, *(current if card.all_views else []), *(one_prior if card.priors else [])]
    chosen = wanted[: card.images]
    left = [image for image in case.images if image not in chosen]
    if not left:
        return chosen, []
    names = ", ".join(f"{image.id} ({_image_kind(image)})" for image in left)
    why = f"this model takes {card.images}" if len(wanted) > len(chosen) else "by the model's card"
    return chosen, [f"Not sent, {why}: {names}."]


def _image_kind(image: StudyImage) -> str:
    return f"{image.view}, earlier study" if image.prior else image.view


def encode_images(
    images: Sequence[StudyImage],
    find_image: ImageFinder,
    card: Card,
    cache: DiskCache | None = None,
    *,
    max_pixels: int = MAX_PIXELS,
) -> list[SentImage]:
    """Encode images as they are sent; a ``cache`` keeps them for repeats and other runs.

    Raises
    ------
    AttemptFailed
        Of kind ``image``; names every image that cannot be sent, and why.
    """
    found: list[SentImage] = []
    wrong: list[str] = []
    for image in images:
        try:
            found.append(_encode_file(image, find_image(image), card, cache, max_pixels))
        except (ImageError, PathEscape) as error:
            wrong.append(f"Image {image.id!r:.80}: {error}")
    if wrong:
        raise AttemptFailed("image", " ".join(wrong))
    return found


def _encode_file(
    image: StudyImage, path: Path, card: Card, cache: DiskCache | None, max_pixels: int
) -> SentImage:
    def make() -> bytes:
        # decoding in all threads together keeps to one memory limit
        with DECODING_MEMORY.scope():
            radiograph = read_image(path, max_pixels=max_pixels)
            return _pack_image(render_display(radiograph, "initial"), radiograph.aspect, card)

    form = (card.longest_side, card.most_pixels, card.square, card.image_format, card.jpeg_quality)
    return _unpack_image(
        get_or_make_file(cache, path, make, "sent", *form, max_pixels), image, card
    )


def encode_pixels(image: StudyImage, pixels: NDArray[np.uint8], card: Card) -> SentImage:
    """Make a picture from pixels that are in no file: grey levels (rows, columns) or R, G, B."""
    return _unpack_image(_pack_image(pixels, 1.0, card), image, card)


def _unpack_image(content: bytes, image: StudyImage, card: Card) -> SentImage:
    end = _LENGTH.size + _LENGTH.unpack_from(content)[0]
    facts = json.loads(content[_LENGTH.size : end])
    return SentImage(
        image.id,
        content[end:],
        f"image/{card.image_format}",
        placement=Placement(**facts.pop("placement")),
        view=image.view,
        prior=image.prior,
        detail=card.detail,
        **facts,
    )


def _pack_image(picture: NDArray[np.uint8], aspect: float, card: Card) -> bytes:
    """Encode grey levels or R, G, B of a stored image, after sizes and placement as JSON."""
    rows, columns = picture.shape[:2]
    width, height = fit_size(columns, rows * aspect, card.longest_side, card.most_pixels)
    if (width, height) != (columns, rows):
        shrinks = width * height < rows * columns
        method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
        picture = _picture_pixels(cv2.resize(picture, (width, height), interpolation=method))
    left = top = 0
    if card.square and width != height:
        left, top = (max(width, height) - width) // 2, (max(width, height) - height) // 2
        right, bottom = max(width, height) - width - left, max(width, height) - height - top
        black = cv2.BORDER_CONSTANT
        picture = _picture_pixels(
            cv2.copyMakeBorder(picture, top, bottom, left, right, black, value=0)
        )
    facts = {
        "width": int(picture.shape[1]),
        "height": int(picture.shape[0]),
        "stored_width": columns,
        "stored_height": rows,
        "placement": asdict(Placement(width / columns, height / rows, left, top)),
    }
    head = json.dumps(facts).encode()
    return _LENGTH.pack(len(head)) + head + _encode_picture(picture, card)


def fit_size(
    width: float, height: float, longest_side: int | None, most_pixels: int | None
) -> tuple[int, int]:
    """Return the size of a picture shrunk to fit limits; nothing is enlarged.

    >>> fit_size(2048, 2500, 896, None), fit_size(300, 200, 896, None)
    ((734, 896), (300, 200))
    """
    factor = min(1.0, (longest_side or math.inf) / max(width, height))
    if most_pixels is not None:
        factor = min(factor, math.sqrt(most_pixels / (width * height)))
    return max(1, round(width * factor)), max(1, round(height * factor))


def _encode_picture(picture: NDArray[np.uint8], card: Card) -> bytes:
    if card.image_format == "jpeg":
        return encode_picture_file(picture, ".jpg", [cv2.IMWRITE_JPEG_QUALITY, card.jpeg_quality])
    return encode_picture_file(picture, ".png")


def _picture_pixels(picture: Any) -> NDArray[np.uint8]:
    return np.asarray(picture, dtype=np.uint8)

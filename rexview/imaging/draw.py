"""Small pictures with boxes drawn in, for galleries; the viewer draws its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from rexview.geometry import box_problem
from rexview.imaging.cache import DiskCache, made_once
from rexview.imaging.limits import MAX_PIXELS
from rexview.imaging.memory import MEMORY
from rexview.imaging.radiograph import Radiograph
from rexview.imaging.read import read_image
from rexview.imaging.transforms import display

THUMBNAIL_SIDE: Final = 384
_QUALITY: Final = 86
_LINE_SHARE: Final = 1 / 160
_OUTLINE: Final = (0, 0, 0)


@dataclass(frozen=True)
class ColouredBox:
    """x, y, width, height in pixels of the stored image, and R, G, B (0-255) to draw it in."""

    box: tuple[float, ...]
    colour: tuple[int, int, int]


def draw_boxes(
    picture: NDArray[np.uint8],
    boxes: Sequence[ColouredBox],
    scale: tuple[float, float] = (1.0, 1.0),
) -> NDArray[np.uint8]:
    """Draw outlines of boxes.

    Parameters
    ----------
    picture : ndarray of uint8
        (rows, columns) or (rows, columns, 3) R, G, B; not changed.
    boxes : sequence of ColouredBox
        Those that cannot be drawn (NaN, no area, outside) are left out.
    scale : tuple of float
        Pixels of the picture per pixel of the stored image, across and down.

    Returns
    -------
    ndarray of uint8, (rows, columns, 3)
        A coloured line with a dark edge, so that it is seen on black and on white.
    """
    canvas: NDArray[Any] = np.ascontiguousarray(
        np.repeat(picture[..., None], 3, axis=2) if picture.ndim == 2 else picture.copy()
    )
    rows, columns = canvas.shape[:2]
    line = max(1, round(max(rows, columns) * _LINE_SHARE))
    for coloured in boxes:
        if box_problem(coloured.box, columns / scale[0], rows / scale[1]):
            continue
        x, y, width, height = coloured.box
        corners = (x * scale[0], y * scale[1], (x + width) * scale[0], (y + height) * scale[1])
        limits = (columns - 1, rows - 1, columns - 1, rows - 1)
        left, top, right, bottom = (
            round(min(max(corner, 0.0), limit))
            for corner, limit in zip(corners, limits, strict=True)
        )
        for colour, thickness in ((_OUTLINE, line + 2), (coloured.colour, line)):
            cv2.rectangle(canvas, (left, top), (right, bottom), colour, thickness)
    return canvas


def square_pixels(
    picture: NDArray[np.uint8], aspect: float, max_pixels: int = MAX_PIXELS
) -> NDArray[np.uint8]:
    """Resample a picture whose pixels are ``aspect`` times as high as wide to square ones.

    The shorter direction is stretched, so that nothing is lost, unless the result would have more
    than ``max_pixels`` pixels: then the longer one is shrunk.
    """
    if abs(aspect - 1) < 1e-3:
        return picture
    rows, columns = picture.shape[:2]
    stretch = max(aspect, 1 / aspect)
    grow = rows * columns * stretch <= max_pixels
    factor = stretch if grow else 1 / stretch
    if (aspect > 1) == grow:
        size = (columns, max(1, round(rows * factor)))
    else:
        size = (max(1, round(columns * factor)), rows)
    method = cv2.INTER_LINEAR if grow else cv2.INTER_AREA
    return _resized(picture, size, method)


def thumbnail(
    path: Path,
    boxes: Sequence[ColouredBox] = (),
    size: int = THUMBNAIL_SIDE,
    cache: DiskCache | None = None,
    *,
    max_pixels: int = MAX_PIXELS,
) -> bytes:
    """A small picture of a file, as the viewer would first show it.

    Parameters
    ----------
    path : Path
        A picture file.
    boxes : sequence of ColouredBox
        Drawn in.
    size : int
        Pixels of the longer side; smaller pictures are not enlarged.
    cache : DiskCache, optional
        Keeps the small picture without boxes until the file changes.
    max_pixels : int
        Largest number of pixels that is decoded.

    Returns
    -------
    bytes
        A WebP file.

    Raises
    ------
    ImageMissing, ImageTooLarge, ImageBroken, ImageBusy
        With a reason for the page.
    """

    def make() -> bytes:
        with MEMORY.scope():
            found = read_image(path, max_pixels=max_pixels)
            shape = np.array([found.height, found.width], dtype="<u4").tobytes()
            return shape + _webp(_small(found, size))

    content = made_once(cache, path, make, "thumbnail", size, max_pixels)
    if not boxes:
        return content[8:]
    height, width = (int(side) for side in np.frombuffer(content[:8], dtype="<u4"))
    small: Any = cv2.imdecode(np.frombuffer(content[8:], dtype=np.uint8), cv2.IMREAD_COLOR_RGB)
    scale = (small.shape[1] / width, small.shape[0] / height)
    return _webp(draw_boxes(small, boxes, scale))


def _small(radiograph: Radiograph, size: int) -> NDArray[np.uint8]:
    picture = display(radiograph, "initial")
    height, width = picture.shape[0] * radiograph.aspect, float(picture.shape[1])
    factor = min(1.0, size / max(height, width))
    target = (max(1, round(width * factor)), max(1, round(height * factor)))
    if target == (picture.shape[1], picture.shape[0]):
        return picture
    return _resized(picture, target, cv2.INTER_AREA)


def _resized(picture: NDArray[np.uint8], size: tuple[int, int], method: int) -> NDArray[np.uint8]:
    resized: Any = cv2.resize(picture, size, interpolation=method)
    return np.asarray(resized, dtype=np.uint8)


def _webp(picture: NDArray[np.uint8]) -> bytes:
    colour = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR) if picture.ndim == 3 else picture
    _, encoded = cv2.imencode(".webp", colour, [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])
    content: bytes = encoded.tobytes()
    return content

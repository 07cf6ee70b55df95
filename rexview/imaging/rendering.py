"""Render pictures on the server: PNG files, thumbnails, square pixels."""

from __future__ import annotations

import math
import re
import tempfile
from pathlib import Path
from typing import Any, Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from rexview.errors import ImageError
from rexview.imaging.cache import DiskCache, get_or_make_file
from rexview.imaging.image_files import read_image
from rexview.imaging.limits import DECODING_MEMORY, MAX_PIXELS
from rexview.imaging.radiograph import Radiograph, Window
from rexview.imaging.raster import encode_picture_file
from rexview.imaging.transforms import render_display

# Thumbnails for galleries, and square pixels; the page draws boxes over them.

THUMBNAIL_SIDE: Final = 384
_QUALITY: Final = 86


def square_pixels(
    picture: NDArray[np.uint8], aspect: float, max_pixels: int = MAX_PIXELS
) -> NDArray[np.uint8]:
    """Resample a picture to square pixels; its pixels are ``aspect`` times as high as wide.

    The shorter direction is stretched, so that nothing is lost. If the result would exceed
    ``max_pixels``, the longer direction is shrunk instead.
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
    size: int = THUMBNAIL_SIDE,
    cache: DiskCache | None = None,
    *,
    max_pixels: int = MAX_PIXELS,
) -> bytes:
    """Return a thumbnail of a file as WebP, as the viewer would first show it.

    ``size`` is the longer side in pixels; smaller pictures are not enlarged. A ``cache`` keeps the
    thumbnail until the file changes.

    Raises
    ------
    ImageMissing, ImageTooLarge, ImageBroken, ImageBusy
        With a reason for the page.
    """

    def make() -> bytes:
        with DECODING_MEMORY.scope():
            return _webp(render_small(read_image(path, max_pixels=max_pixels), size))

    return get_or_make_file(cache, path, make, "thumbnail_webp", size, max_pixels)


def render_small(radiograph: Radiograph, size: int) -> NDArray[np.uint8]:
    """Return the viewer's first display of a picture, with square pixels.

    ``size`` is the longer side in pixels; smaller pictures are not enlarged.

    Returns
    -------
    ndarray of uint8
        (rows, columns) grey levels, or (rows, columns, 3) R, G, B.
    """
    picture = render_display(radiograph, "initial")
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
    return encode_picture_file(picture, ".webp", [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])


_NUMBER: Final = r"\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*"
_PAIR: Final = re.compile(rf"{_NUMBER},{_NUMBER}")


def parse_window(text: str) -> Window | Literal["auto", "file"]:
    """Parse ``auto``, ``file`` or ``CENTRE,WIDTH``.

    Raises
    ------
    ImageError
        The text is none of these, or the width is below 1.

    >>> parse_window("40,400")
    Window(name='40,400', kind='linear', centre=40.0, width=400.0, table=None)
    """
    if text == "auto":
        return "auto"
    if text == "file":
        return "file"
    found = _PAIR.fullmatch(text)
    if found is None:
        raise ImageError("A window is auto, file, or CENTRE,WIDTH such as 40,400.")
    centre, width = float(found[1]), float(found[2])
    if not (math.isfinite(centre) and math.isfinite(width) and width >= 1):
        raise ImageError("The width of a window is at least 1.")
    return Window(text, "linear", centre, width)


def render_file(
    path: Path, out: Path, window: Window | str = "file", *, max_pixels: int = MAX_PIXELS
) -> None:
    """Write the picture of a file as a reader sees it, as PNG.

    Pixels that are not square are resampled. Nothing is turned or mirrored. ``out`` becomes a PNG
    of 8 bits a channel, grey or R, G, B, and is replaced only on success. ``window`` may be
    ``auto``, ``file`` or ``CENTRE,WIDTH``.

    Raises
    ------
    ImageError
        The file cannot be shown, the window is invalid, or the PNG cannot be written.
    """
    chosen = parse_window(window) if isinstance(window, str) else window
    path, out = Path(path), Path(out)
    radiograph = read_image(path, max_pixels=max_pixels)
    picture = square_pixels(render_display(radiograph, chosen), radiograph.aspect, max_pixels)
    content = encode_picture_file(picture, ".png")
    if out.exists() and out.samefile(path):
        raise ImageError("The picture would be written over the file it is made from.")
    try:
        with tempfile.NamedTemporaryFile(dir=out.parent, suffix=".part", delete=False) as file:
            part = Path(file.name)
            file.write(content)
    except OSError:
        raise ImageError("The picture cannot be written there.") from None
    try:
        part.chmod(0o644)
        part.replace(out)
    except OSError:
        part.unlink(missing_ok=True)
        raise ImageError("The picture cannot be written there.") from None

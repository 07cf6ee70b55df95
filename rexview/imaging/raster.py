"""PNG, JPEG, WebP and TIFF files: 1 to 32 bits, grey, palette, colour, with or without alpha.

Pixels stay as stored: an EXIF orientation is not applied, because boxes are given in pixels of the
stored image. Pixel densities (DPI) of such files say nothing about the patient and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rexview.errors import ImageBroken, ImageTooLarge
from rexview.imaging.colour import grey_or_colour
from rexview.imaging.limits import MORE_FRAMES, check_size, cut_off
from rexview.imaging.memory import strips, take
from rexview.imaging.radiograph import ImageFacts, Radiograph

FORMATS: Final = ("PNG", "JPEG", "WEBP", "TIFF")
TURNED: Final = (
    "The file asks to be shown turned or mirrored. It is shown as stored, so that boxes fit."
)
_EXIF_ORIENTATION: Final = 0x0112
_LONGEST_FILE: Final = 1 << 30
_BYTES: Final = {"1": 5, "L": 5, "I": 13, "F": 13, "CMYK": 14} | dict.fromkeys(
    ("I;16", "I;16L", "I;16B", "I;16N"), 7
)
"""Bytes that a pixel of a mode of Pillow needs at the highest point, see :mod:`.memory`."""
_BYTES_COLOUR: Final = 10
_BYTES_DEEP_OR_WEBP: Final = 16
_TIFF_TILE: Final = (322, 323)
_GREY_MODES: Final = frozenset({"1", "L", "I", "F", "I;16", "I;16L", "I;16B", "I;16N"})


def is_raster(head: bytes) -> bool:
    """Whether the first 12 bytes of a file are those of a format read here."""
    return (
        head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*"))
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
    )  # fmt: skip


def read_raster(path: Path, max_pixels: int) -> Radiograph:
    """Decode a PNG, JPEG, WebP or TIFF file.

    Colour files whose channels are all equal become grey ones, so that they can be windowed;
    transparency is laid over black.

    Raises
    ------
    ImageTooLarge, ImageBusy
        If it has more than ``max_pixels`` pixels or needs too much memory, see :mod:`.memory`.
    ImageBroken
        If it cannot be decoded to the end.
    """
    if path.stat().st_size > _LONGEST_FILE:
        raise ImageTooLarge("The file is larger than 1 GiB.")
    with _opened(path) as image:
        check_size(image.height, image.width, max_pixels)
        deep = image.format == "PNG" and _png_is_deep_colour(path)
        take(_needed(image, deep), max_pixels)
        frames = int(getattr(image, "n_frames", 1))
        turned = _is_turned(image)
        image.load()
        if deep:
            image.close()  # Pillow's 8-bit copy only shows that the file is whole
        pixels = _deep_colour(path) if deep else _pixels(image)
    notes = []
    if turned:
        notes.append(TURNED)
    if frames > 1:
        notes.append(MORE_FRAMES.format(frames=frames))
    if pixels.dtype == np.bool_:
        pixels = pixels.astype(np.uint8) * np.uint8(255)
    bits = pixels.dtype.itemsize * 8
    return Radiograph(pixels, "raster", bits, frames=frames, warnings=tuple(notes))


def _needed(image: Image.Image, deep: bool) -> int:
    """Bytes that decoding an opened picture takes at its highest point."""
    width, height = image.size
    if image.format == "TIFF":  # a tile is decoded whole, whatever the size of the picture
        tile = [image.tag_v2.get(tag, 0) for tag in _TIFF_TILE]  # type: ignore[attr-defined]
        wide, high = (int(side) if isinstance(side, int) else 0 for side in tile)
        width, height = max(width, wide), max(height, high)
    if deep or image.format == "WEBP":
        return width * height * _BYTES_DEEP_OR_WEBP
    return width * height * _BYTES.get(image.mode, _BYTES_COLOUR)


def raster_facts(path: Path) -> ImageFacts:
    """Read the size and the number of frames of a file without decoding it."""
    with _opened(path) as image:
        return ImageFacts(image.width, image.height, int(getattr(image, "n_frames", 1)))


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    """Open a file with Pillow; whatever its bytes provoke becomes a reason for the page."""
    try:
        with Image.open(path, formats=FORMATS) as image:
            yield image
    except Image.DecompressionBombError:
        raise ImageTooLarge("The picture is too large to be opened here.") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise cut_off() if "truncated" in str(error) else _damaged() from None


def _is_turned(image: Image.Image) -> bool:
    try:
        return image.getexif().get(_EXIF_ORIENTATION, 1) not in (0, 1)
    except Exception:  # a damaged EXIF block raises anything; the picture does not depend on it
        return False


def _damaged() -> ImageBroken:
    return ImageBroken("The picture is damaged and cannot be decoded.")


def _png_is_deep_colour(path: Path) -> bool:
    """Whether a PNG has 16-bit colour or 16-bit grey with alpha, which Pillow cuts to 8 bits."""
    with path.open("rb") as file:
        head = file.read(26)
    return head[24] == 16 and head[25] in (2, 4, 6)


def _deep_colour(path: Path) -> NDArray[Any]:
    """Decode a PNG with 16 bits a channel; (rows, columns) uint16 if all channels are equal."""
    found = cv2.imdecode(np.fromfile(path, dtype=np.uint8), cv2.IMREAD_UNCHANGED)
    if found is None or found.ndim != 3:
        raise _damaged()
    if found.shape[2] == 4:
        for rows in strips(*found.shape[:2]):
            part = found[rows]
            part[..., :3] = part[..., :3] * (part[..., 3:] / 65535.0) + 0.5
    return grey_or_colour(found[..., 2::-1], 16)


def _pixels(image: Image.Image) -> NDArray[Any]:
    if image.mode in _GREY_MODES:
        return np.array(image)
    colour = np.empty((image.height, image.width, 3), np.uint8)
    transparent = image.has_transparency_data
    for rows in strips(image.height, image.width):
        part = image.crop((0, rows.start, image.width, rows.stop))
        if transparent:
            black = Image.new("RGBA", part.size, (0, 0, 0, 255))
            part = Image.alpha_composite(black, part.convert("RGBA"))
        colour[rows] = np.asarray(part.convert("RGB"))
    return grey_or_colour(colour, 8)

"""PNG, JPEG, WebP and TIFF files: 1 to 32 bits, grey, palette, colour, with or without alpha.

Pixels stay as stored: an EXIF orientation is not applied, because boxes are given in pixels of the
stored image. Pixel densities (DPI) of such files say nothing about the patient and are not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rexview.errors import ImageBroken, ImageTooLarge
from rexview.imaging.colour import grey_or_colour
from rexview.imaging.limits import MORE_FRAMES, check_size, cut_off
from rexview.imaging.radiograph import Radiograph

FORMATS: Final = ("PNG", "JPEG", "WEBP", "TIFF")
TURNED: Final = (
    "The file asks to be shown turned or mirrored. It is shown as stored, so that boxes fit."
)
_EXIF_ORIENTATION: Final = 0x0112
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
    ImageTooLarge
        If it has more than ``max_pixels`` pixels.
    ImageBroken
        If it cannot be decoded to the end.
    """
    try:
        with Image.open(path, formats=FORMATS) as image:
            check_size(image.height, image.width, max_pixels)
            frames = int(getattr(image, "n_frames", 1))
            turned = _is_turned(image)
            deep = image.format == "PNG" and _png_is_deep_colour(path)
            image.load()
            pixels = _deep_colour(path) if deep else _pixels(image)
    except Image.DecompressionBombError:
        raise ImageTooLarge("The picture is too large to be opened here.") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise cut_off() if "truncated" in str(error) else _damaged() from None
    notes = []
    if turned:
        notes.append(TURNED)
    if frames > 1:
        notes.append(MORE_FRAMES.format(frames=frames))
    if pixels.dtype == np.bool_:
        pixels = pixels.astype(np.uint8) * np.uint8(255)
    bits = pixels.dtype.itemsize * 8
    return Radiograph(pixels, "raster", bits, frames=frames, warnings=tuple(notes))


def raster_size(path: Path) -> tuple[int, int, int]:
    """Width, height and number of frames of a PNG, JPEG, WebP or TIFF file, without decoding it."""
    try:
        with Image.open(path, formats=FORMATS) as image:
            return image.width, image.height, int(getattr(image, "n_frames", 1))
    except Image.DecompressionBombError:
        raise ImageTooLarge("The picture is too large to be opened here.") from None
    except (OSError, SyntaxError, ValueError, EOFError):
        raise _damaged() from None


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
    colour = found[..., 2::-1]
    if found.shape[2] == 4:
        colour = (colour * (found[..., 3:] / 65535.0) + 0.5).astype(np.uint16)
    return grey_or_colour(colour, 16)


def _pixels(image: Image.Image) -> NDArray[Any]:
    if image.mode in _GREY_MODES:
        return np.array(image)
    if image.has_transparency_data:
        black = Image.new("RGBA", image.size, (0, 0, 0, 255))
        image = Image.alpha_composite(black, image.convert("RGBA"))
    return grey_or_colour(np.asarray(image.convert("RGB")), 8)

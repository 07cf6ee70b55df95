"""Decode PNG, JPEG, WebP, TIFF, BMP and GIF: 1 to 32 bits, grey, palette, colour, alpha.

An EXIF orientation is applied only here, so that size, pixels and boxes refer to the same upright
picture. Annotation tools and most models also see that picture. Pixel densities (DPI) of such files
do not describe the patient and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rexview.errors import ImageBroken, ImageTooLarge
from rexview.imaging.codestream import rare_jpeg_feature
from rexview.imaging.limits import (
    MORE_FRAMES,
    NOT_SUPPORTED,
    check_size,
    cut_off_error,
    reserve_memory,
    row_strips,
    silence_decoders,
)
from rexview.imaging.radiograph import ImageFacts, Radiograph

LOSSY_LEVELS: Final = 2
"""Grey levels (of 255) by which the channels of a grey WebP or JPEG may differ."""


def grey_or_colour(colour: NDArray[Any], bits: int) -> NDArray[Any]:
    """Convert a colour picture to the form in which it is shown.

    Parameters
    ----------
    colour : ndarray, (rows, columns, 3)
        R, G, B as unsigned integers.
    bits : int
        Bits used by the values.

    Returns
    -------
    ndarray
        ``(rows, columns)`` of the same type if all three channels are equal. Radiographs are often
        saved so; this keeps their depth and allows windowing. 8-bit channels may differ by
        :data:`LOSSY_LEVELS`, as after lossy coding in luma and chroma. Otherwise ``(rows, columns,
        3)`` uint8.
    """
    first, second, third = (colour[..., channel] for channel in range(3))
    if np.array_equal(first, second) and np.array_equal(first, third):
        return np.ascontiguousarray(first)
    if colour.dtype == np.uint8 and _is_nearly_grey(colour):
        return np.ascontiguousarray(second)
    if colour.dtype == np.uint8 and bits >= 8:
        return np.ascontiguousarray(colour)
    top = float(2**bits - 1)
    scaled = np.empty(colour.shape, np.uint8)
    for rows in row_strips(*colour.shape[:2]):
        scaled[rows] = np.floor(np.clip(colour[rows], 0, top) * (255.0 / top) + 0.5)
    return scaled


def _is_nearly_grey(colour: NDArray[np.uint8]) -> bool:
    return all(
        int(np.ptp(colour[rows], axis=2).max(initial=0)) <= LOSSY_LEVELS
        for rows in row_strips(*colour.shape[:2])
    )


FORMATS: Final = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF")
TURNED_WARNING: Final = (
    "Shown turned or mirrored, as the file asks (EXIF). Boxes are counted on it as it is shown."
)
_TURNS: Final[dict[int, tuple[int, bool]]] = {
    2: (0, True),
    3: (2, False),
    4: (2, True),
    5: (3, True),
    6: (3, False),
    7: (1, True),
    8: (1, False),
}
"""EXIF orientation (tag 0x0112): counter-clockwise quarter turns, and whether mirrored."""
_ACROSS: Final = (5, 6, 7, 8)
"""EXIF orientations that swap width and height."""
_EXIF_KEYS: Final = ("exif", "Raw profile type exif")
_EXIF_ORIENTATION: Final = 0x0112
_BMP_HEADERS: Final = (12, 40, 52, 56, 64, 108, 124)
_NAMES: Final = {"WEBP": "WebP", "MPO": "JPEG"}
_MARKS: Final = (
    *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"),
    *(b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),  # TIFF and BigTIFF
)
DAMAGED: Final = "The picture is damaged and cannot be decoded."
_JPEG_HEAD: Final = 1 << 20
_LONGEST_FILE: Final = 1 << 30
_BYTES: Final = {"1": 5, "L": 5, "I": 17, "F": 17, "CMYK": 14} | dict.fromkeys(
    ("I;16", "I;16L", "I;16B", "I;16N"), 7
)
"""Peak bytes for a pixel in each of Pillow's modes, see :mod:`rexview.imaging.limits`."""
_BYTES_COLOUR: Final = 10
_BYTES_DEEP_OR_WEBP: Final = 16
_MOST_PAGES: Final = 1_000
_LARGE_GIF: Final = 4_000_000
_TIFF_TILE: Final = (322, 323)
_GREY_MODES: Final = frozenset({"1", "L", "I", "F", "I;16", "I;16L", "I;16B", "I;16N"})


def is_raster(head: bytes) -> bool:
    """Whether the first 18 bytes of a file belong to a format read here."""
    return (
        head.startswith(_MARKS)
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
        or (head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS)
    )


def read_raster(path: Path, max_pixels: int) -> Radiograph:
    """Decode the first frame of a file, upright.

    Colour files with equal channels become grey, so that they can be windowed; transparency is
    drawn on black.

    Raises
    ------
    ImageTooLarge, ImageBusy
        It has more than ``max_pixels`` pixels or needs too much memory
        (:mod:`rexview.imaging.limits`).
    ImageBroken
        It cannot be decoded to the end.
    """
    if path.stat().st_size > _LONGEST_FILE:
        raise ImageTooLarge("The file is larger than 1 GiB.")
    with _open_image(path) as image:
        check_size(image.height, image.width, max_pixels)
        deep = image.format == "PNG" and _png_is_deep_colour(path)
        reserve_memory(_needed(image, deep), max_pixels)
        frames = _count_frames(image, path)
        orientation = _orientation(image)
        image.load()
        if deep:
            image.close()  # Pillow's 8-bit copy only proves that the file is complete
        pixels = _deep_colour(path) if deep else _pixels(image)
        if image.format != "TIFF":  # Pillow turns TIFF on its own
            pixels = _upright(pixels, orientation)
    notes = []
    if orientation != 1:
        notes.append(TURNED_WARNING)
    if frames > 1:
        notes.append(MORE_FRAMES.format(frames=frames))
    if pixels.dtype == np.bool_:
        pixels = pixels.astype(np.uint8) * np.uint8(255)
    bits = pixels.dtype.itemsize * 8
    return Radiograph(pixels, "raster", bits, frames=frames, warnings=tuple(notes))


def _needed(image: Image.Image, deep: bool) -> int:
    """Return the peak bytes for decoding an opened picture."""
    width, height = image.size
    if image.format == "TIFF":  # a tile is decoded whole, whatever the picture's size
        tile = [image.tag_v2.get(tag, 0) for tag in _TIFF_TILE]  # type: ignore[attr-defined]
        wide, high = (int(side) if isinstance(side, int) else 0 for side in tile)
        width, height = max(width, wide), max(height, high)
    if deep or image.format == "WEBP":
        return width * height * _BYTES_DEEP_OR_WEBP
    return width * height * _BYTES.get(image.mode, _BYTES_COLOUR)


def raster_facts(path: Path) -> ImageFacts:
    """Read the size and the number of frames of a file without decoding it."""
    with _open_image(path) as image:
        orientation = _orientation(image)
        width, height = image.size
        if orientation in _ACROSS and image.format != "TIFF":
            width, height = height, width
        return ImageFacts(
            width,
            height,
            _count_frames(image, path),
            format=_NAMES.get(image.format or "", image.format or ""),
            turned=orientation != 1,
        )


def _count_frames(image: Image.Image, path: Path) -> int:
    """Count frames or pages, up to a limit: a crafted file can have millions.

    In a TIFF at most :data:`_MOST_PAGES` are counted; in a large GIF, 2 means several.
    """
    if not getattr(image, "is_animated", False):
        return 1
    if image.format == "GIF" and path.stat().st_size > _LARGE_GIF:
        return 2
    if image.format != "TIFF":
        return int(getattr(image, "n_frames", 1))
    pages = 1
    try:
        while pages < _MOST_PAGES:
            image.seek(pages)
            pages += 1
    except EOFError:
        pass
    image.seek(0)
    return pages


def png_checksums_match(path: Path) -> bool:
    """Whether the checksums of a PNG file hold; decoding ignores them."""
    try:
        with silence_decoders(), Image.open(path, formats=("PNG",)) as image:
            image.verify()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


@contextmanager
def _open_image(path: Path) -> Iterator[Image.Image]:
    """Open a file with Pillow; any error becomes a reason for the page.

    Pillow gets the open file. Given a path, it maps an uncompressed TIFF that is to be turned by
    its turned size, and scrambles it.
    """
    with path.open("rb") as file:
        try:
            with Image.open(file, formats=FORMATS) as image:
                yield image
        except Image.DecompressionBombError:
            raise ImageTooLarge("The picture is too large to be opened here.") from None
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            raise cut_off_error() if "truncated" in str(error) else _damaged_error(path) from None


def _orientation(image: Image.Image) -> int:
    """Return the EXIF orientation, 1 (upright) to 8, of a picture that is not decoded yet.

    In a PNG only data before the pixels are read: Pillow would decode the whole file to find more.
    """
    if image.format == "PNG" and not any(key in image.info for key in _EXIF_KEYS):
        return 1
    try:
        found = image.getexif().get(_EXIF_ORIENTATION, 1)
    except Exception:  # a damaged EXIF block may raise anything; the picture does not need it
        return 1
    return found if found in _TURNS else 1


def _upright(pixels: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Turn decoded pixels by their EXIF orientation."""
    if orientation == 1:
        return pixels
    turns, mirrored = _TURNS[orientation]
    turned = np.rot90(pixels, turns)
    return np.ascontiguousarray(turned[:, ::-1] if mirrored else turned)


def _damaged_error(path: Path) -> ImageBroken:
    with path.open("rb") as file:
        kind = rare_jpeg_feature(file.read(_JPEG_HEAD))
    return ImageBroken(NOT_SUPPORTED.format(kind=kind) if kind else DAMAGED)


def _png_is_deep_colour(path: Path) -> bool:
    """Whether a PNG has 16-bit colour or 16-bit grey with alpha, which Pillow reduces to 8 bits."""
    with path.open("rb") as file:
        head = file.read(26)
    return head[24] == 16 and head[25] in (2, 4, 6)


def _deep_colour(path: Path) -> NDArray[Any]:
    """Decode a PNG with 16 bits a channel; (rows, columns) uint16 if all channels are equal."""
    found = cv2.imdecode(np.fromfile(path, dtype=np.uint8), cv2.IMREAD_UNCHANGED)
    if found is None or found.ndim != 3:
        raise _damaged_error(path)
    if found.shape[2] == 4:
        for rows in row_strips(*found.shape[:2]):
            part = found[rows]
            part[..., :3] = part[..., :3] * (part[..., 3:] / 65535.0) + 0.5
    return grey_or_colour(found[..., 2::-1], 16)


def _pixels(image: Image.Image) -> NDArray[Any]:
    if image.mode in _GREY_MODES:
        return np.array(image)
    colour = np.empty((image.height, image.width, 3), np.uint8)
    transparent = image.has_transparency_data
    for rows in row_strips(image.height, image.width):
        part = image.crop((0, rows.start, image.width, rows.stop))
        if transparent:
            black = Image.new("RGBA", part.size, (0, 0, 0, 255))
            part = Image.alpha_composite(black, part.convert("RGBA"))
        colour[rows] = np.asarray(part.convert("RGB"))
    return grey_or_colour(colour, 8)


def encode_picture_file(
    pixels: NDArray[np.uint8],
    ending: Literal[".png", ".jpg", ".webp"],
    options: Sequence[int] = (),
) -> bytes:
    """Return grey or R, G, B pixels as a file; ``options`` are those of OpenCV's encoder."""
    ordered: Any = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR) if pixels.ndim == 3 else pixels
    _, encoded = cv2.imencode(ending, ordered, list(options))
    content: bytes = encoded.tobytes()
    return content

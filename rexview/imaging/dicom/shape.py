"""Where the pixels of a DICOM file lie, and what the header says about them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO, Final

from pydicom.uid import UID

from rexview.errors import ImageBroken
from rexview.imaging.dicom.header import Header
from rexview.imaging.limits import check_size, cut_off

PIXEL_TAGS: Final = {
    0x7FE00008: "FloatPixelData",
    0x7FE00009: "DoubleFloatPixelData",
    0x7FE00010: "PixelData",
}
COLOUR_CONTRADICTION: Final = "The file contradicts itself about whether the picture has colour."
_PIXEL_VRS: Final = frozenset({"OB", "OW", "OF", "OD", "UN"})
_FLOAT_BITS: Final = {"FloatPixelData": 32, "DoubleFloatPixelData": 64}
_COLOURS: Final = frozenset({"RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT"})
_LEAST_BYTES: Final = 6
_PALETTE_BYTES: Final = 8
_GREYS: Final = frozenset({"MONOCHROME1", "MONOCHROME2", "PALETTE COLOR"})


@dataclass(frozen=True)
class PixelElement:
    """The pixel element: its keyword and VR, first byte and length of its value."""

    keyword: str
    vr: str
    start: int
    length: int


@dataclass(frozen=True)
class Shape:
    """What the header says about the pixels, checked. ``bits`` are the stored ones.

    ``notes`` are sentences for the page.
    """

    rows: int
    columns: int
    samples: int
    photometry: str
    allocated: int
    bits: int
    frames: int
    notes: tuple[str, ...] = ()


def needed_bytes(shape: Shape, syntax: UID, unpacked: int = 0) -> int:
    """Bytes that decoding one frame takes at its highest point, see :mod:`rexview.imaging.memory`.

    ``unpacked`` is the length of a file that was inflated into memory.
    """
    stored = shape.samples * max(shape.allocated, 8) // 8
    pixel = max(2 * stored, _LEAST_BYTES)
    if shape.photometry in ("YBR_FULL", "YBR_FULL_422"):
        pixel = 11 * stored  # brought to R, G, B in floats
    elif syntax.is_encapsulated:  # the coded frame, and decoders that count in 32 bits
        pixel = 3 * stored + 5 if shape.samples == 1 else 5 * stored + 9
    if shape.photometry == "PALETTE COLOR":
        pixel += _PALETTE_BYTES
    return shape.rows * shape.columns * pixel + unpacked


def find_pixels(file: BinaryIO, syntax: UID) -> PixelElement | None:
    """Read the head of the pixel element, at which the header's parser stopped.

    Returns
    -------
    PixelElement or None
        None when the file has no pixels.
    """
    order = "<" if syntax.is_little_endian else ">"
    head = file.read(8)
    if len(head) < 8:
        return None
    group, element = struct.unpack(f"{order}HH", head[:4])
    keyword = PIXEL_TAGS.get(group << 16 | element)
    if keyword is None:
        return None
    # Explicit or implicit is seen, not taken from the syntax, which some files get wrong. Read as
    # a length, the letters of a VR would be an odd number, and lengths are even.
    vr, size = head[4:6].decode("latin-1"), head[4:]
    if vr in _PIXEL_VRS:
        size = file.read(4)
    if len(size) < 4:
        raise cut_off()
    length: int = struct.unpack(f"{order}L", size)[0]
    return PixelElement(keyword, "OB" if vr == "OB" else "OW", file.tell(), length)


def frames_of(header: Header) -> int:
    """Number of frames, at least 1."""
    return max(header.integer("NumberOfFrames") or 1, 1)


def shape_of(header: Header, element: PixelElement, max_pixels: int) -> Shape:
    """Check what the header says about the pixels, before any are read.

    Raises
    ------
    ImageTooLarge
        If a frame has more than ``max_pixels`` pixels.
    ImageBroken
        If the header leaves open what the pixels are.
    """
    rows, columns = header.integer("Rows") or 0, header.integer("Columns") or 0
    check_size(rows, columns, max_pixels)
    allocated = _FLOAT_BITS.get(element.keyword) or header.integer("BitsAllocated") or 0
    if allocated not in (1, 8, 16, 32, 64):
        raise ImageBroken("The file does not say how many bits a pixel has.")
    bits = header.integer("BitsStored") or allocated
    if not 1 <= bits <= allocated or element.keyword in _FLOAT_BITS:
        bits = allocated
    samples = header.integer("SamplesPerPixel") or 1
    photometry = (header.text("PhotometricInterpretation") or "").upper()
    if not photometry:
        photometry = "RGB" if samples == 3 else "MONOCHROME2"
    if samples not in (1, 3) or photometry not in _COLOURS | _GREYS:
        raise ImageBroken("The picture has a colour coding that cannot be shown here.")
    notes: tuple[str, ...] = ()
    if (samples == 3) != (photometry in _COLOURS):
        photometry, notes = "RGB" if samples == 3 else "MONOCHROME2", (COLOUR_CONTRADICTION,)
    return Shape(rows, columns, samples, photometry, allocated, bits, frames_of(header), notes)

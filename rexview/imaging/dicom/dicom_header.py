"""Open a DICOM file and read its header: shape, compression, and its UIDs."""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydicom import dcmread, uid
from pydicom.dataset import Dataset
from pydicom.encaps import get_frame
from pydicom.filereader import read_dataset, read_file_meta_info
from pydicom.multival import MultiValue
from pydicom.sequence import Sequence
from pydicom.uid import UID

from rexview.errors import ImageBroken, ImageError, ImageTooLarge
from rexview.imaging.codestream import rare_jpeg_feature, read_coded_size
from rexview.imaging.dicom import isolated_libjpeg
from rexview.imaging.limits import (
    BYTES_PER_PIXEL,
    DAMAGED,
    DECODING_MEMORY,
    NOT_A_PICTURE,
    NOT_SUPPORTED,
    check_size,
    cut_off_error,
    reserve_memory,
)

# Read values of a DICOM header that may be damaged, empty or multi-frame.
#
# An unreadable value counts as absent: a missing value never prevents a picture from being shown.

_MULTIPLE = (MultiValue, list, tuple)


class DicomHeader:
    """Read access to a dataset; an enhanced multi-frame object is read as its first frame."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def raw(self, keyword: str) -> Any:
        """Return an element's value from pydicom; None if absent, empty or unreadable."""
        try:
            value = self.dataset.get(keyword)
        except Exception:  # pydicom converts on access and may raise anything
            return None
        return None if value is None or (isinstance(value, str) and not value) else value

    def text(self, keyword: str) -> str | None:
        """Return the first value as text, stripped."""
        values = self.texts(keyword)
        return values[0] if values and values[0] else None

    def texts(self, keyword: str) -> tuple[str, ...]:
        """Return all values as text, stripped."""
        value = self.raw(keyword)
        if value is None or isinstance(value, bytes | Sequence):
            return ()
        many = value if isinstance(value, _MULTIPLE) else (value,)
        return tuple(str(one).strip().strip("\0") for one in many)

    def numbers(self, keyword: str) -> tuple[float, ...]:
        """Return all values as floats; none if one of them is not a finite number."""
        value = self.raw(keyword)
        if value is None or isinstance(value, bytes | Sequence):
            return ()
        many: Iterable[Any] = value if isinstance(value, _MULTIPLE) else (value,)
        try:
            found = tuple(float(one) for one in many)
        except (TypeError, ValueError, OverflowError):
            return ()
        return found if all(math.isfinite(one) for one in found) else ()

    def number(self, keyword: str) -> float | None:
        """Return the first value as a finite float."""
        found = self.numbers(keyword)
        return found[0] if found else None

    def integer(self, keyword: str) -> int | None:
        """Return the first value as an integer."""
        found = self.number(keyword)
        return None if found is None else int(found)

    def items(self, keyword: str) -> tuple[DicomHeader, ...]:
        """Return the items of a sequence."""
        value = self.raw(keyword)
        if not isinstance(value, Sequence):
            return ()
        return tuple(DicomHeader(item) for item in value)

    def holder(self, keyword: str, group: str) -> DicomHeader:
        """Return what contains an element: the dataset, or a functional group of the first frame.

        Parameters
        ----------
        keyword : str
            The element.
        group : str
            The functional group sequence that contains it in enhanced objects (PS3.3 C.7.6.16).
        """
        if self.raw(keyword) is not None:
            return self
        for frames in ("PerFrameFunctionalGroupsSequence", "SharedFunctionalGroupsSequence"):
            for frame in self.items(frames)[:1]:
                for item in frame.items(group)[:1]:
                    if item.raw(keyword) is not None:
                        return item
        return self


# The position of the pixels in a DICOM file, and their description in the header.

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
    """The pixel element: its keyword and VR, position and length of its value."""

    keyword: str
    vr: str
    start: int
    length: int


@dataclass(frozen=True)
class PixelShape:
    """The header's description of the pixels, checked. ``bits`` are the stored ones.

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


def decoding_bytes(shape: PixelShape, syntax: UID, unpacked: int = 0) -> int:
    """Return the peak memory in bytes of decoding one frame, see :mod:`rexview.imaging.limits`.

    ``unpacked`` is the length of a file that was inflated into memory.
    """
    stored = shape.samples * max(shape.allocated, 8) // 8
    pixel = max(2 * stored, _LEAST_BYTES)
    if shape.photometry in ("YBR_FULL", "YBR_FULL_422"):
        pixel = 11 * stored  # converted to R, G, B in floats
    elif syntax.is_encapsulated:  # the coded frame, and decoders that count in 32 bits
        pixel = 3 * stored + 5 if shape.samples == 1 else 5 * stored + 9
    if shape.photometry == "PALETTE COLOR":
        pixel += _PALETTE_BYTES
    return shape.rows * shape.columns * pixel + unpacked


def find_pixels(file: BinaryIO, syntax: UID) -> PixelElement | None:
    """Read the header of the pixel element, where the parser stopped.

    Returns
    -------
    PixelElement or None
        None if the file has no pixels.
    """
    order = "<" if syntax.is_little_endian else ">"
    head = file.read(8)
    if len(head) < 8:
        return None
    group, element = struct.unpack(f"{order}HH", head[:4])
    keyword = PIXEL_TAGS.get(group << 16 | element)
    if keyword is None:
        return None
    # Explicit or implicit VR is detected, as some files name the wrong syntax. Read as a length,
    # the
    # letters of a VR would be an odd number, and lengths are even.
    vr, size = head[4:6].decode("latin-1"), head[4:]
    if vr in _PIXEL_VRS:
        size = file.read(4)
    if len(size) < 4:
        raise cut_off_error()
    length: int = struct.unpack(f"{order}L", size)[0]
    return PixelElement(keyword, "OB" if vr == "OB" else "OW", file.tell(), length)


def frame_count(header: DicomHeader) -> int:
    """Return the number of frames, at least 1."""
    return max(header.integer("NumberOfFrames") or 1, 1)


def read_pixel_shape(header: DicomHeader, element: PixelElement, max_pixels: int) -> PixelShape:
    """Check the header's description of the pixels before any are read.

    Raises
    ------
    ImageTooLarge
        A frame has more than ``max_pixels`` pixels.
    ImageBroken
        The header does not define the pixels.
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
    return PixelShape(
        rows, columns, samples, photometry, allocated, bits, frame_count(header), notes
    )


# Checks before compressed or deflated data reach a decoder, and the decoders to try.

_UNDEFINED: Final = 0xFFFFFFFF
_ITEM: Final = b"\xfe\xff\x00\xe0"
_J2K: Final = (*uid.JPEG2000TransferSyntaxes, uid.HTJ2K, uid.HTJ2KLossless, uid.HTJ2KLosslessRPCL)
_PLUGINS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(uid.JPEGTransferSyntaxes, ("pillow", isolated_libjpeg.PLUGIN)),
    **dict.fromkeys((uid.JPEGLossless, uid.JPEGLosslessSV1), (isolated_libjpeg.PLUGIN,)),
    **dict.fromkeys(uid.JPEGLSTransferSyntaxes, ("pyjpegls",)),
    **dict.fromkeys(_J2K, ("pylibjpeg", "pillow")),
    uid.RLELossless: ("pylibjpeg", "pydicom"),
}
"""pydicom's decoder plugins by transfer syntax, the best first.

Two are left out on purpose: libjpeg within this process and for JPEG-LS (a damaged frame can cause
an endless loop), and GDCM (not needed for any of these).
"""
isolated_libjpeg.register_plugin()


def inflate_deflated(data: bytes, limit: int) -> bytes:
    """Decompress the deflated transfer syntax (PS3.5 A.5), up to a limit.

    Raises
    ------
    ImageTooLarge
        The result has more than ``limit`` bytes.
    ImageBroken
        The stream is damaged or ends early.
    """
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        found = inflater.decompress(data, limit + 1)
    except zlib.error:
        raise ImageBroken(DAMAGED) from None
    if len(found) > limit:
        raise ImageTooLarge("The file unpacks to more than can be opened here.")
    if not inflater.eof:
        raise cut_off_error()
    return found


def check_compressed(
    file: BinaryIO,
    element: PixelElement,
    shape: PixelShape,
    syntax: uid.UID,
    size: int,
    offsets: tuple[bytes, bytes] | None,
) -> tuple[tuple[str, ...], str]:
    """Check compressed data; return the decoders to try, and the reason to give if all fail.

    ``offsets`` is the extended offset table with its lengths.

    Raises
    ------
    ImageBroken
        The compression is unknown, the data end early, or the compressed picture has another size
        than the header (so that a few bytes cannot ask for gigabytes).
    """
    plugins = _PLUGINS.get(syntax)
    if plugins is None:
        name = f" ({syntax.name})" if syntax.name != str(syntax) else ""
        raise ImageBroken(f"The picture is compressed in a way that cannot be read here{name}.")
    _check_fragments(file, element, shape, size)
    if syntax == uid.RLELossless:
        return plugins, DAMAGED
    file.seek(element.start)
    try:
        frame = get_frame(file, 0, number_of_frames=shape.frames, extended_offsets=offsets)
    except Exception:  # pydicom may raise anything here
        raise ImageBroken(DAMAGED) from None
    coded = read_coded_size(frame)
    if coded is None:
        raise ImageBroken(DAMAGED)
    rows_differ = coded.rows not in (0, shape.rows)
    if rows_differ or coded.columns != shape.columns or coded.components != shape.samples:
        raise ImageBroken(
            "The compressed picture has another size or other channels than the header says."
        )
    lossless = syntax in (uid.JPEGLossless, uid.JPEGLosslessSV1)
    kind = None if lossless else rare_jpeg_feature(frame)
    return plugins, NOT_SUPPORTED.format(kind=kind) if kind else DAMAGED


def _check_fragments(file: BinaryIO, element: PixelElement, shape: PixelShape, size: int) -> None:
    """Raise if the first compressed frame runs past the end of the file."""
    if element.length != _UNDEFINED:
        raise ImageBroken(DAMAGED)
    at, complete = element.start, 0
    while at + 8 <= size:
        file.seek(at)
        tag, length = struct.unpack("<4sL", file.read(8))
        if tag != _ITEM:
            return
        at += 8 + length
        complete += at <= size
    # the first item is the offset table; a film may be cut off after its first frame
    if complete < 2 or (at > size and shape.frames == 1):
        raise cut_off_error()


_INFLATED_ROOM: Final = 64 * 2**20
"""Bytes that a deflated file may use for more than its pixels."""


@dataclass(frozen=True)
class OpenedDicom:
    """A parsed header with its open file. ``size`` is the file's (inflated) length."""

    header: DicomHeader
    syntax: uid.UID
    file: BinaryIO
    size: int
    pixels: PixelElement | None


def is_dicom(head: bytes) -> bool:
    """Whether the first 132 bytes of a file mark it as DICOM (PS3.10 7.1)."""
    return head[128:132] == b"DICM"


@contextmanager
def open_dicom(path: Path, declared: bool, max_pixels: int) -> Iterator[OpenedDicom]:
    """Open a file and parse its header; no pixels are read.

    Parameters
    ----------
    path : Path
        The file.
    declared : bool
        Whether the file is marked as DICOM. If not, it is read as well, because old files lack
        preamble and file meta, but it is rejected without rows and pixels.
    max_pixels : int
        Limits the size of an inflated file.

    Raises
    ------
    ImageTooLarge, ImageBroken, ImageBusy
        With the reason.
    """
    with DECODING_MEMORY.scope(), path.open("rb") as file:
        dataset, syntax, stream = _parse(path, file, declared, max_pixels)
        pixels = find_pixels(stream, syntax)
        size = stream.seek(0, io.SEEK_END)
        header = DicomHeader(dataset)
        if not declared and (pixels is None or not header.integer("Rows")):
            raise ImageBroken(NOT_A_PICTURE)
        yield OpenedDicom(header, syntax, stream, size, pixels)


def _parse(
    path: Path, file: BinaryIO, declared: bool, max_pixels: int
) -> tuple[Dataset, uid.UID, BinaryIO]:
    try:
        if declared:
            meta = read_file_meta_info(path)
            if meta.get("TransferSyntaxUID") == uid.DeflatedExplicitVRLittleEndian:
                # the size is unknown before inflating: allow as much as a picture may need
                reserve_memory(max_pixels * BYTES_PER_PIXEL, max_pixels)
                file.seek(144 + int(meta.FileMetaInformationGroupLength))
                stream = io.BytesIO(inflate_deflated(file.read(), 8 * max_pixels + _INFLATED_ROOM))
                parsed = read_dataset(stream, False, True, stop_when=_is_pixel_tag)
                return parsed, uid.ExplicitVRLittleEndian, stream
        dataset = dcmread(file, stop_before_pixels=True, force=not declared)
        syntax = dataset.file_meta.get("TransferSyntaxUID")
        if not syntax:
            implicit, little = dataset.original_encoding
            guess = uid.ExplicitVRLittleEndian if little else uid.ExplicitVRBigEndian
            syntax = uid.ImplicitVRLittleEndian if implicit else guess
    except ImageError:
        raise
    except EOFError:
        raise cut_off_error() from None
    except Exception:  # pydicom's parser may raise anything
        if not declared:
            raise ImageBroken(NOT_A_PICTURE) from None
        raise ImageBroken("The DICOM header is damaged and cannot be read.") from None
    return dataset, uid.UID(str(syntax)), file


def _is_pixel_tag(tag: int, vr: str | None, length: int) -> bool:
    return tag in PIXEL_TAGS


# The UIDs of an image, by which other DICOM objects refer to it.


@dataclass(frozen=True)
class ImageReference:
    """An image's UIDs; ``rows`` and ``columns`` are pixels as stored."""

    study: str
    series: str
    instance: str
    sop_class: str
    rows: int
    columns: int
    frames: int


def read_image_reference(opened: OpenedDicom) -> ImageReference | None:
    """Read the UIDs of an opened file.

    Returns
    -------
    ImageReference or None
        None if a UID is missing or invalid, or if the class is not an image's: nothing can refer to
        such a file.
    """
    header = opened.header
    study, series, instance, sop_class = (
        _uid(header, keyword)
        for keyword in ("StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID", "SOPClassUID")
    )
    rows, columns = header.integer("Rows") or 0, header.integer("Columns") or 0
    is_image = "Image Storage" in UID(sop_class).name and rows > 0 and columns > 0
    if not (study and series and instance and is_image):
        return None
    return ImageReference(study, series, instance, sop_class, rows, columns, frame_count(header))


def _uid(header: DicomHeader, keyword: str) -> str:
    uid = UID(header.text(keyword) or "")
    return str(uid) if uid.is_valid else ""

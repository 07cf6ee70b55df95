"""What is checked before compressed or deflated data reach a decoder, and which decoders to try."""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO, Final

from pydicom import uid
from pydicom.encaps import get_frame

from rexview.errors import ImageBroken, ImageTooLarge
from rexview.imaging.codestream import coded_size, rare_jpeg
from rexview.imaging.dicom import isolated
from rexview.imaging.dicom.shape import PixelElement, Shape
from rexview.imaging.limits import DAMAGED, NOT_SUPPORTED, cut_off

_UNDEFINED: Final = 0xFFFFFFFF
_ITEM: Final = b"\xfe\xff\x00\xe0"
_J2K: Final = (*uid.JPEG2000TransferSyntaxes, uid.HTJ2K, uid.HTJ2KLossless, uid.HTJ2KLosslessRPCL)
_PLUGINS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(uid.JPEGTransferSyntaxes, ("pillow", isolated.PLUGIN)),
    **dict.fromkeys((uid.JPEGLossless, uid.JPEGLosslessSV1), (isolated.PLUGIN,)),
    **dict.fromkeys(uid.JPEGLSTransferSyntaxes, ("pyjpegls",)),
    **dict.fromkeys(_J2K, ("pylibjpeg", "pillow")),
    uid.RLELossless: ("pylibjpeg", "pydicom"),
}
"""pydicom's decoder plugins by transfer syntax, the best first.

Left out although they could: libjpeg in this process and for JPEG-LS (a damaged frame can send it
into an endless loop) and GDCM (not needed for any of these).
"""
isolated.register()


def inflate(data: bytes, limit: int) -> bytes:
    """Undo the deflated transfer syntax (PS3.5 A.5), up to a limit.

    Raises
    ------
    ImageTooLarge
        If more than ``limit`` bytes come out.
    ImageBroken
        If the stream is damaged or ends early.
    """
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        found = inflater.decompress(data, limit + 1)
    except zlib.error:
        raise ImageBroken(DAMAGED) from None
    if len(found) > limit:
        raise ImageTooLarge("The file unpacks to more than can be opened here.")
    if not inflater.eof:
        raise cut_off()
    return found


def check_compressed(
    file: BinaryIO,
    element: PixelElement,
    shape: Shape,
    syntax: uid.UID,
    size: int,
    offsets: tuple[bytes, bytes] | None,
) -> tuple[tuple[str, ...], str]:
    """Refuse what no decoder should see.

    Returns the decoders to try, and the reason to give when none of them can.

    ``offsets`` is the extended offset table with its lengths.

    Raises
    ------
    ImageBroken
        If the compression is not known, the data end early, or the compressed picture is not of
        the size that the header says (so that a few bytes cannot ask for gigabytes).
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
    except Exception:  # pydicom raises whatever the bytes provoke
        raise ImageBroken(DAMAGED) from None
    coded = coded_size(frame)
    if coded is None:
        raise ImageBroken(DAMAGED)
    rows_differ = coded.rows not in (0, shape.rows)
    if rows_differ or coded.columns != shape.columns or coded.components != shape.samples:
        raise ImageBroken(
            "The compressed picture has another size or other channels than the header says."
        )
    lossless = syntax in (uid.JPEGLossless, uid.JPEGLosslessSV1)
    kind = None if lossless else rare_jpeg(frame)
    return plugins, NOT_SUPPORTED.format(kind=kind) if kind else DAMAGED


def _check_fragments(file: BinaryIO, element: PixelElement, shape: Shape, size: int) -> None:
    """Refuse compressed data whose first frame runs past the end of the file."""
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
    # the first item is the offset table; a film may be cut behind the frame that is shown
    if complete < 2 or (at > size and shape.frames == 1):
        raise cut_off()

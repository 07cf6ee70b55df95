"""Decoding the first frame of a DICOM file.

pydicom does the work through its decoder plugins; every way to fail becomes a reason that a reader
of the page understands. Only the first frame is read, so a film costs no more than one picture.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from pydicom import uid
from pydicom.pixels.decoders.base import get_decoder

from rexview.errors import ImageBroken
from rexview.imaging.dicom.compressed import check_compressed
from rexview.imaging.dicom.header import Header
from rexview.imaging.dicom.shape import PixelElement, Shape
from rexview.imaging.limits import cut_off


def decode(
    file: BinaryIO, header: Header, element: PixelElement, shape: Shape, syntax: uid.UID, size: int
) -> NDArray[Any]:
    """Decode the first frame of an (inflated) DICOM file that is ``size`` bytes long.

    Returns
    -------
    ndarray
        (rows, columns) stored values with unused bits removed, or (rows, columns, 3) in R, G, B;
        in the machine's byte order.

    Raises
    ------
    ImageBroken
        If that is not possible.
    """
    options = _options(header, element, shape, syntax)
    plugins: tuple[str, ...] = ("",)
    reason = "The pixel data do not fit the header."
    if syntax.is_encapsulated:
        offsets = options.get("extended_offsets")
        plugins, reason = check_compressed(file, element, shape, syntax, size, offsets)
    else:
        _check_native(element, shape, size, options)
    lift = _bits_below(header, shape, syntax)
    options["correct_unused_bits"] = lift == 0
    for plugin in plugins:
        file.seek(element.start)
        frame = _attempt(file, syntax, plugin, options)
        if frame is not None:
            frame = _drop_bits(frame, shape, lift) if lift else frame
            return frame.astype(frame.dtype.newbyteorder("="), copy=False)
    raise ImageBroken(reason)


def _attempt(
    file: BinaryIO, syntax: uid.UID, plugin: str, options: dict[str, Any]
) -> NDArray[Any] | None:
    try:
        frame, _ = get_decoder(syntax).as_array(
            file, index=0, validate=True, raw=False, decoding_plugin=plugin, **options
        )
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        # Decoders raise whatever the bytes provoke, and a panic of one written in Rust is not even
        # an Exception; the next decoder may do better.
        return None
    return frame


def _options(
    header: Header, element: PixelElement, shape: Shape, syntax: uid.UID
) -> dict[str, Any]:
    """What pydicom's decoders want to know."""
    options: dict[str, Any] = {
        "transfer_syntax_uid": syntax,
        "pixel_keyword": element.keyword,
        "pixel_vr": element.vr,
        "rows": shape.rows,
        "columns": shape.columns,
        "number_of_frames": shape.frames,
        "samples_per_pixel": shape.samples,
        "photometric_interpretation": shape.photometry,
        "bits_allocated": shape.allocated,
    }
    if element.keyword == "PixelData":
        options["bits_stored"] = shape.bits
        options["pixel_representation"] = 1 if header.integer("PixelRepresentation") == 1 else 0
    if shape.samples > 1:
        options["planar_configuration"] = 1 if header.integer("PlanarConfiguration") == 1 else 0
    offsets, lengths = header.raw("ExtendedOffsetTable"), header.raw("ExtendedOffsetTableLengths")
    if offsets and lengths and len(offsets) == len(lengths):
        options["extended_offsets"] = (offsets, lengths)
    return options


def _check_native(element: PixelElement, shape: Shape, size: int, options: dict[str, Any]) -> None:
    """Refuse uncompressed data that end early; spot 4:2:2 colour that is not subsampled."""
    needed = (shape.rows * shape.columns * shape.samples * shape.allocated + 7) // 8
    if shape.photometry == "YBR_FULL_422":
        if element.length >= needed * shape.frames:
            options["photometric_interpretation"] = "YBR_FULL"
        else:
            needed = needed * 2 // 3
    if size - element.start < needed:
        raise cut_off()
    if element.length < needed:
        raise ImageBroken("There are fewer pixels than the size of the picture asks for.")


def _bits_below(header: Header, shape: Shape, syntax: uid.UID) -> int:
    """How many bits lie below the pixel: 0 but for old files with an odd HighBit."""
    high = header.integer("HighBit")
    plain = not syntax.is_encapsulated or syntax == uid.RLELossless
    if high is None or not plain or not shape.bits <= high < shape.allocated:
        return 0
    return high + 1 - shape.bits


def _drop_bits(frame: NDArray[Any], shape: Shape, below: int) -> NDArray[Any]:
    """Drop what lies above and below the pixel's own bits; keeps the sign."""
    spare = shape.allocated - shape.bits
    moved: NDArray[Any] = np.right_shift(np.left_shift(frame, spare - below), spare)
    return moved

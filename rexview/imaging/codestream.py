"""Read a compressed picture's size from its codestream, before anything is decoded.

A few bytes of JPEG, JPEG-LS or JPEG 2000 can ask for gigabytes, whatever the DICOM header claims.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

_JPEG_LS: Final = 0xF7
_SIZE_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC} | {_JPEG_LS}
"""Start-of-frame markers of JPEG (ISO 10918-1 table B.1) and JPEG-LS (ISO 14495-1)."""
_STANDALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
_FRAME_KINDS: Final = {
    **dict.fromkeys((0xC3, 0xC7, 0xCB, 0xCF), "lossless JPEG"),
    **dict.fromkeys((0xC5, 0xC6, 0xCD, 0xCE), "hierarchical JPEG"),
}
"""Start-of-frame markers that not every decoder supports (ISO 10918-1 table B.1)."""
_SEQUENTIAL: Final = (0xC0, 0xC1)
_START_OF_SCAN: Final = 0xDA
_WHOLE_BLOCK: Final = b"\x00\x3f\x00"
"""Ss, Se, Ah and Al of a scan with all 64 coefficients (table B.3)."""
_J2K_START: Final = b"\xff\x4f\xff\x51"


class CodedSize(NamedTuple):
    """Rows, columns and components in a codestream's header. Rows may be 0: not given."""

    rows: int
    columns: int
    components: int


def read_coded_size(frame: bytes) -> CodedSize | None:
    """Read the size from one compressed frame.

    Parameters
    ----------
    frame : bytes
        A JPEG, JPEG-LS, JPEG 2000 or HTJ2K codestream, or a JP2 file.

    Returns
    -------
    CodedSize or None
        None if no size is found, or the data are in none of these formats.
    """
    try:
        if frame[:2] == b"\xff\xd8":
            return _jpeg_size(frame)
        start = frame.find(_J2K_START, 0, 4096)
        return _j2k_size(frame, start) if start >= 0 else None
    except (struct.error, IndexError):
        return None


def rare_jpeg_feature(frame: bytes) -> str | None:
    """Name the feature of a JPEG that not every decoder supports, such as ``12-bit JPEG``.

    None for other JPEGs, and for other data.
    """
    try:
        for marker, at in _segments(frame):
            if marker in _SIZE_MARKERS:
                bits = frame[at + 4]
                plain = bits == 8 or marker == _JPEG_LS
                return _FRAME_KINDS.get(marker) or (None if plain else f"{bits}-bit JPEG")
    except (struct.error, IndexError):
        pass
    return None


def repair_scan_headers(frame: bytes) -> bytes:
    """Repair sequential JPEG whose scan header excludes coefficients, as old writers do.

    The standard allows only 0 to 63 here. Some decoders require it, others ignore it.
    """
    sequential = False
    try:
        for marker, at in _segments(frame):
            sequential = sequential or marker in _SEQUENTIAL
            if marker == _START_OF_SCAN:
                end = at + 2 + struct.unpack_from(">H", frame, at + 2)[0]
                cut = end > len(frame)
                if not sequential or cut or frame[end - 3 : end] == _WHOLE_BLOCK:
                    return frame
                return frame[: end - 3] + _WHOLE_BLOCK + frame[end:]
    except (struct.error, IndexError):
        pass
    return frame


def _segments(frame: bytes) -> Iterator[tuple[int, int]]:
    """Yield the markers of a JPEG up to its first scan, each with its position."""
    at = 2 if frame[:2] == b"\xff\xd8" else len(frame)
    while at + 4 <= len(frame) and frame[at] == 0xFF:
        marker = frame[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif marker in _STANDALONE:
            at += 2
        else:
            yield marker, at
            if marker == _START_OF_SCAN:
                return
            at += 2 + struct.unpack_from(">H", frame, at + 2)[0]


def _jpeg_size(frame: bytes) -> CodedSize | None:
    for marker, at in _segments(frame):
        if marker in _SIZE_MARKERS:
            rows, columns, components = struct.unpack_from(">HHB", frame, at + 5)
            return CodedSize(rows, columns, components)
    return None


def _j2k_size(frame: bytes, start: int) -> CodedSize:
    # SIZ (ISO 15444-1 A.5.1): marker, length, capabilities, then the reference grid
    width, height, left, top = struct.unpack_from(">4L", frame, start + 8)
    (components,) = struct.unpack_from(">H", frame, start + 40)
    return CodedSize(max(height - top, 0), max(width - left, 0), components)

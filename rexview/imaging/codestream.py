"""How large a compressed picture is, read from its own header before anything is decoded.

A few bytes of JPEG, JPEG-LS or JPEG 2000 can ask for gigabytes whatever the DICOM header says.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

_SIZE_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC} | {0xF7}
"""Start-of-frame markers of JPEG (ISO 10918-1 table B.1) and JPEG-LS (ISO 14495-1)."""
_STANDALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
_J2K_START: Final = b"\xff\x4f\xff\x51"


class CodedSize(NamedTuple):
    """Rows, columns and components that a codestream says it has. Rows may be 0: not said."""

    rows: int
    columns: int
    components: int


def coded_size(frame: bytes) -> CodedSize | None:
    """Read the size from one compressed frame.

    Parameters
    ----------
    frame : bytes
        A JPEG, JPEG-LS, JPEG 2000 or HTJ2K codestream, or a JP2 file.

    Returns
    -------
    CodedSize or None
        None when no size is found (or it is none of these).
    """
    try:
        if frame[:2] == b"\xff\xd8":
            return _jpeg_size(frame)
        start = frame.find(_J2K_START, 0, 4096)
        return _j2k_size(frame, start) if start >= 0 else None
    except (struct.error, IndexError):
        return None


def _jpeg_size(frame: bytes) -> CodedSize | None:
    at = 2
    while at + 4 <= len(frame):
        if frame[at] != 0xFF:
            return None
        marker = frame[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif marker in _STANDALONE:
            at += 2
        elif marker in _SIZE_MARKERS:
            rows, columns, components = struct.unpack_from(">HHB", frame, at + 5)
            return CodedSize(rows, columns, components)
        else:
            at += 2 + struct.unpack_from(">H", frame, at + 2)[0]
    return None


def _j2k_size(frame: bytes, start: int) -> CodedSize:
    # SIZ (ISO 15444-1 A.5.1): marker, length, capabilities, then the reference grid
    width, height, left, top = struct.unpack_from(">4L", frame, start + 8)
    (components,) = struct.unpack_from(">H", frame, start + 40)
    return CodedSize(max(height - top, 0), max(width - left, 0), components)

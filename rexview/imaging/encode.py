"""Encode a picture for the browser viewer: a small JSON header and raw pixels, 16 bits deep.

**Transport.** Both are joined into one response: the four bytes ``RXV1``, the
header's length in bytes as little-endian uint32, the header (UTF-8 JSON, padded with spaces so
that the body starts at a multiple of 8), the body.

**Body.** ``height * width`` codes, row by row from the top left, without padding: uint8
(``format`` ``u8``), little-endian uint16 (``u16``), or three uint8 R, G, B (``rgb8``). Rows and
columns are those of the stored image, never turned or mirrored, so boxes need no conversion.

**Header**, all keys always present, numbers finite::

    version      1
    width        columns of the body
    height       rows of the body
    format       "u8" | "u16" | "rgb8"
    scale        value = code * scale + offset is the modality-transformed value (Hounsfield
    offset       units, optical density, or simply the stored value); scale may be negative, not 0
    invert       true: the grey level is inverted after the window (MONOCHROME1)
    presentation null, or base64 of uint8: presentation LUT, see below
    aspect       height / width of one pixel on the screen (1 for square pixels): draw the picture
                 width wide and height * aspect high
    presets      list of {name, kind, centre, width, table}; empty for rgb8, otherwise the file's
                 own windows first, then "Auto", then "Full range" (8 bits: "As stored")
    initial      index into presets; null for rgb8
    spacing      null, or {row_mm, col_mm, at: "detector" | "patient", note: text or null}: row_mm
                 is the distance of two rows (vertical), col_mm of two columns (horizontal)
    orientation  {left, right, top, bottom, source, mirrored, turned}: from the file (letters of
                 rexview.geometry.Orientation); the case's own record, if any, has precedence
    view         raw ViewPosition of the file, or null
    bits         bits used by the stored values (8, 12, 16, ...)
    frames       number of frames in the file; only the first is in the body
    warnings     list of sentences for the page
    sha          32 hex digits that change with the body (BLAKE2b, 16 bytes)

**From code to grey**, in IEEE doubles, in exactly this order of operations. Colour (``rgb8``) is
drawn unchanged. For everything else, with ``c`` and ``w`` the preset's (or the user's) ``centre``
and ``width`` in values::

    m = code * scale + offset

    kind "linear" (DICOM C.11.2.1.2.1, w >= 1):
        mid = c - 0.5;  half = (w - 1) / 2
        t = 0                           if m <= mid - half
        t = 1                           if m >  mid + half
        t = (m - mid) / (w - 1) + 0.5   otherwise

    kind "linear_exact" (C.11.2.1.3.2, w > 0):
        half = w / 2
        t = 0                           if m <= c - half
        t = 1                           if m >  c + half
        t = (m - c) / w + 0.5           otherwise

    kind "sigmoid" (C.11.2.1.3.1, w > 0):
        t = 1 / (1 + exp(-4 * (m - c) / w))

    ROUND = 0.500000001
    grey = floor(t * 255 + ROUND)                          without presentation LUT
    grey = presentation[floor(t * (n - 1) + ROUND)]        with one of n entries

    kind "lut" (C.11.2.1.1): table = {first, values}, values is base64 of n uint8, already scaled
    to 0-255 and with the presentation LUT, if any, already applied:
        grey = values[min(max(floor(m) - first, 0), n - 1)]

    finally, for all kinds:  if invert: grey = 255 - grey

``ROUND`` is slightly above one half, so that exact ties go up whatever the last bit of ``t`` is. So
Python, JavaScript and exact arithmetic agree on every grey level (tests/data/windowing.json, made
by tools/golden_windowing.py). A "lut" preset also has ``centre`` and ``width``: there dragging
starts. A dragged window is "linear_exact" unless it began as "linear" or "sigmoid", and ``linear``
is never narrower than 1.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rexview.imaging.cache import DiskCache, get_or_make_file
from rexview.imaging.image_files import read_image
from rexview.imaging.limits import DECODING_MEMORY, MAX_PIXELS
from rexview.imaging.radiograph import Radiograph, Window
from rexview.imaging.transforms import QUANTISED, CodedPixels, code_pixels, presets

PAYLOAD_VERSION: Final = 1
_ADDED_PRESETS: Final = 2
"""Number of presets added after those of the file: Auto and the full range."""
_MAGIC: Final = b"RXV1"
_PREAMBLE: Final = struct.Struct("<4sL")


@dataclass(frozen=True, eq=False)
class ViewerPayload:
    """Header and body in the format above; ``framed`` is the complete response."""

    header: dict[str, Any]
    body: memoryview
    framed: bytes


def viewer_payload(
    path: Path, cache: DiskCache | None = None, *, max_pixels: int = MAX_PIXELS
) -> ViewerPayload:
    """Decode a picture for the viewer; a ``cache`` keeps the result until the file changes.

    Raises
    ------
    ImageMissing, ImageTooLarge, ImageBroken, ImageBusy
        With a reason for the page.
    """

    def make() -> bytes:
        with DECODING_MEMORY.scope():
            return _frame(*encode_radiograph(read_image(path, max_pixels=max_pixels)))

    return unframe_payload(
        get_or_make_file(cache, path, make, "viewer", PAYLOAD_VERSION, max_pixels)
    )


def unframe_payload(framed: bytes) -> ViewerPayload:
    """Split a response into header and body; raise ValueError if it is no payload."""
    if framed[:4] != _MAGIC:
        raise ValueError("These bytes are not a viewer payload.")
    (length,) = struct.unpack_from("<L", framed, 4)
    start = _PREAMBLE.size + length
    header = json.loads(framed[_PREAMBLE.size : start])
    return ViewerPayload(header, memoryview(framed)[start:], framed)


def without_free_text(payload: ViewerPayload) -> ViewerPayload:
    """Return a payload without its file's free text, see :func:`header_without_free_text`."""
    header = header_without_free_text(payload.header)
    framed = _frame(header, np.frombuffer(payload.body, dtype=np.uint8))
    return unframe_payload(framed)


def header_without_free_text(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return a header without its file's free text: window names, notes, the view's word.

    A model could name itself in the text of a picture that it returned. Numbers, side letters and
    our own sentences are kept.
    """
    n_named = len(header["presets"]) - _ADDED_PRESETS
    presets = [
        {**preset, "name": f"Window {number}"} if number <= n_named else preset
        for number, preset in enumerate(header["presets"], start=1)
    ]
    spacing = header["spacing"]
    return {
        **header,
        "presets": presets,
        "spacing": spacing and {**spacing, "note": None},
        "view": None,
    }


def _frame(header: dict[str, Any], body: NDArray[Any]) -> bytes:
    text = json.dumps(header, allow_nan=False).encode()
    text += b" " * (-(_PREAMBLE.size + len(text)) % 8)
    return b"".join((_PREAMBLE.pack(_MAGIC, len(text)), text, body.data))


def encode_radiograph(radiograph: Radiograph) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return header and body of a decoded picture.

    The body has one row of codes for each row of the picture: uint8 or uint16, or R, G, B as uint8.
    """
    warnings = list(radiograph.warnings)
    found: dict[str, Any] = {"format": "rgb8", "scale": 1.0, "offset": 0.0, "presets": []}
    body: NDArray[Any] = radiograph.pixels
    initial: int | None = None
    if not radiograph.colour:
        coded = code_pixels(radiograph)
        if coded.quantised:
            warnings.append(QUANTISED)
        windows, initial, warning = presets(radiograph, coded)
        if warning:
            warnings.append(warning)
        found, body = _grey(coded, windows)
    body = np.ascontiguousarray(body)
    presentation = radiograph.presentation
    orientation = radiograph.orientation
    header = {
        "version": PAYLOAD_VERSION,
        "width": radiograph.width,
        "height": radiograph.height,
        **found,
        "invert": radiograph.invert,
        "presentation": None if presentation is None else base64.b64encode(presentation).decode(),
        "aspect": radiograph.aspect,
        "initial": initial,
        "spacing": radiograph.spacing and asdict(radiograph.spacing),
        "orientation": {
            **asdict(orientation),
            "mirrored": orientation.mirrored,
            "turned": orientation.turned,
        },
        "view": radiograph.view,
        "bits": radiograph.bits,
        "frames": radiograph.frames,
        "warnings": warnings,
        "sha": hashlib.blake2b(body.data, digest_size=16).hexdigest(),
    }
    return header, body


def _grey(coded: CodedPixels, windows: tuple[Window, ...]) -> tuple[dict[str, Any], NDArray[Any]]:
    small = coded.codes.dtype == np.uint8
    header = {
        "format": "u8" if small else "u16",
        "scale": coded.scale,
        "offset": coded.offset,
        "presets": [_preset(window) for window in windows],
    }
    return header, coded.codes.astype(np.uint8 if small else "<u2", copy=False)


def _preset(window: Window) -> dict[str, Any]:
    table = window.table and {
        "first": window.table.first,
        "values": base64.b64encode(window.table.levels).decode(),
    }
    return {
        "name": window.name,
        "kind": window.kind,
        "centre": window.centre,
        "width": window.width,
        "table": table,
    }

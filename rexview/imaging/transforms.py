"""Transform stored pixels to grey levels, in DICOM's order (PS3.4 N.2).

The modality transform comes first, then VOI, presentation LUT and inversion in one table. If a file
has no window, one is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from rexview.imaging.limits import row_strips
from rexview.imaging.radiograph import Modality, Radiograph, Window

# Modality transform: from stored pixels to codes of at most 16 bits that represent values.
#
# All later steps apply lookup tables to codes, so a picture is read once for each window.
# ``value = code * scale + offset`` is the modality-transformed value (DICOM C.11.1).

QUANTISED: Final = "The picture has more than 65,536 grey values; it is shown with 65,536."
_HUGE: Final = 1e300


@dataclass(frozen=True, eq=False)
class CodedPixels:
    """Coded pixels: ``codes`` is uint8 or uint16, shape (rows, columns); ``scale`` is never 0.

    ``quantised`` means that several stored values share a code.
    """

    codes: NDArray[np.uint8] | NDArray[np.uint16]
    scale: float
    offset: float
    quantised: bool = False


def code_pixels(radiograph: Radiograph) -> CodedPixels:
    """Apply the modality transform to a grey picture.

    Parameters
    ----------
    radiograph : Radiograph
        ``pixels`` of shape (rows, columns), any integer or floating type.

    Returns
    -------
    CodedPixels
        Lossless for up to 16 bits, for modality tables, and for wider integers with a range below
        65,536 values. Otherwise the range of the picture is divided into 65,536 steps, and values
        that are not a number become the lowest.
    """
    pixels: NDArray[Any] = radiograph.pixels
    modality = radiograph.modality
    if modality.table is not None:
        return _look_up(pixels, modality)
    slope, intercept = modality.slope, modality.intercept
    kind = (pixels.dtype.kind, pixels.dtype.itemsize)
    if kind in (("u", 1), ("b", 1)):
        return CodedPixels(pixels.astype(np.uint8, copy=False), slope, intercept)
    if kind == ("u", 2):
        return CodedPixels(pixels.astype("=u2", copy=False), slope, intercept)
    if kind == ("i", 1):
        return CodedPixels(pixels.view(np.uint8) ^ np.uint8(0x80), slope, intercept - 128 * slope)
    if kind == ("i", 2):
        flipped = pixels.astype("=i2", copy=False).view(np.uint16) ^ np.uint16(0x8000)
        return CodedPixels(flipped, slope, intercept - 32768 * slope)
    return _quantise(pixels, slope, intercept)


def _look_up(pixels: NDArray[Any], modality: Modality) -> CodedPixels:
    """Apply a modality LUT: its entries are the values (C.11.1.1)."""
    table = modality.table
    assert table is not None
    if pixels.dtype.itemsize <= 2 and pixels.dtype.kind in "ui":
        limits = np.iinfo(pixels.dtype)
        index = np.arange(limits.min, limits.max + 1, dtype=np.int64) - modality.table_first
        whole = table[np.clip(index, 0, len(table) - 1)]
        bare = CodedPixels(pixels.astype(pixels.dtype.newbyteorder("="), copy=False), 1.0, 0.0)
        if limits.min < 0:
            bare = code_pixels(Radiograph(pixels, "dicom", limits.bits))
        return CodedPixels(apply_table(bare.codes, whole), 1.0, 0.0)
    found = np.empty(pixels.shape, table.dtype)
    for rows in row_strips(*pixels.shape):
        place = np.nan_to_num(pixels[rows].astype(np.float64)) - modality.table_first
        found[rows] = table[np.clip(place, 0, len(table) - 1).astype(np.intp)]
    return CodedPixels(found, 1.0, 0.0)


def _quantise(pixels: NDArray[Any], slope: float, intercept: float) -> CodedPixels:
    """Divide a range that is wider than 16 bits, or not of whole numbers, into 65,536 steps."""
    low, high = np.inf, -np.inf
    for rows in row_strips(*pixels.shape):
        values, finite = _finite(pixels[rows])
        low = min(low, float(values.min(where=finite, initial=np.inf)))
        high = max(high, float(values.max(where=finite, initial=-np.inf)))
    if not low <= high:
        low = high = 0.0
    exact = pixels.dtype.kind in "ui" and high - low <= 65535
    step = 1.0 if exact or high == low else (high - low) / 65535
    if step == 0 or not np.isfinite(slope * step) or slope * step == 0:
        step = 1.0
    codes = np.empty(pixels.shape, np.uint16)
    for rows in row_strips(*pixels.shape):
        values, finite = _finite(pixels[rows])
        codes[rows] = np.clip(np.rint((np.where(finite, values, low) - low) / step), 0, 65535)
    return CodedPixels(
        codes, slope * step, intercept + low * slope, quantised=not exact and high > low
    )


def _finite(pixels: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return values clipped to the countable range, and a mask of which are numbers."""
    values = np.clip(pixels.astype(np.float64), -_HUGE, _HUGE)
    return values, np.isfinite(values)


def apply_table(codes: NDArray[Any], table: NDArray[Any]) -> NDArray[Any]:
    """Replace every code by its table entry: ``table[codes]``, several times faster.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16
        Any two-dimensional shape.
    table : ndarray of uint8 or uint16
        256 or 65,536 entries, matching the type of the codes.
    """
    result: NDArray[Any] = cv2.LUT(codes, table)
    return result


# VOI and presentation transforms: from values to grey levels, as one lookup table.
#
# This is the only windowing code in Python. It follows the formulas of
# :mod:`rexview.imaging.encode` operation by operation, so that it agrees with the viewer on every
# grey level.

ROUND: Final = 0.500000001
"""Added before the floor, so that exact ties go up whatever the last bit of a double is."""


def window_position(values: NDArray[np.float64], window: Window) -> NDArray[np.float64]:
    """Return the positions of values in a window: 0 (black end) to 1 (white end).

    Parameters
    ----------
    values : ndarray of float64
        Modality-transformed values, any shape.
    window : Window
        Of kind ``linear`` (width at least 1), ``linear_exact`` or ``sigmoid`` (width above 0).

    Returns
    -------
    ndarray of float64
        Same shape. DICOM PS3.3 C.11.2.1.2 and C.11.2.1.3.

    Raises
    ------
    ValueError
        The kind is ``lut``, or the width is impossible for the kind.
    """
    centre, width = window.centre, window.width
    if window.kind == "sigmoid" and width > 0:
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-4.0 * (values - centre) / width)))
    if window.kind == "linear" and width >= 1:
        centre, half, width = centre - 0.5, (width - 1.0) / 2.0, width - 1.0
    elif window.kind == "linear_exact" and width > 0:
        half = width / 2.0
    else:
        raise ValueError(f"A {window.kind} window cannot have this width.")
    below, above = values <= centre - half, values > centre + half
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inside = (values - centre) / width + 0.5
    return np.where(below, 0.0, np.where(above, 1.0, inside))


def grey_table(
    window: Window,
    size: int,
    *,
    scale: float = 1.0,
    offset: float = 0.0,
    invert: bool = False,
    presentation: bytes | None = None,
) -> NDArray[np.uint8]:
    """Return the grey level of every code.

    Parameters
    ----------
    window : Window
        Maps values to grey.
    size : int
        Number of codes: 256 or 65,536.
    scale, offset : float
        ``value = code * scale + offset``.
    invert : bool
        Whether the grey levels are inverted at the end.
    presentation : bytes, optional
        Presentation LUT as grey levels. Not used with kind ``lut``, whose table already includes
        it.

    Returns
    -------
    ndarray of uint8, shape (size,)
    """
    values = np.arange(size, dtype=np.float64) * scale + offset
    if window.kind == "lut":
        if window.table is None:
            raise ValueError("A lut window needs its table.")
        levels = np.frombuffer(window.table.levels, dtype=np.uint8)
        index = np.clip(np.floor(values) - window.table.first, 0, len(levels) - 1)
        grey = levels[index.astype(np.intp)]
    else:
        position = window_position(values, window)
        if presentation is None:
            grey = np.floor(position * 255.0 + ROUND).astype(np.uint8)
        else:
            levels = np.frombuffer(presentation, dtype=np.uint8)
            grey = levels[np.floor(position * (len(levels) - 1) + ROUND).astype(np.intp)]
    return np.asarray(255 - grey if invert else grey, dtype=np.uint8)


def grey_levels(entries: NDArray[np.uint16], bits: int) -> bytes:
    """Scale lookup-table entries of ``bits`` bits to grey levels 0-255."""
    top = float(2**bits - 1)
    return np.floor(np.minimum(entries, top) * 255.0 / top + ROUND).astype(np.uint8).tobytes()


# Windows that the file does not define: automatic, and the full range of its values.

SAMPLE_SIDE: Final = 512
"""The picture is thinned to about this many rows and columns before measuring."""
INNER_FIELD: Final = 0.8
"""Central share of rows and columns that is measured: collimation is outside."""
WINDOW_PERCENTILES: Final = (0.5, 99.5)
"""Percentiles of the inner field that the window must include."""
WINDOW_MARGIN: Final = 0.05
"""Added on both sides, as a share of the window, so that the ends are not flat."""
DISPLAY_READY: Final = 0.7
"""An 8-bit picture that uses this share of its range was already windowed: it is left unchanged."""
FLAT_SHARE: Final = 0.005
"""An extreme value in at least this share of the field is a shutter, a marker or saturation."""


def _inner_codes(radiograph: Radiograph, coded: CodedPixels, share: float) -> NDArray[Any]:
    """Return the codes of the picture's middle, thinned, without padding; one dimension."""
    rows, columns = coded.codes.shape
    step = max(1, min(rows, columns) // SAMPLE_SIDE)
    top, left = round(rows * (1 - share) / 2), round(columns * (1 - share) / 2)
    part = (slice(top, max(rows - top, top + 1), step), slice(left, max(columns - left, 1), step))
    return _without_padding(radiograph, coded, part)


def _without_padding(
    radiograph: Radiograph, coded: CodedPixels, part: tuple[slice, ...] = ()
) -> NDArray[Any]:
    """Return the codes of a part without padding, or all of them if there is only padding."""
    codes = coded.codes[part]
    stored: NDArray[Any] = radiograph.pixels[part]
    if radiograph.padding is None:
        return codes.ravel()
    low, high = radiograph.padding
    kept: NDArray[Any] = codes[(stored < low) | (stored > high)]
    return kept if kept.size else codes.ravel()


def _without_flat_ends(codes: NDArray[Any]) -> NDArray[Any]:
    """Drop the lowest and the highest value if many pixels have exactly that value."""
    inner = np.ones(codes.shape, dtype=bool)
    for extreme in (codes.min(), codes.max()):
        same = codes == extreme
        if same.mean() > FLAT_SHARE:
            inner &= ~same
    return codes[inner] if inner.mean() > 0.1 else codes


def _window_between(name: str, coded: CodedPixels, low: float, high: float) -> Window:
    """Return the exact window between two codes."""
    first = low * coded.scale + coded.offset
    last = high * coded.scale + coded.offset
    width = abs(last - first)
    if not width > 0:
        width = abs(coded.scale)
    return Window(name, "linear_exact", (first + last) / 2, width)


def auto_window(radiograph: Radiograph, coded: CodedPixels | None = None) -> Window:
    """Return a ``linear_exact`` window, named ``Auto``, that fits a grey picture.

    It is computed from robust percentiles of the inner field without padding. ``coded`` is the
    picture after :func:`rexview.imaging.transforms.code_pixels`, if the caller has it.
    """
    coded = coded or code_pixels(radiograph)
    codes = _without_flat_ends(_inner_codes(radiograph, coded, INNER_FIELD))
    low, high = (float(end) for end in np.percentile(codes, WINDOW_PERCENTILES))
    margin = WINDOW_MARGIN * (high - low)
    top = _highest_code(radiograph, coded)
    low, high = max(low - margin, 0), min(high + margin, top)
    if top <= 255 and high - low > DISPLAY_READY * top:
        low, high = 0, top
    return _window_between("Auto", coded, low, high)


def _highest_code(radiograph: Radiograph, coded: CodedPixels) -> int:
    """Return the highest code that can occur."""
    as_they_are = radiograph.modality.table is None and radiograph.pixels.dtype == np.uint8
    return 2 ** min(radiograph.bits, 8) - 1 if as_they_are else int(np.iinfo(coded.codes.dtype).max)


def full_window(radiograph: Radiograph, coded: CodedPixels) -> Window:
    """Return the full-range window: 8-bit codes unchanged, otherwise lowest to highest value.

    Padding is excluded. The kind is ``linear_exact``.
    """
    if coded.codes.dtype == np.uint8:
        return _window_between("As stored", coded, 0, _highest_code(radiograph, coded))
    codes = _without_padding(radiograph, coded)
    return _window_between("Full range", coded, float(codes.min()), float(codes.max()))


def is_blank_window(radiograph: Radiograph, coded: CodedPixels, window: Window) -> bool:
    """Whether a window leaves the inner field almost all black or all white.

    True only if the automatic window shows structure there: then the file's window is meant for
    other values.
    """
    codes = _inner_codes(radiograph, coded, INNER_FIELD)
    size = np.iinfo(coded.codes.dtype).max + 1

    def spread(candidate: Window) -> float:
        table = grey_table(candidate, size, scale=coded.scale, offset=coded.offset)
        return float(table[codes].std())

    return spread(window) < 2.0 and spread(auto_window(radiograph, coded)) > 10.0


UNUSABLE_WINDOW = (
    "The window given in the file shows nothing of this picture; an automatic one is used."
)


def presets(
    radiograph: Radiograph, coded: CodedPixels
) -> tuple[tuple[Window, ...], int, str | None]:
    """Return the windows to offer for a grey picture.

    Returns
    -------
    tuple
        The file's own windows, then Auto, then the full range; the index of the initial one (the
        file's first if it shows anything, 8-bit pictures as stored, otherwise Auto); a warning if
        the file's window was skipped.
    """
    file_windows = radiograph.windows
    auto = len(file_windows)
    windows = (*file_windows, auto_window(radiograph, coded), full_window(radiograph, coded))
    if file_windows and is_blank_window(radiograph, coded, file_windows[0]):
        return windows, auto, UNUSABLE_WINDOW
    if file_windows:
        return windows, 0, None
    return windows, auto + (coded.codes.dtype == np.uint8), None


def render_window(radiograph: Radiograph, coded: CodedPixels, window: Window) -> NDArray[np.uint8]:
    """Return the grey levels of a picture, shape (rows, columns)."""
    table = grey_table(
        window,
        np.iinfo(coded.codes.dtype).max + 1,
        scale=coded.scale,
        offset=coded.offset,
        invert=radiograph.invert,
        presentation=radiograph.presentation,
    )
    return apply_table(coded.codes, table)


def render_display(
    radiograph: Radiograph, window: Window | Literal["auto", "file", "initial"] = "file"
) -> NDArray[np.uint8]:
    """Return the picture as a reader sees it.

    Window ``file`` is the file's first one, or the full range of values if it has none (8-bit
    pictures as stored). ``auto`` fits the picture; ``initial`` is the viewer's first choice.

    Returns
    -------
    ndarray of uint8
        (rows, columns) grey levels, or (rows, columns, 3) R, G, B. One element for each stored
        pixel: pixels are not made square, and nothing is turned or mirrored.
    """
    if radiograph.colour:
        colour: NDArray[Any] = radiograph.pixels
        return colour
    coded = code_pixels(radiograph)
    if window == "auto":
        window = auto_window(radiograph, coded)
    elif window == "initial":
        windows, first, _ = presets(radiograph, coded)
        window = windows[first]
    elif window == "file":
        file_windows = radiograph.windows
        window = file_windows[0] if file_windows else full_window(radiograph, coded)
    return render_window(radiograph, coded, window)


__all__ = [
    "CodedPixels",
    "auto_window",
    "code_pixels",
    "grey_table",
    "presets",
    "render_display",
    "render_window",
]

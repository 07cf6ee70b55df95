"""Modality transform: from stored pixels to codes of at most 16 bits that say what value they are.

All later steps work on codes through lookup tables, so a picture is touched once however it is
windowed; ``value = code * scale + offset`` is the modality-transformed value (DICOM C.11.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from rexview.imaging.memory import strips
from rexview.imaging.radiograph import Modality, Radiograph

QUANTISED: Final = "The picture has more than 65,536 grey values; it is shown with 65,536."
_HUGE: Final = 1e300


@dataclass(frozen=True, eq=False)
class Coded:
    """``codes`` is uint8 or uint16, shape (rows, columns); ``scale`` is never 0.

    ``quantised`` says that several stored values share a code.
    """

    codes: NDArray[np.uint8] | NDArray[np.uint16]
    scale: float
    offset: float
    quantised: bool = False


def code(radiograph: Radiograph) -> Coded:
    """Apply the modality transform to a grey picture.

    Parameters
    ----------
    radiograph : Radiograph
        ``pixels`` of shape (rows, columns), any integer or floating type.

    Returns
    -------
    Coded
        Without loss for up to 16 bits, for modality tables, and for wider integers that span fewer
        than 65,536 values; otherwise the range of the picture is cut into 65,536 steps, and what is
        not a number becomes the lowest.
    """
    pixels: NDArray[Any] = radiograph.pixels
    modality = radiograph.modality
    if modality.table is not None:
        return _look_up(pixels, modality)
    slope, intercept = modality.slope, modality.intercept
    kind = (pixels.dtype.kind, pixels.dtype.itemsize)
    if kind in (("u", 1), ("b", 1)):
        return Coded(pixels.astype(np.uint8, copy=False), slope, intercept)
    if kind == ("u", 2):
        return Coded(pixels.astype("=u2", copy=False), slope, intercept)
    if kind == ("i", 1):
        return Coded(pixels.view(np.uint8) ^ np.uint8(0x80), slope, intercept - 128 * slope)
    if kind == ("i", 2):
        flipped = pixels.astype("=i2", copy=False).view(np.uint16) ^ np.uint16(0x8000)
        return Coded(flipped, slope, intercept - 32768 * slope)
    return _quantise(pixels, slope, intercept)


def _look_up(pixels: NDArray[Any], modality: Modality) -> Coded:
    """Apply a modality LUT: its entries are the values (C.11.1.1)."""
    table = modality.table
    assert table is not None
    if pixels.dtype.itemsize <= 2 and pixels.dtype.kind in "ui":
        limits = np.iinfo(pixels.dtype)
        index = np.arange(limits.min, limits.max + 1, dtype=np.int64) - modality.table_first
        whole = table[np.clip(index, 0, len(table) - 1)]
        bare = Coded(pixels.astype(pixels.dtype.newbyteorder("="), copy=False), 1.0, 0.0)
        if limits.min < 0:
            bare = code(Radiograph(pixels, "dicom", limits.bits))
        return Coded(look_up(bare.codes, whole), 1.0, 0.0)
    found = np.empty(pixels.shape, table.dtype)
    for rows in strips(*pixels.shape):
        place = np.nan_to_num(pixels[rows].astype(np.float64)) - modality.table_first
        found[rows] = table[np.clip(place, 0, len(table) - 1).astype(np.intp)]
    return Coded(found, 1.0, 0.0)


def _quantise(pixels: NDArray[Any], slope: float, intercept: float) -> Coded:
    """Cut a range that is wider than 16 bits, or not whole numbers, into 65,536 steps."""
    low, high = np.inf, -np.inf
    for rows in strips(*pixels.shape):
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
    for rows in strips(*pixels.shape):
        values, finite = _finite(pixels[rows])
        codes[rows] = np.clip(np.rint((np.where(finite, values, low) - low) / step), 0, 65535)
    return Coded(codes, slope * step, intercept + low * slope, quantised=not exact and high > low)


def _finite(pixels: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values within the range in which steps can be counted, and which of them are numbers."""
    values = np.clip(pixels.astype(np.float64), -_HUGE, _HUGE)
    return values, np.isfinite(values)


def look_up(codes: NDArray[Any], table: NDArray[Any]) -> NDArray[Any]:
    """Replace every code by its entry: ``table[codes]``, several times faster.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16
        Any shape with two dimensions.
    table : ndarray of uint8 or uint16
        256 or 65,536 entries, as the type of the codes wants.
    """
    result: NDArray[Any] = cv2.LUT(codes, table)
    return result

"""Colour pictures: brought to 8 bits, or to one channel where they are grey after all."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rexview.imaging.memory import strips

LOSSY_LEVELS: Final = 2
"""Grey levels of 255 by which the channels of a grey WebP or JPEG come apart."""


def grey_or_colour(colour: NDArray[Any], bits: int) -> NDArray[Any]:
    """Bring a colour picture to the form in which it is shown.

    Parameters
    ----------
    colour : ndarray, (rows, columns, 3)
        R, G, B as unsigned integers.
    bits : int
        Bits that the values use.

    Returns
    -------
    ndarray
        ``(rows, columns)`` of the same type when all three channels are equal (radiographs are
        often saved so), which keeps their depth and lets them be windowed; 8-bit channels may
        differ by :data:`LOSSY_LEVELS`, as they do after lossy coding in luma and chroma.
        Otherwise ``(rows, columns, 3)`` uint8.
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
    for rows in strips(*colour.shape[:2]):
        scaled[rows] = np.floor(np.clip(colour[rows], 0, top) * (255.0 / top) + 0.5)
    return scaled


def _is_nearly_grey(colour: NDArray[np.uint8]) -> bool:
    return all(
        int(np.ptp(colour[rows], axis=2).max(initial=0)) <= LOSSY_LEVELS
        for rows in strips(*colour.shape[:2])
    )

"""VOI and presentation transforms: from values to grey levels, as one lookup table.

This is the only windowing code in Python. It follows the formulas of :mod:`rexview.imaging.encode`
operation by operation, so that it and the viewer agree on every grey level.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rexview.imaging.radiograph import Window

ROUND: Final = 0.500000001
"""Added before the floor: exact ties go up whatever the last bit of a double is."""


def window_position(values: NDArray[np.float64], window: Window) -> NDArray[np.float64]:
    """Where values lie in a window: 0 (black end) to 1 (white end).

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
        If the kind is ``lut`` or the width is not possible for the kind.
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
    """The grey level of every code.

    Parameters
    ----------
    window : Window
        Which values become which grey.
    size : int
        Number of codes: 256 or 65,536.
    scale, offset : float
        ``value = code * scale + offset``.
    invert : bool
        Turn the grey levels round at the end.
    presentation : bytes, optional
        Presentation LUT as grey levels. Not used with kind ``lut``, whose table has it worked in.

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

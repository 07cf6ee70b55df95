"""Windows that a file does not bring: automatic, and the full range of its values."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rexview.imaging.radiograph import Radiograph, Window
from rexview.imaging.transforms.modality import Coded, code
from rexview.imaging.transforms.windowing import grey_table

SAMPLE_SIDE: Final = 512
"""The picture is thinned to about this many rows and columns before it is measured."""
INNER_FIELD: Final = 0.8
"""Share of rows and columns, around the middle, that is measured: collimation lies outside."""
TAILS: Final = (0.5, 99.5)
"""Percentiles of the inner field that the window must hold."""
MARGIN: Final = 0.05
"""Added on both sides, as a share of the window, so that the ends are not flat."""
DISPLAY_READY: Final = 0.7
"""An 8-bit picture that uses this share of its range was windowed before: it is left as it is."""
FLAT_SHARE: Final = 0.005
"""An extreme value that this share of the field has is a shutter, a marker or saturation."""


def _field(radiograph: Radiograph, coded: Coded, share: float) -> NDArray[Any]:
    """Codes of the middle of the picture, thinned, one dimension, without padding."""
    rows, columns = coded.codes.shape
    step = max(1, min(rows, columns) // SAMPLE_SIDE)
    top, left = round(rows * (1 - share) / 2), round(columns * (1 - share) / 2)
    part = (slice(top, max(rows - top, top + 1), step), slice(left, max(columns - left, 1), step))
    return _without_padding(radiograph, coded, part)


def _without_padding(
    radiograph: Radiograph, coded: Coded, part: tuple[slice, ...] = ()
) -> NDArray[Any]:
    """Codes of a part of the picture, one dimension; all of them where there is only padding."""
    codes = coded.codes[part]
    stored: NDArray[Any] = radiograph.pixels[part]
    if radiograph.padding is None:
        return codes.ravel()
    low, high = radiograph.padding
    kept: NDArray[Any] = codes[(stored < low) | (stored > high)]
    return kept if kept.size else codes.ravel()


def _without_flat_ends(codes: NDArray[Any]) -> NDArray[Any]:
    """Drop the lowest and the highest value where many pixels have exactly that value."""
    inner = np.ones(codes.shape, dtype=bool)
    for extreme in (codes.min(), codes.max()):
        same = codes == extreme
        if same.mean() > FLAT_SHARE:
            inner &= ~same
    return codes[inner] if inner.mean() > 0.1 else codes


def _spanning(name: str, coded: Coded, low: float, high: float) -> Window:
    """The exact window whose ends are two codes."""
    first = low * coded.scale + coded.offset
    last = high * coded.scale + coded.offset
    width = abs(last - first)
    if not width > 0:
        width = abs(coded.scale)
    return Window(name, "linear_exact", (first + last) / 2, width)


def auto_window(radiograph: Radiograph, coded: Coded | None = None) -> Window:
    """A window that fits the picture, from robust percentiles of its inner field.

    Parameters
    ----------
    radiograph : Radiograph
        A grey picture; its padding values are left out.
    coded : Coded, optional
        The same picture after :func:`rexview.imaging.transforms.modality.code`, if it is there.

    Returns
    -------
    Window
        Of kind ``linear_exact``, named ``Auto``.
    """
    coded = coded or code(radiograph)
    codes = _without_flat_ends(_field(radiograph, coded, INNER_FIELD))
    low, high = (float(end) for end in np.percentile(codes, TAILS))
    margin = MARGIN * (high - low)
    top = _top(radiograph, coded)
    low, high = max(low - margin, 0), min(high + margin, top)
    if top <= 255 and high - low > DISPLAY_READY * top:
        low, high = 0, top
    return _spanning("Auto", coded, low, high)


def _top(radiograph: Radiograph, coded: Coded) -> int:
    """Highest code that can occur."""
    as_they_are = radiograph.modality.table is None and radiograph.pixels.dtype == np.uint8
    return 2 ** min(radiograph.bits, 8) - 1 if as_they_are else int(np.iinfo(coded.codes.dtype).max)


def full_window(radiograph: Radiograph, coded: Coded) -> Window:
    """The window without any choice: 8-bit codes as they are, else lowest to highest value.

    Padding is left out. Of kind ``linear_exact``.
    """
    if coded.codes.dtype == np.uint8:
        return _spanning("As stored", coded, 0, _top(radiograph, coded))
    codes = _without_padding(radiograph, coded)
    return _spanning("Full range", coded, float(codes.min()), float(codes.max()))


def shows_nothing(radiograph: Radiograph, coded: Coded, window: Window) -> bool:
    """Whether a window leaves the inner field all but black or all but white.

    True only when the automatic window shows structure there: such a window of the file is meant
    for other values than these.
    """
    codes = _field(radiograph, coded, INNER_FIELD)
    size = np.iinfo(coded.codes.dtype).max + 1

    def spread(candidate: Window) -> float:
        table = grey_table(candidate, size, scale=coded.scale, offset=coded.offset)
        return float(table[codes].std())

    return spread(window) < 2.0 and spread(auto_window(radiograph, coded)) > 10.0

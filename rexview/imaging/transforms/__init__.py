"""What happens between stored pixels and the screen, in DICOM's order (PS3.4 N.2).

Modality (:mod:`.modality`), then VOI, presentation LUT and inversion in one table
(:mod:`.windowing`). :mod:`.auto` finds windows that the file does not bring.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rexview.imaging.radiograph import Radiograph, Window
from rexview.imaging.transforms.auto import auto_window, full_window, shows_nothing
from rexview.imaging.transforms.modality import Coded, code, look_up
from rexview.imaging.transforms.windowing import grey_table

UNUSABLE_WINDOW = (
    "The window given in the file shows nothing of this picture; an automatic one is used."
)


def presets(radiograph: Radiograph, coded: Coded) -> tuple[tuple[Window, ...], int, str | None]:
    """The windows to offer for a grey picture.

    Returns
    -------
    tuple
        The file's own windows, then Auto, then the full range; the index of the one to begin with
        (the file's first if it shows anything, 8-bit pictures as stored, else Auto); a warning
        when the file's window had to be passed over.
    """
    file_windows = radiograph.windows
    auto = len(file_windows)
    windows = (*file_windows, auto_window(radiograph, coded), full_window(radiograph, coded))
    if file_windows and shows_nothing(radiograph, coded, file_windows[0]):
        return windows, auto, UNUSABLE_WINDOW
    if file_windows:
        return windows, 0, None
    return windows, auto + (coded.codes.dtype == np.uint8), None


def render(radiograph: Radiograph, coded: Coded, window: Window) -> NDArray[np.uint8]:
    """Grey levels of a picture, shape (rows, columns)."""
    table = grey_table(
        window,
        np.iinfo(coded.codes.dtype).max + 1,
        scale=coded.scale,
        offset=coded.offset,
        invert=radiograph.invert,
        presentation=radiograph.presentation,
    )
    return look_up(coded.codes, table)


def display(
    radiograph: Radiograph, window: Window | Literal["auto", "file", "initial"] = "file"
) -> NDArray[np.uint8]:
    """The picture as a person sees it.

    Window ``file`` is the file's first one, or the full range of values when it has none (8-bit
    pictures as stored); ``auto`` fits the picture; ``initial`` is what the viewer begins with.

    Returns
    -------
    ndarray of uint8
        (rows, columns) grey levels, or (rows, columns, 3) R, G, B. One element per stored pixel:
        pixels that are not square are not made so, nothing is turned or mirrored.
    """
    if radiograph.colour:
        colour: NDArray[Any] = radiograph.pixels
        return colour
    coded = code(radiograph)
    if window == "auto":
        window = auto_window(radiograph, coded)
    elif window == "initial":
        windows, first, _ = presets(radiograph, coded)
        window = windows[first]
    elif window == "file":
        file_windows = radiograph.windows
        window = file_windows[0] if file_windows else full_window(radiograph, coded)
    return render(radiograph, coded, window)


__all__ = ["Coded", "auto_window", "code", "display", "grey_table", "presets", "render"]

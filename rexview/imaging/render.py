"""Writing the display picture of a file as an 8-bit PNG."""

from __future__ import annotations

import math
import re
import tempfile
from pathlib import Path
from typing import Final, Literal

from rexview.errors import ImageError
from rexview.imaging.limits import MAX_PIXELS
from rexview.imaging.radiograph import Window
from rexview.imaging.raster import picture_file
from rexview.imaging.read import read_image
from rexview.imaging.thumbnails import square_pixels
from rexview.imaging.transforms import display

_NUMBER: Final = r"\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*"
_PAIR: Final = re.compile(rf"{_NUMBER},{_NUMBER}")


def parse_window(text: str) -> Window | Literal["auto", "file"]:
    """Understand ``auto``, ``file`` or ``CENTRE,WIDTH``.

    Raises
    ------
    ImageError
        If it is none of these, or the width is below 1.

    >>> parse_window("40,400")
    Window(name='40,400', kind='linear', centre=40.0, width=400.0, table=None)
    """
    if text == "auto":
        return "auto"
    if text == "file":
        return "file"
    found = _PAIR.fullmatch(text)
    if found is None:
        raise ImageError("A window is auto, file, or CENTRE,WIDTH such as 40,400.")
    centre, width = float(found[1]), float(found[2])
    if not (math.isfinite(centre) and math.isfinite(width) and width >= 1):
        raise ImageError("The width of a window is at least 1.")
    return Window(text, "linear", centre, width)


def render_file(
    path: Path, out: Path, window: Window | str = "file", *, max_pixels: int = MAX_PIXELS
) -> None:
    """Write the picture of a file as a person sees it.

    Pixels that are not square are resampled to square ones. Nothing is turned or mirrored. ``out``
    becomes a PNG of 8 bits a channel, grey or R, G, B, and is replaced only when all went well.
    ``window`` may be ``auto``, ``file`` or ``CENTRE,WIDTH``.

    Raises
    ------
    ImageError
        If the file cannot be shown, the window is not understood or the PNG cannot be written.
    """
    chosen = parse_window(window) if isinstance(window, str) else window
    path, out = Path(path), Path(out)
    radiograph = read_image(path, max_pixels=max_pixels)
    picture = square_pixels(display(radiograph, chosen), radiograph.aspect, max_pixels)
    content = picture_file(picture, ".png")
    if out.exists() and out.samefile(path):
        raise ImageError("The picture would be written over the file it is made from.")
    try:
        with tempfile.NamedTemporaryFile(dir=out.parent, suffix=".part", delete=False) as file:
            part = Path(file.name)
            file.write(content)
    except OSError:
        raise ImageError("The picture cannot be written there.") from None
    try:
        part.chmod(0o644)
        part.replace(out)
    except OSError:
        part.unlink(missing_ok=True)
        raise ImageError("The picture cannot be written there.") from None

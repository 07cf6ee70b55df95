"""A film as it lies on a sheet: what the viewer first shows, as a JPEG of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2

from rexview.imaging.radiograph import Radiograph
from rexview.imaging.raster import picture_file
from rexview.imaging.rendering import small_picture

LONG_SIDE: Final = 1600
MOST_BYTES: Final = 1_200_000
_QUALITIES: Final = (92, 85, 75, 60, 40)


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture ready for a sheet; ``width`` and ``height`` are pixels as stored.

    ``shape`` is how high it is shown for its width.
    """

    jpeg: bytes
    width: int
    height: int
    shape: float


def picture(radiograph: Radiograph) -> Picture:
    """Make a JPEG of a decoded picture: its long side at most 1600 pixels, at most 1.2 MB."""
    small = small_picture(radiograph, LONG_SIDE)
    content = b""
    for quality in _QUALITIES:
        content = picture_file(small, ".jpg", [cv2.IMWRITE_JPEG_QUALITY, quality])
        if len(content) <= MOST_BYTES:
            break
    shape = radiograph.height * radiograph.aspect / radiograph.width
    return Picture(content, radiograph.width, radiograph.height, shape)

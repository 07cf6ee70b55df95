"""Draw side markers of lead, and the notice that a picture is simulated."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

NOTICE = "SIMULATED"
NOTICE_FROM = 0.09
"""Start of the notice above the bottom, as a share of the height."""


@dataclass(frozen=True)
class Marker:
    """Lead letters on the cassette. ``at`` is their middle in shares of width and height."""

    text: str
    at: tuple[float, float]
    height_mm: float = 12.0
    turn_deg: float = 0.0


def draw_marker(path: np.ndarray, marker: Marker, pixel_mm: float) -> None:
    """Add the absorption of lead letters to a ray integral, in place."""
    height, width = path.shape
    layer = np.zeros(path.shape, np.float32)
    scale = marker.height_mm / pixel_mm / 22
    thick = max(2, round(2.6 * scale))
    size, _ = cv2.getTextSize(marker.text, cv2.FONT_HERSHEY_SIMPLEX, scale, thick)
    centre = (marker.at[0] * width, marker.at[1] * height)
    canvas = np.zeros(path.shape, np.uint8)
    origin = (round(centre[0] - size[0] / 2), round(centre[1] + size[1] / 2))
    cv2.putText(
        canvas, marker.text, origin, cv2.FONT_HERSHEY_SIMPLEX, scale, 255, thick, cv2.LINE_AA
    )
    turn = cv2.getRotationMatrix2D(centre, marker.turn_deg, 1.0)
    layer = cv2.warpAffine(canvas, turn, (width, height)).astype(np.float32) / 255
    path += 6.0 * cv2.GaussianBlur(layer, (0, 0), 0.7)


def annotate(pixels: np.ndarray, caption: str) -> None:
    """Write the notice and a caption into a 12-bit picture, in place.

    The notice runs up the right edge below the middle, where no viewer writes; the caption is at
    the top left.
    """
    height = pixels.shape[0]
    scale = height / 1700
    margin = round(0.012 * height)
    turned = np.ascontiguousarray(np.rot90(pixels, -1))  # its left end is the picture's bottom
    _write(turned, NOTICE, (round(NOTICE_FROM * height), turned.shape[0] - margin), scale)
    pixels[:] = np.rot90(turned)
    for number, line in enumerate(caption.splitlines()):
        _write(pixels, line, (margin, round((0.03 + 0.025 * number) * height)), scale)


def _write(pixels: np.ndarray, text: str, origin: tuple[int, int], scale: float) -> None:
    canvas = np.zeros(pixels.shape, np.uint8)
    cv2.putText(canvas, text, origin, cv2.FONT_HERSHEY_SIMPLEX, scale, 255, 1, cv2.LINE_AA)
    shade = cv2.GaussianBlur(canvas, (0, 0), 2.5).astype(np.float32) / 255
    ink = canvas.astype(np.float32) / 255
    darker = pixels * (1 - 0.6 * np.minimum(shade * 2, 1))
    pixels[:] = np.rint(darker * (1 - ink) + 3300 * ink).astype(np.uint16)

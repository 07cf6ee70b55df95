"""How large a picture may be, and the reasons that several readers give."""

from __future__ import annotations

from typing import Final

from rexview.errors import ImageBroken, ImageTooLarge

MAX_PIXELS: Final = 64_000_000
"""Largest picture that is decoded: 8000 x 8000, four times the largest chest detector."""

DAMAGED: Final = "The compressed picture is damaged and cannot be decoded."
NOT_A_PICTURE: Final = "This is not a DICOM, PNG, JPEG, WebP, TIFF, BMP or GIF picture."
NOT_SUPPORTED: Final = (
    "The picture is compressed in a way that is not supported here ({kind}), or it is damaged."
)
MORE_FRAMES: Final = "The file has {frames} frames; the first is shown."


def check_size(rows: int, columns: int, max_pixels: int) -> None:
    """Refuse a picture by the size that its header gives, before anything is decoded.

    Raises
    ------
    ImageBroken
        If it has no rows or no columns.
    ImageTooLarge
        If it has more than ``max_pixels`` pixels.
    """
    if rows <= 0 or columns <= 0:
        raise ImageBroken("The file does not say how large the picture is.")
    if rows * columns > max_pixels:
        raise ImageTooLarge(
            f"The picture has {columns} x {rows} pixels, more than can be opened here "
            f"(limit {max_pixels / 1e6:g} million)."
        )


def cut_off() -> ImageBroken:
    """The error for a file that ends too early."""
    return ImageBroken("The file ends before the picture does: it is cut off.")

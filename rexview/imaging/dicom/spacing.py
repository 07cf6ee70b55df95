"""Millimetres and the shape of a pixel, from a DICOM header (PS3.3 10.7.1)."""

from __future__ import annotations

from typing import Final

from rexview.imaging.dicom.header import Header
from rexview.imaging.radiograph import Spacing

PROJECTION: Final = frozenset({"CR", "DX", "RG", "RF", "XA", "MG", "IO", "PX", "SC", "OT"})
"""Modalities whose pixels are shadows: a length in the patient is magnified on the detector."""
_BOUNDS: Final = (1e-4, 100.0)
_METHODS: Final = {
    "GEOMETRY": "corrected for the geometric magnification",
    "FIDUCIAL": "calibrated with an object of known size",
}


def _pair(header: Header, keyword: str) -> tuple[float, float] | None:
    numbers = header.numbers(keyword)
    low, high = _BOUNDS
    if len(numbers) == 2 and all(low <= number <= high for number in numbers):
        return numbers[0], numbers[1]
    return None


def spacing_of(header: Header) -> Spacing | None:
    """Say how many millimetres a pixel has, and where they hold.

    Returns
    -------
    Spacing or None
        ``patient`` when the file says that PixelSpacing was calibrated, when it differs from
        ImagerPixelSpacing, or when the picture is no projection; otherwise ``detector``.
    """
    imager = _pair(
        header.holder("ImagerPixelSpacing", "FramePixelDataPropertiesSequence"),
        "ImagerPixelSpacing",
    ) or _pair(header, "NominalScannedPixelSpacing")
    holder = header.holder("PixelSpacing", "PixelMeasuresSequence")
    pixel = _pair(holder, "PixelSpacing")
    method = (header.text("PixelSpacingCalibrationType") or "").upper()
    if pixel is not None:
        if method or (imager is not None and imager != pixel):
            note = (
                f"In the patient: {_METHODS.get(method, 'calibrated, the file does not say how')}"
            )
            description = header.text("PixelSpacingCalibrationDescription")
            note += f" ({description[:64]})." if description else "."
            return Spacing(*pixel, "patient", note)
        if (header.text("Modality") or "OT").upper() not in PROJECTION:
            return Spacing(*pixel, "patient")
        if imager is None:
            note = "The file does not say whether this spacing is corrected for magnification."
            return Spacing(*pixel, "detector", note)
    if imager is None:
        return None
    factor = header.number("EstimatedRadiographicMagnificationFactor")
    if factor is not None and 1 < factor < 10:
        note = f"At the detector: the patient appears about {factor:.2f} times larger."
    else:
        note = "At the detector: the patient appears somewhat larger than life."
    return Spacing(*imager, "detector", note)


def aspect_of(header: Header, spacing: Spacing | None) -> float:
    """Height / width of a pixel: from the spacing, else from PixelAspectRatio, else 1."""
    if spacing is not None:
        aspect = spacing.row_mm / spacing.col_mm
    else:
        ratio = header.numbers("PixelAspectRatio")
        aspect = ratio[0] / ratio[1] if len(ratio) == 2 and min(ratio) > 0 else 1.0
    return aspect if 0.05 <= aspect <= 20 else 1.0

"""Describe a decoded picture: its stored pixels and their mapping to grey levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from rexview.geometry import Orientation, orientation_of
from rexview.vocab import normalise_view

WindowKind = Literal["linear", "linear_exact", "sigmoid", "lut"]
Pixels = NDArray[np.generic]


@dataclass(frozen=True)
class VoiTable:
    """VOI lookup table: ``levels[i]`` is the grey level (0-255) of value ``first + i``.

    Values outside get the first or the last level. A presentation LUT of the same file is already
    applied.
    """

    first: int
    levels: bytes


@dataclass(frozen=True)
class Window:
    """A mapping of values to grey. ``centre`` and ``width`` are in modality-transformed values.

    The formulas are those of :mod:`rexview.imaging.encode`. With kind ``lut`` the table decides;
    centre and width then describe the range of its values.
    """

    name: str
    kind: WindowKind
    centre: float
    width: float
    table: VoiTable | None = None


@dataclass(frozen=True, eq=False)
class Modality:
    """Mapping of stored pixels to values: ``stored * slope + intercept``, or a table if present.

    ``table[i]`` (uint16) is the value of stored pixel ``table_first + i``.
    """

    slope: float = 1.0
    intercept: float = 0.0
    table: NDArray[np.uint16] | None = None
    table_first: int = 0


IDENTITY: Final = Modality()


@dataclass(frozen=True)
class Spacing:
    """Distance of neighbouring pixels in mm: ``row_mm`` vertically, ``col_mm`` horizontally.

    ``at`` is where the millimetres apply: on the detector, where the patient appears magnified, or
    in the patient. ``note`` is a sentence for the reader of a measurement.
    """

    row_mm: float
    col_mm: float
    at: Literal["detector", "patient"]
    note: str | None = None


@dataclass(frozen=True)
class ImageFacts:
    """A file's facts about its picture, read without decoding.

    ``width`` and ``height`` are pixels of the picture as shown. ``turned`` means that an EXIF
    orientation was applied. ``format`` is the format of its bytes (``PNG``, ``DICOM``, ...).
    ``burned_in`` is whether its pixels contain text that identifies the patient
    (BurnedInAnnotation, 0028,0301), None if the file does not specify it.
    """

    width: int
    height: int
    frames: int = 1
    patient_orientation: tuple[str, ...] | None = None
    view: str | None = None
    turned: bool = False
    format: str = field(default="", compare=False)
    burned_in: bool | None = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class Radiograph:
    """One decoded picture.

    Attributes
    ----------
    pixels : ndarray
        ``(rows, columns)`` stored values, or ``(rows, columns, 3)`` uint8 R, G, B. Upright by EXIF
        orientation; otherwise never turned or mirrored, so that boxes fit.
    kind : str
        ``dicom`` or ``raster`` (PNG, JPEG, WebP, TIFF, BMP, GIF).
    bits : int
        Bits used by the stored values.
    modality : Modality
        Mapping of stored pixels to values.
    windows : tuple of Window
        The file's own windows, in its order.
    invert : bool
        Whether low values are white (MONOCHROME1, or presentation LUT shape INVERSE).
    presentation : bytes or None
        Presentation LUT as grey levels (0-255), applied after the window.
    aspect : float
        Height / width of a pixel.
    spacing : Spacing or None
        Spacing in millimetres, if the file has it.
    patient_orientation : tuple of str or None
        DICOM PatientOrientation (0020,0020).
    view : str or None
        The file's own word for the view.
    padding : tuple of int or None
        Lowest and highest padding value (PixelPaddingValue, -RangeLimit).
    frames : int
        Frames in the file; ``pixels`` is the first.
    warnings : tuple of str
        Sentences for the page.
    """

    pixels: Pixels
    kind: Literal["dicom", "raster"]
    bits: int
    modality: Modality = IDENTITY
    windows: tuple[Window, ...] = ()
    invert: bool = False
    presentation: bytes | None = None
    aspect: float = 1.0
    spacing: Spacing | None = None
    patient_orientation: tuple[str, ...] | None = None
    view: str | None = None
    padding: tuple[int, int] | None = None
    frames: int = 1
    warnings: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.pixels.shape[1])

    @property
    def colour(self) -> bool:
        """Whether the pixels are R, G, B, to be drawn unchanged."""
        return self.pixels.ndim == 3

    @property
    def orientation(self) -> Orientation:
        """Which part of the patient is at each edge, as far as the file specifies it."""
        return orientation_of(normalise_view(self.view), self.patient_orientation)

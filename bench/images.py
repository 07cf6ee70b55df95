"""Measure windowing and decoding against pydicom and Pillow: ``python -m rexview bench images``.

Windowing is compared with pydicom's float transforms, reading with ``pydicom.dcmread`` and its
first decoder and with Pillow, and the cache with reading again. The alternatives return an array
and check nothing; ours also checks size limits, orientation, windows and damage.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydicom import dcmread, uid
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.pixels.processing import apply_modality_lut, apply_windowing

from bench.made_set.studies import DEPTH, film
from bench.measure import (
    ROUNDS,
    Goal,
    Measured,
    Row,
    in_turn,
    milliseconds,
    ratio_at_most,
    result,
)
from rexview.imaging import DiskCache, read_image, render_display, thumbnail, viewer_payload

SIDE: Final = 3000
_SYNTAXES: Final = (
    uid.ExplicitVRLittleEndian,
    uid.RLELossless,
    uid.JPEGLSLossless,
    uid.JPEG2000Lossless,
)
_WINDOW: Final = (2048, 3000)


def run(side: int = SIDE, rounds: int = ROUNDS) -> Measured:
    """Measure on one square film with ``side`` pixels a side, in every format."""
    pixels = film(side, side, seed=1)
    size = f"{side} x {side}, 12 bit"
    rows: list[Row] = []

    def compare(
        what: str,
        ours: Callable[[], object],
        other: Callable[[], object],
        name: str,
        goal: Goal | None = None,
    ) -> None:
        mine, theirs = in_turn(milliseconds(ours), milliseconds(other), rounds=rounds)
        rows.append(result(what, mine, "ms", alternative=theirs, name=name, goal=goal))

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for syntax in _SYNTAXES:
            path = folder / f"{syntax}.dcm"
            ds = write_film(pixels, path, syntax)
            if syntax == uid.ExplicitVRLittleEndian:
                compare(
                    f"window and invert, {size}",
                    partial(render_display, read_image(path), "file"),
                    partial(_float_path, pixels, ds),
                    "pydicom apply_windowing",
                    ratio_at_most(1),
                )
            compare(
                f"read, {syntax.name}",
                partial(read_image, path),
                partial(_by_pydicom, path),
                "pydicom",
            )
            cache = DiskCache(folder / "cache", 10**9)
            compare(
                f"pixels for the viewer from the cache, {syntax.name}",
                partial(viewer_payload, path, cache),
                partial(viewer_payload, path),
                "without the cache",
                ratio_at_most(1),
            )
        compare(
            f"thumbnail from the cache, {syntax.name}",
            partial(thumbnail, path, cache=cache),
            partial(thumbnail, path),
            "without the cache",
            ratio_at_most(1),
        )
        for ending in (".png", ".jpg"):
            path = folder / f"film{ending}"
            cv2.imwrite(str(path), (pixels >> 4).astype(np.uint8))
            compare(
                f"read, {ending[1:].upper()} {side} x {side}, 8 bit",
                partial(read_image, path),
                partial(_by_pillow, path),
                "Pillow",
            )
    return Measured(rows)


def _by_pydicom(path: Path) -> NDArray[Any]:
    return np.asarray(dcmread(path).pixel_array)


def _by_pillow(path: Path) -> NDArray[Any]:
    with Image.open(path) as image:
        return np.asarray(image)


def write_film(pixels: NDArray[np.uint16], path: Path, syntax: uid.UID) -> Dataset:
    """Write pixels as a film in DICOM, and return its dataset."""
    ds = Dataset()
    ds.StudyInstanceUID, ds.SeriesInstanceUID = uid.generate_uid(), uid.generate_uid()
    ds.SOPClassUID = uid.UID("1.2.840.10008.5.1.4.1.1.1.1")
    ds.SOPInstanceUID = uid.generate_uid()
    ds.Rows, ds.Columns = pixels.shape
    ds.SamplesPerPixel, ds.PhotometricInterpretation = 1, "MONOCHROME1"
    ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = 16, 12, 11, 0
    ds.RescaleSlope, ds.RescaleIntercept = 1, 0
    ds.WindowCenter, ds.WindowWidth = _WINDOW
    ds.file_meta = FileMetaDataset()
    ds.file_meta.TransferSyntaxUID = syntax
    if syntax.is_encapsulated:
        ds.compress(syntax, pixels, generate_instance_uid=False)
    else:
        ds.PixelData = pixels.astype("<u2").tobytes()
        ds["PixelData"].VR = "OW"
    ds.save_as(path, enforce_file_format=True)
    return ds


def _float_path(pixels: NDArray[np.uint16], ds: Dataset) -> NDArray[np.uint8]:
    """Return the picture made by pydicom's own transforms."""
    values = apply_windowing(apply_modality_lut(pixels, ds), ds)
    return np.asarray(255 - values * (255 / DEPTH), dtype=np.uint8)

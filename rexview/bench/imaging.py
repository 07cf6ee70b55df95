"""Measure the imaging side by side with the obvious way: ``python -m rexview bench imaging``.

Times are medians in milliseconds on this machine; what counts is the ratio. ``baseline`` is what
the ratio is against: pydicom's own float transforms for windowing, pydicom's first decoder for
reading, no cache for the cache.
"""

from __future__ import annotations

import tempfile
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydicom import uid
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.pixels.processing import apply_modality_lut, apply_voi_lut

from rexview.imaging import DiskCache, display, read_image, thumbnail, viewer_payload

SIDE: Final = 3000
_SYNTAXES: Final = (
    uid.ExplicitVRLittleEndian,
    uid.RLELossless,
    uid.JPEGLSLossless,
    uid.JPEG2000Lossless,
)


def _film(side: int) -> NDArray[np.uint16]:
    """A smooth 12-bit picture with detector noise, so that it compresses as radiographs do."""
    y, x = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j]
    noise = np.random.default_rng(1).normal(0, 12, (side, side))
    lungs = np.exp(-(((np.abs(x) - 0.4) / 0.25) ** 2) - (y / 0.6) ** 2)
    film: NDArray[np.float64] = 3000 - 1800 * lungs + 200 * y + noise
    return np.clip(film, 0, 4095).astype(np.uint16)


def _write(pixels: NDArray[np.uint16], path: Path, syntax: uid.UID) -> Dataset:
    ds = Dataset()
    ds.SOPClassUID = uid.UID("1.2.840.10008.5.1.4.1.1.1.1")
    ds.SOPInstanceUID = uid.generate_uid()
    ds.Rows, ds.Columns = pixels.shape
    ds.SamplesPerPixel, ds.PhotometricInterpretation = 1, "MONOCHROME1"
    ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = 16, 12, 11, 0
    ds.RescaleSlope, ds.RescaleIntercept = 1, 0
    ds.WindowCenter, ds.WindowWidth = 2048, 3000
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
    """The picture by pydicom's own transforms."""
    values = apply_voi_lut(apply_modality_lut(pixels, ds), ds)
    return np.asarray(255 - values * (255 / 4095), dtype=np.uint8)


def _milliseconds(call: Callable[[], object], times: int) -> float:
    return 1000 * median(timeit.repeat(call, repeat=times, number=1))


def run(side: int = SIDE, times: int = 7) -> list[dict[str, Any]]:
    """Measure and return one row (what, ms, baseline_ms, times_faster) for each comparison."""
    rows: list[dict[str, Any]] = []

    def row(step: str, ours: Callable[[], object], baseline: Callable[[], object]) -> None:
        ms, baseline_ms = _milliseconds(ours, times), _milliseconds(baseline, times)
        rows.append(
            {
                "what": step,
                "ms": round(ms, 2),
                "baseline_ms": round(baseline_ms, 2),
                "times_faster": round(baseline_ms / ms, 1),
            }
        )

    pixels = _film(side)
    size = f"{side} x {side}, 12 bit"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for syntax in _SYNTAXES:
            path = folder / f"{syntax}.dcm"
            ds = _write(pixels, path, syntax)
            if syntax == uid.ExplicitVRLittleEndian:
                radiograph = read_image(path)
                row(
                    f"window and invert, {size}",
                    partial(display, radiograph, "file"),
                    partial(_float_path, pixels, ds),
                )
            cache = DiskCache(folder / "cache", 10**9)
            viewer_payload(path, cache)
            row(
                f"pixels for the viewer from the cache, {syntax.name}",
                partial(viewer_payload, path, cache),
                partial(viewer_payload, path),
            )
        thumbnail(path, cache=cache)
        row(
            f"thumbnail from the cache, {syntax.name}",
            partial(thumbnail, path, cache=cache),
            partial(thumbnail, path),
        )
    return rows

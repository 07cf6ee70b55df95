"""Project a thorax onto a flat detector with a cone beam.

Slabs of voxels are enlarged about the central ray and summed. This is exact for slabs parallel to
the detector, and fast enough without a graphics card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from tools.demo.body.volume import SPACING_MM

WATER_PER_MM = 0.0190
"""Attenuation of water for the beam, per mm."""
_DZ, _DY, _DX = SPACING_MM


@dataclass(frozen=True)
class Geometry:
    """Position of source and detector, and the part of the detector that is used.

    ``view`` PA and AP are along the y axis, LATERAL (a left lateral) along x. ``field_mm`` is the
    width of the picture at the detector, ``width`` and ``height`` its size in pixels. ``centre_mm``
    is the middle of the picture in the patient (across, up) relative to the middle of the volume;
    the central ray meets the detector there. ``lean_deg`` turns the picture.
    """

    view: Literal["PA", "AP", "LATERAL"] = "PA"
    width: int = 1024
    height: int = 1024
    field_mm: float = 350.0
    centre_mm: tuple[float, float] = (0.0, 0.0)
    lean_deg: float = 0.0
    source_mm: float = 1800.0
    gap_mm: float = 25.0

    @property
    def pixel_mm(self) -> float:
        """Pixel pitch at the detector, mm."""
        return self.field_mm / self.width


def attenuation(hu: np.ndarray) -> np.ndarray:
    """Convert Hounsfield units to attenuation per mm (float32); bone is harder than water."""
    values = hu.astype(np.float32)
    mu = np.maximum(1 + values / 1000, 0)
    dense = values > 120
    mu[dense] *= 1 + 0.0005 * (values[dense] - 120)
    return np.asarray(mu * np.float32(WATER_PER_MM))


def _slabs(shape: tuple[int, ...], view: str) -> tuple[int, int, float, np.ndarray]:
    """Return number of slabs, their axis, their thickness, and their distances to the front, mm."""
    if view == "LATERAL":
        return shape[2], 2, _DX, (shape[2] - 1 - np.arange(shape[2])) * _DX  # left side at detector
    distance = np.arange(shape[1]) * _DY
    return shape[1], 1, _DY, distance if view == "AP" else distance[::-1]


def slab_matrix(geometry: Geometry, shape: tuple[int, ...], distance_mm: float) -> np.ndarray:
    """Return the 2 x 3 matrix from a slab's voxel indices (across, z) to pixels (column, row).

    Parameters
    ----------
    shape : tuple of int
        Shape of the volume, (z, y, x).
    distance_mm : float
        Distance of the slab from the surface that faces the detector.
    """
    enlarge = geometry.source_mm / (geometry.source_mm - geometry.gap_mm - distance_mm)
    lateral = geometry.view == "LATERAL"
    count, step = (shape[1], _DY) if lateral else (shape[2], _DX)
    across = -1.0 if lateral else 1.0  # a lateral faces left: the front is on the picture's left
    scale_x, scale_z = across * step * enlarge, -_DZ * enlarge
    middle_x, middle_z = (count - 1) / 2, (shape[0] - 1) / 2
    shift_x = -(middle_x * step + across * 0 + geometry.centre_mm[0]) * across * enlarge
    shift_z = (middle_z * _DZ + geometry.centre_mm[1]) * enlarge
    angle = np.deg2rad(geometry.lean_deg)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    linear = turn @ np.diag([scale_x, scale_z]) / geometry.pixel_mm
    offset = turn @ np.array([shift_x, shift_z]) / geometry.pixel_mm
    centre = np.array([(geometry.width - 1) / 2, (geometry.height - 1) / 2])
    return np.column_stack([linear, offset + centre])


def project(values: np.ndarray, geometry: Geometry, *, edge: bool = True) -> np.ndarray:
    """Integrate a quantity along the rays.

    Parameters
    ----------
    values : numpy.ndarray
        Per mm, float, shape (z, y, x). Slabs of zeros cost nothing.
    edge : bool
        Continue the outermost voxels beyond the volume (the CT ends just above the lungs).

    Returns
    -------
    numpy.ndarray
        float32, shape (height, width).
    """
    total = np.zeros((geometry.height, geometry.width), np.float32)

    def add(slab: np.ndarray, matrix: np.ndarray, thickness: float) -> None:
        border = cv2.BORDER_REPLICATE if edge else cv2.BORDER_CONSTANT
        enlarged = cv2.warpAffine(
            np.ascontiguousarray(slab, np.float32),
            matrix,
            (geometry.width, geometry.height),
            flags=cv2.INTER_CUBIC,
            borderMode=border,
        )
        cv2.scaleAdd(enlarged, thickness, total, total)

    _each_slab(values, geometry, add)
    return np.maximum(total, 0)


def _each_slab(
    values: np.ndarray, geometry: Geometry, use: Callable[[np.ndarray, np.ndarray, float], None]
) -> None:
    count, axis, thickness, distances = _slabs(values.shape, geometry.view)
    for index in range(0, count - 1, 2):  # two slabs at a time: they differ by a tenth of a pixel
        pair = values[:, index : index + 2, :] if axis == 1 else values[:, :, index : index + 2]
        slab = pair.sum(axis=axis, dtype=np.float32)
        if slab.any():
            distance = float(distances[index] + distances[index + 1]) / 2
            use(slab, slab_matrix(geometry, values.shape, distance), thickness)


def project_point(
    zyx: tuple[float, float, float], shape: tuple[int, ...], geometry: Geometry
) -> tuple[float, float]:
    """Return the pixel (column, row) onto which a voxel position (z, y, x) is projected."""
    z, y, x = zyx
    if geometry.view == "LATERAL":
        distance, across = (shape[2] - 1 - x) * _DX, y
    else:
        distance, across = y * _DY if geometry.view == "AP" else (shape[1] - 1 - y) * _DY, x
    column, row = slab_matrix(geometry, shape, distance) @ np.array([across, z, 1.0])
    return float(column), float(row)

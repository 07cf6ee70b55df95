"""Edit the voxels of a patient: soft masks, blending, distance to the chest wall."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from scipy import ndimage

from tools.demo.body.volume import LEFT_LUNG, RIGHT_LUNG, SPACING_MM, Volume

Side = Literal["right", "left", "bilateral", "midline"]
_DZ, _DY, _DX = SPACING_MM


@dataclass(frozen=True)
class Lesion:
    """An abnormality in a patient.

    ``shown`` is the part that a reader would see (float weights 0 to 1, shape (z, y, x)); the
    reference box surrounds its shadow on the radiograph.
    """

    volume: Volume
    shown: np.ndarray
    label: str
    side: Side


def lung_of(volume: Volume, side: Side) -> np.ndarray:
    """Return the mask of one side's lung label, bool."""
    return volume.mask(*(RIGHT_LUNG if side == "right" else LEFT_LUNG))


def hemithorax(volume: Volume, side: Side) -> np.ndarray:
    """Return the lung of one side with its vessels and the gaps between the lobes, bool."""
    lung = lung_of(volume, side).astype(np.uint8)
    kernel = np.ones((13, 13), np.uint8)
    return np.stack([cv2.morphologyEx(s, cv2.MORPH_CLOSE, kernel) for s in lung]) > 0


def blended(volume: Volume, weight: np.ndarray, target: float | np.ndarray) -> Volume:
    """Move CT numbers towards a target by a weight of 0 to 1."""
    hu = volume.hu.astype(np.float32)
    hu += weight * (target - hu)
    return Volume(np.rint(hu).astype(np.int16), volume.labels)


def blurred(values: np.ndarray, sigma: tuple[float, float, float]) -> np.ndarray:
    """Blur a volume (Gaussian) by sigma voxels along z, y, x (float32)."""
    depth, height, width = values.shape
    flat = np.stack(
        [
            cv2.GaussianBlur(plane, (0, 0), sigmaX=sigma[2], sigmaY=sigma[1])
            for plane in values.astype(np.float32)
        ]
    ).reshape(depth, height * width)
    reach = 2 * int(3 * sigma[0] + 1) + 1
    for start in range(0, flat.shape[1], 1 << 15):  # columns are z: blurred in strips
        strip = np.ascontiguousarray(flat[:, start : start + (1 << 15)])
        flat[:, start : start + (1 << 15)] = cv2.GaussianBlur(
            strip, (1, reach), sigmaX=1e-3, sigmaY=sigma[0], borderType=cv2.BORDER_REPLICATE
        )
    return flat.reshape(depth, height, width)


def around(mask: np.ndarray, margin: int) -> tuple[slice, ...]:
    """Return the slices around a mask, with a margin in voxels."""
    held = [np.flatnonzero(mask.any(axis=other)) for other in ((1, 2), (0, 2), (0, 1))]
    if not len(held[0]):
        return (slice(0, 0),) * 3
    return tuple(slice(max(int(a[0]) - margin, 0), int(a[-1]) + margin + 1) for a in held)


def softened(mask: np.ndarray, sigma_mm: float) -> np.ndarray:
    """Blur a mask to soften its edge."""
    dz, dy, dx = SPACING_MM
    return blurred(mask, (sigma_mm / dz, sigma_mm / dy, sigma_mm / dx))


def around_lungs(make: Callable[..., Lesion]) -> Callable[..., Lesion]:
    """Limit a function to the part of the volume around the lungs, which is faster."""

    @functools.wraps(make)
    def made(volume: Volume, *args: object, **options: object) -> Lesion:
        spots = np.argwhere(volume.lungs[::4, ::4, ::4]) * 4
        low = np.maximum(spots.min(axis=0) - 24, 0)
        high = np.minimum(spots.max(axis=0) + 24, volume.hu.shape)
        part = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
        inner = Volume(np.ascontiguousarray(volume.hu[part]), volume.labels[part].copy())
        lesion = make(inner, *args, **options)
        hu, labels = volume.hu.copy(), volume.labels.copy()
        hu[part], labels[part] = lesion.volume.hu, lesion.volume.labels
        shown = np.zeros(volume.hu.shape, np.float32)
        shown[part] = lesion.shown
        return Lesion(Volume(hu, labels), shown, lesion.label, lesion.side)

    return made


def clouds(shape: tuple[int, ...], size_mm: float, seed: int) -> np.ndarray:
    """Return a smooth random field with mean 0 and standard deviation 1, float32 (z, y, x)."""
    rng = np.random.default_rng(seed)
    step = 4
    small = tuple(-(-length // step) + 1 for length in shape)
    sigma = tuple(size_mm / (pitch * step) for pitch in SPACING_MM)
    field = ndimage.gaussian_filter(rng.standard_normal(small).astype(np.float32), sigma)
    field = (field - field.mean()) / field.std()
    full = np.stack(
        [cv2.resize(plane, (shape[2], shape[1]), interpolation=cv2.INTER_LINEAR) for plane in field]
    )
    positions = np.linspace(0, len(full) - 1, shape[0])
    low = np.minimum(positions.astype(int), len(full) - 2)
    share = (positions - low).astype(np.float32)[:, None, None]
    return np.asarray(full[low] * (1 - share) + full[low + 1] * share)


def wall_distance(lung: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Return the distance in and beside a lung to the chest wall alone, mm."""
    distance = np.zeros(lung.shape, np.float32)
    for z in range(lung.shape[0]):
        points = cv2.findNonZero(both[z].astype(np.uint8))
        if points is None:
            continue
        hull = np.zeros(lung.shape[1:], np.uint8)
        cv2.fillConvexPoly(hull, cv2.convexHull(points), 1)
        distance[z] = cv2.distanceTransform(hull, cv2.DIST_L2, 5) * _DX
    top = (lung.shape[0] - 1 - lung[::-1].argmax(axis=0)).astype(np.float32)
    under = lung.any(axis=0)
    spread = ndimage.gaussian_filter(under.astype(np.float32), 4)
    top = ndimage.gaussian_filter(np.where(under, top, 0), 4) / np.maximum(spread, 1e-3)
    below_top = (top[None] - np.arange(lung.shape[0])[:, None, None]) * _DZ
    return np.minimum(distance, np.maximum(below_top, 0) * 0.85 + 1)

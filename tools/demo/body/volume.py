"""The CT made ready for projecting: body alone, contrast medium taken out, slices sharpened.

Arrays are ordered (z, y, x): z runs from feet to head, y from back to front, x from the patient's
right to the left. Voxels are :data:`SPACING_MM`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np
from scipy import ndimage

from tools.demo.body.source import Source

VERSION = 12
"""Raise when the preparation changes: caches of other versions are not read."""
SPACING_MM = (1.25, 0.703125, 0.703125)
"""Voxel size along z, y, x after the slices have been doubled, mm."""
AIR = -1000
_NECK = 28
"""Slices added on top, each a little more blurred: the CT ends just above the lungs."""
_Y_RANGE = (48, 448)
"""Rows of the CT that hold the body; the table lies behind."""

LUNGS = (10, 11, 12, 13, 14)
LOBES = {"LUL": 10, "LLL": 11, "RUL": 12, "RML": 13, "RLL": 14}
LEFT_LUNG, RIGHT_LUNG = (10, 11), (12, 13, 14)
LIVER, STOMACH, SPLEEN, OESOPHAGUS, TRACHEA, HEART, AORTA, SVC = 5, 6, 1, 15, 16, 51, 52, 62
_HEART_AND_VESSELS = tuple(range(51, 69))
_BONES = (*range(25, 51), *range(69, 79), *range(92, 117))
VERTEBRAE = tuple(range(25, 51))
RIBS, STERNUM = tuple(range(92, 116)), 116
_CLAVICLES = (73, 74)


@dataclass(frozen=True)
class Volume:
    """A thorax: CT numbers and organ labels on one grid, shape (z, y, x).

    ``hu`` is int16 Hounsfield units, ``labels`` uint8 ids as in the wheel's ``structures.csv``.
    """

    hu: np.ndarray
    labels: np.ndarray

    def mask(self, *ids: int) -> np.ndarray:
        """Where any of these labels is, bool, shape (z, y, x)."""
        table = np.zeros(256, bool)
        table[list(ids)] = True
        return np.asarray(table[self.labels])

    @cached_property
    def lungs(self) -> np.ndarray:
        """Both lungs, bool."""
        return self.mask(*LUNGS)


def prepare(source: Source, work: Path) -> Volume:
    """Return the prepared thorax, from ``work`` when it has been made before.

    Takes about a minute and 3 GB the first time. The real mass is still in it: see
    :func:`tools.demo.body.pathology.remove_mass`.
    """
    cache = work / f"thorax-v{VERSION}.npz"
    if not cache.exists():
        hu, labels = _prepare(source)
        work.mkdir(parents=True, exist_ok=True)
        np.savez(cache.with_suffix(".part.npz"), hu=hu, labels=labels)
        cache.with_suffix(".part.npz").replace(cache)
    with np.load(cache) as stored:
        return Volume(stored["hu"], stored["labels"])


def _prepare(source: Source) -> tuple[np.ndarray, np.ndarray]:
    import nibabel

    def read(path: Path, kind: type) -> np.ndarray:
        values = np.asarray(nibabel.load(path).dataobj)
        ordered = np.ascontiguousarray(values.transpose(2, 1, 0)[:, slice(*_Y_RANGE)])
        return ordered.astype(kind)

    hu, labels = read(source.ct, np.float32), read(source.labels, np.uint8)
    body = _body(hu)
    hu[~body] = AIR
    hu = np.clip(hu, AIR, 1500)
    hu = _without_contrast(hu, labels)
    hu = _harder_ribs(hu, labels)
    hu = _clearer_vessels(hu, labels)
    sharpened = hu + 0.9 * (hu - ndimage.gaussian_filter1d(hu, 0.75, axis=0))
    sharpened += 0.6 * (sharpened - _plane_blur(sharpened, 1.1))
    np.clip(sharpened, AIR, 1700, out=sharpened)
    doubled = ndimage.zoom(sharpened, (2, 1, 1), order=3, grid_mode=True, mode="nearest")
    np.clip(doubled, AIR, 1700, out=doubled)
    _smooth_along_ribs(doubled, np.repeat(labels, 2, axis=0))
    _harder_vertebrae(doubled, labels)
    inside = np.repeat(body, 2, axis=0)
    doubled[~inside] = AIR
    neck = np.stack(
        [cv2.GaussianBlur(doubled[-2], (0, 0), 1.2 + 0.35 * step) for step in range(_NECK)]
    )
    hu = np.rint(np.concatenate([doubled, neck])).astype(np.int16)
    names = np.concatenate([np.repeat(labels, 2, axis=0), np.zeros(neck.shape, np.uint8)])
    return hu, names


def _plane_blur(hu: np.ndarray, sigma: float) -> np.ndarray:
    """Blur each slice by sigma voxels."""
    return np.stack([cv2.GaussianBlur(plane, (0, 0), sigma) for plane in hu])


def _body(hu: np.ndarray) -> np.ndarray:
    """Find the patient without table, sheet and the air around, bool."""
    dense = ndimage.binary_opening(hu > -350, np.ones((1, 5, 5), bool))
    parts, count = ndimage.label(dense)
    sizes = ndimage.sum_labels(dense, parts, np.arange(1, count + 1))
    body = ndimage.binary_dilation(parts == 1 + int(np.argmax(sizes)), np.ones((1, 5, 5), bool))
    for slice_ in body:
        slice_[:] = ndimage.binary_fill_holes(slice_)
    return np.asarray(body)


def _without_contrast(hu: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Take out the contrast medium: vessels and heart become as dense as muscle."""
    bone = np.isin(labels, _BONES)
    near_bone = ndimage.binary_dilation(bone, np.ones((1, 5, 5), bool), iterations=1)
    streaky = ndimage.binary_dilation((hu > 1300) & ~bone, np.ones((1, 5, 5), bool))
    soft = (~near_bone | streaky) & ~bone
    bright = soft & (hu > 50)
    result = hu.copy()
    result[bright] = 50 + 0.03 * (hu[bright] - 50)
    vessels = np.isin(labels, _HEART_AND_VESSELS) & ~bone
    vessels = ndimage.binary_dilation(vessels, np.ones((1, 3, 3), bool)) & ~bone & (hu > 60)
    result[vessels] = 45
    # Contrast and heartbeat leave streaks in and around the heart, dark ones too.
    calm = ndimage.binary_closing(np.isin(labels, _HEART_AND_VESSELS), np.ones((3, 9, 9), bool))
    calm &= ~bone & ~np.isin(labels, LUNGS)
    middle = ndimage.gaussian_filter(np.clip(result, -60, 60), (2.0, 2.0, 2.0))
    result[calm] = np.maximum(middle[calm], 20)
    soft_streaks = ndimage.binary_dilation(calm, np.ones((1, 11, 11), bool)) & ~bone
    soft_streaks &= (result > -150) & (result < 150)
    result[soft_streaks] = 0.5 * (result + middle)[soft_streaks]
    # Contrast in the veins of the right arm has leaked into the labels of clavicle and first ribs.
    leaked = np.isin(labels, (70, 72, 74, 104, 105, 106, 116)) & (hu > 650)
    result[leaked] = 400
    return result


def _harder_ribs(hu: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Raise the density of the ribs, which thick slices have blurred."""
    ribs = np.isin(labels, RIBS) & (hu > 40)
    result = hu.copy()
    result[ribs] = np.minimum(hu[ribs] * 1.8, 1600)
    return result


def _harder_vertebrae(doubled: np.ndarray, labels: np.ndarray) -> None:
    """Give the vertebral bodies back their endplates and walls, in place.

    Thick slices have blurred them, and a lateral would show no bodies: what is left of their
    density is less than that of the vessels that cross them. ``labels`` are those of the slices,
    ``doubled`` has two planes for each.
    """
    disc = np.hypot(*np.mgrid[-8:9, -8:9])[None] <= 8.3  # wider than arches and processes
    for vertebra in VERTEBRAE:
        whole = labels == vertebra
        if not whole.any():
            continue
        z, y, x = (
            slice(max(s.start - 8, 0), s.stop + 8)
            for s in ndimage.find_objects(whole.astype(np.uint8))[0]
        )
        body = ndimage.binary_opening(ndimage.binary_fill_holes(whole[z, y, x]), disc)
        inside = ndimage.gaussian_filter(body.astype(np.float32), (0.7, 1.7, 1.7), mode="nearest")
        inside = ndimage.zoom(inside, (2, 1, 1), order=1, grid_mode=True, mode="nearest")
        wall = 4 * inside * np.clip(1 - inside, 0, 1)
        part = (slice(2 * z.start, 2 * z.start + len(inside)), y, x)
        values = doubled[part]
        bone = np.clip((values + 100) / 150, 0, 1)
        doubled[part] = np.minimum(values + bone * (260 * inside + 420 * wall), 1600)


def _smooth_along_ribs(hu: np.ndarray, labels: np.ndarray) -> None:
    """Smooth ribs and clavicles along their own course, in place.

    Slices are 2.5 mm thick, and a slanting bone steps from one to the next: its edges would be a
    comb. The course is the main axis of the bone's own mask nearby.
    """
    reach_mm, steps = 9.0, np.linspace(-2.0, 2.0, 13)
    sigma = reach_mm / np.array(SPACING_MM)
    for bone in (*RIBS, *_CLAVICLES):
        whole = labels == bone
        if not whole.any():
            continue
        box = ndimage.find_objects(whole.astype(np.uint8))[0]
        part = tuple(
            slice(max(s.start - 14, 0), min(s.stop + 14, n))
            for s, n in zip(box, hu.shape, strict=True)
        )
        mask = whole[part].astype(np.float32)
        near = np.argwhere(ndimage.binary_dilation(mask > 0, np.ones((5, 7, 7), bool)))
        grid = [g * s for g, s in zip(np.indices(mask.shape, np.float32), SPACING_MM, strict=True)]

        def mean(values: np.ndarray, at: np.ndarray = near) -> np.ndarray:
            spread = ndimage.gaussian_filter(values, sigma, mode="constant", truncate=2.5)
            return np.asarray(spread[tuple(at.T)])

        weight = np.maximum(mean(mask), 1e-6)
        centre = [mean(mask * g) / weight for g in grid]
        spread = np.empty((len(near), 3, 3), np.float32)
        for i in range(3):
            for j in range(i, 3):
                spread[:, i, j] = mean(mask * grid[i] * grid[j]) / weight - centre[i] * centre[j]
                spread[:, j, i] = spread[:, i, j]
        course = np.linalg.eigh(spread)[1][:, :, 2] / np.array(SPACING_MM)
        values = np.ascontiguousarray(hu[part])
        total = np.zeros(len(near), np.float32)
        shares = np.exp(-0.5 * steps**2)
        for step, share in zip(steps, shares / shares.sum(), strict=True):
            places = (near + 2.6 * step * course).T
            total += share * ndimage.map_coordinates(values, places, order=1, mode="nearest")
        edge = ndimage.gaussian_filter(
            ndimage.binary_dilation(mask > 0, np.ones((3, 3, 3), bool)).astype(np.float32), 1.0
        )[tuple(near.T)]
        values[tuple(near.T)] += edge * (total - values[tuple(near.T)])
        hu[part] = values


def _clearer_vessels(hu: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Raise the density of small vessels of the lungs, which thick slices have blurred."""
    inside = ndimage.binary_closing(np.isin(labels, LUNGS), np.ones((1, 9, 9), bool), iterations=2)
    inside = ndimage.binary_erosion(inside, np.ones((3, 7, 7), bool))  # not the lung's own border
    background = ndimage.gaussian_filter(np.where(inside, hu, -850), (1.5, 6, 6))
    excess = np.clip(hu - background - 40, 0, None)
    vessels = inside & (excess > 0) & (hu < 100)
    result = hu.copy()
    result[vessels] = np.minimum(hu[vessels] + 1.1 * excess[vessels], 250)
    return result

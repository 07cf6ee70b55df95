"""Prepare the CT for projecting: body alone, contrast medium removed, slices sharpened.

Arrays are ordered (z, y, x): z from feet to head, y from back to front, x from the patient's right
to the left. Voxels have size :data:`SPACING_MM`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from scipy import ndimage

from tools.demo.body.source import Source

VERSION = 12
"""Increase this when the preparation changes: caches of other versions are not read."""
SPACING_MM = (1.25, 0.703125, 0.703125)
"""Voxel size along z, y, x after the slices have been doubled, mm."""
AIR = -1000
_NECK = 28
"""Slices added on top, increasingly blurred: the CT ends just above the lungs."""
_Y_RANGE = (48, 448)
"""Rows of the CT that contain the body; the table is behind."""

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
        """Return the mask of any of these labels, bool, shape (z, y, x)."""
        return _among(self.labels, ids)

    @cached_property
    def lungs(self) -> np.ndarray:
        """Return the mask of both lungs, bool."""
        return self.mask(*LUNGS)


def _among(labels: np.ndarray, ids: tuple[int, ...]) -> np.ndarray:
    """Return the mask of any of these labels, bool."""
    table = np.zeros(256, np.uint8)
    table[list(ids)] = 1
    return cv2.LUT(labels.reshape(len(labels), -1), table).reshape(labels.shape).view(bool)


def _grown(mask: np.ndarray, size: tuple[int, int, int]) -> np.ndarray:
    """Return ``ndimage.binary_dilation`` by a box of odd sizes z, y, x, in a tenth of the time."""
    return _by_box(mask, size, cv2.MORPH_DILATE)


def _shrunk(mask: np.ndarray, size: tuple[int, int, int]) -> np.ndarray:
    """Return ``ndimage.binary_erosion`` by a box: outside the array everything is false."""
    return _by_box(mask, size, cv2.MORPH_ERODE)


def _closed(mask: np.ndarray, size: tuple[int, int, int]) -> np.ndarray:
    """Return ``ndimage.binary_closing`` by a box."""
    return _shrunk(_grown(mask, size), size)


def _by_box(mask: np.ndarray, size: tuple[int, int, int], how: int) -> np.ndarray:
    planes = _by_plane(mask, np.ones(size[1:], bool), how)
    columns = planes.reshape(len(planes), 1, -1)
    return _by_plane(columns.swapaxes(0, 1), np.ones((size[0], 1), bool), how).reshape(mask.shape)


def _by_plane(mask: np.ndarray, structure: np.ndarray, how: int) -> np.ndarray:
    """Erode or dilate each plane (z) by a symmetric structure."""
    border: dict[str, Any] = {"borderType": cv2.BORDER_CONSTANT, "borderValue": 0}
    kernel = structure.astype(np.uint8)
    planes = [cv2.morphologyEx(plane.astype(np.uint8), how, kernel, **border) for plane in mask]
    return np.stack(planes).view(bool)


def _blurred_at(
    values: np.ndarray, sigma: Sequence[float], near: np.ndarray, **options: Any
) -> np.ndarray:
    """Return ``ndimage.gaussian_filter`` where ``near`` is true, in the order of ``np.argwhere``.

    Only lines with values are filtered, and only those that affect the result.
    """
    for axis in range(values.ndim):
        across = tuple(other for other in range(values.ndim) if other > axis)
        holds = values.any(axis=axis)
        wanted = np.broadcast_to(near.any(axis=across, keepdims=True), near.shape).any(axis=axis)
        lines = np.nonzero(holds & wanted)
        turned = np.moveaxis(values, axis, -1)
        blurred = np.zeros_like(turned, order="C")
        blurred[lines] = ndimage.gaussian_filter1d(turned[lines], sigma[axis], axis=-1, **options)
        values = np.moveaxis(blurred, -1, axis)
    return np.asarray(values[near])


def prepare(source: Source, work: Path) -> Volume:
    """Return the prepared thorax, from ``work`` if it has been made before.

    The first time takes about a minute and 3 GB. The real mass is still in it: see
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
    """Return the patient without table, sheet and surrounding air, bool."""
    dense = _grown(_shrunk(hu > -350, (1, 5, 5)), (1, 5, 5))
    parts, count = ndimage.label(dense)
    sizes = ndimage.sum_labels(dense, parts, np.arange(1, count + 1))
    body = _grown(parts == 1 + int(np.argmax(sizes)), (1, 5, 5))
    for slice_ in body:
        slice_[:] = ndimage.binary_fill_holes(slice_)
    return np.asarray(body)


def _without_contrast(hu: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Remove the contrast medium: vessels and heart become as dense as muscle."""
    bone = _among(labels, _BONES)
    near_bone = _grown(bone, (1, 5, 5))
    streaky = _grown((hu > 1300) & ~bone, (1, 5, 5))
    soft = (~near_bone | streaky) & ~bone
    bright = soft & (hu > 50)
    result = hu.copy()
    result[bright] = 50 + 0.03 * (hu[bright] - 50)
    heart_and_vessels = _among(labels, _HEART_AND_VESSELS)
    vessels = _grown(heart_and_vessels & ~bone, (1, 3, 3)) & ~bone & (hu > 60)
    result[vessels] = 45
    # Contrast and heartbeat leave streaks in and around the heart, dark ones too.
    calm = _closed(heart_and_vessels, (3, 9, 9))
    calm &= ~bone & ~_among(labels, LUNGS)
    middle = ndimage.gaussian_filter(np.clip(result, -60, 60), (2.0, 2.0, 2.0))
    result[calm] = np.maximum(middle[calm], 20)
    soft_streaks = _grown(calm, (1, 11, 11)) & ~bone
    soft_streaks &= (result > -150) & (result < 150)
    result[soft_streaks] = 0.5 * (result + middle)[soft_streaks]
    # Contrast in the veins of the right arm has leaked into the labels of clavicle and first ribs.
    leaked = _among(labels, (70, 72, 74, 104, 105, 106, 116)) & (hu > 650)
    result[leaked] = 400
    return result


def _harder_ribs(hu: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Raise the density of the ribs, which thick slices have blurred."""
    ribs = _among(labels, RIBS) & (hu > 40)
    result = hu.copy()
    result[ribs] = np.minimum(hu[ribs] * 1.8, 1600)
    return result


def _harder_vertebrae(doubled: np.ndarray, labels: np.ndarray) -> None:
    """Restore the endplates and walls of the vertebral bodies, in place.

    Thick slices have blurred them, and a lateral would show no bodies: their remaining density is
    less than that of the vessels that cross them. ``labels`` are those of the slices, ``doubled``
    has two planes for each.
    """
    disc = np.hypot(*np.mgrid[-8:9, -8:9]) <= 8.3  # wider than arches and processes
    boxes = ndimage.find_objects(labels, max(VERTEBRAE))
    for vertebra in VERTEBRAE:
        box = boxes[vertebra - 1]
        if box is None:
            continue
        z, y, x = (slice(max(s.start - 8, 0), s.stop + 8) for s in box)
        body = ndimage.binary_fill_holes(labels[z, y, x] == vertebra)
        body = _by_plane(_by_plane(body, disc, cv2.MORPH_ERODE), disc, cv2.MORPH_DILATE)
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
    boxes = ndimage.find_objects(labels, max(*RIBS, *_CLAVICLES))
    for bone in (*RIBS, *_CLAVICLES):
        box = boxes[bone - 1]
        if box is None:
            continue
        part = tuple(
            slice(max(s.start - 14, 0), min(s.stop + 14, n))
            for s, n in zip(box, hu.shape, strict=True)
        )
        here = labels[part] == bone
        mask, around = here.astype(np.float32), _grown(here, (5, 7, 7))
        near = np.argwhere(around)
        places_mm = np.indices(mask.shape, np.float32, sparse=True)
        grid = [g * s for g, s in zip(places_mm, SPACING_MM, strict=True)]

        def mean(values: np.ndarray, at: np.ndarray = around) -> np.ndarray:
            return _blurred_at(values, sigma, at, mode="constant", truncate=2.5)

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
        edge = _blurred_at(_grown(here, (3, 3, 3)).astype(np.float32), (1.0, 1.0, 1.0), around)
        values[tuple(near.T)] += edge * (total - values[tuple(near.T)])
        hu[part] = values


def _clearer_vessels(hu: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Raise the density of small vessels of the lungs, which thick slices have blurred."""
    inside = _closed(_among(labels, LUNGS), (1, 17, 17))
    inside = _shrunk(inside, (3, 7, 7))  # not the lung's own border
    background = ndimage.gaussian_filter(np.where(inside, hu, -850), (1.5, 6, 6))
    excess = np.clip(hu - background - 40, 0, None)
    vessels = inside & (excess > 0) & (hu < 100)
    result = hu.copy()
    result[vessels] = np.minimum(hu[vessels] + 1.1 * excess[vessels], 250)
    return result

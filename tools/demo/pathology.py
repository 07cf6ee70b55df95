"""Abnormalities, written into the voxels of a patient before the radiograph is made.

Every function takes a :class:`~tools.demo.volume.Volume` and returns a :class:`Lesion`: the edited
volume, the part of it that a reader would point at, its name and its side. Lengths are in mm.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from scipy import ndimage

from tools.demo.volume import (
    HEART,
    LEFT_LUNG,
    LEFT_RIBS,
    LIVER,
    LOBES,
    RIGHT_LUNG,
    RIGHT_RIBS,
    SPACING_MM,
    TRACHEA,
    Volume,
)

Side = Literal["right", "left", "bilateral", "midline"]
_DZ, _DY, _DX = SPACING_MM
_FLUID, _LUNG = 12.0, -860.0
MASS = 200
"""Label given to the real mass by :func:`mark_mass`."""
_MASS_BOX = (slice(148, 216), slice(36, 128), slice(286, 362))
"""Where the real mass of the left lower lobe lies, with a margin, voxels of the prepared thorax."""


@dataclass(frozen=True)
class Lesion:
    """An abnormality in a patient.

    ``shown`` is where a reader would see it (float weights 0 to 1, shape (z, y, x)); its shadow on
    the radiograph is what the reference box is drawn around.
    """

    volume: Volume
    shown: np.ndarray
    label: str
    side: Side


def _lung(volume: Volume, side: Side) -> np.ndarray:
    return volume.mask(*(RIGHT_LUNG if side == "right" else LEFT_LUNG))


def _hemithorax(volume: Volume, side: Side) -> np.ndarray:
    """The lung of one side with its vessels and the gaps between the lobes, bool."""
    lung = _lung(volume, side).astype(np.uint8)
    kernel = np.ones((13, 13), np.uint8)
    return np.stack([cv2.morphologyEx(s, cv2.MORPH_CLOSE, kernel) for s in lung]) > 0


def _blend(volume: Volume, weight: np.ndarray, target: float | np.ndarray) -> Volume:
    """Move CT numbers towards a target by a weight of 0 to 1."""
    hu = volume.hu.astype(np.float32)
    hu += weight * (target - hu)
    return Volume(np.rint(hu).astype(np.int16), volume.labels)


def _blur(values: np.ndarray, sigma: tuple[float, float, float]) -> np.ndarray:
    """Gaussian blur of a volume by sigma voxels along z, y, x (float32)."""
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


def _soft(mask: np.ndarray, sigma_mm: float) -> np.ndarray:
    """Blur a mask so that its edge is not a cut."""
    dz, dy, dx = SPACING_MM
    return _blur(mask, (sigma_mm / dz, sigma_mm / dy, sigma_mm / dx))


def _around_lungs(make: Callable[..., Lesion]) -> Callable[..., Lesion]:
    """Let a function work on the part of the volume around the lungs alone, which is faster."""

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


def _clouds(shape: tuple[int, ...], size_mm: float, seed: int) -> np.ndarray:
    """Smooth random field with mean 0 and standard deviation 1, float32 (z, y, x)."""
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


def _wall_distance(lung: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Distance to the chest wall (not to mediastinum or diaphragm) in and beside a lung, mm."""
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


def _find_mass(volume: Volume) -> np.ndarray:
    """Where the real mass is within :data:`_MASS_BOX`, bool."""
    part = volume.hu[_MASS_BOX]
    lung = ndimage.binary_closing(np.isin(volume.labels[_MASS_BOX], LEFT_LUNG), iterations=6)
    dense = ndimage.binary_opening((part > -650) & lung, iterations=2)
    parts, count = ndimage.label(dense)
    sizes = ndimage.sum_labels(dense, parts, np.arange(1, count + 1))
    return np.asarray(parts == 1 + int(np.argmax(sizes)))


def remove_mass(thorax: Volume) -> Volume:
    """Fill the real mass of the left lower lobe with lung, for patients who do not have it."""
    mass = ndimage.binary_dilation(_find_mass(thorax), iterations=6)
    part = thorax.hu[_MASS_BOX].astype(np.float32)
    texture = _LUNG + 22 * _clouds(part.shape, 2.0, seed=5)
    hu, labels = thorax.hu.copy(), thorax.labels.copy()
    hu[_MASS_BOX] = np.rint(part + _soft(mass, 1.6) * (texture - part)).astype(np.int16)
    unnamed = mass & (labels[_MASS_BOX] == 0)
    labels[_MASS_BOX] = np.where(unnamed, LOBES["LLL"], labels[_MASS_BOX])
    return Volume(hu, labels)


def mark_mass(thorax: Volume) -> Volume:
    """Label the real mass and make it denser, for the patient who keeps it."""
    mass = ndimage.binary_fill_holes(ndimage.binary_closing(_find_mass(thorax), iterations=2))
    hu, labels = thorax.hu.copy(), thorax.labels.copy()
    labels[_MASS_BOX][mass] = MASS
    part = hu[_MASS_BOX].astype(np.float32)
    hu[_MASS_BOX] = np.rint(part + _soft(mass, 0.8) * (np.maximum(part, 110) - part))
    return Volume(hu, labels)


def real_mass(volume: Volume) -> Lesion:
    """The mass that the patient of the CT has; nothing is edited."""
    return Lesion(volume, volume.mask(MASS).astype(np.float32), "Mass", "left")


@_around_lungs
def effusion(volume: Volume, side: Side, height_mm: float, rise_mm: float = 62.0) -> Lesion:
    """Fluid in an upright patient: a level that climbs along the chest wall (meniscus).

    ``height_mm`` counts from the deepest point of the lung.
    """
    lung = _hemithorax(volume, side)
    deepest = int(np.argmax(lung.any(axis=(1, 2))))
    both = _hemithorax(volume, "right") | _hemithorax(volume, "left")
    wall = _wall_distance(lung, both)
    level = height_mm + rise_mm * np.exp(-wall / 24.0)
    above = (np.arange(lung.shape[0])[:, None, None] - deepest) * _DZ
    fluid = lung & (above < level)
    # The rim of the lung that shares its voxels with wall and diaphragm drowns too.
    rim = ndimage.binary_dilation(fluid, np.ones((3, 5, 5), bool)) & (volume.hu < -20) & ~lung
    weight = np.maximum(np.where(lung, _soft(fluid | rim, 1.0), 0), rim)
    edited = _blend(volume, weight, _FLUID)
    # The lung that floats on it is squeezed.
    squeezed = lung & ~fluid
    haze = np.where(squeezed, np.exp(-np.maximum(above - level, 0) / 11.0), 0).astype(np.float32)
    edited = _blend(edited, 0.32 * haze, -250.0)
    return Lesion(edited, weight, "Pleural effusion", side)


@_around_lungs
def layering_effusion(volume: Volume, side: Side, depth_mm: float) -> Lesion:
    """Fluid in a supine patient: it lies behind the lung and veils it."""
    lung = _hemithorax(volume, side)
    height = np.arange(lung.shape[1])[None, :, None] * _DY
    back = np.argmax(lung.any(axis=(0, 2))) * _DY
    share = np.linspace(1.25, 0.35, lung.shape[0])[:, None, None]
    fluid = lung & (height - back < depth_mm * share)
    weight = _soft(fluid, 1.2)
    edited = _blend(volume, weight, _FLUID)
    edited = _blend(edited, np.where(lung & ~fluid, 0.08, 0).astype(np.float32), -200.0)
    return Lesion(edited, weight, "Pleural effusion", side)


@_around_lungs
def pneumothorax(volume: Volume, side: Side, apex_mm: float, lateral_mm: float) -> Lesion:
    """Air between lung and chest wall, widest over the apex; the lung's edge is a fine line."""
    lung = _hemithorax(volume, side)
    both = _hemithorax(volume, "right") | _hemithorax(volume, "left")
    wall = _wall_distance(lung, both)
    levels = np.flatnonzero(lung.any(axis=(1, 2)))
    share = np.clip((np.arange(lung.shape[0]) - levels[0]) / (levels[-1] - levels[0]), 0, 1)
    width = lateral_mm * np.clip((share - 0.22) / 0.25, 0, 1)
    width += (apex_mm - lateral_mm) * np.clip((share - 0.55) / 0.40, 0, 1) ** 1.3
    gap = _blur(wall - width[:, None, None], (2.0, 1.5, 1.5))
    # At the rim the CT's own grey values say how much of a voxel is lung: a mask would be jagged.
    core = ndimage.binary_erosion(lung, np.ones((3, 5, 5), bool))
    rim = ndimage.binary_dilation(lung, np.ones((3, 5, 5), bool))
    airy = np.clip((-350 - volume.hu.astype(np.float32)) / 300, 0, 1) * rim
    here = (width[:, None, None] > 0.5) & rim
    air = lung & here & (gap < 0)
    empty = np.maximum(core, airy) / (1 + np.exp(np.clip(gap / 0.35, -20, 20))) * here
    edge = np.where(here, np.exp(-(((gap - 0.6) / 0.9) ** 2)), 0).astype(np.float32)
    collapsed = _blend(volume, np.where(lung & ~air, 0.08, 0).astype(np.float32), 40.0)
    emptied = _blend(collapsed, empty, -998.0)
    lined = _blend(emptied, 0.6 * edge, 60.0)
    _, middle_y, middle_x = np.median(np.argwhere(lung[::4, ::4, ::4]), axis=0) * 4
    depth = np.abs(np.arange(lung.shape[1]) - middle_y)[None, :, None] * _DY
    across = np.arange(lung.shape[2])[None, None, :]
    outer = across < middle_x if side == "right" else across > middle_x
    wide = (width >= 0.5 * width.max())[:, None, None]
    shown = air & (depth < 55) & outer & wide
    return Lesion(lined, shown.astype(np.float32), "Pneumothorax", side)


@_around_lungs
def consolidation(
    volume: Volume,
    lobe: str,
    *,
    share: float = 1.0,
    centre: tuple[float, float, float] | None = None,
    radius_mm: float = 60.0,
    density: float = -30.0,
    seed: int = 1,
    label: str = "Consolidation",
) -> Lesion:
    """Airspace filling of a lobe, patchy towards its edge, sharp where a fissure bounds it.

    ``centre`` (0 to 1 along z, y, x of the lobe) and ``radius_mm`` limit it to a part.
    """
    inside = volume.mask(LOBES[lobe])
    inside = ndimage.binary_closing(inside[::1, ::1, ::1], np.ones((1, 7, 7), bool))
    spots = np.argwhere(inside[::2, ::2, ::2]) * 2
    low, high = spots.min(axis=0), spots.max(axis=0)
    place = low + np.array(centre or (0.5, 0.5, 0.5)) * (high - low)
    grid = np.ogrid[tuple(slice(0, length) for length in inside.shape)]
    distance = np.sqrt(
        sum(((g - p) * step) ** 2 for g, p, step in zip(grid, place, SPACING_MM, strict=True))
    )
    field = 0.55 * _clouds(inside.shape, 9.0, seed) + 0.35 * _clouds(inside.shape, 3.5, seed + 1)
    filled = 1 / (1 + np.exp(-(field * 1.1 + (radius_mm - distance) / (0.22 * radius_mm)) * 1.6))
    weight = _soft(inside, 1.2) * filled.astype(np.float32) * share
    edited = _blend(volume, weight, np.maximum(density, volume.hu.astype(np.float32)))
    side: Side = "right" if lobe.startswith("R") else "left"
    return Lesion(edited, (weight > 0.45 * share).astype(np.float32), label, side)


@_around_lungs
def nodule(
    volume: Volume,
    lobe: str,
    centre: tuple[float, float, float],
    diameter_mm: float,
    *,
    density: float = 125.0,
    seed: int = 3,
    label: str = "Nodule",
) -> Lesion:
    """A round lesion with a slightly lobulated, soft edge."""
    inside = volume.mask(LOBES[lobe])
    spots = np.argwhere(inside[::2, ::2, ::2]) * 2
    low, high = spots.min(axis=0), spots.max(axis=0)
    place = low + np.array(centre) * (high - low)
    grid = np.ogrid[tuple(slice(0, length) for length in inside.shape)]
    distance = np.sqrt(
        sum(((g - p) * step) ** 2 for g, p, step in zip(grid, place, SPACING_MM, strict=True))
    )
    radius = diameter_mm / 2 * (1 + 0.12 * _clouds(inside.shape, diameter_mm / 5, seed))
    weight = (1 / (1 + np.exp((distance - radius) / 0.6))).astype(np.float32)
    weight *= _hemithorax(volume, "right" if lobe.startswith("R") else "left")
    edited = _blend(volume, weight, np.maximum(density, volume.hu.astype(np.float32)))
    return Lesion(edited, weight, label, "right" if lobe.startswith("R") else "left")


@_around_lungs
def oedema(volume: Volume, share: float, seed: int = 11) -> Lesion:
    """Haze of both lungs around the hila and towards the bases."""
    lungs = _hemithorax(volume, "right") | _hemithorax(volume, "left")
    heart = np.argwhere(volume.mask(HEART)[::2, ::2, ::2]) * 2
    z0, y0, _ = heart.mean(axis=0) + np.array([18, -35, 0])
    x0 = np.argwhere(volume.mask(TRACHEA)[::2, ::2, ::2])[:, 2].mean() * 2 + 6
    z, y, x = np.ogrid[tuple(slice(0, length) for length in lungs.shape)]
    across = np.abs(x - x0) * _DX
    reach = np.exp(-(((across - 48) / 46) ** 2)) * np.exp(-(((z - z0) * _DZ / 72) ** 2))
    reach = reach * np.exp(-(((y - y0) * _DY / 90) ** 2))
    field = _clouds(lungs.shape, 7.0, seed) * 0.45 + _clouds(lungs.shape, 2.6, seed + 1) * 0.5
    weight = np.clip(share * reach * (0.8 + 0.6 * field), 0, 0.9).astype(np.float32) * lungs
    edited = _blend(volume, weight, np.maximum(-20.0, volume.hu.astype(np.float32)))
    return Lesion(
        edited, (weight > 0.3 * min(share, 1)).astype(np.float32), "Pulmonary oedema", "bilateral"
    )


@_around_lungs
def free_air(volume: Volume, side: Side, depth_mm: float) -> Lesion:
    """Gas under the dome of the diaphragm of an upright patient."""
    lung = _hemithorax(volume, side)
    below = volume.mask(LIVER) if side == "right" else volume.mask(1, 6, 20)
    under = lung.any(axis=0) & below.any(axis=0)
    depth = lung.shape[0]
    top = np.where(under, depth - 1 - below[::-1].argmax(axis=0), 0).astype(np.float32)
    dome = np.percentile(top[under], 99)
    surface = ndimage.gaussian_filter(np.where(under, top, dome - 40), 3)
    level = dome - 2.2 * depth_mm / _DZ
    bottom = level + 0.55 * (surface - level)  # the liver sinks, and keeps its round top
    z = np.arange(depth)[:, None, None]
    gas = (z < surface[None] - 2.0) & (z > bottom[None]) & (surface[None] > level) & under[None]
    weight = _soft(gas, 0.6)
    edited = _blend(volume, weight, -990.0)
    return Lesion(edited, weight, "Free subdiaphragmatic air", side)


def rib_fracture(volume: Volume, side: Side, rib: int, where: float, gap_mm: float = 2.4) -> Lesion:
    """A break of one rib with a step. ``where`` is 0 at the front end to 1 at the back end."""
    label = (RIGHT_RIBS if side == "right" else LEFT_RIBS)[rib - 1]
    bone = volume.mask(label)
    spots = np.argwhere(bone)
    order = np.argsort(-spots[:, 1])
    place = spots[order[int(where * (len(order) - 1))]].astype(float)
    near = spots[np.linalg.norm((spots - place) * SPACING_MM, axis=1) < 9]
    place = near.mean(axis=0)
    _, _, axes = np.linalg.svd((near - place) * SPACING_MM, full_matrices=False)
    grid = np.ogrid[tuple(slice(0, length) for length in bone.shape)]
    offsets = [(g - p) * step for g, p, step in zip(grid, place, SPACING_MM, strict=True)]
    along = sum(o * a for o, a in zip(offsets, axes[0], strict=True))
    radius = np.sqrt(sum(o**2 for o in offsets))
    cut = (np.abs(along) < gap_mm / 2) & (radius < 11)
    weight = _soft(cut, 0.5)
    around = (radius < 16) & (np.abs(along) < 16)
    shifted = volume.hu.copy()
    step = 3  # slices by which the outer part is displaced downwards
    outer = around & (along > 0)
    moved = np.roll(volume.hu, -step, axis=0)
    shifted[outer] = moved[outer]
    edited = _blend(Volume(shifted, volume.labels), weight, 20.0)
    return Lesion(edited, around.astype(np.float32), "Rib fracture", side)

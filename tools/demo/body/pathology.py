"""Add abnormalities to the voxels of a patient before the radiograph is made.

Every function takes a :class:`~tools.demo.body.volume.Volume` and returns a :class:`Lesion`: the
edited volume, the part that a reader would point at, its name and its side. Lengths are in mm.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from tools.demo.body.volume import (
    HEART,
    LEFT_LUNG,
    LIVER,
    LOBES,
    SPACING_MM,
    TRACHEA,
    Volume,
)
from tools.demo.body.voxels import (
    Lesion,
    Side,
    around_lungs,
    blended,
    blurred,
    clouds,
    hemithorax,
    softened,
    wall_distance,
)

_DZ, _DY, _DX = SPACING_MM
_FLUID, _LUNG = 12.0, -860.0
_FIRST_RIGHT_RIB = 104
_MASS_BOX = (slice(148, 216), slice(36, 128), slice(286, 362))
"""Region of the real mass in the left lower lobe, with a margin, voxels of the prepared thorax."""


def _find_mass(volume: Volume) -> np.ndarray:
    """Return the real mass within :data:`_MASS_BOX`, bool."""
    part = volume.hu[_MASS_BOX]
    lung = ndimage.binary_closing(np.isin(volume.labels[_MASS_BOX], LEFT_LUNG), iterations=6)
    dense = ndimage.binary_opening((part > -650) & lung, iterations=2)
    parts, count = ndimage.label(dense)
    sizes = ndimage.sum_labels(dense, parts, np.arange(1, count + 1))
    return np.asarray(parts == 1 + int(np.argmax(sizes)))


def remove_mass(thorax: Volume) -> Volume:
    """Replace the real mass of the left lower lobe by lung, for patients without it."""
    mass = ndimage.binary_dilation(_find_mass(thorax), iterations=6)
    part = thorax.hu[_MASS_BOX].astype(np.float32)
    texture = _LUNG + 22 * clouds(part.shape, 2.0, seed=5)
    hu, labels = thorax.hu.copy(), thorax.labels.copy()
    hu[_MASS_BOX] = np.rint(part + softened(mass, 1.6) * (texture - part)).astype(np.int16)
    unnamed = mass & (labels[_MASS_BOX] == 0)
    labels[_MASS_BOX] = np.where(unnamed, LOBES["LLL"], labels[_MASS_BOX])
    return Volume(hu, labels)


@around_lungs
def effusion(
    volume: Volume,
    side: Side,
    height_mm: float,
    rise_mm: float = 62.0,
    around: float = 1.0,
    fades_mm: float = 24.0,
) -> Lesion:
    """Add fluid in an upright patient: a level that climbs along the chest wall (meniscus).

    ``height_mm`` counts from the deepest point of the lung. The climb falls to a third within
    ``fades_mm`` of the wall: larger values make a large effusion slant instead of forming a bowl.
    ``around`` is the share of the climb in front and behind. Below 1, a small collection fills the
    angle at the side, the dome stays visible, and a reader's box is only for the angle, not for the
    fluid behind the dome.
    """
    lung = hemithorax(volume, side)
    deepest = int(np.argmax(lung.any(axis=(1, 2))))
    both = hemithorax(volume, "right") | hemithorax(volume, "left")
    wall = wall_distance(lung, both)
    beside = _beside(lung, side)
    climb = around + (1 - around) * beside
    level = height_mm + rise_mm * climb[None, None, :] * np.exp(-wall / fades_mm)
    above = (np.arange(lung.shape[0])[:, None, None] - deepest) * _DZ
    fluid = lung & (above < level)
    # The rim of the lung that shares its voxels with wall and diaphragm fills too.
    rim = ndimage.binary_dilation(fluid, np.ones((3, 5, 5), bool)) & (volume.hu < -20) & ~lung
    weight = np.maximum(np.where(lung, softened(fluid | rim, 1.0), 0), rim)
    edited = blended(volume, weight, _FLUID)
    # The lung that floats on it is compressed.
    squeezed = lung & ~fluid
    haze = np.where(squeezed, np.exp(-np.maximum(above - level, 0) / 11.0), 0).astype(np.float32)
    edited = blended(edited, 0.32 * haze, -250.0)
    shown = weight if around >= 1 else weight * (beside > 0.3)[None, None, :]
    return Lesion(edited, shown, "Pleural effusion", side)


def _beside(lung: np.ndarray, side: Side) -> np.ndarray:
    """Return how lateral sagittal planes are: 0 in a lung's inner half to 1 at the chest wall."""
    columns = np.flatnonzero(lung.any(axis=(0, 1)))
    outward = (np.arange(lung.shape[2]) - columns[0]) / (columns[-1] - columns[0])
    if side == "right":
        outward = 1 - outward
    share = np.clip((outward - 0.62) / 0.3, 0, 1)
    return np.asarray(share * share * (3 - 2 * share))


@around_lungs
def pneumothorax(volume: Volume, side: Side, apex_mm: float, lateral_mm: float) -> Lesion:
    """Add air between lung and chest wall, widest over the apex; the lung's edge is a fine line."""
    lung = hemithorax(volume, side)
    both = hemithorax(volume, "right") | hemithorax(volume, "left")
    wall = wall_distance(lung, both)
    levels = np.flatnonzero(lung.any(axis=(1, 2)))
    share = np.clip((np.arange(lung.shape[0]) - levels[0]) / (levels[-1] - levels[0]), 0, 1)
    width = lateral_mm * np.clip((share - 0.22) / 0.25, 0, 1)
    width += (apex_mm - lateral_mm) * np.clip((share - 0.55) / 0.40, 0, 1) ** 1.3
    gap = blurred(wall - width[:, None, None], (2.0, 1.5, 1.5))
    # At the rim the CT's own grey values give the share of lung in a voxel: a mask would be jagged.
    core = ndimage.binary_erosion(lung, np.ones((3, 5, 5), bool))
    rim = ndimage.binary_dilation(lung, np.ones((3, 5, 5), bool))
    airy = np.clip((-350 - volume.hu.astype(np.float32)) / 300, 0, 1) * rim
    here = (width[:, None, None] > 0.5) & rim
    air = lung & here & (gap < 0)
    empty = np.maximum(core, airy) / (1 + np.exp(np.clip(gap / 0.35, -20, 20))) * here
    edge = np.where(here, np.exp(-(((gap - 0.6) / 0.9) ** 2)), 0).astype(np.float32)
    collapsed = blended(volume, np.where(lung & ~air, 0.08, 0).astype(np.float32), 40.0)
    emptied = blended(collapsed, empty, -998.0)
    lined = blended(emptied, 0.6 * edge, 60.0)
    _, middle_y, middle_x = np.median(np.argwhere(lung[::4, ::4, ::4]), axis=0) * 4
    depth = np.abs(np.arange(lung.shape[1]) - middle_y)[None, :, None] * _DY
    across = np.arange(lung.shape[2])[None, None, :]
    outer = across < middle_x if side == "right" else across > middle_x
    wide = (width >= 0.5 * width.max())[:, None, None]
    shown = air & (depth < 55) & outer & wide
    return Lesion(lined, shown.astype(np.float32), "Pneumothorax", side)


@around_lungs
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
    straight_top: bool = False,
) -> Lesion:
    """Fill the airspace of a lobe, patchy towards its edge, sharp at a fissure.

    ``centre`` (0 to 1 along z, y, x of the lobe) and ``radius_mm`` limit it to a part.
    ``straight_top`` makes the upper fissure level from front to back, so that a frontal beam grazes
    it: in most people the horizontal fissure is visible as a line.
    """
    inside = volume.mask(LOBES[lobe])
    if straight_top:
        inside = _level_top(inside, volume.lungs)
    inside = ndimage.binary_closing(inside[::1, ::1, ::1], np.ones((1, 7, 7), bool))
    spots = np.argwhere(inside[::2, ::2, ::2]) * 2
    low, high = spots.min(axis=0), spots.max(axis=0)
    place = low + np.array(centre or (0.5, 0.5, 0.5)) * (high - low)
    grid = np.ogrid[tuple(slice(0, length) for length in inside.shape)]
    distance = np.sqrt(
        sum(((g - p) * step) ** 2 for g, p, step in zip(grid, place, SPACING_MM, strict=True))
    )
    field = 0.55 * clouds(inside.shape, 9.0, seed) + 0.35 * clouds(inside.shape, 3.5, seed + 1)
    filled = 1 / (1 + np.exp(-(field * 1.1 + (radius_mm - distance) / (0.22 * radius_mm)) * 1.6))
    weight = softened(inside, 1.2) * filled.astype(np.float32) * share
    edited = blended(volume, weight, np.maximum(density, volume.hu.astype(np.float32)))
    side: Side = "right" if lobe.startswith("R") else "left"
    return Lesion(edited, (weight > 0.45 * share).astype(np.float32), label, side)


def _level_top(lobe: np.ndarray, lungs: np.ndarray) -> np.ndarray:
    """Level the upper end of a lobe from front to back in each sagittal plane."""
    depth = lobe.shape[0]
    under = lobe.any(axis=0)
    top = np.where(under, depth - lobe[::-1].argmax(axis=0), 0).astype(float)
    columns = np.flatnonzero(under.any(axis=0))
    heights = [np.percentile(top[under[:, x], x], 70) for x in columns]
    line = ndimage.gaussian_filter1d(np.array(heights), 14, mode="nearest")
    level = np.interp(np.arange(lobe.shape[2]), columns, line)
    spots = np.argwhere(under)
    slab = np.zeros(lobe.shape, bool)
    reach = slice(int(spots[:, 0].min()), int(spots[:, 0].max()) + 1)
    slab[:, reach] = lungs[:, reach]
    z = np.arange(depth)[:, None, None]
    below = z < level[None, None, :]
    filled = (z >= top[None] - 1) & under[None] & below & slab
    return np.asarray((lobe & below) | filled)


@around_lungs
def nodule(
    volume: Volume,
    lobe: str,
    centre: tuple[float, float, float],
    diameter_mm: float,
    *,
    density: float = 125.0,
    seed: int = 3,
    lobulated: float = 0.12,
    label: str = "Nodule",
) -> Lesion:
    """Add a round lesion with a soft edge; ``lobulated`` is its radius's variation, as a share."""
    inside = volume.mask(LOBES[lobe])
    spots = np.argwhere(inside[::2, ::2, ::2]) * 2
    low, high = spots.min(axis=0), spots.max(axis=0)
    place = low + np.array(centre) * (high - low)
    grid = np.ogrid[tuple(slice(0, length) for length in inside.shape)]
    distance = np.sqrt(
        sum(((g - p) * step) ** 2 for g, p, step in zip(grid, place, SPACING_MM, strict=True))
    )
    radius = diameter_mm / 2 * (1 + lobulated * clouds(inside.shape, diameter_mm / 5, seed))
    weight = (1 / (1 + np.exp((distance - radius) / 0.6))).astype(np.float32)
    weight *= hemithorax(volume, "right" if lobe.startswith("R") else "left")
    edited = blended(volume, weight, np.maximum(density, volume.hu.astype(np.float32)))
    return Lesion(edited, weight, label, "right" if lobe.startswith("R") else "left")


@around_lungs
def mass(
    volume: Volume,
    lobe: str,
    centre: tuple[float, float, float],
    diameter_mm: float,
    *,
    density: float = 45.0,
    lobulated: float = 0.07,
    edge_mm: float = 0.5,
    seed: int = 1,
) -> Lesion:
    """Add a tumour without capsule: lobulated, with short strands at its edge.

    ``centre`` is in shares of z, y, x of the lobe; ``diameter_mm`` excludes the strands.
    ``lobulated`` is the share by which its radius varies, ``edge_mm`` the softness of its edge.
    """
    side: Side = "right" if lobe.startswith("R") else "left"
    spots = np.argwhere(volume.mask(LOBES[lobe])[::2, ::2, ::2]) * 2
    low, high = spots.min(axis=0), spots.max(axis=0)
    place = low + np.array(centre) * (high - low)
    reach = np.ceil(1.3 * diameter_mm / np.array(SPACING_MM)).astype(int)
    starts = np.maximum(np.rint(place).astype(int) - reach, 0)
    box = tuple(slice(int(a), int(a + 2 * r)) for a, r in zip(starts, reach, strict=True))
    shape = volume.hu[box].shape
    middle = (place - starts)[:, None, None, None]
    offset = (np.indices(shape) - middle) * np.array(SPACING_MM)[:, None, None, None]
    distance = np.sqrt((offset**2).sum(axis=0))
    rng = np.random.default_rng(seed)

    def wavy(count: int, fast: float) -> np.ndarray:
        """Return a smooth field over directions, about standard normal."""
        total = np.zeros(shape)
        for _ in range(count):
            way = rng.standard_normal(3)
            along = np.tensordot(way * fast / np.linalg.norm(way), offset, 1)
            total += np.cos(along / np.maximum(distance, 1) + rng.uniform(0, 2 * np.pi))
        return total * np.sqrt(2 / count)

    radius = diameter_mm / 2 * (1 + lobulated * wavy(8, 2.4) + 0.04 * wavy(10, 6.0))
    strands = np.clip(wavy(24, 13.0) - 1.6, 0, 1) * diameter_mm / 3
    solid = 1 / (1 + np.exp(np.clip((distance - radius) / edge_mm, -30, 30)))
    drawn_out = 0.5 / (1 + np.exp(np.clip((distance - radius - strands) / 0.8, -30, 30)))
    weight = np.zeros(volume.hu.shape, np.float32)
    weight[box] = blurred(np.maximum(solid, drawn_out * (strands > 0.3)), (0.5, 0.8, 0.8))
    weight *= hemithorax(volume, side)
    edited = blended(volume, weight, np.maximum(density, volume.hu.astype(np.float32)))
    return Lesion(edited, weight, "Mass", side)


@around_lungs
def oedema(volume: Volume, share: float, seed: int = 11) -> Lesion:
    """Add haze to both lungs, around the hila and towards the bases."""
    lungs = hemithorax(volume, "right") | hemithorax(volume, "left")
    heart = np.argwhere(volume.mask(HEART)[::2, ::2, ::2]) * 2
    z0, y0, _ = heart.mean(axis=0) + np.array([18, -35, 0])
    x0 = np.argwhere(volume.mask(TRACHEA)[::2, ::2, ::2])[:, 2].mean() * 2 + 6
    z, y, x = np.ogrid[tuple(slice(0, length) for length in lungs.shape)]
    across = np.abs(x - x0) * _DX
    reach = np.exp(-(((across - 48) / 46) ** 2)) * np.exp(-(((z - z0) * _DZ / 72) ** 2))
    reach = reach * np.exp(-(((y - y0) * _DY / 90) ** 2))
    field = clouds(lungs.shape, 7.0, seed) * 0.45 + clouds(lungs.shape, 2.6, seed + 1) * 0.5
    weight = np.clip(share * reach * (0.8 + 0.6 * field), 0, 0.9).astype(np.float32) * lungs
    edited = blended(volume, weight, np.maximum(-20.0, volume.hu.astype(np.float32)))
    return Lesion(
        edited, (weight > 0.3 * min(share, 1)).astype(np.float32), "Pulmonary oedema", "bilateral"
    )


@around_lungs
def free_air(volume: Volume, side: Side, depth_mm: float) -> Lesion:
    """Add gas under the dome of the diaphragm of an upright patient."""
    lung = hemithorax(volume, side)
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
    weight = softened(gas, 0.6)
    edited = blended(volume, weight, -990.0)
    return Lesion(edited, weight, "Free subdiaphragmatic air", side)


@around_lungs
def dome(volume: Volume, side: Side, depth_mm: float = 22.0) -> Lesion:
    """Mark the top of one half of the diaphragm, down to ``depth_mm`` below it; edits nothing.

    For patients with a raised diaphragm: a reader would point there.
    """
    lung = hemithorax(volume, side)
    under = lung.any(axis=0)
    floor = np.where(under, lung.argmax(axis=0), 0)
    top = float(np.percentile(floor[under], 97))
    lowest = top - depth_mm / _DZ
    z = np.arange(lung.shape[0])[:, None, None]
    below = under[None] & (z <= floor[None]) & (z >= lowest)
    return Lesion(volume, below.astype(np.float32), "Raised hemidiaphragm", side)


def rib_fracture(
    volume: Volume, ribs: tuple[int, ...], back: float, step_mm: float = 4.5, gap_mm: float = 0.7
) -> Lesion:
    """Add displaced fractures of neighbouring ribs, given by their labels (left 92 to 103).

    The part in front of the cut is shifted down and in by ``step_mm``, decreasing along the rib.
    ``back`` is the position of the cut along the rib's depth: 0 at its rearmost, 1 at its foremost
    point.
    """
    hu, shown = volume.hu.astype(np.float32), np.zeros(volume.hu.shape, np.float32)
    side: Side = "left" if ribs[0] < _FIRST_RIGHT_RIB else "right"
    inward = -1.0 if side == "left" else 1.0
    for rib in ribs:
        spots = np.argwhere(volume.mask(rib))
        low, high = np.maximum(spots.min(axis=0) - 14, 0), spots.max(axis=0) + 15
        box = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
        part = hu[box]
        inside = ndimage.binary_dilation(volume.labels[box] == rib, iterations=2)
        bone = np.clip(part - 30, 0, None) * softened(inside, 0.8)
        forward = _ahead_of_cut((spots - low) * np.array(SPACING_MM), back, part.shape)
        amount = step_mm * np.exp(-np.maximum(forward, 0) / 32.0) * (forward > 0)
        z, y, x = np.indices(part.shape, np.float32)
        source = [z + 0.85 * amount / _DZ, y, x - 0.5 * inward * amount / _DX]
        moved = ndimage.map_coordinates(bone, source, order=1, mode="constant")
        moved *= 1 - np.exp(-((forward / gap_mm) ** 2))
        hu[box] = np.clip(part - bone + moved, -1000, 1700)
        near = np.exp(-((forward / 9.0) ** 2)) * np.maximum(inside, moved > 60)
        shown[box] = np.maximum(shown[box], near)
    broken = Volume(np.rint(hu).astype(np.int16), volume.labels)
    return Lesion(broken, shown, "Rib fractures", side)


def _ahead_of_cut(rib: np.ndarray, back: float, shape: tuple[int, ...]) -> np.ndarray:
    """Return voxels' distances in front of a plane across a rib, mm; ``rib`` has places in mm."""
    depth = rib[:, 1].min() + back * np.ptp(rib[:, 1])
    near = rib[np.abs(rib[:, 1] - depth) < 6]
    centre = near.mean(axis=0)
    along = np.linalg.svd(near - centre, full_matrices=False)[2][0]
    along = along * np.sign(along[1] or 1.0)
    steps = along * np.array(SPACING_MM)
    grid = np.indices(shape, np.float32)
    distance = sum(part * step for part, step in zip(grid, steps, strict=True))
    return np.asarray(distance - centre @ along, np.float32)

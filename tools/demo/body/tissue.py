"""Change a patient's tissues: fat, breasts, calcifications, width of the aorta.

All changes are to CT numbers and, within an organ, to its label.
"""

from __future__ import annotations

import cv2
import numpy as np
from scipy import ndimage

from tools.demo.body.volume import (
    AIR,
    AORTA,
    HEART,
    LEFT_LUNG,
    LOBES,
    LUNGS,
    RIBS,
    RIGHT_LUNG,
    SPACING_MM,
    STERNUM,
    STOMACH,
    TRACHEA,
    VERTEBRAE,
    Volume,
)
from tools.demo.body.voxels import around, blurred, clouds, softened

_DZ, _DY, _DX = SPACING_MM
_FAT, _GLAND, _BLOOD, _LUNG = -90, 5, 45, -860
_CARTILAGE = 118
_BOWEL = (18, 19, 20)
_FIRST_RIBS = (92, 104)
_ABDOMEN = (1, 2, 3, 4, 5, 6, *_BOWEL)


def fat(body: Volume, fat_mm: float) -> Volume:
    """Add fat to the skin (the width grows by twice ``fat_mm``).

    Specks beside the skin get none: as discs of one slice they would be short ruled lines on a
    film.
    """
    hu = body.hu.copy()
    for plane in hu:
        outside = (plane < -300).astype(np.uint8)
        filled = _without_specks(ndimage.binary_fill_holes(outside == 0))
        distance = cv2.distanceTransform((~filled).astype(np.uint8), cv2.DIST_L2, 3)
        layer = (distance > 0) & (distance <= fat_mm / _DY)
        plane[layer] = _FAT
    return Volume(hu, body.labels)


def _without_specks(mask: np.ndarray, voxels: int = 400) -> np.ndarray:
    """Keep the parts of a mask with at least ``voxels`` voxels, bool (rows, columns)."""
    _, parts, found, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    large = found[:, cv2.CC_STAT_AREA] >= voxels
    large[0] = False
    return np.asarray(large[parts])


def lung_vessels(body: Volume, factor: float) -> Volume:
    """Multiply the density inside the lungs: above 1 full vessels, below 1 emphysema."""
    if factor == 1:
        return body
    hu = body.hu.copy()
    lung = body.lungs & (hu > -950)
    values = hu[lung].astype(np.float32)
    base = min(_LUNG, _LUNG - 60 * (1 - factor))
    hu[lung] = np.clip(base + (values - _LUNG) * factor, -1000, 250)
    return Volume(hu, body.labels)


def deflated_domes(body: Volume, share: float) -> Volume:
    """Lower the domes of the diaphragm: lung fills that share of their arch from above.

    Near the heart, which rests on it, the diaphragm keeps its height. The new lung is a mirror
    image of the lung above, so that vessels continue.
    """
    lungs = body.mask(*RIGHT_LUNG, *LEFT_LUNG)
    found = lungs.any(axis=0)
    floor = np.where(found, lungs.argmax(axis=0), 0).astype(np.float32)
    heart = body.mask(HEART)
    heart_low = np.where(heart.any(axis=0), heart.argmax(axis=0), body.hu.shape[0])
    on_heart = found & (floor > heart_low)
    ground = found & ~on_heart
    rim = float(np.percentile(floor[ground], 12))
    spread = cv2.GaussianBlur(ground.astype(np.float32), (0, 0), 9)
    smooth = cv2.GaussianBlur(floor * ground, (0, 0), 9) / np.maximum(spread, 1e-3)
    beside = ndimage.distance_transform_edt(~heart.any(axis=0)) * _DY
    rows, columns = np.indices(ground.shape)
    right = columns < np.median(np.nonzero(body.mask(TRACHEA))[2])
    kept = np.exp(-((beside / np.where(right, 20, 34)) ** 2))  # the apex is on the left half
    target = rim + (1 - share * (1 - kept)) * np.clip(smooth - rim, 0, None)
    target = np.where(ground, np.minimum(target, floor), floor)
    hard = ndimage.binary_dilation(body.mask(*RIBS, STERNUM, _CARTILAGE), np.ones((3, 7, 7), bool))
    hu, labels = body.hu.copy(), body.labels.copy()
    depth = hu.shape[0]
    ids = np.where(right, LOBES["RLL"], LOBES["LLL"])
    texture = clouds(hu.shape, 2.5, 80)
    top = int(floor[ground].max()) + 4
    for z in range(int(rim) - 2, top):
        here = np.clip(z - target + 0.5, 0, 1) * np.clip(floor + 3 - z, 0, 1) * ground
        here = cv2.GaussianBlur((here * ~hard[z]).astype(np.float32), (0, 0), 0.8) * ~heart[z]
        mirrored = np.clip(2 * floor + 5 - z, 0, depth - 1).astype(int)
        lung = np.isin(body.labels[mirrored, rows, columns], LUNGS)
        above = np.where(lung, body.hu[mirrored, rows, columns], _LUNG)
        above = np.where(above < -500, above, _LUNG) + 12 * texture[z]
        hu[z] = np.rint(hu[z] + here * (np.minimum(above, hu[z]) - hu[z]))
        labels[z] = np.where(here > 0.5, ids, labels[z])
    return Volume(hu, labels)


def dense_spine(body: Volume, factor: float) -> Volume:
    """Multiply the density of the vertebrae above that of blood (osteopenia below 1)."""
    if factor == 1:
        return body
    hu = body.hu.copy()
    part = around(body.mask(*VERTEBRAE), 3)
    inner = Volume(hu[part], body.labels[part])
    bone = ndimage.binary_dilation(inner.mask(*VERTEBRAE), np.ones((3, 5, 5), bool))
    bone &= inner.hu > _BLOOD
    inner.hu[bone] = np.rint(_BLOOD + (inner.hu[bone] - _BLOOD) * factor)
    return Volume(hu, body.labels)


def full_belly(body: Volume, more_hu: float) -> Volume:
    """Make the abdomen as opaque as in a standing patient.

    The patient of the CT lies with raised arms: the abdomen is flat, and absorbs less of the beam
    than a chest full of fluid would. Upright it is deeper; the missing depth is added as CT
    numbers, ``more_hu`` on soft tissue.
    """
    organs = body.mask(*_ABDOMEN)
    under = organs.any(axis=0)
    depth = organs.shape[0]
    top = np.where(under, depth - 1 - organs[::-1].argmax(axis=0), 0).astype(np.float32)
    far, nearest = ndimage.distance_transform_edt(~under, return_indices=True)
    top = top[tuple(nearest)] - 0.5 * far * _DY / _DZ
    top = cv2.GaussianBlur(top.astype(np.float32), (0, 0), 3)
    hu = body.hu.copy()
    airy = ndimage.binary_dilation(body.lungs, np.ones((3, 3, 3), bool))
    for z in range(depth):
        share = np.clip((top - z) / 4, 0, 1) * (hu[z] > -300) * (hu[z] < 300) * ~airy[z]
        hu[z] += np.rint(more_hu * share).astype(np.int16)
    return Volume(hu, body.labels)


def without_bowel_gas(body: Volume, beside: bool = False) -> Volume:
    """Fill the gas in stomach and bowel, whose pattern would be the same in every patient.

    ``beside`` also fills the part of a bubble that is outside the labels of the bowel: the
    remaining slice is a black slit on a film.
    """
    part = around(body.mask(STOMACH, *_BOWEL), 6)
    inner = Volume(body.hu[part], body.labels[part])
    gut = ndimage.binary_dilation(inner.mask(STOMACH, *_BOWEL), np.ones((5, 9, 9), bool))
    near_lung = ndimage.binary_dilation(inner.lungs, np.ones((3, 5, 5), bool))
    if beside:
        gas = (inner.hu < -300) & ~near_lung
        whole = ndimage.binary_propagation(gut & gas, mask=gas)
        gut |= ndimage.binary_dilation(whole, np.ones((3, 3, 3), bool))
    hu = body.hu.copy()
    hu[part][gut & ~near_lung & (inner.hu < -150)] = 20
    return Volume(hu, body.labels)


def old_aorta(body: Volume, wider_mm: float, calcified: float) -> Volume:
    """Widen the aorta into the lung, and calcify the wall of its arch.

    ``calcified`` is the calcified share of the arch's circumference, 0 to 1.
    """
    aorta = body.mask(AORTA)
    spots = np.argwhere(aorta)
    low, high = spots.min(axis=0), spots.max(axis=0)
    pad = np.array([20, 40, 40])
    start, stop = np.maximum(low - pad, 0), np.minimum(high + pad, aorta.shape)
    part = tuple(slice(int(a), int(b)) for a, b in zip(start, stop, strict=True))
    inner = aorta[part]
    outside = ndimage.distance_transform_edt(~inner, SPACING_MM)
    smooth = ndimage.gaussian_filter(outside.astype(np.float32), (2, 3, 3))
    hu, labels = body.hu.copy(), body.labels.copy()
    values = hu[part].astype(np.float32)
    room = np.isin(labels[part], LUNGS) | (values < 20)
    room &= (labels[part] != TRACHEA) & (np.abs(values) < 1500)
    airway = ndimage.binary_dilation(labels[part] == TRACHEA, iterations=3)
    weight = (
        1
        / (1 + np.exp(np.clip((smooth - wider_mm) / 0.5, -30, 30)))
        * (room & ~airway)
        * (wider_mm > 0)
    )
    values += weight * (np.maximum(values, _BLOOD) - values)
    grown = (weight > 0.5) | inner
    labels[part][grown & room] = AORTA
    if calcified > 0:
        z, x = np.ogrid[0 : inner.shape[0], 0 : inner.shape[2]]
        z, x = z[..., None], x[None]
        arch_top = inner.shape[0] - pad[0]
        lateral = np.percentile(np.argwhere(grown[arch_top - 40 :])[:, 2], 62)
        shell = np.abs(smooth - max(wider_mm - 1.2, -1.0)) < 0.7
        threshold = 0.9 - 1.9 * calcified + np.clip((lateral - x) / 9, 0, 9)
        threshold = threshold + np.clip((arch_top - 40 - z) / 9, 0, 9)
        chalk = shell & (clouds(inner.shape, 5.0, 77) > threshold) & ~airway
        values += softened(chalk, 0.6) * (np.maximum(values, 750) - values)
    hu[part] = np.rint(values)
    return Volume(hu, labels)


def calcified_cartilage(body: Volume, share: float) -> Volume:
    """Calcify the costal cartilages in patches; ``share`` 0 to 1."""
    cartilage = body.mask(_CARTILAGE)
    if not cartilage.any():
        return body
    field = clouds(body.hu.shape, 3.0, 78)
    rim = cartilage & ~ndimage.binary_erosion(cartilage, iterations=3)
    chalk = cartilage & (field + 0.9 * rim > 1.6 - 1.6 * share)
    hu = body.hu.copy()
    hu[chalk] = np.maximum(hu[chalk], 380)
    return Volume(hu, body.labels)


_CRUMBS = (
    ((0.0, 0.0, 0.0), 0.92),
    ((0.06, 0.0, 0.26), 0.60),
    ((-0.12, 0.1, -0.18), 0.62),
    ((0.16, -0.1, -0.10), 0.56),
    ((-0.50, 0.05, 0.36), 0.20),
)
"""Crumbs of a granuloma: offset from the centre in diameters (z, y, x), and size."""


def granuloma(
    body: Volume,
    place: tuple[float, float, float],
    diameter_mm: float = 7.5,
    value: float = 4600,
    scar_hu: float = 800,
) -> Volume:
    """Add an old calcified granuloma; ``place`` in shares of z, y, x of the lungs.

    It is as dense on the film as the edge of a rib, and fades at its rim and in a scar: where
    calcification meets dark lung, the processing makes a black ring.
    """
    spots = np.argwhere(body.lungs[::2, ::2, ::2]) * 2
    low, high = spots.min(axis=0), spots.max(axis=0)
    chalk = np.full(body.hu.shape, AIR, np.int16)
    centre = low + np.array(place) * (high - low)
    for aside, share in _CRUMBS:  # calcified crumbs: rounded, not a bead
        where = centre + np.array(aside) * diameter_mm / np.array(SPACING_MM)
        _fill_ball(chalk, where, share * diameter_mm / 2, value)
    part = around(chalk > AIR, 24)
    ball = chalk[part] > AIR
    scar = softened(ball, 5.0)
    values = body.hu[part] + scar_hu * scar / scar.max()
    values += softened(ball, 0.9) * (value - values)
    hu = body.hu.copy()
    hu[part] = np.rint(values)
    return Volume(hu, body.labels)


def _fill_ball(hu: np.ndarray, centre: np.ndarray, radius_mm: float, value: float) -> None:
    """Raise CT numbers inside a ball, in place; ``centre`` in voxels (z, y, x)."""
    reach = np.ceil(radius_mm / np.array(SPACING_MM)).astype(int) + 1
    middle = np.rint(centre).astype(int)
    start, stop = np.maximum(middle - reach, 0), np.minimum(middle + reach + 1, hu.shape)
    part = tuple(slice(int(a), int(b)) for a, b in zip(start, stop, strict=True))
    grid = np.ogrid[part]
    square = sum(((g - c) * s) ** 2 for g, c, s in zip(grid, centre, SPACING_MM, strict=True))
    hu[part] = np.where(square < radius_mm**2, np.maximum(hu[part], value), hu[part])


def some_bowel_gas(body: Volume, seed: int) -> Volume:
    """Keep some of the gas bubbles in stomach and bowel, chosen by ``seed``."""
    part = around(body.mask(STOMACH, *_BOWEL), 12)
    filled = without_bowel_gas(Volume(body.hu[part], body.labels[part])).hu
    bubbles, count = ndimage.label(filled != body.hu[part])
    kept = np.random.default_rng(seed).random(count + 1) < 0.5
    hu = body.hu.copy()
    hu[part] = np.where(kept[bubbles], body.hu[part], filled)
    return Volume(hu, body.labels)


def stomach_bubble(body: Volume, high_mm: float) -> Volume:
    """Add gas to the top of a standing patient's stomach: round above, level below.

    ``high_mm`` is the depth of the gas below its top.
    """
    stomach = body.mask(STOMACH)
    part = around(stomach, 6)
    hollow = ndimage.binary_erosion(stomach[part], np.ones((3, 5, 5), bool))
    if not hollow.any():
        return body
    # The top of its body, not of a fold that reaches higher.
    areas = hollow.sum(axis=(1, 2)) * _DY * _DX
    top = int(np.flatnonzero(areas > 150).max(initial=0))
    level = np.arange(len(hollow))[:, None, None]
    gas = softened(hollow, 1.6) > 0.5
    weight = softened(gas, 0.8) * np.clip((level - top) + high_mm / _DZ, 0, 1)
    hu = body.hu.copy()
    hu[part] = np.rint(hu[part] + weight * (-990.0 - hu[part]))
    return Volume(hu, body.labels)


def smooth_first_ribs(body: Volume, along_mm: float = 1.4) -> Volume:
    """Smooth the first ribs from slice to slice: their upright ends would be ruled lines."""
    ribs = body.mask(*_FIRST_RIBS)
    part = around(ribs, 12)
    near = np.clip(2 * softened(ndimage.binary_dilation(ribs[part], iterations=3), 1.5), 0, 1)
    values = body.hu[part].astype(np.float32)
    smooth = blurred(values, (along_mm / _DZ, 0.3, 0.3))
    hu = body.hu.copy()
    hu[part] = np.rint(values + near * (smooth - values))
    return Volume(hu, body.labels)


def smooth_skin(body: Volume, along_mm: float = 7.0, across_mm: float = 2.5) -> Volume:
    """Smooth the skin from slice to slice: thick slices leave steps that a lateral shows."""
    inside = np.stack([_silhouette(plane > -300) for plane in body.hu])
    spread = blurred(inside, (along_mm / _DZ, across_mm / _DY, across_mm / _DX))
    weight = np.clip((spread - 0.5) * 6 + 0.5, 0, 1)
    rim = (weight > 0) & (spread < 0.97)
    rim |= inside & (weight == 0)
    hu = body.hu.copy()
    solid = np.where(inside[rim], hu[rim], _FAT)
    hu[rim] = np.rint(-1000 + weight[rim] * (solid + 1000))
    return Volume(hu, body.labels)


def _silhouette(solid: np.ndarray) -> np.ndarray:
    """Fill the holes of a mask, bool (rows, columns)."""
    outlines, _ = cv2.findContours(solid.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros(solid.shape, np.uint8)
    cv2.drawContours(filled, outlines, -1, 1, cv2.FILLED)
    return filled > 0


def uneven_aorta(body: Volume, seed: int) -> Volume:
    """Let descending aorta and the tissue beside the spine bulge unevenly into the left lung.

    In the CT this wall is a plane from front to back over a hand's breadth: on a frontal film, a
    ruled line behind the heart.
    """
    lung = body.mask(*LEFT_LUNG)
    aorta = np.argwhere(body.mask(AORTA)[::2, ::2, ::2]) * 2
    heart = np.argwhere(body.mask(HEART)[::2, ::2, ::2]) * 2
    spine = np.argwhere(body.mask(*VERTEBRAE)[::2, ::2, ::2]) * 2
    depth, rows, _ = lung.shape
    low, high = float(np.percentile(aorta[:, 0], 3)), float(np.percentile(aorta[:, 0], 72))
    level = np.arange(depth, dtype=np.float32)[:, None]
    fades = np.clip((level - low + 10) / 25, 0, 1) * np.clip((high - level) / 25, 0, 1)
    rng = np.random.default_rng(seed)
    middle, reach = rng.uniform(0.25, 0.6) * (high - low) + low, rng.uniform(22, 34)
    bulge = 3.0 * np.exp(-(((level - middle) / reach) ** 2))
    rough = clouds((depth, rows, 8), 13.0, seed)[:, :, 4]
    front = float(heart[:, 1].mean()) - 15 / _DY
    near = 1 / (1 + np.exp((np.arange(rows, dtype=np.float32)[None] - front) / 6))
    thick = np.clip(2.0 + bulge + 1.7 * rough, 0, 8) * fades * near / _DX
    first = np.where(lung.any(axis=2), lung.argmax(axis=2), 10_000).astype(np.float32)
    far = float(np.percentile(spine[:, 2], 98)) + 34 / _DX
    thick = cv2.GaussianBlur(np.where(first < far, thick, 0).astype(np.float32), (0, 0), 1.5)
    across = np.arange(lung.shape[2], dtype=np.float32)[None, None]
    weight = np.clip((first + thick)[:, :, None] - across, 0, 1) * (thick > 0.2)[:, :, None]
    weight *= (across > first[:, :, None] - 3) & (body.hu < 0)
    hu = body.hu.astype(np.float32)
    hu += weight * (20 - hu)
    return Volume(np.rint(hu).astype(np.int16), body.labels)


def clear_airway(body: Volume, wider_mm: float) -> Volume:
    """Widen the air in trachea and main bronchi, whose walls are blurred by thick slices."""
    airway = body.mask(TRACHEA)
    spots = np.argwhere(airway)
    start = np.maximum(spots.min(axis=0) - 12, 0)
    stop = np.minimum(spots.max(axis=0) + 13, airway.shape)
    part = tuple(slice(int(a), int(b)) for a, b in zip(start, stop, strict=True))
    outside = ndimage.distance_transform_edt(~airway[part], SPACING_MM).astype(np.float32)
    outside = blurred(outside, (1.5, 1.5, 1.5))
    weight = np.clip((wider_mm - outside) / 0.7 + 0.5, 0, 1) * (body.hu[part] < 150)
    hu = body.hu.copy()
    hu[part] = np.rint(hu[part] + weight * (-1000.0 - hu[part]))
    return Volume(hu, body.labels)


def breasts(
    body: Volume,
    out_mm: float,
    hang: float = 1.0,
    at_mm: tuple[float, float] = (0.0, 0.0),
) -> Volume:
    """Add breasts to the anterior chest wall, fuller below, with gland in fat and nipples.

    ``out_mm`` is how far they protrude from the wall; their size follows from it. With ``hang``
    above 1 they overhang their fold, so that a frontal film shows a lower outline. ``at_mm`` moves
    them apart and up: the outline then crosses the ribs, and they cover more lung than abdomen. The
    volume must have room in front.
    """
    hu = body.hu.copy()
    depth, rows, width = hu.shape
    solid = hu > -300
    skin = np.where(solid.any(axis=1), rows - 1 - solid[:, ::-1].argmax(axis=1), 0)
    skin = cv2.medianBlur(skin.astype(np.float32), 5)
    behind = (skin.max(axis=1, keepdims=True) - skin) * _DY
    # Not on flanks and arms.
    frontal = np.clip(1.25 + 0.6 * (hang > 1) - behind / 75, 0, 1).astype(np.float32)
    frontal = cv2.GaussianBlur(frontal, (0, 0), 6) * (skin > 0)
    lungs = np.argwhere(body.lungs[::4, ::4, ::4]) * 4
    bottom, top = np.percentile(lungs[:, 0], [1, 99])
    middle = float(np.median(np.nonzero(body.mask(TRACHEA))[2]))
    z, x = np.mgrid[0:depth, 0:width].astype(np.float32)
    texture = clouds((depth, 8, width), 9.0, 79)[:, 4]
    y = np.arange(rows, dtype=np.float32)[None, :, None]
    for ids, more, drop, out in ((RIGHT_LUNG, 1.0, 0, -1), (LEFT_LUNG, 1.06, 4, 1)):
        centre_x = float(np.median(np.argwhere(body.mask(*ids)[::4, ::4, ::4])[:, 2]) * 4)
        centre_x += out * (12 * min(hang - 1, 1) + at_mm[0]) / _DX
        centre_z = bottom + 0.41 * (top - bottom) - drop
        centre_z += (at_mm[1] - 9 * (hang - 1)) / _DZ
        radius = 44 + 0.55 * out_mm
        wide, deep = (1.05, 0.80) if hang <= 1 else (0.86, 0.98)
        across = (x - centre_x) * _DX / (radius * wide)
        up = (z - centre_z) * _DZ
        above = np.clip(1 - (up / (radius * 1.45)) ** 2, 0, None) ** 1.2
        low = np.where(up < 0, (up / (radius * deep)) ** 2, 0)
        full = 1 + (hang - 1) * np.clip(-up / (0.5 * radius), 0, 1)
        # The outline stays round however steep its edge becomes.
        round_ = np.clip(1 - across**2 - low, 0, None) ** (0.5 / full)
        thick = out_mm * more * round_ * np.where(up > 0, above, 1) * frontal
        if hang > 1:  # towards the sternum they have no edge
            begins, long = 4.0, 34.0
            if at_mm[0] > 0:  # their edge is steep, and a bar where it crosses the aorta
                begins, long = abs(centre_x - middle) * _DX - radius * wide, 56.0
            aside = (np.abs(x - middle) * _DX - begins) / long
            thick = thick * np.clip(aside, 0, 1) ** 2 * (3 - 2 * np.clip(aside, 0, 1))
        thick = cv2.GaussianBlur(thick.astype(np.float32), (0, 0), 1.6)
        local = (skin + 1)[:, None, :]
        there = ((thick > 0.5) & (skin > 0))[:, None, :]
        added = there & (y >= local) & (y < local + (thick / _DY)[:, None, :])
        added &= hu < -300
        filled = (_FAT + np.clip(75 + 25 * texture, 0, _GLAND + 15 - _FAT))[:, None, :]
        hu = np.where(added, filled, hu).astype(np.int16)
        tip_y = float(skin[round(centre_z), round(centre_x)]) + out_mm / _DY
        _fill_ball(hu, np.array([centre_z - 6, tip_y, centre_x]), 4.5, 40)
    return Volume(hu, body.labels)

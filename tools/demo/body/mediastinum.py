"""Smooth the border of heart and vessels to the lungs, and remove lung under the heart.

All changes are to CT numbers; labels stay, and so do measurements on them.
"""

from __future__ import annotations

import cv2
import numpy as np
from scipy import ndimage

from tools.demo.body.volume import HEART, LUNGS, SPACING_MM, Volume
from tools.demo.body.voxels import around, blurred, clouds, softened

_DZ, _DY, _DX = SPACING_MM
_FAT = -40
_WEDGE_MM = 26.0
"""Lung thicker than this under the heart is behind it, and is kept."""
_HEART_AND_GREAT_VESSELS = (HEART, 52, *range(54, 63))


def smooth_border(body: Volume, along_mm: float = 2.5, across_mm: float = 0.8) -> Volume:
    """Smooth heart and great vessels against the lungs from slice to slice.

    Thick slices leave steps. On a film these are a comb along the heart, and a ruled line where the
    wall of the superior vena cava is parallel to the beam.
    """
    vessels = body.mask(*_HEART_AND_GREAT_VESSELS)
    part = around(vessels, 20)
    share = softened(vessels[part], 4.0)
    border = np.clip(8 * share * (1 - share), 0, 1)
    values = body.hu[part].astype(np.float32)
    smooth = blurred(values, (along_mm / _DZ, across_mm / _DY, across_mm / _DX))
    hu = body.hu.copy()
    hu[part] = np.rint(values + border * (smooth - values))
    return Volume(hu, body.labels)


def seated_heart(
    body: Volume, above_mm: float = 9.0, reach_mm: float = 18.0, thins_mm: float = 0.0
) -> Volume:
    """Rest the heart on the diaphragm: fat replaces the lung under it.

    In the CT a wedge of lung reaches far forward between heart and diaphragm; where it is parallel
    to the beam, a frontal film shows a black band. The fat reaches ``above_mm`` above the lowest
    point of the heart and ends ``reach_mm`` beside it. With ``thins_mm`` it thins out towards the
    back of the heart over that length, so that the line of the dome is visible up to the heart.
    """
    heart = body.mask(HEART)
    part = around(heart, 60)
    hu, inside = body.hu[part], heart[part]
    under = inside.any(axis=0)
    low = np.where(under, inside.argmax(axis=0), 0).astype(np.float32)
    away, nearest = ndimage.distance_transform_edt(~under, return_indices=True)
    highest = np.float32(np.percentile(low[under], 15) + above_mm / _DZ)
    limit = np.minimum(low, highest)[tuple(nearest)]
    beside_mm = (away * _DY).astype(np.float32)
    limit = cv2.GaussianBlur(limit - np.maximum(beside_mm - 3, 0) / _DZ, (0, 0), 3)
    fades = np.clip((reach_mm - beside_mm) / 7, 0, 1)
    if thins_mm:
        back = np.percentile(np.nonzero(under)[0], 5)
        fades *= np.clip((np.arange(len(fades))[:, None] - back) * _DY / thins_mm, 0, 1)
    level = np.arange(len(hu), dtype=np.float32)[:, None, None]
    lung = np.isin(body.labels[part], LUNGS)
    floor = np.where(lung.any(axis=0), lung.argmax(axis=0), 0).astype(np.float32)
    thick_mm = cv2.GaussianBlur((limit - floor) * _DZ, (0, 0), 3)
    fades = cv2.GaussianBlur(fades * np.clip((_WEDGE_MM - thick_mm) / 8, 0, 1), (0, 0), 5)
    uneven = 1.6 * clouds(hu.shape, 6.0, 61)
    top = np.clip((limit + uneven - level) * _DZ / 7 + 0.5, 0, 1)
    weight = np.clip(1.6 * softened(lung & (level < limit + 6), 1.5), 0, 1) * top * fades
    filled = body.hu.copy()
    filled[part] = np.rint(hu + weight * (np.maximum(hu, _FAT) - hu))
    return Volume(filled, body.labels)

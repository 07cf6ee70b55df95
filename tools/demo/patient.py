"""Many patients out of one: build, posture, breath, heart size, by smooth warping of the thorax.

Every warp is smooth and invertible, and is applied to CT numbers and labels alike, so that whatever
is measured afterwards on the labels (sides, heart width, carina) is true of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from scipy import ndimage

from tools.demo.volume import (
    AIR,
    HEART,
    LEFT_LUNG,
    LUNGS,
    RIGHT_LUNG,
    SPACING_MM,
    TRACHEA,
    Volume,
)

_ASPECT = SPACING_MM[0] / SPACING_MM[1]


@dataclass(frozen=True)
class Build:
    """How a patient differs from the one of the CT.

    Scales multiply sizes (``wide`` across, ``deep`` front to back, ``tall`` up). ``taper`` widens
    the base and narrows the apex by that share. ``fat_mm`` is laid on under the skin. ``heart`` is
    the share by which the heart is enlarged across (negative: made smaller). ``breath_right_mm``
    and ``breath_left_mm`` push that half of the diaphragm up. ``turn_deg`` rotates the patient
    about the long axis (positive: left shoulder away from the detector of a PA view), ``tilt_deg``
    leans the head forward.
    """

    wide: float = 1.0
    deep: float = 1.0
    tall: float = 1.0
    taper: float = 0.0
    fat_mm: float = 0.0
    heart: float = 0.0
    breath_right_mm: float = 0.0
    breath_left_mm: float = 0.0
    turn_deg: float = 0.0
    tilt_deg: float = 0.0


def shape_patient(thorax: Volume, build: Build) -> Volume:
    """Warp the thorax into another patient.

    Two passes, each plane by plane: across and front to back in axial planes, then up and front to
    back in sagittal ones.
    """
    across = _axial_pass(thorax, build)
    shaped = _sagittal_pass(across, build)
    return _with_fat(shaped, build.fat_mm) if build.fat_mm > 0 else shaped


def _remap(
    hu: np.ndarray, labels: np.ndarray, columns: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    warped = cv2.remap(hu, columns, rows, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    names = cv2.remap(labels, columns, rows, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
    return np.clip(warped, AIR, 1700), names


def _swell(u: np.ndarray, k: float) -> np.ndarray:
    """Source position for an enlargement about 0 that dies out at |u| = 1; both in [-1, 1]."""
    inside = np.clip(u, -1, 1)
    return np.asarray(u - k * inside * (1 - inside**2) ** 2)


def _axial_pass(thorax: Volume, build: Build) -> Volume:
    depth, height, width = thorax.hu.shape
    heart = thorax.mask(HEART)
    spots = np.argwhere(heart[::2, ::2, ::2]) * 2
    heart_z, heart_y, heart_x = spots.mean(axis=0)
    heart_top, heart_bottom = np.percentile(spots[:, 0], [97, 3])
    middle_y, middle_x = (height - 1) / 2, (width - 1) / 2
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    angle = np.deg2rad(build.turn_deg)
    dy, dx = rows - middle_y, columns - middle_x
    turned_x = np.cos(angle) * dx - np.sin(angle) * dy
    turned_y = np.sin(angle) * dx + np.cos(angle) * dy
    hu, labels = np.empty_like(thorax.hu), np.empty_like(thorax.labels)
    for z in range(depth):
        level = z / (depth - 1)
        wide = build.wide * (1 + build.taper * (0.5 - level))
        x = turned_x / wide + middle_x
        y = turned_y / build.deep + middle_y
        above = (heart_z - z) / (heart_top - heart_bottom)
        share = build.heart * np.exp(-((above / 0.75) ** 4))
        if abs(share) > 0.002:
            front = 1 / (1 + np.exp(-(y - heart_y + 45) / 12))
            centre = heart_x - 18  # nearer the midline: the right border moves too
            reach = np.where(x > centre, 178, 150).astype(np.float32)
            x = (
                centre
                + reach * _swell((x - centre) / reach, share) * front
                + (x - centre) * (1 - front)
            )
        hu[z], labels[z] = _remap(
            thorax.hu[z], thorax.labels[z], x.astype(np.float32), y.astype(np.float32)
        )
    return Volume(hu, labels)


def _inner(thorax: Volume) -> np.ndarray:
    """Weight, 0 to 1, of lying well inside the cage, at a quarter of the resolution (z, y, x)."""
    small = thorax.labels[::4, ::4, ::4]
    hu = thorax.hu[::4, ::4, ::4]
    organs = np.isin(small, (*LUNGS, 1, 5, 6, HEART, 15, 20, 52))
    filled = np.stack([ndimage.binary_closing(s, np.ones((9, 9), bool)) for s in organs])
    bone = ndimage.binary_dilation(hu > 220, np.ones((3, 3, 3), bool))
    inner = filled & ~bone
    weight = ndimage.gaussian_filter(inner.astype(np.float32), (2.5, 2.0, 2.0))
    return np.clip(weight * 1.6 - 0.1, 0, 1)


def _sagittal_pass(thorax: Volume, build: Build) -> Volume:
    depth, height, width = thorax.hu.shape
    z, y = np.mgrid[0:depth, 0:height].astype(np.float32)
    middle_z, middle_y = (depth - 1) / 2, (height - 1) / 2
    angle = np.deg2rad(build.tilt_deg)
    up, front = (z - middle_z) * _ASPECT, y - middle_y
    from_z = (np.cos(angle) * up - np.sin(angle) * front) / _ASPECT / build.tall + middle_z
    from_y = np.sin(angle) * up + np.cos(angle) * front + middle_y
    breathing = build.breath_right_mm != 0 or build.breath_left_mm != 0
    weight = _inner(thorax) if breathing else None
    lungs = {"right": thorax.mask(*RIGHT_LUNG), "left": thorax.mask(*LEFT_LUNG)}
    domes = {side: _dome(mask) for side, mask in lungs.items()}
    trachea_x = float(np.argwhere(thorax.mask(TRACHEA)[::2, ::2, ::2])[:, 2].mean() * 2)
    hu, labels = np.empty_like(thorax.hu), np.empty_like(thorax.labels)
    top = depth * 0.84
    for x in range(width):
        source_z = from_z
        if weight is not None:
            leftness = 1 / (1 + np.exp(-(x - trachea_x) / 14))
            push = (build.breath_right_mm * (1 - leftness) + build.breath_left_mm * leftness) / (
                SPACING_MM[0]
            )
            dome = domes["right"] * (1 - leftness) + domes["left"] * leftness
            plane = weight[:, :, min(x // 4, weight.shape[2] - 1)]
            here = cv2.resize(plane, (height, depth), interpolation=cv2.INTER_LINEAR)
            above = np.clip((top - from_z) / (top - dome), 0, 1)
            below = np.clip((from_z + 40) / (dome + 40), 0, 1)
            source_z = from_z - push * here * above * below
        hu[:, :, x], labels[:, :, x] = _remap(
            np.ascontiguousarray(thorax.hu[:, :, x]),
            np.ascontiguousarray(thorax.labels[:, :, x]),
            from_y.astype(np.float32),
            np.asarray(source_z, np.float32),
        )
    return Volume(hu, labels)


def _dome(lung: np.ndarray) -> float:
    """Height (z) of the top of the diaphragm under a lung."""
    footprint = lung.any(axis=0)
    lowest = np.where(footprint, lung.argmax(axis=0), 0)
    return float(np.percentile(lowest[footprint], 96))


def _with_fat(thorax: Volume, fat_mm: float) -> Volume:
    """Lay fat on the skin (the breadth grows by twice ``fat_mm``)."""
    hu = thorax.hu.copy()
    for plane in hu:
        outside = (plane < -300).astype(np.uint8)
        filled = ndimage.binary_fill_holes(outside == 0)
        distance = cv2.distanceTransform((~filled).astype(np.uint8), cv2.DIST_L2, 3)
        layer = (distance > 0) & (distance <= fat_mm / SPACING_MM[1])
        plane[layer] = -90
    return Volume(hu, thorax.labels)

"""Make many patients from one CT: build, posture, breath and heart size, by smooth warping.

Every warp is smooth and invertible, and is applied to CT numbers and labels alike. So later
measurements on the labels (sides, heart width, carina) are true of the picture. What is added
rather than warped (fat, breasts, a wide aorta, calcifications) is in ``tissue.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from scipy import ndimage

from tools.demo.body import mediastinum, tissue
from tools.demo.body.volume import (
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
    """Differences of a patient from the patient of the CT.

    Scales multiply sizes (``wide`` across, ``deep`` front to back, ``tall`` up). ``taper`` widens
    the base and narrows the apex by that share. ``heart`` enlarges the heart across by that share
    (negative: reduces it), ``apex_mm`` moves its apex to the left. ``breath_right_mm`` and
    ``breath_left_mm`` push that half of the diaphragm up, ``flat`` removes that share of its arch,
    ``hump_mm`` raises the front of the right dome. ``deflated`` also removes a share of the arch,
    but fills it with lung instead of pulling at its surroundings: ribs stay whole however low the
    domes become. ``turn_deg`` rotates the patient about the long axis (positive: left shoulder away
    from the detector of a PA view), ``tilt_deg`` leans the head forward. ``scoliosis_mm`` bends
    spine and mediastinum to the right at mid thorax and back below (negative: to the left),
    ``kyphosis_mm`` bends the thorax backwards. ``shoulders_mm`` lowers the shoulders,
    ``shoulder_tilt_mm`` raises the left one and lowers the right one by half of that each,
    ``shoulders_out_mm`` (right, left) moves them away from the chest.

    The other values are used by :mod:`.tissue` and :mod:`.mediastinum`: ``fat_mm`` under the skin,
    ``breast_mm`` (how far the breasts protrude), ``breast_hang`` (above 1: over their fold) and
    ``breast_at_mm`` (how much further apart, and higher, they are), ``aorta_mm`` (how much wider
    the aorta is), ``calcified`` (share of 0 to 1: aortic arch and costal cartilages), ``granuloma``
    (an old calcified one, at shares of z, y, x of the lungs), ``vessels`` and ``spine`` (factors of
    density: lung vessels, vertebrae), ``bowel_gas`` (false: none; a number: some), ``gas_beside``
    (true: none beside the labels of the bowel either), ``bubble_mm`` (height of the gas in the top
    of the stomach; 0: none added), ``smooth_first_ribs`` (true: removes the steps of the slices
    from the first ribs), ``belly_hu`` (how much denser the abdomen is than in a lying patient),
    ``airway_mm`` (how much wider trachea and main bronchi are), ``uneven_aorta`` (not 0: which way
    it winds), ``smooth_heart`` (true: removes the steps of the slices from heart and great vessels,
    and the sharpness of calcifications), ``seated`` (true: no lung between heart and diaphragm) and
    ``seat_thins_mm`` (length over which the fat there thins out towards the back; 0: not at all).
    """

    wide: float = 1.0
    deep: float = 1.0
    tall: float = 1.0
    taper: float = 0.0
    fat_mm: float = 0.0
    heart: float = 0.0
    apex_mm: float = 0.0
    breath_right_mm: float = 0.0
    breath_left_mm: float = 0.0
    flat: float = 0.0
    deflated: float = 0.0
    hump_mm: float = 0.0
    turn_deg: float = 0.0
    tilt_deg: float = 0.0
    scoliosis_mm: float = 0.0
    kyphosis_mm: float = 0.0
    shoulders_mm: float = 0.0
    shoulder_tilt_mm: float = 0.0
    shoulders_out_mm: tuple[float, float] = (0.0, 0.0)
    breast_mm: float = 0.0
    breast_hang: float = 1.0
    breast_at_mm: tuple[float, float] = (0.0, 0.0)
    aorta_mm: float = 0.0
    calcified: float = 0.0
    granuloma: tuple[float, float, float] | None = None
    vessels: float = 1.0
    spine: float = 1.0
    bowel_gas: bool | int = True
    gas_beside: bool = False
    bubble_mm: float = 0.0
    smooth_first_ribs: bool = False
    belly_hu: float = 190.0
    airway_mm: float = 0.0
    uneven_aorta: int = 0
    smooth_heart: bool = False
    seated: bool = False
    seat_thins_mm: float = 0.0


def shape_patient(thorax: Volume, build: Build) -> Volume:
    """Warp the thorax into another patient, then add this patient's tissues.

    There are two passes, plane by plane: across and front to back in axial planes, then up and
    front to back in sagittal ones. Volumes grow in front and behind if the patient would not fit.
    """
    roomy = _with_room(thorax, build)
    across = _axial_pass(roomy, build)
    shaped = _sagittal_pass(across, build)
    if build.deflated > 0:
        shaped = tissue.deflated_domes(shaped, build.deflated)
    shaped = tissue.dense_spine(tissue.lung_vessels(shaped, build.vessels), build.spine)
    if build.aorta_mm > 0 or build.calcified > 0:
        shaped = tissue.old_aorta(shaped, build.aorta_mm, build.calcified)
    if build.uneven_aorta:
        shaped = tissue.uneven_aorta(shaped, build.uneven_aorta)
    if build.calcified > 0:
        shaped = tissue.calcified_cartilage(shaped, build.calcified)
    if build.bowel_gas is False:
        shaped = tissue.without_bowel_gas(shaped, build.gas_beside)
    elif build.bowel_gas is not True:
        shaped = tissue.some_bowel_gas(shaped, build.bowel_gas)
    if build.smooth_first_ribs:
        shaped = tissue.smooth_first_ribs(shaped)
    if build.airway_mm > 0:
        shaped = tissue.clear_airway(shaped, build.airway_mm)
    if build.smooth_heart:
        shaped = mediastinum.smooth_border(shaped)
    if build.seated:
        shaped = mediastinum.seated_heart(shaped, thins_mm=build.seat_thins_mm)
    shaped = tissue.full_belly(shaped, build.belly_hu)
    if build.bubble_mm > 0:
        shaped = tissue.stomach_bubble(shaped, build.bubble_mm)
    shaped = tissue.smooth_skin(shaped)
    if build.granuloma is not None:
        shaped = tissue.granuloma(shaped, build.granuloma)
    if build.breast_mm > 0:
        placed = build.breast_hang, build.breast_at_mm
        shaped = tissue.breasts(shaped, build.breast_mm, *placed)
    return tissue.fat(shaped, build.fat_mm) if build.fat_mm > 0 else shaped


def _with_room(thorax: Volume, build: Build) -> Volume:
    """Add air in front and behind, equally on both sides, so that the middle stays in place."""
    more = max(build.deep - 1, 0) * thorax.hu.shape[1] / 2
    more += (abs(build.kyphosis_mm) + build.fat_mm + 1.1 * build.breast_mm) / SPACING_MM[1]
    rows = ((0, 0), (round(more),) * 2, (0, 0))
    if round(more) == 0:
        return thorax
    return Volume(np.pad(thorax.hu, rows, constant_values=AIR), np.pad(thorax.labels, rows))


def curve_mm(build: Build, z: np.ndarray | float, depth: int) -> np.ndarray:
    """Return a scoliosis's shift of the middle at a height, mm towards the patient's left."""
    above = (np.asarray(z, float) - 0.60 * depth) * SPACING_MM[0]
    upper, lower = np.exp(-((above / 78) ** 2)), np.exp(-(((above + 150) / 78) ** 2))
    return np.asarray(-build.scoliosis_mm * (upper - 0.55 * lower))


def _remap(
    hu: np.ndarray, labels: np.ndarray, columns: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    warped = cv2.remap(hu, columns, rows, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    names = cv2.remap(labels, columns, rows, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
    return np.clip(warped, AIR, 1700), names


def _swell(u: np.ndarray, k: float) -> np.ndarray:
    """Return source positions of an enlargement about 0 that ends at |u| = 1; both in [-1, 1]."""
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
    dy = rows - middle_y
    apex_z, apex_x = np.percentile(spots[:, 0], 15), np.percentile(spots[:, 2], 92)
    hu, labels = np.empty_like(thorax.hu), np.empty_like(thorax.labels)
    for z in range(depth):
        level = z / (depth - 1)
        bend = float(curve_mm(build, z, depth))
        angle = np.deg2rad(build.turn_deg + 0.22 * bend)  # vertebrae turn where the spine bends
        dx = columns - middle_x
        dx = dx - bend / SPACING_MM[2] * (1 - 0.45 * np.clip(np.abs(dx) / middle_x, 0, 1) ** 2)
        turned_x = np.cos(angle) * dx - np.sin(angle) * dy
        turned_y = np.sin(angle) * dx + np.cos(angle) * dy
        wide = build.wide * (1 + build.taper * (0.5 - level))
        x = turned_x / wide + middle_x
        y = turned_y / build.deep + middle_y
        x = x + _shoulders_in(build, dx, z / (depth - 1))
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
        if build.apex_mm:
            near = np.exp(-(((x - apex_x) / 62) ** 2) - (((y - heart_y) / 85) ** 2))
            low = np.exp(-(((z - apex_z) / (0.45 * (heart_top - heart_bottom))) ** 2))
            x = x - build.apex_mm / SPACING_MM[2] * near * low
        hu[z], labels[z] = _remap(
            thorax.hu[z], thorax.labels[z], x.astype(np.float32), y.astype(np.float32)
        )
    return Volume(hu, labels)


def _shoulders_in(build: Build, dx: np.ndarray, level: float) -> np.ndarray:
    """Return how far inwards shoulders are sampled, voxels; 0 within the chest."""
    if not any(build.shoulders_out_mm):
        return np.zeros(1, np.float32)
    high = 1 / (1 + np.exp(-(level - 0.74) / 0.04))
    right, left = (out / SPACING_MM[2] for out in build.shoulders_out_mm)
    outer = 1 / (1 + np.exp(-(np.abs(dx) * SPACING_MM[2] - 110) / 18))
    return np.asarray(np.where(dx < 0, right, -left) * outer * high)


def _inner(thorax: Volume) -> np.ndarray:
    """Return weights, 0 to 1, for being inside the cage, at a quarter of the resolution."""
    small = thorax.labels[::4, ::4, ::4]
    hu = thorax.hu[::4, ::4, ::4]
    organs = np.isin(small, (*LUNGS, 1, 5, 6, HEART, 15, 20, 52))
    filled = np.stack([ndimage.binary_closing(s, np.ones((9, 9), bool)) for s in organs])
    bone = ndimage.binary_dilation(hu > 220, np.ones((3, 3, 3), bool))
    inner = filled & ~bone
    weight = ndimage.gaussian_filter(inner.astype(np.float32), (2.5, 2.0, 2.0))
    return np.asarray(np.clip(weight * 1.6 - 0.1, 0, 1))


def _sagittal_pass(thorax: Volume, build: Build) -> Volume:
    depth, height, width = thorax.hu.shape
    z, y = np.mgrid[0:depth, 0:height].astype(np.float32)
    middle_z, middle_y = (depth - 1) / 2, (height - 1) / 2
    angle = np.deg2rad(build.tilt_deg)
    up, front = (z - middle_z) * _ASPECT, y - middle_y
    from_z = (np.cos(angle) * up - np.sin(angle) * front) / _ASPECT / build.tall + middle_z
    from_y = np.sin(angle) * up + np.cos(angle) * front + middle_y
    from_y, from_z = _bent_back(build, from_y, from_z, z, y)
    pushes = (build.breath_right_mm, build.breath_left_mm, build.flat, build.hump_mm)
    breathing = any(pushes)
    weight = _inner(thorax) if breathing else None
    lungs = {"right": thorax.mask(*RIGHT_LUNG), "left": thorax.mask(*LEFT_LUNG)}
    domes = _domes(lungs)
    trachea_x = float(np.argwhere(thorax.mask(TRACHEA)[::2, ::2, ::2])[:, 2].mean() * 2)
    arch = _arch(lungs, build) if breathing else None
    middle_x = (width - 1) / 2
    levels = np.arange(depth)
    bend = curve_mm(build, levels, depth)
    slope = (np.gradient(bend) / SPACING_MM[0])[:, None]
    high = 1 / (1 + np.exp(-(z - 0.80 * depth) / 12))
    hu, labels = np.empty_like(thorax.hu), np.empty_like(thorax.labels)
    top = depth * 0.84
    for x in range(width):
        source_z = from_z
        if build.scoliosis_mm:
            aside = (x - middle_x) * SPACING_MM[2] - bend[:, None]
            source_z = source_z + 0.75 * slope * 85 * np.tanh(aside / 85) / SPACING_MM[0]
        lower = build.shoulders_mm + build.shoulder_tilt_mm / 2 * (1 if x < middle_x else -1)
        if lower:
            outer = 1 / (1 + np.exp(-(abs(x - middle_x) * SPACING_MM[2] - 88) / 16))
            source_z = source_z + lower / SPACING_MM[0] * outer * high
        if weight is not None and arch is not None:
            leftness = 1 / (1 + np.exp(-(x - trachea_x) / 14))
            push = (build.breath_right_mm * (1 - leftness) + build.breath_left_mm * leftness) / (
                SPACING_MM[0]
            ) + arch[None, :, x]
            dome = domes["right"] * (1 - leftness) + domes["left"] * leftness
            at = min(x // 4, weight.shape[2] - 2)
            plane = weight[:, :, at] + (x / 4 - at) * (weight[:, :, at + 1] - weight[:, :, at])
            here = cv2.resize(plane, (height, depth), interpolation=cv2.INTER_LINEAR)
            above = np.clip((top - from_z) / (top - dome), 0, 1)
            below = np.clip((from_z + 40) / (dome + 40), 0, 1)
            source_z = source_z - push * here * above * below
        hu[:, :, x], labels[:, :, x] = _remap(
            np.ascontiguousarray(thorax.hu[:, :, x]),
            np.ascontiguousarray(thorax.labels[:, :, x]),
            from_y.astype(np.float32),
            np.asarray(source_z, np.float32),
        )
    return Volume(hu, labels)


def _bent_back(
    build: Build, from_y: np.ndarray, from_z: np.ndarray, z: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bend the thorax backwards at its middle, and its top forward (source positions)."""
    if not build.kyphosis_mm:
        return from_y, from_z
    depth = z.shape[0]
    above = (np.arange(depth) - 0.62 * depth) * SPACING_MM[0]
    back = build.kyphosis_mm * (np.exp(-((above / 95) ** 2)) - 0.8 / (1 + np.exp(-above / 40)))
    slope = (np.gradient(back) / SPACING_MM[0])[:, None]
    forward = (y - z.shape[1] / 2) * SPACING_MM[1]
    return from_y + back[:, None] / SPACING_MM[1], from_z - 0.6 * slope * forward / SPACING_MM[0]


def _arch(lungs: dict[str, np.ndarray], build: Build) -> np.ndarray:
    """Return the additional rise of each column of the diaphragm, voxels, shape (y, x)."""
    both = lungs["right"] | lungs["left"]
    footprint = both.any(axis=0).astype(np.float32)
    surface = np.where(footprint > 0, both.argmax(axis=0), 0).astype(np.float32)
    spread = cv2.GaussianBlur(footprint, (0, 0), 16)
    smooth = cv2.GaussianBlur(surface * footprint, (0, 0), 16) / np.maximum(spread, 1e-3)
    smooth = np.where(spread > 0.02, smooth, 0)
    rim = float(np.percentile(smooth[footprint > 0], 15))
    # Where lung is above the heart, its lowest point is not the diaphragm.
    smooth = np.minimum(smooth, _domes(lungs)["right"])
    push = -build.flat * np.clip(smooth - rim, 0, None) * np.clip(spread * 4, 0, 1)
    spots = np.argwhere(lungs["right"][::2, ::2, ::2]) * 2
    y0, x0 = np.percentile(spots[:, 1], 62), np.percentile(spots[:, 2], 62)
    rows, columns = np.ogrid[0 : footprint.shape[0], 0 : footprint.shape[1]]
    near = np.exp(-(((rows - y0) / 75) ** 2) - (((columns - x0) / 48) ** 2))
    return np.asarray(push + build.hump_mm / SPACING_MM[0] * near)


def _domes(lungs: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the height (z) of the top of the diaphragm under each lung."""

    def top(lung: np.ndarray) -> float:
        footprint = lung.any(axis=0)
        lowest = np.where(footprint, lung.argmax(axis=0), 0)
        return float(np.percentile(lowest[footprint], 96))

    right = top(lungs["right"])
    return {"right": right, "left": min(top(lungs["left"]), right)}  # lung is above the heart too

"""Draw tubes, lines and other hardware along their projected course through the patient.

A course is a list of voxel positions (z, y, x). Devices add to the ray integral before exposure, so
that they are blurred, noisy and compressed like the rest of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from scipy import ndimage
from scipy.interpolate import splev, splprep

from tools.demo.body.volume import (
    HEART,
    LEFT_LUNG,
    LOBES,
    OESOPHAGUS,
    RIGHT_LUNG,
    SPACING_MM,
    STOMACH,
    SVC,
    TRACHEA,
    Volume,
)
from tools.demo.projection import Geometry, project_point

Course = list[tuple[float, float, float]]
_DZ, _DY, _DX = SPACING_MM
_VEIN_RIGHT, _VEIN_LEFT = 60, 59
_SHARP = 4
"""Factor by which devices are drawn finer than the picture."""


@dataclass(frozen=True)
class Device:
    """A device in or on the patient.

    ``width_mm`` is the outer diameter. ``wall`` and ``stripe`` are added to the ray integral by the
    wall and the radio-opaque stripe. ``tip`` is the last point of the course.
    """

    name: str
    course: Course
    width_mm: float
    wall: float
    stripe: float
    patches: tuple[tuple[str, tuple[float, float, float], float, float], ...] = ()

    @property
    def tip(self) -> tuple[float, float, float]:
        """End of the course, voxels (z, y, x)."""
        return self.course[-1]


def _centres(volume: Volume, label: int) -> dict[int, tuple[float, float]]:
    """Return the centre (y, x) of a label in each slice z that contains it."""
    mask = volume.mask(label)
    found: dict[int, tuple[float, float]] = {}
    for z in np.flatnonzero(mask.any(axis=(1, 2))):
        y, x = np.nonzero(mask[z])
        found[int(z)] = (float(y.mean()), float(x.mean()))
    return found


def carina(volume: Volume) -> tuple[float, float, float]:
    """Return the carina, voxels (z, y, x): the lowest slice with a single lumen."""
    mask = volume.mask(TRACHEA)
    levels = np.flatnonzero(mask.any(axis=(1, 2)))
    divided = 0
    for z in levels[::-1]:
        y, x = np.nonzero(mask[z])
        parts, count = ndimage.label(mask[z])
        sizes = ndimage.sum_labels(mask[z], parts, np.arange(1, count + 1))
        two = x.max() - x.min() > 48 or (count > 1 and np.sort(sizes)[-2] > 40)
        divided = divided + 1 if two and z < np.median(levels) else 0
        if divided == 1:
            fork = (float(z + 1), float(y.mean()), float(x.mean()))
        if divided == 3:
            return fork
    raise ValueError("The trachea has no division in this volume.")


def endotracheal_tube(volume: Volume, above_carina_mm: float) -> Device:
    """Return a tube in the trachea; a negative distance continues into the right main bronchus.

    A tube is stiff: beyond the carina it continues down, at half the sideways slope, and leans
    towards that side well before.
    """
    fork = carina(volume)
    centres = {z: c for z, c in _centres(volume, TRACHEA).items() if z >= fork[0]}
    end = fork[0] + above_carina_mm / _DZ
    top = max(centres)
    course: Course = [(top + 60, *centres[top]), (top + 30, *centres[top])]
    straight = fork[0] + (0 if above_carina_mm >= 0 else 34 / _DZ)
    levels = sorted(centres, reverse=True)
    course += [(float(z), *centres[z]) for z in levels if z > max(end, straight)][::4]
    if above_carina_mm >= 0:
        nearest = centres[min(centres, key=lambda z: abs(z - end))]
        course.append((end, *nearest))
        return Device("Endotracheal tube", smooth(course, 3), 10.0, 0.10, 0.42)
    z, y, x = fork
    deep = -above_carina_mm
    for down, aside in ((-0.45, -0.02), (0.0, 0.12), (0.5, 0.34), (1.0, 0.60)):
        course.append((z - down * deep / _DZ, y - 2 - 2 * down, x - aside * deep / _DX))
    return Device("Endotracheal tube", smooth(course, 4), 10.0, 0.10, 0.42)


def gastric_tube(volume: Volume, reach: float = 1.0) -> Device:
    """Return a tube through the oesophagus; ``reach`` below 1 ends before the stomach."""
    centres = _centres(volume, OESOPHAGUS)
    top, bottom = max(centres), min(centres)
    course: Course = [(top + 60, *centres[top]), (top + 30, *centres[top])]
    course += [(float(z), *centres[z]) for z in sorted(centres, reverse=True)][::8]
    stomach = np.argwhere(volume.mask(STOMACH)[::2, ::2, ::2]) * 2
    z0, y0, x0 = stomach.mean(axis=0)
    far = np.percentile(stomach[:, 2], 80)
    if reach >= 1:
        course += [(bottom - 14.0, (centres[bottom][0] + y0) / 2, (centres[bottom][1] + x0) / 2)]
        course += [(z0 + 2, y0, float(x0 + far) / 2), (z0 - 22, y0 + 8, float(far) - 4)]
    else:
        course = course[: max(3, int(len(course) * reach))]
    return Device("Gastric tube", smooth(course, 8), 5.0, 0.05, 0.30)


def gastric_tube_in_bronchus(volume: Volume, deep: float = 0.45) -> Device:
    """Return a gastric tube that went down the airway into the bronchus of the right lower lobe.

    ``deep`` is the depth of its tip in the lobe, as a share of the height below the hilum.
    """
    fork = carina(volume)
    centres = {z: c for z, c in _centres(volume, TRACHEA).items() if z >= fork[0]}
    top = max(centres)
    course: Course = [(top + 60, centres[top][0] + 6, centres[top][1] + 5)]
    course += [(top + 30, *centres[top])]
    course += [(float(z), *centres[z]) for z in sorted(centres, reverse=True)][::6]
    lobe = np.argwhere(volume.mask(LOBES["RLL"])[::2, ::2, ::2]) * 2
    low = float(np.percentile(lobe[:, 0], 12))
    z, y, x = fork
    course.append((z - 12 / _DZ, y - 2, x - 15 / _DX))
    hilum = (z - 34 / _DZ, y - 4, x - 27 / _DX)
    course.append(hilum)
    end_z = hilum[0] - deep * (hilum[0] - low)
    level = lobe[np.abs(lobe[:, 0] - end_z) < 4]
    inner = float(np.percentile(level[:, 2], 66))
    end = (end_z, float(np.median(level[:, 1])), min(inner, hilum[2] - 8 / _DX))
    between = [0.5 * (a + b) for a, b in zip(hilum, end, strict=True)]
    course += [(between[0], between[1], between[2] + 5), end]
    return Device("Gastric tube", smooth(course, 3), 5.0, 0.05, 0.30)


def central_line(volume: Volume, side: str = "right", past_mm: float = 0.0) -> Device:
    """Return a jugular line with its tip at the foot of the superior vena cava or ``past_mm`` on.

    A negative value ends before it.
    """
    cava, vein = _centres(volume, SVC), _centres(volume, _VEIN_RIGHT)
    top = max(vein)
    start = vein[top]
    course: Course
    if side == "right":
        course = [(top + 60.0, start[0] - 2, start[1] - 34), (top + 26.0, start[0], start[1] - 14)]
        course += [(float(z), *vein[z]) for z in sorted(vein, reverse=True) if z > max(cava)][::5]
    else:
        course = _left_vein(volume, neck=True)
    low = min(cava)
    stop = low - min(past_mm, 0.0) / _DZ
    inside = [z for z in sorted(cava, reverse=True) if stop <= z < max(cava) - 4]
    course += [(float(z), *cava[z]) for z in inside][::6]
    if past_mm > 0:
        course.append((low - past_mm / _DZ, cava[low][0] + 4, cava[low][1] + 4))
    return Device("Central venous catheter", smooth(course, 10), 2.6, 0.10, 0.24)


def _left_vein(volume: Volume, *, neck: bool) -> Course:
    mask = np.argwhere(volume.mask(_VEIN_LEFT))
    course: Course = []
    for share in (0.95, 0.75, 0.5, 0.25):
        x = np.quantile(mask[:, 2], share)
        near = mask[np.abs(mask[:, 2] - x) < 4]
        course.append(tuple(float(v) for v in near.mean(axis=0)))  # type: ignore[arg-type]
    z, y, x = course[0]
    if neck:
        return [(z + 90, y - 6, x + 22), (z + 40, y - 3, x + 14), *course]
    return [(z - 8, y - 70, x + 150), (z + 14, y - 45, x + 100), (z + 16, y - 15, x + 45), *course]


def picc(volume: Volume, side: str = "left", into: str = "cava") -> Device:
    """Return a peripherally inserted line; with ``into`` ``jugular`` it turns up into the neck."""
    if side == "left":
        course = _left_vein(volume, neck=False)
    else:
        vein = _centres(volume, _VEIN_RIGHT)
        top = max(vein)
        z, (y, x) = float(top), vein[top]
        course = [(z - 20, y - 70, x - 160), (z + 4, y - 45, x - 105), (z + 8, y - 12, x - 48)]
        if into == "jugular":
            course = [(z - 34, y - 70, x - 160), (z - 8, y - 45, x - 105), (z + 2, y - 14, x - 52)]
            course += [(z + 3, y - 3, x - 18), (z + 9, y, x - 1), (z + 22, y - 2, x + 3)]
            course += [(z + 44, y - 4, x), (z + 70, y - 6, x - 6)]
            return Device("PICC", smooth(course, 1), 1.7, 0.05, 0.30)
        course += [(float(s), *vein[s]) for s in sorted(vein, reverse=True)][::8]
    cava = _centres(volume, SVC)
    course += [(float(s), *cava[s]) for s in sorted(cava, reverse=True) if s < max(cava) - 6][::8]
    return Device("PICC", smooth(course, 14), 1.7, 0.05, 0.26)


def pacemaker(volume: Volume) -> list[Device]:
    """Return a generator under the left clavicle with a lead to the tip of the right ventricle."""
    vein = _left_vein(volume, neck=False)[2:]
    z, y, x = vein[0]
    front = 330.0 + (volume.hu.shape[1] - 400) / 2
    pocket = (z - 46.0, front, x + 88.0)
    header = (pocket[0] + 17 / _DZ, front, pocket[2] - 9 / _DX)
    course = [header, (z - 22, front - 16, x + 74), (z - 8, front - 52, x + 62)]
    course += [(z + 1, y + 14, x + 42), (z + 1, y + 2, x + 18), *vein[1:]]
    cava, heart = _centres(volume, SVC), np.argwhere(volume.mask(HEART)[::2, ::2, ::2]) * 2
    course += [(float(s), *cava[s]) for s in sorted(cava, reverse=True) if s < max(cava) - 6][::8]
    foot = cava[min(cava)]
    low = float(np.percentile(heart[:, 0], 8))
    front_wall = float(np.percentile(heart[heart[:, 0] < np.percentile(heart[:, 0], 20), 1], 88))
    apex = float(np.percentile(heart[:, 2], 82))
    course.append((0.6 * min(cava) + 0.4 * low, foot[0] + 4, foot[1] - 1))  # right atrium
    # Forward through the ventricle: first down, then up to its apex, above the diaphragm.
    for share, up in ((0.22, 15), (0.55, 13), (0.82, 15), (1.0, 17)):
        y = foot[0] + 4 + share * (front_wall - foot[0] - 4)
        course.append((low + up, y, foot[1] + share * (apex - foot[1])))
    generator = ("can", pocket, 46.0, 42.0)
    lead = smooth(course, 7)
    # In a lateral the vein's own windings would be kinks: a lead is stiffer.
    depth = np.array([point[1] for point in lead])
    inner = np.clip(np.minimum(np.arange(160), np.arange(160)[::-1]) / 24, 0, 1)
    depth += inner * (ndimage.gaussian_filter1d(depth, 9, mode="nearest") - depth)
    lead = [(z, float(y), x) for (z, _, x), y in zip(lead, depth, strict=True)]
    parts = [Device("Pacemaker", lead, 1.35, 0.12, 0.5, (generator,))]
    parts.append(Device("Pacemaker", lead[-3:], 2.4, 0.15, 0.6))  # the two poles at its end
    parts.append(Device("Pacemaker", lead[-9:-7], 2.4, 0.15, 0.5))
    return parts


def chest_tube(volume: Volume, side: str, tip: tuple[float, float, float]) -> list[Device]:
    """Return a drain through the side wall from outside, up along it to ``tip`` (voxels).

    The first device is the whole tube; its stripe is interrupted at the last side hole.
    """
    sign, ids = (-1, RIGHT_LUNG) if side == "right" else (1, LEFT_LUNG)
    z, y, _ = tip
    lung = np.argwhere(volume.mask(*ids)[::2, ::2, ::2]) * 2
    lung = lung[np.abs(lung[:, 1] - y) < 40]

    def wall(level: float) -> float:
        near = sign * lung[np.abs(lung[:, 0] - level) < 5][:, 2]
        return float(sign * near.max())

    inlet = z - 92 / _DZ
    course: Course = [
        (inlet - 300 / _DZ, y + 60, wall(inlet) + sign * 22 / _DX),  # taped to the flank
        (inlet - 180 / _DZ, y + 50, wall(inlet) + sign * 30 / _DX),
        (inlet - 90 / _DZ, y + 30, wall(inlet) + sign * 30 / _DX),
        (inlet - 30 / _DZ, y + 12, wall(inlet) + sign * 16 / _DX),
        (inlet, y + 6, wall(inlet) - sign * 4 / _DX),
    ]
    for up in (24, 48, 70):
        level = inlet + up / _DZ
        course.append((level, y, wall(level) - sign * (7 + 0.10 * up) / _DX))
    course.append(tip)
    tube = smooth(course, 0.5)
    parts = [Device("Chest tube", tube, 8.0, 0.10, 0.0)]
    for stripe in (tube[:-24], tube[-21:]):
        parts.append(Device("Chest tube", stripe, 8.0, 0.0, 0.36))
    return parts


def smooth(course: Course, smoothing: float) -> Course:
    """Return a smooth curve of 160 points through (0) or along a course."""
    points = np.array(course, float) * SPACING_MM
    spline, _ = splprep(points.T, s=smoothing * len(points), k=min(3, len(points) - 1))
    fine = np.array(splev(np.linspace(0, 1, 160), spline)).T / SPACING_MM
    if smoothing < 4:  # the end stays in place, and is reached without a hook
        fine[-50:] += np.linspace(0, 1, 50)[:, None] * (np.array(course[-1]) - fine[-1])
    return [tuple(map(float, point)) for point in fine]


def draw(
    path: np.ndarray, devices: list[Device], shape: tuple[int, ...], geometry: Geometry
) -> None:
    """Add devices to a ray integral, in place.

    Parameters
    ----------
    path : numpy.ndarray
        float32, shape (height, width).
    shape : tuple of int
        Shape of the volume, (z, y, x).
    """
    for device in devices:
        points = np.array([project_point(p, shape, geometry) for p in device.course])
        enlarge = 1.1 / geometry.pixel_mm
        layer = _tube(path.shape, points, device.width_mm * enlarge, device.wall, device.stripe)
        for kind, place, tall, wide in device.patches:
            where = project_point(place, shape, geometry)
            edge_on = kind == "can" and geometry.view == "LATERAL"
            size = (tall * enlarge, (8.0 if edge_on else wide) * enlarge)
            kind = "edge" if edge_on else kind
            layer = np.maximum(layer, _patch(path.shape, kind, where, size))
        path += layer


def _line(shape: tuple[int, ...], points: np.ndarray, width: float) -> np.ndarray:
    """Draw an anti-aliased line, 0 to 1; ``width`` in pixels."""
    height, breadth = shape
    canvas = np.zeros((height * _SHARP, breadth * _SHARP), np.uint8)
    scaled = np.rint((points + 0.5) * _SHARP).astype(np.int32)
    cv2.polylines(canvas, [scaled], False, 255, max(1, round(width * _SHARP)))
    small = cv2.resize(canvas, (breadth, height), interpolation=cv2.INTER_AREA)
    return small.astype(np.float32) / 255


def _tube(
    shape: tuple[int, ...], points: np.ndarray, width: float, wall: float, stripe: float
) -> np.ndarray:
    if width < 5:
        return (wall + stripe) * _line(shape, points, width)
    ahead = _ahead(points)
    points = np.vstack([points, points[-1] + ahead * width])  # to be cut off, not rounded off
    outer, lumen = _line(shape, points, width), _line(shape, points, width * 0.66)
    along = np.gradient(points, axis=0)
    length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-6)
    normal = np.column_stack([-along[:, 1], along[:, 0]]) / length
    mark = _line(shape, points + normal * width * 0.33, max(1.2, width * 0.12))
    drawn = wall * (outer + 0.9 * (outer - lumen)) + stripe * mark
    return drawn * _open_end(shape, points[-2], ahead, width)


def _ahead(points: np.ndarray) -> np.ndarray:
    """Return the direction of a course at its end, length 1."""
    step = points[-1] - points[max(0, len(points) - 12)]
    return np.asarray(step / max(float(np.linalg.norm(step)), 1e-6))


def _open_end(
    shape: tuple[int, ...], tip: np.ndarray, ahead: np.ndarray, width: float
) -> np.ndarray:
    """Cut a tube off obliquely at its tip: 0 beyond the cut, 1 elsewhere."""
    row, column = np.ogrid[: shape[0], : shape[1]]
    along = (column - tip[0]) * ahead[0] + (row - tip[1]) * ahead[1]
    aside = (row - tip[1]) * ahead[0] - (column - tip[0]) * ahead[1]
    near = along**2 + aside**2 < (2 * width) ** 2
    return np.where(near, np.clip(0.5 - along - 0.5 * aside, 0, 1), 1.0).astype(np.float32)


def _patch(
    shape: tuple[int, ...], kind: str, where: tuple[float, float], size: tuple[float, float]
) -> np.ndarray:
    """Draw a flat device: an electrode's button, or a generator from the front or from its edge."""
    canvas = np.zeros(shape, np.float32)
    column, row = where
    tall, wide = size
    if kind == "button":
        for share, value in ((1.0, 0.16), (0.4, 1.1)):
            centre = (round(column), round(row))
            axes = (max(1, round(share * wide / 2)), max(1, round(share * tall / 2)))
            cv2.ellipse(canvas, centre, axes, 12, 0, 360, value, -1, cv2.LINE_AA)
        return canvas
    side = int(1.3 * max(tall, wide)) | 1
    rows, columns = np.mgrid[0:side, 0:side].astype(np.float32) - side // 2
    turn = np.deg2rad(14.0 if kind == "can" else 8.0)
    u = (np.cos(turn) * columns + np.sin(turn) * rows) / (wide / 2)
    v = (np.cos(turn) * rows - np.sin(turn) * columns) / (tall / 2)
    drawn = _generator(u, v, wide) if kind == "can" else 1.9 * _inside(u, v, wide)
    top, left = round(row) - side // 2, round(column) - side // 2
    low, high = (max(top, 0), max(left, 0)), (top + side, left + side)
    part = canvas[low[0] : max(high[0], 0), low[1] : max(high[1], 0)]
    part += drawn[low[0] - top :, low[1] - left :][: part.shape[0], : part.shape[1]]
    return cv2.GaussianBlur(canvas, (0, 0), 0.8)


def _inside(u: np.ndarray, v: np.ndarray, wide: float, inset: float = 0.0) -> np.ndarray:
    """Return a generator's outline, 0 to 1: between an ellipse and a box, narrower below."""
    narrow = 1 - 0.10 * np.clip(v, 0, 1)
    radius = (np.abs(u / narrow) ** 2.7 + np.abs(v) ** 2.7) ** (1 / 2.7)
    return np.clip((1 - inset - radius) * wide / 2 + 0.5, 0, 1)


def _generator(u: np.ndarray, v: np.ndarray, wide: float) -> np.ndarray:
    """Return what a pacemaker's generator adds; (u, v) from -1 to 1 across and down.

    It has a clear header with the socket of the lead, a titanium shell, a board with chips, and a
    battery.
    """
    soft = wide / 2

    def block(left: float, top: float, right: float, bottom: float) -> np.ndarray:
        across = np.clip(np.minimum(u - left, right - u) * soft + 0.5, 0, 1)
        return across * np.clip(np.minimum(v - top, bottom - v) * soft + 0.5, 0, 1)

    outer = _inside(u, v, wide)
    shell = outer * np.clip((v + 0.42) * soft + 0.5, 0, 1)
    drawn = 0.22 * outer + 0.50 * shell
    drawn += 0.35 * np.clip(shell - _inside(u, v, wide, 0.07) * (v > -0.34), 0, 1)
    drawn += 0.95 * _inside(u, v, wide, 0.16) * np.clip((v - 0.14) * soft / 1.5, 0, 1)
    rng = np.random.default_rng(11)
    for _ in range(26):
        left, top = rng.uniform(-0.68, 0.5), rng.uniform(-0.32, 0.02)
        right, bottom = left + rng.uniform(0.06, 0.26), top + rng.uniform(0.04, 0.12)
        drawn += rng.uniform(0.1, 0.4) * block(left, top, right, bottom) * shell
    for left, right in ((-0.52, -0.36), (-0.14, 0.02)):
        drawn += 0.9 * block(left, -0.72, right, -0.58)
    drawn += 0.45 * block(-0.62, -0.67, 0.30, -0.63)
    return np.asarray(drawn, np.float32)

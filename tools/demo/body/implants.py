"""Add what surgeons leave behind (sternal wires, a valve), and devices on the skin.

They consist of the courses and patches of :mod:`tools.demo.body.devices`, which draws them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tools.demo.body.devices import Course, Device, carina, smooth
from tools.demo.body.volume import AORTA, HEART, SPACING_MM, STERNUM, Volume

_DZ, _DY, _DX = SPACING_MM


def sternal_wires(volume: Volume, count: int = 6, seed: int = 7) -> list[Device]:
    """Return steel wires around the sternum, each with twisted ends in front."""
    rng = np.random.default_rng(seed)
    bone = volume.mask(STERNUM)
    levels = np.flatnonzero(bone.any(axis=(1, 2)))
    middle = np.median(np.argwhere(bone), axis=0)
    wires = []
    for share in np.linspace(0.10, 0.92, count):
        z = float(np.quantile(levels, share)) + rng.uniform(-2, 2)
        y, x = np.nonzero(bone[max(0, round(z) - 2) : round(z) + 3].any(axis=0))
        if len(x) < 12:
            continue
        centre_y, centre_x = float(y.mean()), float(0.6 * x.mean() + 0.4 * middle[2])
        wide = np.clip(np.ptp(x) / 2 * 0.62, 8 / _DX, 12 / _DX) * rng.uniform(0.85, 1.15)
        thick = max(float(np.percentile(y, 90) - np.percentile(y, 10)) / 2, 4 / _DY) + 2 / _DY
        lean, slant = rng.uniform(0.08, 0.40), rng.uniform(-0.22, 0.22)
        angle = np.linspace(0.10, 2 * np.pi - 0.10, 60) + np.pi / 2  # open in front
        # Tightened round a flat bone, and bent by hand: no ellipse.
        bent = (
            1
            + 0.07 * np.sin(2 * angle + rng.uniform(0, 6))
            + 0.05 * np.sin(3 * angle + rng.uniform(0, 6))
        )
        across = wide * bent * np.sign(np.cos(angle)) * np.abs(np.cos(angle)) ** 0.75
        front = thick * bent * np.sign(np.sin(angle)) * np.abs(np.sin(angle)) ** 0.75
        sag = rng.uniform(-0.12, 0.12) * (across**2 - (0.5 * wide) ** 2) * _DX**2 / 8
        up = (lean * front * _DY + slant * across * _DX + sag) / _DZ
        course: Course = [
            (z + float(u), centre_y + float(f), centre_x + float(a))
            for u, f, a in zip(up, front, across, strict=True)
        ]
        base = np.mean([course[0], course[-1]], axis=0) + np.array([-1.0, 1.0, 0.0])
        aside = rng.uniform(-0.7, 0.7)
        strands: list[Course] = [[], []]  # both ends of the wire, twisted
        for step in range(7):
            bent_down = base + step * np.array([-0.7, 0.0, aside])
            for sign, strand in zip((0.5, -0.5), strands, strict=True):
                off = 1.3 * sign * (-1) ** step * (step > 0)
                strand.append((float(bent_down[0]), float(bent_down[1]), float(bent_down[2] + off)))
        course = strands[0][::-1] + course + strands[1]
        wires.append(Device("Sternal wire", course, 0.70, 0.08, 0.27))
    return wires


def aortic_valve(volume: Volume, diameter_mm: float = 25.0) -> list[Device]:
    """Return a mechanical valve in the aortic root: a ring and two open leaflets, from the side."""
    aorta, heart = np.argwhere(volume.mask(AORTA)), np.argwhere(volume.mask(HEART))
    fork = carina(volume)
    # The ascending aorta is in front of the airway; the part below the heart is abdominal.
    rising = aorta[(aorta[:, 1] > fork[1] + 12) & (aorta[:, 0] > np.percentile(heart[:, 0], 25))]
    level = rising[:, 0].min() + 30 / _DZ
    _, y, x = rising[np.abs(rising[:, 0] - level) < 3].mean(axis=0)
    axis = np.array([0.74, 0.36, -0.57])  # up, to the front, to the patient's right
    first = np.cross(axis, [1.0, 0.0, 0.0])
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    centre = np.array([level, y, x]) * SPACING_MM
    radius = diameter_mm / 2

    def place(one: float, two: float, along: float) -> tuple[float, float, float]:
        where = (centre + radius * (one * first + two * second) + along * axis) / SPACING_MM
        return float(where[0]), float(where[1]), float(where[2])

    # The ring is a low tube: its wall is bright along the view, pale elsewhere.
    parts = []
    angles = np.linspace(0, 2 * np.pi, 80)
    for along in (0.0, *np.linspace(-2.0, 2.0, 14)):
        wide = float(np.sqrt(1 - (along / radius) ** 2)) * (0.99 if along else 1.0)
        ring = [place(wide * float(np.cos(a)), wide * float(np.sin(a)), along) for a in angles]
        parts.append(Device("Prosthetic aortic valve", ring, 1.2, 0.0, 0.075))
    for off in (-0.20, 0.20):  # an open leaflet: a half disc along the stream
        for up in np.linspace(0, 1, 14):
            reach = float(np.sqrt(1 - off**2) * 0.82 * np.sqrt(1 - 0.8 * up**2))
            tilt = off * (1 + 0.25 * up)
            leaf = [place(tilt, share * reach, 7.0 * float(up)) for share in (-1.0, 0.0, 1.0)]
            parts.append(Device("Prosthetic aortic valve", leaf, 0.9, 0.0, 0.055))
    return parts


def electrodes(volume: Volume, spots: Sequence[tuple[float, float, float]]) -> list[Device]:
    """Return monitoring electrodes on the skin, with their leads running down and out."""
    devices = []
    middle = volume.hu.shape[2] / 2
    for number, (z, y, x) in enumerate(spots):
        away = 60 if x > middle else -60
        wave = 14 * (-1) ** number
        course: Course = [
            (z, y, x),
            (z - 24, y, x + away * 0.15 + wave),
            (z - 62, y, x + away * 0.5 - wave),
            (z - 105, y, x + away * (0.7 + 0.12 * number)),
            (z - 190, y, x + away * (0.8 + 0.25 * number)),
            (z - 330, y, x + away * (0.7 + 0.5 * number)),
        ]
        patches = (("button", (z, y, x), 10.0, 10.0),)
        devices.append(Device("Electrode", smooth(course, 0), 1.3, 0.1, 0.25, patches))
    return devices


def oxygen_tubing(volume: Volume) -> list[Device]:
    """Return soft tubing of a nasal cannula on the upper chest."""
    depth, rows, width = volume.hu.shape
    middle, y = width / 2, rows - 40.0
    left: Course = [
        (depth + 10, y, middle + 62),
        (depth - 28, y, middle + 40),
        (depth - 60, y, middle + 14),
    ]
    right: Course = [(z, y_, 2 * middle - x) for z, y_, x in left[:-1]]
    tail: Course = [(depth - 60, y, middle + 14), (depth - 110, y, middle + 60)]
    tail += [(depth - 150, y, middle + 150), (depth - 165, y, middle + 260)]
    right.append(left[-1])
    return [
        Device("Oxygen tubing", smooth(course, 1), 5.0, 0.08, 0.05)
        for course in (left, right, tail)
    ]

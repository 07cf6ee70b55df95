"""Read ``studies.yaml``: the simulated patients, their findings, and how they were imaged.

Each patient has a build, breath and posture (:class:`~tools.demo.body.patient.Build`),
abnormalities (functions of :mod:`tools.demo.body.pathology`, named by ``make``), hardware (of
:mod:`tools.demo.body.devices`) and shots, each with its own distance, crop, exposure, marker and
noise. The texts about them are in ``texts/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rexview.package_data import read_package_table
from tools.demo.body import devices, implants, pathology
from tools.demo.body.patient import Build
from tools.demo.detector import Look
from tools.demo.markers import Marker
from tools.demo.projection import Geometry
from tools.demo.render import Shot, Study

_FILE = Path(__file__).with_suffix(".yaml")
_TOP_MM = 149.0
"""Distance from the middle of the volume up to the last slice of the CT."""
LOOKS = {
    "portable": Look(24000, 0.25, 0.7, 0.80, (0.3, 98.5), 0.85, 2.8, 0.18),
    "soft": Look(80000, 0.10, 0.95, 0.95, (0.5, 97.0), 0.75, 3.4),
    "crisp": Look(90000, 0.10, 1.5, 0.90, (0.5, 97.0), 0.90, 4.2),
    "grey": Look(70000, 0.10, 1.3, 0.90, (0.2, 96.0), 0.70, 3.0),
    "grey-soft": Look(70000, 0.10, 0.6, 0.84, (0.2, 97.0), 0.75, 3.0),
    "flat": Look(36000, 0.16, 0.8, 0.80, (0.3, 98.5), 0.90, 3.2),
    "even": Look(80000, 0.10, 0.8, 0.60, (0.5, 99.5), 0.90, 3.0),
    "film": Look(60000, 0.15, 0.35, 0.80, (0.5, 99.3), 1.1, 4.5),
    "dark": Look(80000, 0.10, 0.7, 0.70, (0.5, 99.7), 1.5, 3.4),
    "dark-open": Look(80000, 0.10, 0.8, 0.66, (0.05, 99.7), 0.95, 2.6),
    "edge": Look(80000, 0.10, 1.8, 0.55, (0.5, 99.5), 1.0, 3.2),
    "light": Look(60000, 0.12, 0.5, 0.60, (0.1, 98.5), 0.6, 2.6),
    "portable-lines": Look(40000, 0.12, 1.7, 0.52, (0.3, 99.8), 1.2, 2.8, 0.18),
    "portable-clear": Look(34000, 0.18, 1.1, 0.70, (0.3, 99.3), 0.95, 2.8, 0.18),
    "portable-lines-pale": Look(30000, 0.14, 1.5, 0.55, (0.3, 99.8), 1.0, 2.6, -0.1),
    "portable-dark": Look(14000, 0.30, 0.5, 0.60, (0.5, 99.8), 1.25, 2.6, -0.25),
    "hard": Look(70000, 0.10, 1.1, 0.66, (0.8, 99.5), 1.0, 4.2),
}
"""Exposure and processing of different hospitals."""


def read_studies(file: Path = _FILE) -> dict[str, Study]:
    """Read all studies, by id."""
    return {row["id"]: _study(row) for row in read_package_table(file)}


def _study(row: Mapping[str, Any]) -> Study:
    build = Build(**{key: _frozen(value) for key, value in row["build"].items()})
    return Study(
        id=row["id"],
        build=build,
        shots=tuple(_shot(name, shot, build) for name, shot in row["shots"].items()),
        lesions={name: _maker(pathology, made) for name, made in row.get("lesions", {}).items()},
        hardware={
            name: _maker(_hardware(made), made) for name, made in row.get("hardware", {}).items()
        },
    )


def _hardware(made: Mapping[str, Any]) -> Any:
    return devices if hasattr(devices, made["make"]) else implants


def _maker(module: Any, given: Mapping[str, Any]) -> partial[Any]:
    options = {key: _frozen(value) for key, value in given.items() if key != "make"}
    return partial(getattr(module, given["make"]), **options)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(entry) for entry in value) if isinstance(value, list) else value


def _shot(name: str, row: Mapping[str, Any], build: Build) -> Shot:
    marker = row.get("marker")
    markers = ()
    if marker:
        markers = (Marker(marker[0], (marker[1], marker[2]), turn_deg=float((*marker, 0)[3])),)
    return Shot(
        name=name,
        geometry=_geometry(row, build),
        look=LOOKS[row["look"]],
        markers=markers,
        caption=row.get("caption", ""),
        cut=_frozen(row.get("cut", [0.0, 0.0, 0.0, 0.0])),
        mirrored=row.get("mirrored", False),
        seed=row["seed"],
    )


def _geometry(row: Mapping[str, Any], build: Build) -> Geometry:
    """Return the geometry that shows ``neck_mm`` of the part above the CT."""
    view, (width, height), field_mm = row["view"], row["size"], float(row["field_mm"])
    source, gap = (1250.0, 40.0) if view == "AP" else (1800.0, 25.0)
    enlarge = 1.13 if view == "LATERAL" else source / (source - 160)
    neck = row.get("neck_mm", 1)
    up = _TOP_MM * build.tall + neck - field_mm * height / width / 2 / enlarge
    across, lean = float(row.get("across", 0)), float(row.get("lean", 0))
    return Geometry(view, width, height, field_mm, (across, up), lean, source, gap)

"""Make a study's pictures, and the truth about them, from its description."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tools.demo import detector, projection
from tools.demo.body import devices, pathology, volume
from tools.demo.body.devices import Device
from tools.demo.body.patient import Build, shape_patient
from tools.demo.body.volume import Volume
from tools.demo.body.voxels import Lesion
from tools.demo.detector import Look
from tools.demo.markers import Marker, annotate, draw_marker
from tools.demo.projection import Geometry

_ORGANS = {
    "heart": (volume.HEART,),
    "liver": (volume.LIVER,),
    "stomach": (volume.STOMACH,),
    "spleen": (volume.SPLEEN,),
    "right_lung": volume.RIGHT_LUNG,
    "left_lung": volume.LEFT_LUNG,
}
_MADE_BY = (
    "volume",
    "patient",
    "tissue",
    "mediastinum",
    "voxels",
    "pathology",
    "devices",
    "implants",
)
_FOLDER = Path(__file__).parent
_CODE = [*(_FOLDER / "body" / f"{name}.py" for name in _MADE_BY), _FOLDER / "projection.py"]


@dataclass(frozen=True)
class Shot:
    """One radiograph of a patient: its geometry, its processing, and what is drawn on it.

    ``mirrored`` stores it mirrored. ``cut`` gives the collimated margins (left, top, right, bottom)
    in shares of the picture.
    """

    name: str
    geometry: Geometry
    look: Look = field(default_factory=Look)
    markers: tuple[Marker, ...] = ()
    caption: str = ""
    cut: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    mirrored: bool = False
    seed: int = 1


@dataclass(frozen=True)
class Study:
    """A patient with abnormalities and devices, and the radiographs taken.

    ``lesions`` are applied in order; each key names a finding for texts and boxes. Makers are
    ``functools.partial`` objects, whose arguments enter the cache's key.
    """

    id: str
    build: Build
    shots: tuple[Shot, ...]
    lesions: dict[str, Callable[[Volume], Lesion]] = field(default_factory=dict)
    hardware: dict[str, Callable[[Volume], Device | list[Device]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A finished radiograph: 12-bit grey values (uint16) and the facts about it."""

    pixels: np.ndarray
    truth: dict[str, Any]


@dataclass(frozen=True)
class Shadow:
    """The signal of a patient at the detector: ray integrals, and the truth about them."""

    path: np.ndarray
    truth: dict[str, Any]


def render(study: Study, thorax: Volume, work: Path) -> dict[str, Picture]:
    """Make the radiographs of a study.

    The slow part, the projection, is cached in ``work`` while the study and the code that makes it
    are unchanged.

    Returns
    -------
    dict of str to Picture
        Pictures by the shot's name.
    """
    cache = work / "shadows" / f"{study.id}-{_fingerprint(study)}.npz"
    if not cache.exists():
        shadows = _cast(study, thorax)
        cache.parent.mkdir(parents=True, exist_ok=True)
        truth = {name: shadow.truth for name, shadow in shadows.items()}
        arrays = {name: shadow.path for name, shadow in shadows.items()}
        np.savez(cache, _truth=np.array(json.dumps(truth)), **arrays)  # type: ignore[arg-type]
    with np.load(cache) as stored:
        truth = json.loads(str(stored["_truth"]))
        return {
            shot.name: _develop(shot, Shadow(stored[shot.name], truth[shot.name]))
            for shot in study.shots
        }


def _fingerprint(study: Study) -> str:
    digest = hashlib.sha256()
    for path in _CODE:
        digest.update(_bare(path.read_text("utf-8")).encode())
    shots = [(shot.name, shot.geometry) for shot in study.shots]
    digest.update(repr((study.id, study.build, shots)).encode())
    for made in (study.lesions, study.hardware):
        for name, maker in made.items():
            digest.update(repr((name, _describe(maker))).encode())
    return digest.hexdigest()[:16]


def _bare(code: str) -> str:
    """Reduce source code to its meaning: no layout, comments or docstrings."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [
                part
                for part in node.body
                if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
    return ast.dump(tree)


def _describe(maker: Any) -> Any:
    """Return the name of a function with its bound arguments (``functools.partial``)."""
    return (maker.func.__name__, maker.args, sorted(maker.keywords.items()))


def _cast(study: Study, thorax: Volume) -> dict[str, Shadow]:
    patient = shape_patient(pathology.remove_mass(thorax), study.build)
    lesions: dict[str, Lesion] = {}
    for name, make in study.lesions.items():
        lesions[name] = make(patient)
        patient = lesions[name].volume
    hardware: dict[str, list[Device]] = {}
    for name, place in study.hardware.items():
        placed = place(patient)
        hardware[name] = placed if isinstance(placed, list) else [placed]
    attenuation = projection.attenuation(patient.hu)
    facts = {"carina": devices.carina(patient)} | {
        organ: _centre(patient, ids) for organ, ids in _ORGANS.items()
    }
    return {
        shot.name: _shadow(shot.geometry, patient, attenuation, lesions, hardware, facts)
        for shot in study.shots
    }


def _centre(patient: Volume, ids: tuple[int, ...]) -> tuple[float, float, float]:
    spots = np.argwhere(patient.mask(*ids)[::2, ::2, ::2]) * 2
    z, y, x = spots.mean(axis=0)
    return float(z), float(y), float(x)


def _shadow(
    geometry: Geometry,
    patient: Volume,
    attenuation: np.ndarray,
    lesions: dict[str, Lesion],
    hardware: dict[str, list[Device]],
    facts: dict[str, tuple[float, float, float]],
) -> Shadow:
    shape = patient.hu.shape
    path = projection.project(attenuation, geometry)
    boxes = {name: _lesion_box(lesion, geometry) for name, lesion in lesions.items()}
    for name, placed in hardware.items():
        devices.draw(path, placed, shape, geometry)
        boxes[name] = _course_box(placed, shape, geometry)
    points = {
        name: projection.project_point(place, shape, geometry) for name, place in facts.items()
    }
    tips = {
        name: projection.project_point(placed[0].tip, shape, geometry)
        for name, placed in hardware.items()
    }
    truth: dict[str, Any] = {
        "width": geometry.width,
        "height": geometry.height,
        "pixel_mm": geometry.pixel_mm,
        "points": points,
        "tips": tips,
        "boxes": {name: box for name, box in boxes.items() if box is not None},
        "sides": {name: lesion.side for name, lesion in lesions.items()},
    }
    if geometry.view != "LATERAL":
        truth["heart"] = _heart_and_chest(patient, geometry)
    return Shadow(path, truth)


def _develop(shot: Shot, shadow: Shadow) -> Picture:
    """Expose and process: markers, noise, contrast, collimation, mirroring, words."""
    path, truth, pixel_mm = shadow.path.copy(), shadow.truth, shot.geometry.pixel_mm
    body = path > 0.45
    for marker in shot.markers:
        draw_marker(path, marker, pixel_mm)
    rng = np.random.default_rng(shot.seed)
    signal = detector.expose(path, pixel_mm, shot.look, rng)
    open_field = _open_field(path.shape, shot.cut)
    pixels = detector.process(signal, pixel_mm, shot.look, body & open_field)
    pixels[~open_field] = 0
    if shot.mirrored:
        pixels = np.ascontiguousarray(pixels[:, ::-1])
        _mirror(truth)
    annotate(pixels, shot.caption)
    return Picture(pixels, truth)


def _open_field(shape: tuple[int, ...], cut: tuple[float, float, float, float]) -> np.ndarray:
    height, width = shape
    left, top, right, bottom = cut
    field_ = np.zeros((height, width), bool)
    rows = slice(round(top * height), height - round(bottom * height))
    field_[rows, round(left * width) : width - round(right * width)] = True
    return field_


def _bounds(mask: np.ndarray) -> list[float] | None:
    if not mask.any():
        return None
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    left, top = int(columns[0]), int(rows[0])
    return [float(left), float(top), float(columns[-1] + 1 - left), float(rows[-1] + 1 - top)]


def _lesion_box(lesion: Lesion, geometry: Geometry) -> list[float] | None:
    """Return the box around a lesion's shadow: where it has a third of its greatest thickness."""
    shadow = _coarse(lesion.shown, geometry)
    if shadow.max() <= 0:
        return None
    return _bounds(shadow > 0.3 * np.percentile(shadow[shadow > 0], 99))


def _coarse(values: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Project at half the resolution and enlarge: enough for boxes, a quarter of the work."""
    small = replace(geometry, width=geometry.width // 2, height=geometry.height // 2)
    shadow = projection.project(values, small, edge=False)
    size = (geometry.width, geometry.height)
    return np.asarray(cv2.resize(shadow, size, interpolation=cv2.INTER_LINEAR))


def _course_box(
    placed: list[Device], shape: tuple[int, ...], geometry: Geometry
) -> list[float] | None:
    points = np.array(
        [projection.project_point(p, shape, geometry) for d in placed for p in d.course]
    )
    limits = np.array([geometry.width, geometry.height])
    inside = points[((points >= 0) & (points < limits)).all(axis=1)]
    if len(inside) == 0:
        return None
    pad = 3.0 / geometry.pixel_mm
    low = np.maximum(inside.min(axis=0) - pad, 0)
    high = np.minimum(inside.max(axis=0) + pad, limits)
    return [round(float(v), 1) for v in (*low, *(high - low))]


def _heart_and_chest(patient: Volume, geometry: Geometry) -> dict[str, Any]:
    """Return the heart's box, the inner chest's width in pixels, and the ratio of the widths."""
    heart = _coarse(patient.mask(volume.HEART), geometry)
    lungs = _coarse(patient.lungs, geometry)
    heart_box, lung_box = _bounds(heart > 6.0), _bounds(lungs > 3.0)
    if heart_box is None or lung_box is None:
        raise ValueError("The heart or the lungs are not on the picture.")
    ratio = round(heart_box[2] / lung_box[2], 3)
    return {"box": heart_box, "chest": lung_box[2], "ratio": ratio}


def _mirror(truth: dict[str, Any]) -> None:
    width = truth["width"]
    for group in ("points", "tips"):
        truth[group] = {name: (width - 1 - x, y) for name, (x, y) in truth[group].items()}
    boxes = truth["boxes"] | {"heart": truth["heart"]["box"]}
    boxes = {name: [width - x - w, y, w, h] for name, (x, y, w, h) in boxes.items()}
    truth["heart"]["box"] = boxes.pop("heart")
    truth["boxes"] = boxes

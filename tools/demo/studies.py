"""The simulated patients: who they are, what they have, and how they were radiographed.

Each has his own build, breath and posture; each picture its own distance, crop, exposure and noise.
What is written about them is in ``texts/``.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from tools.demo import devices, pathology
from tools.demo.detector import Look
from tools.demo.markers import Marker
from tools.demo.patient import Build
from tools.demo.projection import Geometry
from tools.demo.render import Shot, Study

_PORTABLE = Look(
    quanta=24000, scatter=0.20, detail=0.8, base=0.72, percentiles=(0.5, 99.7), steep=3.6
)
_SOFT = Look(quanta=60000, detail=0.75, base=0.70, steep=3.8)
_CRISP = Look(quanta=70000, detail=1.1, base=0.60, steep=4.4)
_GREY = Look(quanta=40000, detail=0.85, base=0.66, percentiles=(0.2, 99.9), steep=3.4, gamma=0.92)
_FLAT = Look(quanta=30000, scatter=0.16, detail=0.7, base=0.78, steep=3.2, gamma=1.08)
_TOP_MM = 149.0
"""From the middle of the volume up to the last slice of the CT."""


def _frontal(
    view: Literal["PA", "AP"],
    build: Build,
    field_mm: float,
    width: int,
    height: int,
    *,
    neck_mm: float = 8.0,
    across: float = 0.0,
    lean: float = 0.0,
) -> Geometry:
    """Frame a frontal view so that ``neck_mm`` of what lies above the CT is seen."""
    source = 1800.0 if view == "PA" else 1250.0
    enlarge = source / (source - 160)
    up = _TOP_MM * build.tall + neck_mm - field_mm * height / width / 2 / enlarge
    gap = 25.0 if view == "PA" else 40.0
    return Geometry(view, width, height, field_mm, (across, up), lean, source, gap)


def _lateral(build: Build, field_mm: float, width: int, height: int) -> Geometry:
    up = _TOP_MM * build.tall + 4 - field_mm * height / width / 2 / 1.13
    return Geometry("LATERAL", width, height, field_mm, (0.0, up))


def _left(at: tuple[float, float] = (0.93, 0.10), turn: float = 0.0, text: str = "L") -> Marker:
    return Marker(text, at, turn_deg=turn)


def _right(at: tuple[float, float] = (0.07, 0.10), turn: float = 0.0, text: str = "R") -> Marker:
    return Marker(text, at, turn_deg=turn)


_B01 = Build(
    heart=-0.05, wide=1.03, deep=1.04, tall=0.98, taper=0.04, fat_mm=6, turn_deg=-2, tilt_deg=2
)
_B02 = Build(
    heart=-0.16, wide=0.92, deep=0.90, tall=1.07, taper=-0.04, breath_right_mm=-8, breath_left_mm=-6,
    turn_deg=3, tilt_deg=4,
)  # fmt: skip
_B03 = Build(
    wide=1.05, deep=1.08, tall=0.95, fat_mm=10, heart=0.12, breath_right_mm=16, breath_left_mm=12,
    turn_deg=-5, tilt_deg=-5,
)  # fmt: skip
_B04 = Build(
    heart=-0.13, wide=0.96, deep=0.94, tall=1.01, fat_mm=3, breath_right_mm=-5, breath_left_mm=-2, turn_deg=1,
    tilt_deg=-2,
)  # fmt: skip
_B05 = Build(heart=-0.12, wide=1.0, deep=0.98, tall=1.03, taper=0.03, turn_deg=-1, tilt_deg=3)
_B06 = Build(
    heart=-0.08,
    wide=1.06,
    deep=1.0,
    tall=1.04,
    taper=-0.03,
    fat_mm=4,
    turn_deg=2,
    breath_right_mm=-6,
)
_B07 = Build(
    wide=1.08, deep=1.12, tall=0.94, taper=0.08, fat_mm=14, heart=0.34, breath_right_mm=14,
    breath_left_mm=12, turn_deg=4, tilt_deg=-6,
)  # fmt: skip
_B08 = Build(wide=1.02, deep=1.05, tall=0.97, taper=0.06, fat_mm=8, heart=0.40, turn_deg=-1)
_B09 = Build(
    heart=-0.08, wide=0.98, deep=1.0, tall=1.0, taper=0.05, fat_mm=2, turn_deg=-3, tilt_deg=1
)
_B10 = Build(
    heart=-0.15, wide=0.94, deep=0.96, tall=1.05, breath_right_mm=-9, breath_left_mm=-9, turn_deg=-2
)
_B11 = Build(
    heart=-0.05, wide=1.07, deep=1.06, tall=0.96, taper=0.1, fat_mm=9, breath_right_mm=8, turn_deg=2
)
_B12 = Build(
    heart=-0.12,
    wide=0.99,
    deep=0.97,
    tall=1.02,
    taper=0.02,
    breath_right_mm=6,
    turn_deg=1,
    tilt_deg=2,
)
_B13 = Build(wide=1.04, deep=1.06, tall=0.99, heart=0.2, fat_mm=7, turn_deg=-2, tilt_deg=-1)
_B14 = Build(
    heart=-0.1, wide=0.97, deep=1.0, tall=0.98, fat_mm=5, breath_left_mm=8, turn_deg=-4, tilt_deg=-3
)
_B15 = Build(
    wide=1.05, deep=1.1, tall=0.93, taper=0.06, fat_mm=8, heart=0.22, breath_right_mm=18,
    breath_left_mm=16, turn_deg=3, tilt_deg=-5,
)  # fmt: skip
_B16 = Build(
    heart=-0.1, wide=1.0, deep=1.02, tall=1.0, taper=-0.02, fat_mm=3, breath_right_mm=10, breath_left_mm=10,
    turn_deg=6, tilt_deg=-4,
)  # fmt: skip
_B17 = Build(
    heart=-0.06,
    wide=1.09,
    deep=1.08,
    tall=1.0,
    taper=0.07,
    fat_mm=11,
    breath_right_mm=9,
    turn_deg=-1,
)

STUDIES: tuple[Study, ...] = (
    Study(
        "effusion-right",
        _B01,
        (
            Shot("pa", _frontal("PA", _B01, 352, 1160, 1112, across=-2), _SOFT, (_left(),)),
            Shot("lat", _lateral(_B01, 330, 1040, 1080), _SOFT, (_left((0.93, 0.9)),), seed=2),
        ),
        lesions={"effusion": partial(pathology.effusion, side="right", height_mm=92)},
    ),
    Study(
        "pneumothorax-left",
        _B02,
        (
            Shot(
                "pa",
                _frontal("PA", _B02, 326, 1120, 1240, across=2),
                _CRISP,
                (_left((0.94, 0.17)),),
                seed=3,
            ),
        ),
        lesions={
            "pneumothorax": partial(pathology.pneumothorax, side="left", apex_mm=34, lateral_mm=17)
        },
    ),
    Study(
        "intubated",
        _B03,
        (
            Shot(
                "ap",
                _frontal("AP", _B03, 392, 1240, 1100, across=4, lean=2),
                _PORTABLE,
                (_right((0.05, 0.14), 12),),
                caption="AP PORTABLE",
                seed=4,
            ),
        ),
        hardware={
            "ett": partial(devices.endotracheal_tube, above_carina_mm=-24),
            "gastric": partial(devices.gastric_tube),
            "cvc": partial(devices.central_line, side="right"),
        },
    ),
    Study(
        "normal-woman",
        _B04,
        (
            Shot(
                "pa",
                _frontal("PA", _B04, 336, 1088, 1120, across=-4, lean=-1),
                _GREY,
                (_left((0.92, 0.07)),),
                seed=5,
            ),
        ),
    ),
    Study(
        "consolidation-middle-lobe",
        _B05,
        (
            Shot(
                "pa",
                _frontal("PA", _B05, 348, 1152, 1180, across=3),
                _CRISP,
                (_right((0.06, 0.12)),),
                seed=6,
            ),
            Shot("lat", _lateral(_B05, 320, 1024, 1136), _CRISP, seed=7),
        ),
        lesions={
            "consolidation": partial(pathology.consolidation, lobe="RML", radius_mm=75, seed=21)
        },
    ),
    Study(
        "mass-left",
        _B06,
        (
            Shot(
                "pa",
                _frontal("PA", _B06, 356, 1200, 1200, across=-3, lean=1),
                _SOFT,
                (_left((0.95, 0.2)),),
                seed=8,
            ),
        ),
        lesions={"mass": partial(pathology.real_mass)},
        keep_mass=True,
    ),
    Study(
        "mass-left-prior",
        _B06,
        (
            Shot(
                "pa",
                _frontal("PA", _B06, 344, 1100, 1144, across=5, lean=-1),
                _GREY,
                (_left((0.93, 0.12), -8),),
                seed=9,
            ),
        ),
    ),
    Study(
        "heart-failure",
        _B07,
        (
            Shot(
                "ap",
                _frontal("AP", _B07, 400, 1200, 1040, across=-3, lean=-2),
                _PORTABLE,
                (_left((0.96, 0.1), -10),),
                caption="AP ERECT\nPORTABLE",
                seed=10,
            ),
        ),
        lesions={
            "oedema": partial(pathology.oedema, share=0.45, seed=31),
            "right": partial(pathology.effusion, side="right", height_mm=88),
            "left": partial(pathology.effusion, side="left", height_mm=52),
        },
        hardware={
            "electrodes": partial(
                devices.electrodes, spots=((224, 370, 120), (214, 370, 400), (96, 360, 430))
            )
        },
    ),
    Study(
        "cardiomegaly",
        _B08,
        (
            Shot(
                "pa",
                _frontal("PA", _B08, 362, 1160, 1080, across=2),
                _SOFT,
                (_right((0.05, 0.08)),),
                seed=11,
            ),
        ),
    ),
    Study(
        "effusion-left",
        _B09,
        (
            Shot(
                "pa",
                _frontal("PA", _B09, 340, 1120, 1150, across=2, lean=1),
                _GREY,
                (_left(),),
                seed=12,
            ),
        ),
        lesions={"effusion": partial(pathology.effusion, side="left", height_mm=118)},
    ),
    Study(
        "effusion-left-prior",
        _B09,
        (
            Shot(
                "pa",
                _frontal("PA", _B09, 348, 1100, 1096, across=-4, lean=-1),
                _SOFT,
                (_left((0.94, 0.15)),),
                seed=13,
            ),
        ),
        lesions={"effusion": partial(pathology.effusion, side="left", height_mm=34)},
    ),
    Study(
        "nodule-right-mirrored",
        _B10,
        (
            Shot(
                "pa",
                _frontal("PA", _B10, 330, 1100, 1210, across=3),
                _CRISP,
                (_left((0.93, 0.13)),),
                mirrored=True,
                seed=14,
            ),
        ),
        lesions={
            "nodule": partial(
                pathology.nodule, lobe="RUL", centre=(0.42, 0.55, 0.36), diameter_mm=24
            )
        },
    ),
    Study(
        "consolidation-left-base",
        _B11,
        (Shot("frontal", _frontal("PA", _B11, 364, 1130, 1050, across=-2), _FLAT, seed=15),),
        lesions={
            "consolidation": partial(
                pathology.consolidation,
                lobe="LLL",
                centre=(0.22, 0.5, 0.5),
                radius_mm=52,
                seed=41,
            )
        },
    ),
    Study(
        "free-air",
        _B12,
        (
            Shot(
                "pa",
                _frontal("PA", _B12, 344, 1120, 1150, across=2),
                _CRISP,
                (_left((0.93, 0.11)),),
                seed=16,
            ),
        ),
        lesions={"gas": partial(pathology.free_air, side="right", depth_mm=13)},
    ),
    Study(
        "pacemaker",
        _B13,
        (
            Shot(
                "pa",
                _frontal("PA", _B13, 358, 1180, 1130, across=-2),
                _SOFT,
                (_right((0.06, 0.14), 6),),
                seed=17,
            ),
            Shot("lat", _lateral(_B13, 334, 1040, 1070), _SOFT, seed=18),
        ),
        hardware={"pacemaker": partial(devices.pacemaker)},
    ),
    Study(
        "picc-malposition",
        _B14,
        (
            Shot(
                "ap",
                _frontal("AP", _B14, 380, 1160, 1060, neck_mm=14, across=3, lean=-1),
                _PORTABLE,
                (_left((0.95, 0.22)),),
                caption="AP PORTABLE",
                seed=19,
            ),
        ),
        hardware={"picc": partial(devices.picc, side="right", into="jugular")},
    ),
    Study(
        "oedema",
        _B15,
        (
            Shot(
                "ap",
                _frontal("AP", _B15, 396, 1200, 1040, across=2, lean=1),
                _PORTABLE,
                (_right((0.05, 0.18), 20),),
                caption="AP SUPINE PORTABLE",
                seed=20,
            ),
        ),
        lesions={"oedema": partial(pathology.oedema, share=0.85, seed=51)},
        hardware={
            "ett": partial(devices.endotracheal_tube, above_carina_mm=42),
            "gastric": partial(devices.gastric_tube),
        },
    ),
    Study(
        "chest-tube-left",
        _B16,
        (
            Shot(
                "ap",
                _frontal("AP", _B16, 384, 1180, 1080, across=-4, lean=2),
                _PORTABLE,
                (_left((0.95, 0.12)),),
                caption="AP PORTABLE",
                seed=22,
            ),
        ),
        lesions={
            "pneumothorax": partial(pathology.pneumothorax, side="left", apex_mm=14, lateral_mm=4)
        },
        hardware={"drain": partial(devices.chest_tube, side="left", tip=(216, 190, 330))},
    ),
    Study(
        "normal-man",
        _B17,
        (
            Shot(
                "pa",
                _frontal("PA", _B17, 370, 1180, 1090, across=1, lean=-1),
                _FLAT,
                (_right((0.05, 0.1)),),
                seed=23,
            ),
        ),
    ),
)

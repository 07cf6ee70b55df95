"""Write tests/data/windowing.json: grey levels that all windowing code of rexview must give.

Run ``python tools/golden_windowing.py`` from the repository's root. Nothing here imports rexview.
Expected grey levels are computed in exact arithmetic (fractions; 50-digit decimals for the sigmoid)
from the formulas of DICOM PS3.3 C.11.2 and rounded half up. They are compared with pydicom's own
``apply_windowing`` and ``apply_voi`` before anything is written. The parts of a vector have the
names and meanings of the viewer's header (``rexview/imaging/encode.py``)::

    {"name", "header": {scale, offset, invert, presentation},
     "preset": {name, kind, centre, width, table}, "codes": [...], "grey": [...]}
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
from pydicom.dataset import Dataset
from pydicom.pixels.processing import apply_voi, apply_windowing

TARGET = Path(__file__).parents[1] / "tests" / "data" / "windowing.json"
HALF = Fraction(1, 2)
MARGIN = Fraction(1, 10**8)
"""Least distance of a vector below a tie, so that rounding a double cannot go the other way."""
BYTE = tuple(range(256))
U12 = tuple(sorted({*range(0, 4096, 37), *range(1000, 1040), *range(3070, 3076), 4095}))
U16 = (*range(0, 32700, 509), *range(32760, 32776), *range(33000, 65536, 509), 65535)


@dataclass(frozen=True)
class Vector:
    """One window on one coding. ``table`` is (first value mapped, entries, bits of an entry)."""

    name: str
    codes: tuple[int, ...]
    kind: str
    centre: float
    width: float
    scale: float = 1.0
    offset: float = 0.0
    invert: bool = False
    table: tuple[int, tuple[int, ...], int] | None = None
    presentation: tuple[int, ...] | None = None


def half_up(number: Fraction) -> int:
    """Round half up; reject a number that a double could put on the other side of a tie."""
    rounded = (number + HALF).__floor__()
    if 0 < rounded + HALF - number < MARGIN:
        raise ValueError(f"{float(number)} lies too close to a tie")
    return rounded


def position(vector: Vector, value: Fraction) -> Fraction:
    """Return the position of a value in the window, 0 to 1, by the standard's formulas."""
    centre, width = Fraction(vector.centre), Fraction(vector.width)
    if vector.kind == "sigmoid":
        with localcontext() as context:
            context.prec = 50
            power = -4 * (value - centre) / width
            exponent = Decimal(power.numerator) / Decimal(power.denominator)
            return Fraction(1 / (1 + exponent.exp()))
    if vector.kind == "linear":
        centre, width = centre - HALF, width - 1
    if value <= centre - width / 2:
        return Fraction(0)
    if value > centre + width / 2:
        return Fraction(1)
    return (value - centre) / width + HALF


def table_bytes(vector: Vector) -> bytes:
    """Return the entries of the VOI LUT as grey levels."""
    assert vector.table is not None
    _, entries, bits = vector.table
    return bytes(half_up(Fraction(entry * 255, 2**bits - 1)) for entry in entries)


def grey_of(vector: Vector, code: int) -> int:
    """Return the grey level of one code."""
    value = code * Fraction(vector.scale) + Fraction(vector.offset)
    if vector.table is not None:
        levels = table_bytes(vector)
        grey = levels[min(max(value.__floor__() - vector.table[0], 0), len(levels) - 1)]
    elif vector.presentation is not None:
        last = len(vector.presentation) - 1
        grey = vector.presentation[half_up(position(vector, value) * last)]
    else:
        grey = half_up(position(vector, value) * 255)
    return 255 - grey if vector.invert else grey


def pydicom_grey(vector: Vector) -> np.ndarray | None:
    """Return pydicom's result as floats 0-255, or None if pydicom has no such function."""
    values = np.array(vector.codes, dtype=np.float64) * vector.scale + vector.offset
    ds = Dataset()
    ds.PhotometricInterpretation = "MONOCHROME2"
    ds.BitsStored = 16
    ds.PixelRepresentation = 0
    if vector.table is not None:
        if vector.table[2] == 8:  # pydicom indexes such a table modulo 256
            return None
        item = Dataset()
        first, entries, bits = vector.table
        item.add_new("LUTDescriptor", "SS", [len(entries), first, bits])
        item.add_new("LUTData", "US", list(entries))
        ds.VOILUTSequence = [item]
        floored = np.floor(values).astype(np.int64)
        grey = apply_voi(floored, ds).astype(np.float64) * 255 / (2**bits - 1)
    elif vector.presentation is not None:
        return None
    else:
        ds.WindowCenter, ds.WindowWidth = vector.centre, vector.width
        ds.VOILUTFunction = vector.kind.upper()
        with np.errstate(over="ignore"):
            grey = apply_windowing(values, ds) * 255 / 65535
    return 255 - grey if vector.invert else grey


def vectors() -> list[Vector]:
    """Return all vectors."""
    ramp = tuple(round(4095 * (i / 299) ** 0.5) for i in range(300))
    steps = (0, 10, 10, 200, 255, 255, 90, 4)
    gamma = tuple(round(255 * (i / 1023) ** 2) for i in range(1024))
    signed = {"offset": -32768.0}
    ct = tuple(sorted({*range(0, 65536, 997), *range(32768 - 180, 32768 + 260, 3)}))
    return [
        Vector("8 bit as stored", BYTE, "linear", 128, 256),
        Vector("8 bit as stored, exact", BYTE, "linear_exact", 127.5, 255),
        Vector("8 bit inverted", BYTE, "linear", 128, 256, invert=True),
        Vector("8 bit narrow", BYTE, "linear", 100, 7),
        Vector("8 bit ties", BYTE, "linear", 100, 103),
        Vector("8 bit exact ties", BYTE, "linear_exact", 127, 170),
        Vector("12 bit usual", U12, "linear", 2048, 4096),
        Vector("12 bit odd numbers", U12, "linear", 2047.3, 2049.7),
        Vector("12 bit inverted", U12, "linear", 1800, 2600, invert=True),
        Vector("12 bit exact", U12, "linear_exact", 2048, 2051),
        Vector("12 bit sigmoid", U12, "sigmoid", 2048, 1500),
        Vector("12 bit sigmoid inverted", U12, "sigmoid", 1100, 700, invert=True),
        Vector("width one is a step", U12, "linear", 1020, 1),
        Vector("width one is a step, between values", U12, "linear", 1020.25, 1),
        Vector("width just above one", U12, "linear", 1020, 1.5),
        Vector("exact, narrower than one", U12, "linear_exact", 1020, 0.5),
        Vector("exact, width one", U12, "linear_exact", 1020, 1),
        Vector("16 bit full", U16, "linear", 32768, 65536),
        Vector("16 bit inside", U16, "linear", 30000, 20000),
        Vector("16 bit exact inverted", U16, "linear_exact", 30000, 50000, invert=True),
        Vector("16 bit sigmoid", U16, "sigmoid", 33000, 9000),
        Vector("16 bit sigmoid, steep", U16, "sigmoid", 32768, 0.5),
        Vector("window outside the values", U12, "linear", 90000, 100),
        Vector("negative centre", U12, "linear", -400, 1500),
        Vector("signed, lung", ct, "linear", -600, 1500, **signed),
        Vector("signed, bone, inverted", ct, "linear", 300, 1500, invert=True, **signed),
        Vector("signed, negative centre, exact", ct, "linear_exact", -40, 400, **signed),
        Vector("signed, sigmoid", ct, "sigmoid", -40, 400, **signed),
        Vector("scale below one", U12, "linear", 300, 512, scale=0.25, offset=-100.0),
        Vector("scale not a binary fraction", U12, "linear", 200, 350, scale=0.1, offset=-3.3),
        Vector("negative scale", U12, "linear", -1500, 3000, scale=-1.0, offset=12.0),
        Vector("float picture 0 to 1", U16, "linear_exact", 0.5, 1.0, scale=1 / 65535),
        Vector("table of 12 bit", U12, "lut", 1150, 300, table=(1000, ramp, 12)),
        Vector("table inverted", U12, "lut", 1150, 300, invert=True, table=(1000, ramp, 12)),
        Vector("table of 8 bit", U12, "lut", 1020, 8, table=(1016, steps, 8)),
        Vector(
            "table with a negative first value",
            ct, "lut", 0, 300, table=(-150, ramp, 12), **signed,
        ),
        Vector(
            "table on values that are not whole",
            U12, "lut", 404, 8, scale=0.4, offset=-2.0, table=(400, steps, 8),
        ),
        Vector("presentation table", U12, "linear", 2048, 4096, presentation=gamma),
        Vector(
            "presentation table inverted",
            U12, "linear_exact", 2000, 3000, invert=True, presentation=gamma,
        ),
    ]  # fmt: skip


def as_json(vector: Vector) -> dict[str, object]:
    """Return the vector with its expected grey levels, checked against pydicom."""
    grey = [grey_of(vector, code) for code in vector.codes]
    theirs = pydicom_grey(vector)
    if theirs is not None and np.abs(theirs - grey).max() > 0.5 + 1e-6:
        raise ValueError(f"{vector.name}: pydicom does not agree")
    table = None
    if vector.table is not None:
        values = base64.b64encode(table_bytes(vector)).decode()
        table = {"first": vector.table[0], "values": values}
    presentation = vector.presentation and base64.b64encode(bytes(vector.presentation)).decode()
    return {
        "name": vector.name,
        "header": {
            "scale": vector.scale,
            "offset": vector.offset,
            "invert": vector.invert,
            "presentation": presentation,
        },
        "preset": {
            "name": vector.name,
            "kind": vector.kind,
            "centre": vector.centre,
            "width": vector.width,
            "table": table,
        },
        "codes": list(vector.codes),
        "grey": grey,
    }


def main() -> None:
    """Write the file, one vector a line."""
    lines = ",\n".join(json.dumps(as_json(vector)) for vector in vectors())
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(
        '{"about": "Made by tools/golden_windowing.py; do not edit.", "vectors": [\n'
        + lines
        + "\n]}\n",
        encoding="utf-8",
    )
    print(f"{TARGET.name}: {len(vectors())} vectors")


if __name__ == "__main__":
    main()

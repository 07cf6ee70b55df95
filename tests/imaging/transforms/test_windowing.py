"""The windowing against golden vectors (exact arithmetic, pydicom) and against pydicom itself."""

import base64
import json
import math
import runpy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydicom.dataset import Dataset
from pydicom.pixels.processing import apply_windowing
from support import ROOT
from support.rows import each_row

from rexview.imaging import VoiTable, Window
from rexview.imaging.transforms import grey_levels, grey_table, window_position

GOLDEN = ROOT / "tests" / "data" / "windowing.json"
VECTORS = json.loads(GOLDEN.read_text(encoding="utf-8"))["vectors"]


@each_row("vector", VECTORS, ids=lambda vector: vector["name"])
def test_golden_vectors(vector):
    header, preset = vector["header"], dict(vector["preset"])
    if preset["table"]:
        levels = base64.b64decode(preset["table"]["values"])
        preset["table"] = VoiTable(preset["table"]["first"], levels)
    presentation = header["presentation"] and base64.b64decode(header["presentation"])
    table = grey_table(
        Window(**preset),
        65536,
        scale=header["scale"],
        offset=header["offset"],
        invert=header["invert"],
        presentation=presentation,
    )
    np.testing.assert_array_equal(table[vector["codes"]], vector["grey"])


def test_golden_vectors_are_what_their_tool_writes():
    tool = runpy.run_path(str(ROOT / "tools" / "golden_windowing.py"))
    assert [tool["as_json"](vector) for vector in tool["vectors"]()] == VECTORS


def test_golden_vectors_cover_every_kind():
    kinds = {(vector["preset"]["kind"], vector["header"]["invert"]) for vector in VECTORS}
    assert kinds == {
        (kind, invert)
        for kind in ("linear", "linear_exact", "sigmoid", "lut")
        for invert in (False, True)
    }


def from_pydicom(values, kind, centre, width):
    ds = Dataset()
    ds.PhotometricInterpretation = "MONOCHROME2"
    ds.BitsStored, ds.PixelRepresentation = 16, 0
    ds.WindowCenter, ds.WindowWidth = centre, width
    ds.VOILUTFunction = kind.upper()
    with np.errstate(over="ignore"):
        return apply_windowing(values, ds) / 65535


@settings(deadline=None)
@given(
    kind=st.sampled_from(["linear", "linear_exact", "sigmoid"]),
    centre=st.floats(-5000, 70000).map(lambda number: round(number, 3)),
    width=st.floats(1.5, 70000).map(lambda number: round(number, 3)),
    slope=st.sampled_from([1.0, 0.5, -1.0, 0.1, 3.0]),
    intercept=st.sampled_from([0.0, -1024.0, 0.7]),
)
def test_position_is_that_of_pydicom(kind, centre, width, slope, intercept):
    values = np.arange(0, 65536, 257) * slope + intercept
    ours = window_position(values, Window("", kind, centre, width))
    np.testing.assert_allclose(ours, from_pydicom(values, kind, centre, width), atol=1e-9)


@settings(deadline=None)
@given(
    kind=st.sampled_from(["linear", "linear_exact", "sigmoid"]),
    centre=st.floats(-1e5, 1e5),
    width=st.floats(1, 1e5),
    invert=st.booleans(),
)
def test_grey_never_turns_back(kind, centre, width, invert):
    window = Window("", kind, centre, width)
    steps = np.diff(grey_table(window, 65536, offset=-30000.0).astype(int))
    assert (steps >= 0).all()
    turned = grey_table(window, 65536, offset=-30000.0, invert=True)
    np.testing.assert_array_equal(255 - turned, grey_table(window, 65536, offset=-30000.0))


def test_eight_bits_as_stored_is_the_identity():
    for window in (Window("", "linear", 128, 256), Window("", "linear_exact", 127.5, 255)):
        np.testing.assert_array_equal(grey_table(window, 256), np.arange(256))


@pytest.mark.parametrize(
    ("kind", "width"),
    [("linear", 0.5), ("linear", -3), ("linear_exact", 0), ("sigmoid", 0), ("lut", 10)],
)
def test_impossible_width_raises(kind, width):
    with pytest.raises(ValueError, match="cannot have this width"):
        window_position(np.zeros(3), Window("", kind, 0, width))


def test_lut_without_table_raises():
    with pytest.raises(ValueError, match="needs its table"):
        grey_table(Window("", "lut", 0, 10), 256)


@pytest.mark.parametrize("bits", [8, 10, 12, 16])
def test_entries_are_scaled_to_the_whole_grey_range(bits):
    entries = np.array([0, 1, 2 ** (bits - 1), 2**bits - 1], dtype=np.uint16)
    expected = [math.floor(entry * 255 / (2**bits - 1) + 0.5) for entry in entries.tolist()]
    assert list(grey_levels(entries, bits)) == expected


def test_entries_beyond_their_bits_are_white():
    assert list(grey_levels(np.array([4095, 5000], dtype=np.uint16), 12)) == [255, 255]

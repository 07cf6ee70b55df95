"""Coding: whatever the type of the stored pixels, codes say the value that pydicom says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pydicom.dataset import Dataset
from pydicom.pixels.processing import apply_modality_lut
from support.rows import each_row

from rexview.imaging import Modality, Radiograph
from rexview.imaging.transforms import code_pixels

NARROW = ["u1", "i1", "<u2", ">u2", "<i2", ">i2"]


def decoded(coded):
    return coded.codes.astype(np.float64) * coded.scale + coded.offset


def rescaled(pixels, slope, intercept):
    ds = Dataset()
    ds.RescaleSlope, ds.RescaleIntercept = slope, intercept
    return apply_modality_lut(pixels, ds)


@settings(deadline=None)
@given(
    pixels=st.sampled_from(NARROW).flatmap(
        lambda kind: hnp.arrays(np.dtype(kind), hnp.array_shapes(min_dims=2, max_dims=2))
    ),
    slope=st.sampled_from([1.0, 0.25, -2.0]),
    intercept=st.sampled_from([0.0, -1024.0, 7.5]),
)
def test_up_to_16_bits_nothing_is_lost(pixels, slope, intercept):
    coded = code_pixels(Radiograph(pixels, "dicom", 16, Modality(slope, intercept)))
    np.testing.assert_array_equal(decoded(coded), rescaled(pixels, slope, intercept))
    assert coded.codes.dtype == (np.uint8 if pixels.dtype.itemsize == 1 else np.uint16)
    assert not coded.quantised


def test_unsigned_pixels_are_not_copied():
    pixels = np.arange(12, dtype=np.uint16).reshape(3, 4)
    assert np.shares_memory(code_pixels(Radiograph(pixels, "dicom", 12)).codes, pixels)


@pytest.mark.parametrize("kind", ["i4", "u4", "i8"])
def test_wide_integers_of_a_narrow_range_keep_every_value(kind):
    pixels = np.array([[100_000, 165_535], [100_001, 123_456]], dtype=kind)
    coded = code_pixels(Radiograph(pixels, "dicom", 32, Modality(0.5, -3)))
    np.testing.assert_array_equal(decoded(coded), rescaled(pixels, 0.5, -3))
    assert not coded.quantised


@pytest.mark.parametrize(
    "pixels",
    [
        np.array([[0, 2**32 - 1], [2**31, 5]], dtype=np.uint32),
        np.array([[-1.5, 0.25], [1e-3, 8.75]], dtype=np.float32),
        np.array([[-1e9, 3e9]], dtype=np.float64),
    ],
    ids=["uint32", "float32", "float64"],
)
def test_wider_ranges_are_cut_into_65536_steps(pixels):
    coded = code_pixels(Radiograph(pixels, "dicom", 32, Modality(2.0, 1.0)))
    values = pixels.astype(np.float64) * 2 + 1
    step = (values.max() - values.min()) / 65535
    assert coded.quantised
    assert np.abs(decoded(coded) - values).max() <= 0.5001 * step


def test_not_a_number_is_black_and_infinity_is_an_end():
    pixels = np.array([[np.nan, -np.inf, np.inf], [0.0, 1.0, 2.0]])
    coded = code_pixels(Radiograph(pixels, "raster", 64))
    assert coded.codes[0].tolist() == [0, 0, 65535]
    assert np.isfinite([coded.scale, coded.offset]).all()


@pytest.mark.parametrize("value", [np.nan, 0.0, 3.5, -1e308, 5e-324])
def test_a_constant_float_picture_is_one_code(value):
    coded = code_pixels(Radiograph(np.full((2, 3), value), "raster", 64))
    assert coded.codes.tolist() == [[0, 0, 0]] * 2
    assert coded.scale != 0


@each_row("kind", ["u1", "i1", "u2", "i2", "i4"])
@each_row("first", [-5, 0, 20])
def test_modality_table_is_that_of_pydicom(kind, first):
    pixels = np.arange(-40, 60).reshape(10, 10)
    pixels = (pixels if np.dtype(kind).kind == "i" else abs(pixels)).astype(kind)
    entries = (np.arange(30, dtype=np.uint16) ** 2 * 70).astype(np.uint16)
    item = Dataset()
    item.add_new("LUTDescriptor", "SS", [30, first, 16])
    item.add_new("LUTData", "US", entries.tolist())
    ds = Dataset()
    ds.ModalityLUTSequence = [item]
    expected = apply_modality_lut(pixels.astype(np.int64), ds)
    coded = code_pixels(Radiograph(pixels, "dicom", 8, Modality(table=entries, table_first=first)))
    np.testing.assert_array_equal(decoded(coded), expected)

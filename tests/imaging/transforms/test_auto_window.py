"""The automatic window: finds the patient whatever lies around, leaves finished pictures alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import SHARED_DATA

from rexview.imaging import Modality, Radiograph, auto_window, read_image, render_display

NIH = SHARED_DATA / "nih"


def chest(side=400):
    """A smooth body, 12 bit, values about 900 to 3100."""
    y, x = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j]
    lungs = np.exp(-(((abs(x) - 0.4) / 0.25) ** 2) - (y / 0.6) ** 2)
    noise = np.random.default_rng(1).normal(0, 15, (side, side))
    return (2800 - 1800 * lungs + 200 * y + noise).astype(np.uint16)


def ends(window):
    return window.centre - window.width / 2, window.centre + window.width / 2


def test_holds_the_body():
    body = chest()
    low, high = ends(auto_window(Radiograph(body, "dicom", 12)))
    inner = body[40:-40, 40:-40]
    assert ((inner >= low) & (inner <= high)).mean() > 0.99
    assert high - low < 1.3 * np.ptp(inner.astype(int))


@pytest.mark.parametrize("value", [0, 4095])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.3])
def test_a_shutter_does_not_matter(value, share):
    body = chest()
    clean = auto_window(Radiograph(body, "dicom", 12))
    edge = round(400 * share / 2)
    shut = body.copy()
    shut[:edge] = shut[-edge:] = value
    shut[:, :edge] = shut[:, -edge:] = value
    found = auto_window(Radiograph(shut, "dicom", 12))
    assert abs(found.centre - clean.centre) < 0.1 * clean.width
    assert abs(found.width - clean.width) < 0.2 * clean.width


def test_markers_and_dead_pixels_do_not_matter():
    body = chest()
    clean = auto_window(Radiograph(body, "dicom", 12))
    marked = body.copy()
    marked[60:90, 60:80] = 4095
    marked[200, 100:110] = 0
    found = auto_window(Radiograph(marked, "dicom", 12))
    assert abs(found.centre - clean.centre) < 0.05 * clean.width
    assert abs(found.width - clean.width) < 0.1 * clean.width


@pytest.mark.parametrize(
    ("modality", "kind"),
    [(Modality(2.0, -1024.0), "u2"), (Modality(-1.0, 4095.0), "u2"), (Modality(), "i2")],
)
def test_window_is_in_values_not_in_stored_pixels(modality, kind):
    body = chest().astype(kind)
    low, high = ends(auto_window(Radiograph(body, "dicom", 12)))
    found = ends(auto_window(Radiograph(body, "dicom", 12, modality)))
    expected = sorted(end * modality.slope + modality.intercept for end in (low, high))
    np.testing.assert_allclose(found, expected)


def test_float_pictures():
    body = chest()
    plain = render_display(Radiograph(body, "raster", 16), "auto").astype(int)
    floats = render_display(Radiograph(body / np.float32(4096), "raster", 32), "auto")
    # the margin beyond the darkest and brightest pixel exists for integers only
    assert np.abs(floats - plain).max() <= 6


@settings(deadline=None)
@given(value=st.integers(0, 65535), shape=st.tuples(st.integers(1, 9), st.integers(1, 9)))
def test_a_constant_picture_has_a_window(value, shape):
    constant = Radiograph(np.full(shape, value, dtype=np.uint16), "raster", 16)
    assert auto_window(constant).width > 0
    assert render_display(constant, "auto").shape == shape


def test_eight_bits_that_use_their_range_stay_as_they_are():
    body = (chest() >> 4).astype(np.uint8)
    body = np.clip((body.astype(int) - 60) * 2, 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(render_display(Radiograph(body, "raster", 8), "auto"), body)


def test_faint_eight_bits_are_stretched():
    faint = (100 + (chest() >> 6)).astype(np.uint8)
    assert np.ptp(render_display(Radiograph(faint, "raster", 8), "auto")) > 4 * np.ptp(faint)


@pytest.mark.shared
@pytest.mark.skipif(not NIH.is_dir(), reason="real radiographs are not beside the checkout")
@pytest.mark.parametrize("name", sorted(path.name for path in NIH.glob("*.png")) or ["none"])
def test_real_radiographs(name):
    radiograph = read_image(NIH / name)
    np.testing.assert_array_equal(render_display(radiograph, "initial"), radiograph.pixels)
    picture = render_display(radiograph, "auto")
    inner = picture[100:-100, 100:-100]
    assert inner.std() > 30
    assert ((inner == 0) | (inner == 255)).mean() < 0.06

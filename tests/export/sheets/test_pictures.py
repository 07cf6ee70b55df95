"""Films on sheets: bounded, in their shape, grey as the viewer begins with."""

import cv2
import numpy as np
import pytest

from rexview.export.sheets.film_layout import LONG_SIDE, MAX_PICTURE_BYTES, encode_picture
from rexview.imaging.radiograph import Radiograph


def decoded(made):
    return cv2.imdecode(np.frombuffer(made.jpeg, np.uint8), cv2.IMREAD_UNCHANGED)


def test_a_large_film_is_made_smaller():
    noise = np.random.default_rng(1).integers(0, 256, (2400, 3000), dtype=np.uint8)
    made = encode_picture(Radiograph(noise, "raster", 8))
    assert decoded(made).shape == (1280, LONG_SIDE)
    assert len(made.jpeg) <= MAX_PICTURE_BYTES
    assert (made.width, made.height, made.shape) == (3000, 2400, 0.8)


def test_pixels_that_are_not_square_become_so():
    made = encode_picture(Radiograph(np.zeros((50, 100), np.uint8), "raster", 8, aspect=3.0))
    assert made.shape == 1.5
    assert (made.width, made.height) == (100, 50)
    assert decoded(made).shape == (150, 100)


def test_colours_stay():
    red = np.zeros((40, 40, 3), np.uint8)
    red[..., 0] = 200
    assert decoded(encode_picture(Radiograph(red, "raster", 8)))[20, 20] == pytest.approx(
        [0, 0, 200], abs=4
    )

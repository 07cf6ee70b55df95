"""Thumbnails and square pixels."""

import io

import cv2
import numpy as np
import pytest
from PIL import Image

from rexview.imaging import DiskCache, read_image, render_display, thumbnail
from rexview.imaging.rendering import square_pixels

RED, BLUE = (255, 0, 0), (0, 90, 255)


def opened(content):
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "WEBP"
        return np.asarray(image.convert("RGB")).astype(int)


@pytest.mark.parametrize("size", [16, 32, 500])
def test_thumbnail_shows_the_first_picture_of_the_viewer(write_dicom, film, size):
    path = write_dicom(film, PhotometricInterpretation="MONOCHROME1")
    small = opened(thumbnail(path, size=size))
    assert max(small.shape[:2]) == min(size, 80)
    expected = render_display(read_image(path), "initial")
    expected = cv2.resize(expected, small.shape[1::-1], interpolation=cv2.INTER_AREA)
    assert np.abs(small.mean(axis=2) - expected).mean() < 6


def test_thumbnail_has_square_pixels(write_dicom, film):
    path = write_dicom(film, PixelAspectRatio=[3, 1])  # 60 rows, each three columns high
    assert opened(thumbnail(path, size=90)).shape[:2] == (90, 40)


def test_thumbnail_of_colour(tmp_path):
    colour = np.zeros((40, 60, 3), dtype=np.uint8)
    colour[:, :30], colour[:, 30:] = RED, BLUE
    Image.fromarray(colour).save(tmp_path / "a.png")
    small = opened(thumbnail(tmp_path / "a.png"))
    assert abs(small[20, 10] - RED).max() < 30
    assert abs(small[20, 50] - BLUE).max() < 30


def test_thumbnail_from_the_cache(write_dicom, film, tmp_path):
    cache = DiskCache(tmp_path / "cache", 10**7)
    path = write_dicom(film)
    small = thumbnail(path, cache=cache)
    assert small == thumbnail(path) == thumbnail(path, cache=cache)
    assert any((tmp_path / "cache").rglob("*"))


@pytest.mark.parametrize(
    ("aspect", "shape"), [(1, (30, 40)), (2, (60, 40)), (0.5, (30, 80)), (1.0004, (30, 40))]
)
def test_square_pixels(aspect, shape):
    assert square_pixels(np.zeros((30, 40), dtype=np.uint8), aspect).shape == shape


@pytest.mark.parametrize(("aspect", "shape"), [(10, (30, 4)), (0.1, (3, 40))])
def test_square_pixels_shrink_what_would_become_too_large(aspect, shape):
    picture = np.zeros((30, 40), dtype=np.uint8)
    assert square_pixels(picture, aspect, max_pixels=5000).shape == shape

"""Thumbnails and boxes."""

import io
import math

import cv2
import numpy as np
import pytest
from PIL import Image

from rexview.imaging import ColouredBox, DiskCache, display, draw_boxes, read_image, thumbnail
from rexview.imaging.draw import square_pixels

RED, BLUE = (255, 0, 0), (0, 90, 255)


def opened(content):
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "WEBP"
        return np.asarray(image.convert("RGB")).astype(int)


def test_box_is_drawn_where_it_lies_in_its_colour():
    drawn = draw_boxes(
        np.full((100, 200), 128, dtype=np.uint8), [ColouredBox((40, 20, 60, 50), RED)]
    )
    assert drawn.shape == (100, 200, 3)
    for x, y in ((40, 45), (100, 45), (70, 20), (70, 70)):
        assert drawn[y, x].tolist() == list(RED)
    np.testing.assert_array_equal(drawn[30:60, 50:90], 128)
    np.testing.assert_array_equal(drawn[:, :35], 128)


def test_line_has_a_dark_edge_on_white():
    drawn = draw_boxes(
        np.full((100, 200), 255, dtype=np.uint8), [ColouredBox((40, 20, 60, 50), RED)]
    )
    assert drawn[45, 34:47].sum(axis=1).min() < 100


def test_scale_goes_from_stored_pixels_to_the_picture():
    picture = np.zeros((50, 200), dtype=np.uint8)
    drawn = draw_boxes(picture, [ColouredBox((100, 200, 100, 100), RED)], scale=(1.0, 0.125))
    reds = np.argwhere((drawn == RED).all(axis=2))
    assert abs(reds.min(axis=0) - [25, 100]).max() <= 1
    assert abs(reds.max(axis=0) - [37, 200]).max() <= 2


@pytest.mark.parametrize(
    "box",
    [
        (math.nan, 0, 5, 5),
        (0, 0, math.inf, 5),
        (5, 5, 0, 9),
        (5, 5, -4, 9),
        (500, 5, 9, 9),
        (-50, 5, 9, 9),
        (1, 2, 3),
    ],
)
def test_boxes_that_cannot_be_drawn_are_left_out(box):
    picture = np.full((40, 60), 77, dtype=np.uint8)
    np.testing.assert_array_equal(draw_boxes(picture, [ColouredBox(box, RED)]), 77)


def test_box_that_sticks_out_is_drawn_as_far_as_it_lies_inside():
    picture = np.zeros((40, 60), dtype=np.uint8)
    drawn = draw_boxes(picture, [ColouredBox((-1e9, 10, 1e9 + 30, 1e6), BLUE)])
    assert drawn[25, 30].tolist() == list(BLUE)


def test_picture_is_not_changed():
    picture = np.zeros((40, 60, 3), dtype=np.uint8)
    draw_boxes(picture, [ColouredBox((5, 5, 20, 20), RED)])
    assert not picture.any()


@pytest.mark.parametrize("size", [16, 32, 500])
def test_thumbnail_shows_the_first_picture_of_the_viewer(write_dicom, film, size):
    path = write_dicom(film, PhotometricInterpretation="MONOCHROME1")
    small = opened(thumbnail(path, size=size))
    assert max(small.shape[:2]) == min(size, 80)
    expected = display(read_image(path), "initial")
    expected = cv2.resize(expected, small.shape[1::-1], interpolation=cv2.INTER_AREA)
    assert np.abs(small.mean(axis=2) - expected).mean() < 6


def test_thumbnail_has_square_pixels(write_dicom, film):
    path = write_dicom(film, PixelAspectRatio=[3, 1])  # 60 rows, each three columns high
    assert opened(thumbnail(path, size=90)).shape[:2] == (90, 40)


def test_thumbnail_with_boxes(write_dicom, film):
    path = write_dicom(np.full((300, 400), 1000, dtype=np.uint16))
    box = ColouredBox((100, 150, 200, 100), RED)
    small = opened(thumbnail(path, [box], size=200))
    reds = np.argwhere((small[..., 0] > 130) & (small[..., 1] < 90))
    assert abs(reds.min(axis=0) - [75, 50]).max() <= 3
    assert abs(reds.max(axis=0) - [125, 150]).max() <= 3


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
    box = [ColouredBox((10, 10, 30, 30), RED)]
    bare, boxed = thumbnail(path, cache=cache), thumbnail(path, box, cache=cache)
    assert bare != boxed
    assert bare == thumbnail(path)
    assert boxed == thumbnail(path, box)
    assert (bare, boxed) == (thumbnail(path, cache=cache), thumbnail(path, box, cache=cache))


@pytest.mark.parametrize(
    ("aspect", "shape"), [(1, (30, 40)), (2, (60, 40)), (0.5, (30, 80)), (1.0004, (30, 40))]
)
def test_square_pixels(aspect, shape):
    assert square_pixels(np.zeros((30, 40), dtype=np.uint8), aspect).shape == shape


@pytest.mark.parametrize(("aspect", "shape"), [(10, (30, 4)), (0.1, (3, 40))])
def test_square_pixels_shrink_what_would_become_too_large(aspect, shape):
    picture = np.zeros((30, 40), dtype=np.uint8)
    assert square_pixels(picture, aspect, max_pixels=5000).shape == shape

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT

from rexview.geometry import (
    Orientation,
    box_problem,
    box_side,
    iou,
    orientation_of,
)

SHARED_WITH_THE_VIEWER = json.loads((ROOT / "tests" / "data" / "mirrored_edges.json").read_text())
LETTERS = "RLAPHF"
OPPOSITE = dict(zip(LETTERS, "LRPAFH", strict=True))


def standard_picture():
    """A 3 x 3 array of what lies where on a standard frontal display: head up, R at the left."""
    return np.array([["RH", "H", "LH"], ["R", "", "L"], ["RF", "F", "LF"]])


def edges(picture):
    return picture[1, 0], picture[1, 2], picture[0, 1], picture[2, 1]


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("flip", [False, True])
def test_the_eight_ways_to_lie(turns, flip):
    picture = np.rot90(np.fliplr(standard_picture()) if flip else standard_picture(), turns)
    left, right, top, bottom = edges(picture)
    found = orientation_of("PA", [right, bottom])
    assert (found.left, found.right, found.top, found.bottom) == (left, right, top, bottom)
    assert found.mirrored is flip
    assert found.turned is (turns != 0)
    for side, letter in (("right", "R"), ("left", "L")):
        row, column = np.argwhere(picture == letter)[0]
        box = (column * 100 + 20, row * 100 + 20, 60, 60)
        assert box_side(box, 300, 300, found) == side


def test_the_view_counts_when_the_file_is_silent():
    assert orientation_of("AP") == Orientation("R", "L", "H", "F", "view")
    assert orientation_of("FRONTAL").left == "R"


@pytest.mark.parametrize("view", ["LATERAL", "UNKNOWN", "OBLIQUE", "DECUBITUS", None])
def test_no_side_is_guessed(view):
    assert not orientation_of(view).known
    assert box_side((0, 0, 10, 10), 100, 100, orientation_of(view)) is None


@pytest.mark.parametrize("words", [["L"], ["L", "R"], ["L", "L"], ["X", "F"], ["", ""], [], None])
def test_unusable_orientation_falls_back_to_the_view(words):
    assert orientation_of("PA", words).source == "view"
    assert not orientation_of("UNKNOWN", words).known


def test_compound_words_count_by_their_first_letter():
    assert orientation_of("PA", ["LF", "FR"]).left == "R"


def test_a_lateral_view_with_orientation_has_no_right_or_left():
    lateral = orientation_of("LATERAL", ["A", "F"])
    assert lateral.known
    assert box_side((0, 0, 10, 10), 100, 100, lateral) is None
    assert not lateral.mirrored


def test_a_flip_swaps_the_sides():
    flipped = orientation_of("PA", laterality_flip=True)
    assert flipped.mirrored
    assert box_side((0, 0, 10, 10), 100, 100, flipped) == "left"


@pytest.mark.parametrize(("edges", "mirrored"), SHARED_WITH_THE_VIEWER["mirrored"].items())
def test_agrees_with_the_viewer_on_what_is_mirrored(edges, mirrored):
    assert Orientation(*edges, source="PatientOrientation").mirrored is mirrored


@pytest.mark.parametrize(
    ("box", "side"),
    [
        ((10, 10, 20, 20), "right"),
        ((70, 10, 20, 20), "left"),
        ((45, 10, 10, 20), "midline"),
        ((0, 0, 100, 100), "midline"),
        ((20, 40, 55, 20), "midline"),
        ((10, 10, 0, 5), None),
        ((math.nan, 10, 5, 5), None),
        ((200, 10, 5, 5), None),
    ],
)
def test_sides_of_boxes(box, side):
    assert box_side(box, 100, 100, orientation_of("PA")) == side


@pytest.mark.parametrize(
    ("box", "size", "problem"),
    [
        ((0, 0, 1, 1), (10, 10), None),
        ((-1, -1, 5, 5), (10, 10), None),
        (None, (10, 10), "four numbers"),
        ((1, 2, 3), (10, 10), "four numbers"),
        ((1, 2, 3, math.inf), (10, 10), "infinite"),
        ((1, 2, -3, 4), (10, 10), "no area"),
        ((10, 0, 3, 4), (10, 10), "outside"),
        ((-3, 0, 3, 4), (10, 10), "outside"),
        ((100, 0, 3, 4), (None, None), None),
    ],
)
def test_box_problems(box, size, problem):
    found = box_problem(box, *size)
    assert found is None if problem is None else problem in found


coordinate = st.integers(0, 100)
boxes = st.tuples(coordinate, coordinate, st.integers(1, 50), st.integers(1, 50))


@given(boxes, boxes)
def test_iou_counts_shared_pixels(first, second):
    canvas = np.zeros((2, 150, 150), bool)
    for layer, (x, y, width, height) in zip(canvas, (first, second), strict=True):
        layer[y : y + height, x : x + width] = True
    expected = (canvas[0] & canvas[1]).sum() / (canvas[0] | canvas[1]).sum()
    assert iou(first, second) == pytest.approx(expected)

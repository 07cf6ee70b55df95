"""From stored pixels to a model's counting and back, in every convention and order."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.models.asking.box_coordinates import (
    describe_box_form,
    from_stored_pixels,
    to_stored_pixels,
)
from rexview.models.backend import Placement, SentImage
from rexview.text.written_boxes import BoxForm, Convention, Corners

FORMS = [
    BoxForm(convention, corners)
    for convention in get_args(Convention)
    for corners in get_args(Corners)
]


@st.composite
def placed_boxes(draw):
    """A picture shrunk and padded in some way, and a box in its stored image."""
    width, height = draw(st.integers(20, 6000)), draw(st.integers(20, 6000))
    sent_width, sent_height = draw(st.integers(20, 4000)), draw(st.integers(20, 4000))
    left, top = draw(st.integers(0, 1000)), draw(st.integers(0, 1000))
    picture = SentImage(
        "i",
        b"",
        "image/png",
        sent_width + left + draw(st.integers(0, 1000)),
        sent_height + top + draw(st.integers(0, 1000)),
        width,
        height,
        Placement(sent_width / width, sent_height / height, left, top),
    )
    x, y = draw(st.floats(0, width - 2)), draw(st.floats(0, height - 2))
    return picture, (x, y, draw(st.floats(1, width - x)), draw(st.floats(1, height - y)))


@given(placed_boxes(), st.sampled_from(FORMS))
def test_there_and_back_is_exact(placed, form):
    picture, box = placed
    assert to_stored_pixels(from_stored_pixels(box, form, picture), form, picture) == pytest.approx(
        box, abs=0.01
    )


@given(placed_boxes(), st.sampled_from([one for one in FORMS if one.convention == "pixels_stored"]))
def test_whole_pixels_are_exact_to_one_pixel(placed, form):
    picture, box = placed
    numbers = [round(number) for number in from_stored_pixels(box, form, picture)]
    there = to_stored_pixels(numbers, form, picture)
    assert there == pytest.approx(box, abs=1.01)


def test_a_padded_square_by_hand():
    # 2000 x 2500 shrunk to 720 x 900 and padded by 90 on both sides; a box in the right half
    picture = SentImage("i", b"", "image/png", 900, 900, 2000, 2500, Placement(0.36, 0.36, 90, 0))
    form = BoxForm("normalised_1000", "yxyx")
    # x 1000 is 360 + 90 = 450 of 900 px: 500; 250 wide is 90 px: 100. y 500 is 180 px: 200
    assert from_stored_pixels((1000, 500, 250, 625), form, picture) == pytest.approx(
        (200, 500, 450, 600)
    )
    assert to_stored_pixels((200, 500, 450, 600), form, picture) == pytest.approx(
        (1000, 500, 250, 625)
    )


def test_every_form_has_words_of_its_own():
    known = [form for form in FORMS if form.convention != "unknown"]
    assert len({describe_box_form(form) for form in known}) == len(known)

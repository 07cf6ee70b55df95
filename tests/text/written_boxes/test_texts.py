"""Boxes in answers as models write them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from rexview.text.written_boxes import BoxForm, boxes_in_text

FORM = BoxForm("pixels_sent", "xyxy", "box")


def read(text, form=FORM):
    return [(box.label, box.numbers) for box in boxes_in_text(text, form).boxes]


ONE = [("Right effusion", (10.0, 20.0, 110.0, 220.0))]
TWO = [*ONE, ("nodule", (1.0, 2.0, 3.0, 4.0))]


@each_row(
    "text",
    [
        '[{"label": "Right effusion", "box": [10, 20, 110, 220]}]',
        'There is fluid.\n```json\n[{"box": [10, 20, 110, 220], "label": "Right effusion"}]\n```\n',
        'Fluid.\n\nFinal Answer: [{"label": "Right effusion", "bbox_2d": [10, 20, 110, 220]}]',
        'See {"findings": [{"finding": "Right effusion", "box": [10, 20, 110, 220]}]} above.',
        '{"boxes": [{"label": "Right effusion", "box": {"x1":10,"y1":20,"x2":110,"y2":220}}]}',
        '{"label": "Right effusion", "bounding_box": [[10, 20, 110, 220]]}',
        "<ref>Right effusion</ref><box>(10,20),(110,220)</box>",
        "<|object_ref_start|>Right effusion<|object_ref_end|><|box_start|>(10,20),(110,220)"
        "<|box_end|>",
        "Right effusion: <box>[[10, 20, 110, 220]]</box>",
        "- Right effusion: [10, 20, 110, 220]",
        "1. **Right effusion** at [10, 20, 110, 220].",
        "Small heart. Right effusion (bounding box: [10, 20, 110, 220])",
        "Right effusion: (10, 20, 110, 220)",
        "The film is rotated; Right effusion is located at [10, 20, 110, 220].",
    ],
)
def test_one_box(text):
    assert read(text) == ONE


@pytest.mark.parametrize(
    "text",
    [
        '{"label": "Right effusion", "box": [10, 20, 110, 220]}\n'
        '{"label": "nodule", "box": [1, 2, 3, 4]}',
        "* Right effusion: [10, 20, 110, 220]\n* nodule: [1, 2, 3, 4]\n",
        'First {"label": "Right effusion", "box": [10, 20, 110, 220]}, then [] and '
        '```json\n[{"label": "nodule", "box": [1.0, 2.0, 3.0, 4.0]}]\n```',
    ],
)
def test_two_boxes(text):
    assert read(text) == TWO


@pytest.mark.parametrize(
    "text",
    [
        "No effusion. The cardiothoracic ratio is 0.48 [1].",
        "Measured 12 x 30 mm, [see images 1, 2 and 3].",
        "[]",
        "",
        '{"plan": "look", "findings": [1, 2, 3, 4]}',
        "On 2024-05-06 (10:20) and 1, 2, 3, 4 days later.",
    ],
)
def test_no_boxes(text):
    found = boxes_in_text(text, FORM)
    assert (found.boxes, found.unread) == ((), 0)


def test_the_order_that_a_name_stands_for_is_kept():
    [box] = boxes_in_text('[{"box_2d": [20, 10, 220, 110], "label": "x"}]', FORM).boxes
    assert box.corners == "yxyx"
    own = BoxForm("normalised_1000", "yxyx", "box_2d")
    [box] = boxes_in_text('[{"box_2d": [20, 10, 220, 110], "label": "x"}]', own).boxes
    assert box.corners is None  # as its card says
    [box] = boxes_in_text('{"x": 1, "y": 2, "width": 3, "height": 4}', FORM).boxes
    assert (box.corners, box.numbers) == ("xywh", (1, 2, 3, 4))


def test_side_image_and_score_are_read():
    text = '[{"label": "effusion", "side": "Right", "image": 2, "score": 0.5, "box": [1, 2, 3, 4]}]'
    [box] = boxes_in_text(text, FORM).boxes
    assert (box.side, box.image, box.score) == ("right", 2, 0.5)


@pytest.mark.parametrize("value", ['"left"', "[1, 2, 3]", "[1, 2, 3, null]", "[1, 2, 3, 1e99]"])
def test_what_is_no_box_is_counted(value):
    found = boxes_in_text(f'[{{"label": "a", "box": {value}}}]', FORM)
    assert (found.boxes, found.unread) == ((), 1)


def test_too_many_boxes_are_told():
    found = boxes_in_text(json.dumps([{"box": [n, 1, n + 5, 9]} for n in range(600)]), FORM)
    assert (len(found.boxes), found.unread) == (500, 100)


@given(st.text(alphabet='[]{}",:0123456789.<>box/ ()-\n', max_size=400))
def test_hostile_text_ends(text):
    boxes_in_text(text, FORM)


@pytest.mark.parametrize(
    "text", ["[" * 300_000, "[1," * 100_000, "<box>(" * 60_000, "(1,1" * 90_000]
)
def test_long_hostile_text_ends(text):
    assert boxes_in_text(text, FORM).boxes == ()

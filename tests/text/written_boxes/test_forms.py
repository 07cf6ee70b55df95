"""How well-known models write boxes, by their names."""

import pytest

from rexview.text import written_boxes
from rexview.text.written_boxes import ModelBoxes, find_model_boxes


def test_every_entry_says_where_it_is_from():
    entries = written_boxes._entries()
    assert len(entries) > 5
    assert all(entry["boxes"]["source"] for entry in entries)
    assert all(entry.keys() <= {"match", "boxes", *written_boxes._LIMITS} for entry in entries)


@pytest.mark.parametrize(
    ("model", "convention", "corners", "square"),
    [
        ("google/medgemma-1.5-4b-it", "normalised_1000", "yxyx", True),
        ("/models/Qwen2.5-VL-7B-Instruct/", "pixels_sent", "xyxy", False),
        ("microsoft/maira-2", "normalised_1", "xyxy", True),
        ("MAIRA_2", "normalised_1", "xyxy", True),
    ],
)
def test_names_find_their_form(model, convention, corners, square):
    sent = find_model_boxes(model)
    assert (sent.form.convention, sent.form.corners, sent.square) == (convention, corners, square)


def test_an_unknown_model():
    assert find_model_boxes("something-new") == ModelBoxes()

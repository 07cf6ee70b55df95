"""Whatever a file holds, every detector has an answer and none raises."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.growth import growth

from rexview.detect import create_detectors, find_flags, flag_rows
from rexview.schema import ReviewSet

TEXTS = (
    "",
    " \n\t ",
    "\x00\x01\ufffd\x07 binary \x1b[31m",
    "Pequeño derrame pleural izquierdo; no hay neumotórax.",
    "右側に胸水があります。左側は正常です。",
    "ﷺ \u202eeffusion left\u202c 🫁🫁",
    "<script>alert(1)</script> left effusion",
    "LEFT EFFUSION NO PNEUMOTHORAX " * 40,
    '{"findings": [{"name": "effusion", "side": "le',
    "|" * 500,
    "((((((((((",
    "a" * 10_000,
)
BOXES = (
    [math.nan, 0.0, 10.0, 10.0],
    [0.0, 0.0, 0.0, 10.0],
    [0.0, 0.0, -5.0, 10.0],
    [1e308, 1e308, 1e308, 1e308],
    [math.inf, 0.0, 1.0, 1.0],
    [],
    [1.0],
    None,
)


def bad_set(make_set: Any, text: str, other: str, view: str | None) -> ReviewSet:
    image = {"id": "i", "path": "gone.png", "view": view, "width": 100, "height": 0}
    boxes = [{"image": "i", "label": text[:200], "box": box} for box in BOXES]
    boxes += [{"image": name, "label": None, "box": [0.0, 0.0, 5.0, 5.0]} for name in ("?", None)]
    answer = {"case": "c", "boxes": boxes, "choice": -3}
    scores = [
        {"case": "c", "model": model, "reader": reader, "dimension": name, "score": mark}
        for model in "gm"
        for reader, mark in (("a", 1), ("b", None), ("c", 5))
        for name in ("process", "execution", "synthesis", "language", "image_style", "?")
    ]
    review_set: ReviewSet = make_set(
        cases=[
            {
                "id": "c",
                "question": text,
                "question_type": "choice",
                "images": [image],
                "report": {"findings": other, "impression": text},
                "reference_boxes": [{**box, "side": None} for box in boxes],
            },
            {"id": "d", "question": other, "report": None, "images": None},
        ],
        answers=[
            {**answer, "model": "g", "text": text, "finish_reason": None},
            {**answer, "model": "m", "text": None, "finish_reason": "unknown"},
            {"case": "d", "model": "g", "text": other, "finish_reason": "unknown"},
        ],
        scores=scores,
    )
    return review_set


@pytest.mark.parametrize("view", ["PA", "upside down", None])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_bad_values_have_a_defined_outcome(make_set: Any, text: str, view: str | None) -> None:
    for other in ("", "No effusion. Right pneumothorax."):
        review_set = bad_set(make_set, text, other, view)
        rows = flag_rows(review_set)
        json.dumps(rows)
        flags = find_flags(review_set)
        assert len(rows) == len(flags.filter("stands"))  # all at once and one by one agree
        for row in rows:
            assert row["message"]
            assert row["evidence"]


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts(make_set: Any, text: str, other: str) -> None:
    flag_rows(bad_set(make_set, text, other, "PA"))


def test_the_work_on_long_texts_grows_with_their_length(make_set: Any) -> None:
    slow = {"laterality_error"}  # reads the whole text, see test_laterality.py
    asked = [detector for detector in create_detectors() if detector.failure not in slow]

    def of_length(repeated: int) -> ReviewSet:
        text = "definitely not a left effusion box mark the both left lungs " * repeated
        return make_set(
            cases=[{"id": "c", "question": text, "report": {"findings": text, "impression": None}}],
            answers=[{"case": "c", "model": "g", "text": text, "finish_reason": "unknown"}],
        )

    def find(repeated: int) -> None:
        find_flags(of_length(repeated), detectors=asked)

    tenfold = growth(find, 10, 1_700, 17_000)  # 1 MB
    assert tenfold < 40

import math
from itertools import product

import polars as pl
import pytest

from rexview import geometry
from rexview.reviewset.plausibility import _can_be_drawn


def given(small, table, box):
    """Put one box into answers or reference boxes; return the problems."""
    if table == "answers":
        small.answer(boxes=[box])
    else:
        small.case(reference_boxes=[box])
    return [(p.severity, p.field) for p in small.problems()]


def kept(small, table):
    review_set = small.load()
    return (
        review_set.answers_of("c1")[0].boxes
        if table == "answers"
        else review_set.case("c1").reference_boxes
    )


COLUMN = {"answers": "boxes", "cases": "reference_boxes"}
both = pytest.mark.parametrize("table", ["answers", "cases"])


@both
@pytest.mark.parametrize(
    "box",
    [
        [1, 2, 3],
        [],
        None,
        "1,2,3,4",
        {"x": 1},
        [1, 2, 3, 4, 5],
        [1, 2, float("nan"), 4],
        [1, 2, None, 4],
        [1, 2, "wide", 4],
        [1, 2, float("inf"), 4],
        [1, 2, 0, 4],
        [1, 2, -3, 4],
        [1000, 2, 3, 4],
        [2, 1200, 3, 4],
        [-10, 2, 10, 4],
        [1, 2, True, 4],
    ],
)
def test_boxes_that_cannot_be_drawn_are_kept_with_a_warning(small, table, box):
    place = f"{COLUMN[table]}[0].box"
    assert given(small, table, {"image": "pa", "label": "x", "box": box}) == [("warning", place)]
    (found,) = kept(small, table)
    assert geometry.box_problem(found.box, 1000, 1200)
    assert found.label == "x"


@both
@pytest.mark.parametrize(
    "box",
    [[0, 0, 1000, 1200], [1.5, 2.5, 3, 4], [-5, -5, 20, 20], [990, 0, 500, 5], ["1", 2, 3, 4]],
)
def test_boxes_that_can_be_drawn(small, table, box):
    assert given(small, table, {"image": "pa", "label": "x", "box": box}) == []
    (found,) = kept(small, table)
    assert found.box == tuple(float(number) for number in box)


def test_all_boxes_at_once_are_judged_as_one_by_one():
    numbers = (-10.0, 0.0, 5.0, 1000.0, math.nan, math.inf)
    boxes = [list(box) for box in product(numbers, repeat=4)] + [[], [1.0] * 3, [1.0] * 5, None]
    for width, height in ((1000, 1200), (None, 5), (5, None)):
        frame = pl.DataFrame(
            {"box": boxes, "width": width, "height": height},
            schema={"box": pl.List(pl.Float64), "width": pl.Int64, "height": pl.Int64},
        )
        one_by_one = [geometry.box_problem(box, width, height) is None for box in boxes]
        assert frame.select(_can_be_drawn()).to_series().to_list() == one_by_one


def test_the_message_is_the_reason_that_pages_give(small):
    small.answer(boxes=[{"image": "pa", "label": "x", "box": [1, 2, 0, 4]}])
    reason = geometry.box_problem([1, 2, 0, 4])
    assert reason in small.only_problem().message


def test_numbers_that_are_missing_are_nan(small):
    small.answer(boxes=[{"image": "pa", "label": "x", "box": [1, None, 3, 4]}])
    (box,) = small.load().answers_of("c1")[0].boxes
    assert math.isnan(box.box[1])
    assert (box.box[0], box.box[2:]) == (1, (3, 4))


def test_without_a_size_only_the_origin_bounds_a_box(small):
    image = {"id": "pa", "path": "a/pa.png", "view": "PA"}
    small.case(images=[image]).answer(boxes=[{"image": "pa", "label": "x", "box": [9000, 2, 3, 4]}])
    assert small.problems() == []


@both
def test_a_box_on_an_image_that_the_case_does_not_have(small, table):
    severity = "warning" if table == "answers" else "error"
    place = f"{COLUMN[table]}[0].image"
    box = {"image": "lateral", "label": "x", "box": [1, 2, 3, 4]}
    assert given(small, table, box) == [(severity, place)]


@both
def test_the_only_image_need_not_be_named(small, table):
    assert given(small, table, {"label": "x", "box": [1, 2, 3, 4]}) == []
    assert kept(small, table)[0].image == "pa"


@both
def test_one_of_two_images_must_be_named(small, table):
    images = [{"id": n, "path": "a/pa.png", "width": 9, "height": 9} for n in ("pa", "lat")]
    box = {"label": "x", "box": [1, 2, 3, 4]}
    severity = "warning" if table == "answers" else "error"
    if table == "answers":
        small.case(images=images).answer(boxes=[box])
    else:
        small.case(images=images, reference_boxes=[box])
    problem = small.only_problem()
    assert (problem.severity, problem.field) == (severity, f"{COLUMN[table]}[0].image")


def test_a_box_without_a_label_has_an_empty_one(small):
    small.answer(boxes=[{"image": "pa", "box": [1, 2, 3, 4]}])
    assert small.load().answers_of("c1")[0].boxes[0].label == ""


@pytest.mark.parametrize(
    ("boxes", "field"),
    [({"box": [1, 2, 3, 4]}, "boxes"), ([[1, 2, 3, 4]], "boxes[0]"), ("[1, 2", "boxes")],
)
def test_other_shapes_are_errors(small, boxes, field):
    problem = small.answer(boxes=boxes).problems()[0]
    assert (problem.severity, problem.field) == ("error", field)


def test_a_wrong_item_does_not_hide_what_is_wrong_with_the_next(small):
    small.answer(boxes=[7, None, {"image": "pa", "box": [1, 2, 3, 0], "colour": "red"}])
    found = [(p.severity, p.field) for p in small.problems()]
    boxes = [("warning", f"boxes[{place}].box") for place in range(3)]
    assert found == [("error", "boxes[0]"), *boxes]


def test_each_box_is_named_by_its_place(small):
    good, bad = {"image": "pa", "box": [1, 2, 3, 4]}, {"image": "pa", "box": [1, 2, 3, 0]}
    small.jsonl(
        "answers",
        [
            {"case": "c1", "model": "m1", "boxes": []},
            {"case": "c1", "model": "m2", "boxes": [good, bad, good, bad]},
        ],
    )
    places = [(p.row, p.field) for p in small.problems()]
    assert places == [(2, "boxes[1].box"), (2, "boxes[3].box")]


def test_the_side_is_the_patients(small):
    box = {"image": "pa", "label": "x", "box": [1, 2, 3, 4]}
    assert given(small, "cases", box | {"side": "Left"}) == []
    assert kept(small, "cases")[0].side == "left"
    assert given(small, "cases", box | {"side": "screen left"}) == [
        ("error", "reference_boxes[0].side")
    ]

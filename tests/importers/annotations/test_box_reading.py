"""Which box four numbers are: every convention, found from boxes that are known in pixels."""

from __future__ import annotations

import numpy as np
import pytest
from support.rows import each_row

from rexview.importers.box_placement import SHAPES, UNITS, BoxReading, BoxUnit, propose_reading
from rexview.text.written_boxes import Corners

SIZES = ((1024, 1024), (2500, 3056), (512, 420))


def _pixels(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Boxes all over their images, and the images' sizes."""
    random = np.random.default_rng(seed)
    sizes = np.array(SIZES, dtype=float)[random.integers(0, len(SIZES), count)]
    extent = random.uniform(0.05, 0.45, (count, 2))
    corner = random.uniform(0, 1, (count, 2)) * (1 - extent)
    return np.hstack([corner * sizes, extent * sizes]), sizes


def _written(boxes: np.ndarray, sizes: np.ndarray, shape: Corners, unit: BoxUnit) -> np.ndarray:
    """The same boxes as a tool of that convention writes them."""
    whole = UNITS[unit]
    if whole is not None:
        boxes = boxes / np.hstack([sizes, sizes]) * whole
    x, y, width, height = boxes.T
    columns = {
        "xywh": (x, y, width, height),
        "xyxy": (x, y, x + width, y + height),
        "yxyx": (y, x, y + height, x + width),
        "cxcywh": (x + width / 2, y + height / 2, width, height),
    }
    return np.column_stack(columns[shape])


@each_row("unit", UNITS)
@each_row("shape", SHAPES)
def test_boxes_come_back_to_pixels(shape: Corners, unit: BoxUnit) -> None:
    boxes, sizes = _pixels(1, 50)
    there = BoxReading(shape, unit).to_pixels(_written(boxes, sizes, shape, unit), sizes)
    np.testing.assert_allclose(there, boxes)


@each_row("unit", UNITS)
@each_row("shape", ["xywh", "xyxy", "cxcywh"])
def test_the_convention_is_found_from_forty_boxes(shape: Corners, unit: BoxUnit) -> None:
    # yxyx is left out: boxes on square pictures fit as xyxy as well, see below
    for seed in range(20):
        boxes, sizes = _pixels(seed, 40)
        written = _written(boxes, sizes, shape, unit)
        proposal = propose_reading(written.tolist(), [tuple(size) for size in sizes])
        assert proposal.reading == BoxReading(shape, unit), (seed, proposal)


def test_corners_with_y_first_are_never_dropped_in_silence() -> None:
    boxes, sizes = _pixels(3, 40)
    written = _written(boxes, sizes, "yxyx", "per-mille")
    proposal = propose_reading(written.tolist(), [tuple(size) for size in sizes])
    assert BoxReading("yxyx", "per-mille") in (proposal.reading, *proposal.others)
    assert not proposal.sure
    assert "would also fit" in proposal.why


def test_what_the_columns_say_decides() -> None:
    boxes, sizes = _pixels(4, 40)
    written = _written(boxes, sizes, "yxyx", "fraction")
    proposal = propose_reading(written.tolist(), [tuple(size) for size in sizes], shapes=["yxyx"])
    assert proposal.reading == BoxReading("yxyx", "fraction")
    assert proposal.sure


def test_few_small_boxes_fit_several_readings_and_it_is_said() -> None:
    proposal = propose_reading([(10, 12, 30, 40)], [(100, 100)])
    assert proposal.reading == BoxReading("xywh", "pixels")
    assert BoxReading("xyxy", "pixels") in proposal.others


def test_without_image_sizes_numbers_beyond_one_are_pixels() -> None:
    proposal = propose_reading([(100, 120, 300, 400), (600, 20, 90, 80)], [None, None])
    assert proposal.reading == BoxReading("xywh", "pixels")
    assert propose_reading([(0.1, 0.1, 0.3, 0.4)], [None]).reading.unit == "fraction"


def test_no_reading_fits_and_the_count_is_said() -> None:
    proposal = propose_reading([(900, 900, 5000, 5000), (10, 10, 20, 20)], [(1000, 1000)] * 2)
    assert "1 are outside" in proposal.why


@pytest.mark.parametrize("text", ["", "xy", "xywh:cm", "xywh pixels"])
def test_a_reading_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        BoxReading.parse(text)
    assert BoxReading.parse("XYXY") == BoxReading("xyxy", "pixels")
    assert str(BoxReading.parse("cxcywh:fraction")) == "cxcywh:fraction"


def test_what_the_format_prescribes_is_taken_where_it_fits() -> None:
    coco = BoxReading("xywh", "pixels")
    assert propose_reading([(10, 12, 30, 40)], [(100, 100)], expected=coco).sure
    wrong = propose_reading([(60, 70, 90, 95)] * 6, [(100, 100)] * 6, expected=coco)
    assert wrong.reading == BoxReading("xyxy", "pixels")
    assert propose_reading([(0.1, 0.1, 0.3, 0.4)], [(100, 100)], expected=coco).reading.unit == (
        "fraction"
    )

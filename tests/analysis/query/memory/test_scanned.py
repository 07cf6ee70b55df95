"""What detectors have looked at, and the engine of what they have found by now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from rexview.analysis import CaseFilter, ScanProgress
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.detect import create_detectors
from rexview.detect.scan.scan import scan
from rexview.schema import ReviewSet


@pytest.fixture(name="review_set")
def review_set_fixture(make_set: Any) -> ReviewSet:
    cases = [
        {"id": name, "site": site, "report": {"findings": "There is a left pneumothorax."}}
        for name, site in (("wrong", "A"), ("right", "A"), ("else", "B"), ("unanswered", "A"))
    ]
    sides = {"wrong": "right", "right": "left", "else": "right"}
    answers = [
        {"case": case, "model": "g", "text": f"There is a {side} pneumothorax."}
        for case, side in sides.items()
    ]
    made: ReviewSet = make_set(cases=cases, answers=answers)
    return made


def test_what_a_filter_asks_about_flags_is_left_out(review_set: ReviewSet) -> None:
    engine = build_memory_engine(review_set)
    assert engine.scanned(CaseFilter()) == ScanProgress(3, 3, 0)
    assert engine.scanned(CaseFilter()).is_complete
    asked = CaseFilter(failures=("laterality_error",), sites=("A",), sources=("detector",))
    assert len(engine.selection(asked)) == 1
    assert engine.scanned(asked) == ScanProgress(2, 2, 0)
    search = CaseFilter(search="right pneumothorax", mention="present", sites=("B",))
    assert engine.scanned(search) == ScanProgress(1, 1, 0)


def test_an_engine_with_another_scan_has_its_flags_and_all_else_as_before(
    review_set: ReviewSet,
) -> None:
    engine = build_memory_engine(review_set)
    few = [one for one in create_detectors() if one.failure == "token_limit"]
    without = engine.with_scan(scan(review_set, few))
    asked = CaseFilter(failures=("laterality_error",))
    assert without.selection(asked).case_ids == []
    assert set(engine.selection(asked).case_ids) == {"wrong", "else"}
    again = without.with_scan(engine.table.survey.scan)  # type: ignore[union-attr]
    assert again.table.rows.equals(engine.table.rows)
    assert again.with_scan(again.table.survey.scan) is again  # type: ignore[union-attr]


def test_progress_counts_what_was_looked_at_and_flags_what_was_found(review_set: ReviewSet) -> None:
    engine = build_memory_engine(review_set)
    whole = engine.table.survey.scan
    state = np.array([1, 0, 2], dtype=np.uint8)
    seen = whole.found.flags.filter(pl.Series(state[whole.found.flags["answer"].to_numpy()] == 1))
    part = replace(whole, found=replace(whole.found, state=state, flags=seen))
    so_far = engine.with_scan(part)
    assert so_far.scanned(CaseFilter()) == ScanProgress(3, 2, 1)
    assert so_far.scanned(CaseFilter(sites=("A",), failures=("omission",))) == ScanProgress(2, 1, 0)
    asked = CaseFilter(failures=("laterality_error",))
    assert so_far.selection(asked).case_ids == ["wrong"]
    assert so_far.facets(CaseFilter()).total == engine.facets(CaseFilter()).total == 4

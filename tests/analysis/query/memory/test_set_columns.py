"""Rows of the answer table: answers by number, then the cases without any."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.query.filter.case_filter import SOURCES
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.query.memory.set_columns import (
    CodedColumn,
    RowMaskIndex,
    SetColumns,
    bit_counts,
)
from rexview.vocab import FAILURES


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("answered", [0.0, 0.5, 1.0])
def test_what_a_case_has_is_gathered_from_its_rows(
    make_set: Any, answered: float, share: float
) -> None:
    rng = random.Random(7)
    of_case = {f"c{n}": [m for m in "gm" if rng.random() < answered] for n in range(50)}
    answers = [
        {"case": case, "model": model} for case, models in of_case.items() for model in models
    ]
    rng.shuffle(answers)
    columns = SetColumns.of(make_set(cases=[{"id": case} for case in of_case], answers=answers))
    assert len(columns) == sum(max(1, len(models)) for models in of_case.values())
    bits = np.array([1 << rng.randrange(16) for _ in range(len(columns))], dtype=np.uint16)
    gathered = columns.bits_of_case(bits)
    chosen = np.array([rng.random() < share for _ in range(len(columns))])
    has_any = columns.any_of_case(chosen)
    some = RowMaskIndex(columns, chosen)
    assert (some.any_of_case == has_any).all()
    bits_of_some = some.bits_of_case(bits)
    for case_row, models in enumerate(of_case.values()):
        rows = list(columns.rows_of(case_row))
        assert [columns.case_row[row] for row in rows] == [case_row] * len(rows)
        known = [columns.model.codes[row] for row in rows if row < columns.n_answers]
        assert known == ["gm".index(model) for model in models]
        assert gathered[case_row] == np.bitwise_or.reduce(bits[rows])
        assert has_any[case_row] == chosen[rows].any()
        assert bits_of_some[case_row] == np.bitwise_or.reduce(bits[rows] * chosen[rows])
    of_rows = columns.of_rows(np.arange(50))
    assert of_rows.tolist() == columns.case_row.tolist()


def test_bits_are_counted() -> None:
    rng = np.random.default_rng(3)
    for kind in (np.uint16, np.uint32, np.uint64):
        bits = rng.integers(0, np.iinfo(kind).max, 500, dtype=kind, endpoint=True)
        expected = [sum(int(one) >> n & 1 for one in bits) for n in range(kind().itemsize * 8)]
        assert bit_counts(bits) == expected
    assert bit_counts(np.zeros(0, dtype=np.uint32)) == [0] * 32


def test_failures_of_all_sources_have_room_in_one_number() -> None:
    assert len(FAILURES) * len(SOURCES) <= 64


def test_more_words_than_bits_are_told_apart() -> None:
    values = tuple(f"w{n}" for n in range(150))
    column = CodedColumn(np.arange(151, dtype=np.uint16), values)
    for first in range(0, 150, 64):
        bits = [int(one) for one in column.bits(first)]
        expected = [1 << n - first if first <= n < min(first + 64, 150) else 0 for n in range(151)]
        assert bits == expected
    assert column.among(values[3:9]).nonzero()[0].tolist() == list(range(3, 9))
    assert column.words(np.array([0, 149, 150])).to_list() == ["w0", "w149", None]


def test_a_hundred_models_are_counted_with_a_filter(make_set: Any) -> None:
    answers = [{"case": f"c{n % 3}", "model": f"m{n}"} for n in range(100)]
    engine = build_memory_engine(
        make_set(cases=[{"id": f"c{n}"} for n in range(4)], answers=answers)
    )
    chosen = CaseFilter(models=("m70", "m3"))
    counts = {
        value.value: value.count
        for facet in engine.facets(CaseFilter(statuses=("answered", "empty"))).facets
        if facet.field == "models"
        for value in facet.values
    }
    assert counts == {"g": 0, "m": 0} | {f"m{n}": 1 for n in range(100)}
    assert set(engine.selection(chosen).case_ids) == {"c0", "c1"}
    assert [one.model for one in engine.tally(chosen).by_model] == ["m3", "m70"]


def test_words_are_found_in_capitals_or_not_and_again(make_set: Any) -> None:
    cases = [
        {"id": "q", "question": "Any EFFUSION?"},
        {"id": "r", "report": {"findings": None, "impression": "Small Effusion."}},
        {"id": "a"},
        {"id": "none"},
    ]
    answers = [
        {"case": "a", "model": model, "text": text}
        for model, text in (("g", "No effusions"), ("m", None))
    ]
    engine = build_memory_engine(make_set(cases=cases, answers=answers))
    for _ in range(2):
        assert set(engine.selection(CaseFilter(search="effusion")).case_ids) == {"q", "r", "a"}
        assert engine.selection(CaseFilter(search="effusion", models=("m",))).case_ids == []
    assert engine.selection(CaseFilter(search="effusion small")).case_ids == ["r"]

"""A filter in a clinician's words."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from rexview.analysis import CaseFilter, Range, chips, describe
from rexview.analysis.memory.engine import MemoryEngine, memory_engine
from rexview.schema import Reader


@pytest.fixture(name="engine", scope="module")
def engine_fixture(make_set: Any) -> MemoryEngine:
    made = make_set(cases=[{"id": "c"}])
    info = dataclasses.replace(made.info, readers=(Reader("a", "Dr. A"),))
    return memory_engine(dataclasses.replace(made, info=info))


@pytest.mark.parametrize(
    ("case_filter", "words"),
    [
        (CaseFilter(), "All cases"),
        (
            CaseFilter(failures=("laterality_error",), models=("g",)),
            "Laterality errors, Generalist",
        ),
        (
            CaseFilter(failures=("token_limit", "omission")),
            "Token-limit failures or Missed findings",
        ),
        (CaseFilter(gap=Range(2)), "Gap 2 or more"),
        (CaseFilter(content=Range(1, 2.5)), "Content 1 to 2.5"),
        (CaseFilter(content=Range(None, 2)), "Content 2 or less"),
        (CaseFilter(content=Range(None, 2.999)), "Content under 3"),
        (CaseFilter(content=Range(2, 2.999)), "Content 2 to under 3"),
        (CaseFilter(gap=Range(-0.25, 0.249)), "Gap -0.25 to under 0.25"),
        (CaseFilter(process=Range(3, 3)), "Process 3"),
        (CaseFilter(process=Range()), "Process scored"),
        (CaseFilter(disagreement=Range(2)), "Readers differ by 2 or more"),
        (CaseFilter(search="left effusion"), "“left effusion”"),
        (CaseFilter(weakest=("all_equal",)), "no weakest link"),
        (CaseFilter(weakest=("process_and_execution",)), "weakest: Process and Execution"),
        (CaseFilter(tags=("imaging_finding:air_bronchogram",)), "Imaging finding: Air bronchogram"),
        (CaseFilter(models=("gone",), sort="gap"), "gone"),
        (CaseFilter(reader_scores=("execution:2::a",)), "Dr. A: Execution 2"),
        (
            CaseFilter(reader_scores=("execution:2..4::a", "execution:::stranger: x")),
            "Dr. A: Execution 2 to 4 and stranger: x: Execution scored",
        ),
        (CaseFilter(reader_scores=(":1:2026-03-04:",)), "Any reader: a score of 1, 4 Mar 2026"),
        (
            CaseFilter(reader_scores=("::2026-03-04..2026-03-09:a",)),
            "Dr. A: scored, 4 to 9 Mar 2026",
        ),
        (
            CaseFilter(reader_scores=("::2026-02-28..2026-03-03:a",)),
            "Dr. A: scored, 28 Feb to 3 Mar 2026",
        ),
        (
            CaseFilter(reader_scores=("::2025-12-31..2026-01-01:a",)),
            "Dr. A: scored, 31 Dec 2025 to 1 Jan 2026",
        ),
        (CaseFilter(reader_pairs=("execution::a:s%3At",)), "Dr. A and s:t: both scored Execution"),
        (CaseFilter(reader_pairs=("execution:0:a:s",)), "Dr. A and s: same Execution score"),
        (
            CaseFilter(reader_pairs=("execution:0..1:a:s", "image_style:2:s:a")),
            "Dr. A and s: Execution scores at most 1 point apart and "
            "s and Dr. A: Image Style scores 2 points apart",
        ),
        (
            CaseFilter(reader_pairs=("process:1..4:a:s",)),
            "Dr. A and s: Process scores at least 1 point apart",
        ),
        (
            CaseFilter(reader_pairs=("process:1..3:a:s",)),
            "Dr. A and s: Process scores 1 to 3 points apart",
        ),
        (CaseFilter(model_pairs=("content:m:x",)), "Medical 4B and x: Content scored for both"),
    ],
)
def test_describes(engine: MemoryEngine, case_filter: CaseFilter, words: str) -> None:
    assert describe(engine.facts, case_filter) == words


def test_each_chip_takes_one_condition_away(engine: MemoryEngine) -> None:
    case_filter = CaseFilter(
        failures=("laterality_error", "omission"),
        models=("m",),
        reader_pairs=("process:0:a:b", "process:1..4:a:b"),
        gap=Range(2),
        search="left lung",
    )
    found = {chip.label: chip.rest for chip in chips(engine.facts, case_filter)}
    assert list(found) == [
        "Laterality error",
        "Missed finding",
        "Medical 4B",
        "Dr. A and b: same Process score",
        "Dr. A and b: Process scores at least 1 point apart",
        "Gap 2 or more",
        "“left lung”",
    ]
    assert found["Laterality error"].failures == ("omission",)
    assert found["Dr. A and b: same Process score"].reader_pairs == ("process:1..4:a:b",)
    assert found["Gap 2 or more"].gap is None
    assert found["“left lung”"].search == ""
    assert chips(engine.facts, CaseFilter(sort="gap")) == ()

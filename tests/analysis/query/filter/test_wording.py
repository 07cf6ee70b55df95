"""A filter in a clinician's words."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from support.rows import each_row

from rexview.analysis import CaseFilter, NumberRange, describe_filter, list_chips, list_orders
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.metrics.identity import MetricId
from rexview.schema import Reader


@pytest.fixture(name="engine", scope="module")
def engine_fixture(make_set: Any) -> MemoryEngine:
    made = make_set(cases=[{"id": "c"}])
    info = dataclasses.replace(made.info, readers=(Reader("a", "Dr. A"),))
    return build_memory_engine(dataclasses.replace(made, info=info))


@each_row(
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
        (CaseFilter(gap=NumberRange(2)), "Gap 2 or more"),
        (CaseFilter(content=NumberRange(1, 2.5)), "Content 1 to 2.5"),
        (CaseFilter(content=NumberRange(None, 2)), "Content 2 or less"),
        (CaseFilter(content=NumberRange(None, 2.999)), "Content under 3"),
        (CaseFilter(content=NumberRange(2, 2.999)), "Content 2 to under 3"),
        (CaseFilter(gap=NumberRange(-0.25, 0.249)), "Gap -0.25 to under 0.25"),
        (CaseFilter(process=NumberRange(3, 3)), "Process 3"),
        (CaseFilter(process=NumberRange()), "Process scored"),
        (CaseFilter(disagreement=NumberRange(2)), "Readers differ by 2 or more"),
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
        (
            CaseFilter(failures=("omission",), models=("x",), passing=("m",)),
            "Missed findings, x, Medical 4B without such a failure",
        ),
        (CaseFilter(model_pairs=("content:m:x",)), "Medical 4B and x: Content scored for both"),
        (
            CaseFilter(edits=("from:3", "below:4:a"), edit_kinds=("location", "odd_one")),
            "Correction of severity 3 or more and No emergent error by Dr. A, "
            "Correction: location or Correction: odd one",
        ),
        (
            CaseFilter(edits=("from:0:judge:x", "from:4", "below:1", "below:2", "below:3")),
            "Corrected by judge:x and Correction of severity 4 and No error and "
            "No actionable error and No significant error",
        ),
        (CaseFilter(edits=("from:0:fineradscore:x",)), "Corrected by FineRadScore (x)"),
        (
            CaseFilter(written=("yes:prior:3fa9c1d2e4b5:gpt%3Ax", ":prior:3fa9c1d2e4b5:j")),
            "Language model gpt:x finds: prior (version 3fa9c1d2) and "
            "Language model j was asked about: prior (version 3fa9c1d2)",
        ),
        (
            CaseFilter(opinions=("omission:yes:p-1:gpt%3Ax", "process:2:p-1:gpt%3Ax")),
            "Judge gpt:x (p-1) sees: missed finding and Judge gpt:x (p-1): Process 2",
        ),
        (
            CaseFilter(opinions=("omission:no:p:j", "omission::p:j", "process::p:j")),
            "Judge j (p) does not see: missed finding and Judge j (p) judged: missed finding "
            "and Judge j (p) scored Process",
        ),
    ],
)
def test_describes(engine: MemoryEngine, case_filter: CaseFilter, words: str) -> None:
    assert describe_filter(engine.facts, case_filter) == words


def test_orders_by_metric_say_what_computed_it_where_two_share_a_name(make_set: Any) -> None:
    ids = [
        ("bleu_2", "rexview", "1", "findings"),
        ("bleu_2", "radeval", None, None),
        ("radcliq_v1",),
    ]
    rows = [
        {"case": "c", "model": "g", "value": 0.5, **MetricId(*one)._asdict()}  # type: ignore[arg-type]
        for one in ids
    ]
    answers = [{"case": "c", "model": "g", "text": "Clear.", "finish_reason": "stop"}]
    facts = build_memory_engine(make_set(cases=[{"id": "c"}], answers=answers, metrics=rows)).facts
    assert list(list_orders(facts, CaseFilter(sort="best:my_own")).items())[5:] == [
        ("worst:bleu_2:radeval", "Worst BLEU-2 (radeval)"),
        ("best:bleu_2:radeval", "Best BLEU-2 (radeval)"),
        ("worst:bleu_2:rexview:1:findings", "Worst BLEU-2 (computed here, findings)"),
        ("best:bleu_2:rexview:1:findings", "Best BLEU-2 (computed here, findings)"),
        ("worst:radcliq_v1", "Worst RadCliQ-v1"),
        ("best:radcliq_v1", "Best RadCliQ-v1"),
        ("best:my_own", "Highest my_own (implementation not given)"),
    ]


def test_each_chip_takes_one_condition_away(engine: MemoryEngine) -> None:
    case_filter = CaseFilter(
        failures=("laterality_error", "omission"),
        models=("m",),
        reader_pairs=("process:0:a:b", "process:1..4:a:b"),
        gap=NumberRange(2),
        search="left lung",
    )
    found = {chip.label: chip.rest for chip in list_chips(engine.facts, case_filter)}
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
    assert list_chips(engine.facts, CaseFilter(sort="gap")) == ()

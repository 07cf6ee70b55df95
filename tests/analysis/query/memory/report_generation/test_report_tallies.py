"""What the engine counts of generated reports, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made_rows.reports import BLEU, TABLES

from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.metrics.identity import MetricId

BLEU_2 = MetricId("bleu_2", "radeval", "2.0", "findings")
OTHER_BLEU = MetricId("bleu_2", "rexview")
RADCLIQ_V1 = MetricId("radcliq_v1", "radeval", "2.0", "findings")
ALL = CaseFilter()


@pytest.fixture(name="engine", scope="module")
def engine_fixture(make_set: Any) -> MemoryEngine:
    return build_memory_engine(make_set(**TABLES))


def test_counts(engine: MemoryEngine) -> None:
    found = engine.report_counts(ALL)
    assert (found.cases, found.answers) == (6, {"a": 6, "b": 6, "c": 6})
    assert found.metrics == (BLEU_2, OTHER_BLEU, RADCLIQ_V1)  # a value that is null is none
    assert found.in_set == {BLEU_2: 17, OTHER_BLEU: 1, RADCLIQ_V1: 18}
    assert found.together == {BLEU_2: (), OTHER_BLEU: (), RADCLIQ_V1: (6,)}
    assert (found.edits, found.preferences) == (4, 6)
    north = engine.report_counts(CaseFilter(sites=("North",), models=("b",)))
    assert (north.cases, north.answers) == (3, {"b": 3})
    assert north.metrics == (BLEU_2, RADCLIQ_V1)
    assert (north.edits, north.preferences) == (1, 0)  # a comparison needs both models


def test_values_are_summed_by_patient(engine: MemoryEngine) -> None:
    found = engine.metric_tally(ALL, (RADCLIQ_V1, BLEU_2))
    assert found.models == ("a", "b", "c")
    assert found.by_patient.n.tolist() == [6, 6, 6, 6, 6, 5]
    assert found.by_patient.patients.tolist() == [5, 5, 5, 5, 5, 4]
    sums = found.by_patient.sums.sum(axis=0)
    assert sums[3:].tolist() == pytest.approx([sum(values) for values in BLEU.values()])
    both = found.by_patient.counts.max(axis=1) == 2  # the patient of two cases
    assert found.by_patient.sums[both, 3].tolist() == pytest.approx([0.9 + 0.7])
    alone = engine.metric_tally(ALL, (OTHER_BLEU,))
    assert (alone.models, alone.by_patient.sums.tolist()) == (("a",), [[0.2]])


def test_spreads(engine: MemoryEngine) -> None:
    found = engine.metric_spreads(CaseFilter(models=("a", "c")), (BLEU_2,))
    assert set(found) == {(BLEU_2, "a"), (BLEU_2, "c")}
    assert found[BLEU_2, "c"].median == 0.2


def test_metrics_are_turned_so_that_higher_is_better(engine: MemoryEngine) -> None:
    (found,) = engine.metric_correlations(ALL, (BLEU_2, RADCLIQ_V1), "pearson")
    bleu = [value for values in BLEU.values() for value in values]
    goodness = [-0.5] * 6 + [-2.0] * 6 + [-1.0] * 5
    assert found.n == 17
    assert found.value == pytest.approx(np.corrcoef(bleu, goodness)[0, 1])


def test_answers_that_two_metrics_put_far_apart(engine: MemoryEngine) -> None:
    furthest, *others = engine.metric_disputes(ALL, (BLEU_2, RADCLIQ_V1), 3)
    assert len(others) == 2
    # 0.7 of b at r4 shares places 13 and 14 of 17 by BLEU-2, and the worst six by RadCliQ
    assert (furthest.case, furthest.model) == ("r4", "b")
    assert (furthest.first, furthest.second) == (0.7, 2.0)
    assert furthest.first_place == pytest.approx(12.5 / 16)
    assert furthest.second_place == pytest.approx(2.5 / 16)


def test_error_free_reports(engine: MemoryEngine) -> None:
    found = {
        (one.reader, one.model, one.severity): (one.free.total, one.free.n)
        for one in engine.error_free_tallies(ALL)
    }
    assert found["ra", "a", 3] == (2, 3)
    assert found["ra", "a", 2] == (2, 3)
    assert found["ra", "a", 1] == (1, 3)
    assert found["ra", "b", 3] == (0, 1)
    assert found["fineradscore:gpt", "a", 2] == (0, 1)
    assert found["fineradscore:gpt", "a", 3] == (1, 1)
    normal = engine.error_free_tallies(CaseFilter(studies=("normal",), models=("a",)))
    assert {(one.reader, one.severity): one.free.n for one in normal}["ra", 1] == 1


def test_comparisons(engine: MemoryEngine) -> None:
    found = engine.comparisons(ALL)
    assert (found.models, found.cases, found.readers) == (("a", "b", "c"), 5, 2)
    total = found.tally.wins.sum(axis=0)
    assert total.tolist() == [[0, 2.5, 0], [1.5, 0, 1], [0, 1, 0]]
    assert found.tally.ties.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    none = engine.comparisons(CaseFilter(models=("a",)))
    assert (none.models, none.cases) == ((), 0)


@pytest.mark.parametrize(
    ("word", "model", "cases"),
    [
        ("compared", "a", {"r1", "r2", "r3"}),
        ("won", "a", {"r1"}),  # by both readers, once as the first and once as the second
        ("tied", "a", {"r3"}),
        ("lost", "a", {"r2"}),
        ("won", "b", {"r2", "r4"}),
        ("lost", "c", {"r4"}),
    ],
)
def test_what_readers_preferred_is_found(
    engine: MemoryEngine, word: str, model: str, cases: set[str]
) -> None:
    wanted = CaseFilter(compared=(word,), models=(model,))
    assert set(engine.page(wanted, 0, 9)) == cases
    facet = next(one for one in engine.facets(wanted).facets if one.field == "compared")
    assert {value.value: value.count for value in facet.values}[word] == len(cases)

"""Cases in the order of one metric, each by its worst or best answer that the filter leaves."""

from __future__ import annotations

from typing import Any

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.query.filter.conditions import MetricOrder
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.metrics.identity import MetricId
from rexview.vocab import LONGEST_ID

HERE = MetricId("bleu_2", "rexview", "1", "findings")
THERE = MetricId("bleu_2", "radeval", "2.0", "findings")
RADCLIQ = MetricId("radcliq_v1")
OWN = MetricId("my own: 50%")
LONG = MetricId(*("\N{LUNGS}" * LONGEST_ID,) * 4)


@pytest.fixture(name="engine", scope="module")
def engine_fixture(make_set: Any) -> MemoryEngine:
    cases = [{"id": name, "question_type": "report"} for name in "abcd"]
    answers = [
        {"case": case, "model": model, "text": "Clear.", "finish_reason": "stop"}
        for case in "abcd"
        for model in "gm"
    ]
    values = {
        HERE: {"ag": 0.5, "am": 0.1, "bg": 0.3, "bm": 0.9, "cg": 0.4, "dm": None},
        THERE: {"ag": 0.1, "bg": 0.2, "cg": 0.3, "dg": 0.4, "xg": 0.9},
        RADCLIQ: {"ag": 1.0, "bg": 3.0, "cg": 2.0},
        OWN: {"ag": 7.0, "bg": 9.0},
    }
    metrics = [
        {"case": about[0], "model": about[1], "value": value, **metric._asdict()}
        for metric, of_answers in values.items()
        for about, value in of_answers.items()
    ]
    return build_memory_engine(make_set(cases=cases, answers=answers, metrics=metrics))


@pytest.mark.parametrize(
    ("sort", "models", "expected"),
    [
        ("worst:" + HERE.key, (), "abcd"),  # 0.1, 0.3, 0.4, none
        ("best:" + HERE.key, (), "bacd"),  # 0.9, 0.5, 0.4, none
        ("worst:" + HERE.key, ("g",), "bcad"),  # 0.3, 0.4, 0.5, none
        ("worst:" + HERE.key, ("m",), "abcd"),  # 0.1, 0.9, none, none
        ("best:" + THERE.key, (), "dcba"),  # another implementation: other numbers
        ("worst:" + RADCLIQ.key, (), "bcad"),  # lower is better
        ("best:" + RADCLIQ.key, (), "acbd"),
        ("best:" + OWN.key, (), "bacd"),  # nobody says which way is better
        ("worst:green", (), "abcd"),  # a metric that the set does not have
    ],
)
def test_order(engine: MemoryEngine, sort: str, models: tuple[str, ...], expected: str) -> None:
    asked = CaseFilter(sort=sort, models=models)
    assert "".join(engine.page(asked, 0, 9)) == expected


def test_cards_have_the_value_ordered_by(engine: MemoryEngine) -> None:
    card, other = engine.cards(CaseFilter(sort="worst:" + HERE.key), ("b", "d"))
    assert {one.model: one.metric for one in card.answers} == {"g": 0.3, "m": 0.9}
    assert {one.model: one.metric for one in other.answers} == {"g": None, "m": None}
    (plain,) = engine.cards(CaseFilter(), ("b",))
    assert [one.metric for one in plain.answers] == [None, None]


def test_the_set_says_which_metrics_it_has(engine: MemoryEngine) -> None:
    assert engine.facts.metrics == (THERE, HERE, RADCLIQ, OWN)


def test_the_longest_names_make_an_order_too() -> None:
    word = f"worst:{LONG.key}"
    assert CaseFilter(sort=word).metric_order == MetricOrder(LONG)

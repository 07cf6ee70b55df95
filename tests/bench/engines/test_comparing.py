"""The comparison of engines finds what differs, tells it in its smallest form, and reaches all."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from bench.engines.comparison import (
    HOSTILE,
    NOT_ON_TABLES,
    QUESTIONS,
    Compared,
    Difference,
    KnownWords,
    RandomFilters,
    compare,
    difference,
    plain,
)
from bench.engines.everything import EverythingSet
from rexview.analysis.query.engine import Engine
from rexview.analysis.query.filter.case_filter import MENTIONS, SORTS, CaseFilter
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.reviewset import load_review_set


@pytest.fixture(scope="module", name="engines")
def engines_fixture(tmp_path_factory: pytest.TempPathFactory) -> tuple[MemoryEngine, MemoryEngine]:
    """The engines of one set that was read twice."""
    made = EverythingSet()
    folder = made.write(tmp_path_factory.mktemp("everything") / "set")
    one, other = (
        build_memory_engine(load_review_set(folder), comments=made.comments) for _ in range(2)
    )
    return one, other


class Careless:
    """An engine that takes no notice of one condition."""

    def __init__(self, engine: Engine, condition: str) -> None:
        self._engine, self._condition = engine, condition

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._engine, name)
        if not callable(asked):
            return asked

        def ask(*given: Any, **named: Any) -> Any:
            return asked(*map(self._without, given), **named)

        return ask

    def _without(self, given: Any) -> Any:
        return given.without(self._condition) if isinstance(given, CaseFilter) else given


def test_filters_reach_every_condition(engines: tuple[MemoryEngine, MemoryEngine]) -> None:
    made = RandomFilters(KnownWords.of(engines[0]), 1)
    given = [made.filter() for _ in range(600)]
    for field in dataclasses.fields(CaseFilter):
        met = {getattr(one, field.name) for one in given}
        # tables on ClickHouse refuse what lies in logs of runs, in a sentence
        assert (len(met) > 3) is (field.name not in NOT_ON_TABLES), field.name
    assert {one.mention for one in given} == set(MENTIONS)
    assert {one.sort for one in given} > set(SORTS)
    assert any(one.metric_order for one in given)
    assert {word for one in given for word in one.models} & set(HOSTILE)
    assert len({one.sort for one in given if one.metric_order}) >= 8


def test_every_question_has_something_to_say(engines: tuple[MemoryEngine, MemoryEngine]) -> None:
    made = RandomFilters(KnownWords.of(engines[0]), 3)
    asked = [made.asked() for _ in range(4)]
    assert not [
        name
        for name, question in QUESTIONS.items()
        if name not in ("not judged", "not looked at")  # detectors have judged all
        and not any(plain(question(engines[0], CaseFilter(), one)) for one in asked)
    ]


def test_a_set_that_is_read_again_has_the_same_answers(
    engines: tuple[MemoryEngine, MemoryEngine],
) -> None:
    found = compare(*engines, 25, each=10)
    assert isinstance(found, Compared), str(found)
    assert found.answers == 25 * 10
    assert found.leaving_some > 8


@pytest.mark.parametrize("condition", ["sites", "search", "gap", "judged"])
def test_what_is_told_is_the_one_condition_that_matters(
    engines: tuple[MemoryEngine, MemoryEngine], condition: str
) -> None:
    careless: Any = Careless(engines[1], condition)
    questions = {name: QUESTIONS[name] for name in ("page", "tally")}
    found = compare(engines[0], careless, 300, questions=questions)
    assert isinstance(found, Difference)
    names = {"sites": "site", "search": "q"}
    limiting = found.case_filter.to_query().keys() - {"sort"}
    assert limiting <= {names.get(condition, condition), "mention"}
    assert found.question in str(found)
    assert str(found.case_filter.to_query()) in str(found)


UNLIKE: Any = [
    ({"a": 1}, {"a": 1, "b": 2}),
    ([1, 2], [1]),
    ([1.0], [1.1]),
    ({"a": [1, None]}, {"a": [1, 0]}),
    ("1", 1),
    (True, 1),
]


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_values_that_differ(one: Any, other: Any) -> None:
    assert difference(one, other)
    assert difference(other, one)
    assert difference(one, one) is None


def test_a_failing_engine_is_told_with_its_filter(
    engines: tuple[MemoryEngine, MemoryEngine],
) -> None:
    class Failing(Careless):
        def _without(self, given: Any) -> Any:
            if isinstance(given, CaseFilter) and given.tags:
                raise RuntimeError("no tags here")
            return given

    failing: Any = Failing(engines[1], "")
    found = compare(engines[0], failing, 300, questions={"page": QUESTIONS["page"]})
    assert isinstance(found, Difference)
    assert "no tags here" in found.where
    assert found.case_filter.to_query().keys() == {"tag", "sort"}
    assert len(found.case_filter.tags) == 1

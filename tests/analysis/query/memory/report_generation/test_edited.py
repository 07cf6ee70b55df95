"""Conditions on corrections, held against a plain loop over the rows of the table of edits."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.query.filter.conditions import EDIT_FACET, EditCondition
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.schema import ReviewSet

KINDS = ("location", "false_finding", "an odd one")
READERS = ("ra", "judge:gpt-5", None)


def corrected_set(make_set: Any, seed: int) -> ReviewSet:
    """Reports of which most were corrected, by nobody to three readers, some with gaps."""
    rng = random.Random(seed)
    cases = [{"id": f"c{n:02d}", "question_type": "report"} for n in range(30)]
    answers = [
        {"case": case["id"], "model": model, "text": "Clear.", "finish_reason": "stop"}
        for case in cases
        for model in rng.sample(["g", "m"], rng.randint(0, 2))
    ]
    edits = [
        {
            "case": answer["case"],
            "model": answer["model"],
            "reader": reader,
            "line": line,
            "action": rng.choice(["keep", "substitute", "delete", "insert"]),
            "severity": rng.choice([0, 1, 2, 3, 4, None]),
            "kind": rng.choice([*KINDS, None]),
        }
        for answer in answers
        for reader in rng.sample(READERS, rng.randint(0, 3))
        for line in range(rng.randint(0, 3))
    ]
    edits.append({"case": "gone", "model": "g", "action": "delete", "severity": 4})
    return make_set(cases=cases, answers=answers, edits=edits)


def answers_met(review_set: ReviewSet, conditions: Any, kinds: Any) -> set[tuple[str, str]]:
    """Go through the rows one by one."""
    answers = review_set.answers.select("case", "model").rows()
    rows = review_set.edits.rows(named=True)

    def meets(answer: tuple[str, str], word: str | None) -> bool:
        own = [row for row in rows if (row["case"], row["model"]) == answer]
        one = EditCondition.parse(word) if word else EditCondition("from", 0)
        own = [row for row in own if not one.reader or row["reader"] == one.reader]
        wrong = [row for row in own if row["action"] != "keep"]
        named = [row for row in wrong if not kinds or row["kind"] in kinds]
        if one.what == "below":
            severe = [r for r in wrong if r["severity"] is None or r["severity"] >= one.severity]
            return bool(named if kinds else own) and not severe
        if one.severity:
            return any((row["severity"] or 0) >= one.severity for row in named)
        return bool(named if kinds else own)

    return {one for one in answers if all(meets(one, word) for word in conditions or [None])}


@pytest.mark.parametrize("seed", range(6))
def test_conditions_leave_what_a_plain_loop_leaves(make_set: Any, seed: int) -> None:
    review_set = corrected_set(make_set, seed)
    engine = build_memory_engine(review_set)
    rng = random.Random(seed)
    offered = [*EDIT_FACET, "from:0:ra", "below:2:ra", "from:2:judge:gpt-5", "from:1:nobody"]
    for _ in range(25):
        edits = tuple(rng.sample(offered, rng.randint(0, 2)))
        kinds = tuple(rng.sample(KINDS, rng.randint(not edits, 2)))
        asked = CaseFilter(edits=edits, edit_kinds=kinds, sort="order")
        expected = answers_met(review_set, edits, kinds)
        assert engine.page(asked, 0, 99) == tuple(sorted({case for case, _ in expected}))
        left = engine.selection(asked).rows.select("case", "model").rows()
        assert set(left) == expected


@pytest.mark.parametrize("seed", range(3))
def test_counts_say_what_choosing_a_value_gives(make_set: Any, seed: int) -> None:
    review_set = corrected_set(make_set, seed)
    engine = build_memory_engine(review_set)
    chosen = CaseFilter(edits=("from:1",), edit_kinds=("location",), models=("g",))
    for case_filter in (CaseFilter(), chosen):
        facets = {facet.field: facet for facet in engine.facets(case_filter).facets}
        for value in facets["edits"].values:
            other = CaseFilter(
                edits=tuple(dict.fromkeys((*case_filter.edits, value.value))),
                edit_kinds=case_filter.edit_kinds,
                models=case_filter.models,
            )
            assert value.count == len(engine.page(other, 0, 99)), value
        for value in facets["edit_kinds"].values:
            other = CaseFilter(
                edits=case_filter.edits, edit_kinds=(value.value,), models=case_filter.models
            )
            assert value.count == len(engine.page(other, 0, 99)), value
        assert [value.chosen for value in facets["edits"].values].count(True) == len(
            case_filter.edits
        )


def test_a_set_without_corrections_offers_none(make_set: Any) -> None:
    engine = build_memory_engine(make_set(cases=[{"id": "c"}]))
    assert not {facet.field for facet in engine.facets(CaseFilter()).facets} & {"edits"}
    assert engine.page(CaseFilter(edits=("from:0",)), 0, 9) == ()


def test_a_severity_that_nobody_gave_is_not_below_any(make_set: Any) -> None:
    edits = [{"case": "c", "model": "g", "action": "delete", "severity": None}]
    answers = [{"case": "c", "model": "g", "text": "Clear.", "finish_reason": "stop"}]
    engine = build_memory_engine(make_set(cases=[{"id": "c"}], answers=answers, edits=edits))
    assert engine.page(CaseFilter(edits=("below:4",)), 0, 9) == ()
    assert engine.page(CaseFilter(edits=("from:1",)), 0, 9) == ()
    assert engine.page(CaseFilter(edits=("from:0",)), 0, 9) == ("c",)

"""Which failures a reader may add to an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.case.blinding import blind_case
from rexview.analysis.case.case_page import list_reader_failures
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.schema import Answer, Case

QUESTION = Case(
    id="q", question="Which?", question_type="choice", options=("One", "Two"), correct=1
)
RIGHT = Answer(case="q", model="m", text="B, because of the right effusion.", choice=1)


@pytest.mark.parametrize(
    ("case", "answer", "offered"),
    [
        (QUESTION, RIGHT, True),
        (QUESTION, replace(RIGHT, choice=0), False),
        (QUESTION, replace(RIGHT, choice=None), False),
        (replace(QUESTION, correct=None), RIGHT, False),
        (replace(QUESTION, correct=None), replace(RIGHT, choice=None), False),
        (blind_case(QUESTION), RIGHT, False),  # it would give the right option away
    ],
)
def test_a_wrong_explanation_is_offered_with_a_right_choice(
    case: Case, answer: Answer, offered: bool
) -> None:
    assert ("wrong_explanation" in list_reader_failures(case, answer)) is offered


@pytest.mark.parametrize(
    ("given", "choice_question", "offered"),
    [
        ({"finish_reason": "length"}, False, ["token_limit"]),
        ({"finish_reason": "stop"}, False, ["token_limit"]),  # why nothing came nobody knows
        ({}, True, ["token_limit", "failed_extraction"]),
        ({"error": "500"}, True, ["failed_extraction"]),
        ({"finish_reason": "content_filter"}, False, []),
    ],
)
def test_of_an_answer_that_never_came_only_what_it_can_have_is_offered(
    given, choice_question, offered
) -> None:
    case = QUESTION if choice_question else Case(id="q", question="What is there?")
    for text in (None, " \n"):
        nothing = Answer(case="q", model="m", text=text, **given)
        assert list(list_reader_failures(case, nothing)) == offered
    some = Answer(case="q", model="m", text="There", **given)  # cut off: it has what it says
    assert {"laterality_error", "omission", "token_limit"} <= set(list_reader_failures(case, some))


def test_the_filter_finds_what_a_reader_flagged(make_set) -> None:
    flag = {"reader": "r", "failure": "wrong_explanation", "verdict": "confirmed"}
    review_set = make_set(
        cases=[
            {"id": one, "question_type": "choice", "options": ["x", "y"], "correct": 1}
            for one in "abc"
        ],
        answers=[{"case": one, "model": "g", "text": "B", "choice": 1} for one in "abc"],
        flags=[
            {"case": "b", "model": "g", **flag},
            {"case": "c", "model": "g", **flag, "verdict": "rejected"},
        ],
    )
    engine = build_memory_engine(review_set)
    asked = CaseFilter(failures=("wrong_explanation",))
    assert engine.page(asked, 0, 9) == ("b",)
    (tally,) = [
        one for one in engine.failure_tallies(CaseFilter()) if one.failure == "wrong_explanation"
    ]
    assert (tally.judged, tally.reader, tally.detector) == (2, 1, 0)

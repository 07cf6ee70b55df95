"""The headline of a case is what its card says where cases are sorted by severity."""

from dataclasses import replace

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.case.case_harm import case_headline, failures_of_answer
from rexview.analysis.case.record import gather_case
from rexview.analysis.memory.engine import memory_engine
from rexview.reviewset import load
from rexview.schema import Flag
from rexview.settings import DEMO_FOLDER


@pytest.fixture(scope="module")
def engine():
    return memory_engine(load(DEMO_FOLDER))


def test_it_is_that_of_the_cards(engine):
    review_set, table = load(DEMO_FOLDER), engine.facts.harm
    cases = engine.page(CaseFilter(), 0, 100)
    wrong = {}
    for card in engine.cards(CaseFilter(), cases):
        found = case_headline(gather_case(review_set, card.case.id, engine), table)
        said = (found.words, found.model) if found else ("", "")
        shown = (card.harm, card.harm_model) if card.harm.startswith(("Harm", "Sugg")) else ("", "")
        if said != shown:
            wrong[card.case.id] = (said, shown)
    assert wrong == {}
    assert len(cases) > 30


def test_a_harmless_failure_that_a_reader_confirmed_comes_after_a_suggested_one(engine):
    table = engine.facts.harm
    flags = (
        Flag("c", "m", "verbose", "reader", "Too long.", verdict="confirmed", reader="ra"),
        Flag("c", "g", "omission", "detector", "Possible.", kind="hint"),
    )
    page = gather_case(load(DEMO_FOLDER), "c01", engine)
    answers = tuple(
        replace(one, model=model) for one, model in zip(page.answers, "mg", strict=True)
    )
    made = replace(page, answers=answers, flags=flags, finals={})
    found = case_headline(made, table)
    assert (found.model, found.words[:9]) == ("g", "Suggested")
    assert failures_of_answer(flags, table)["verbose"].confirmed

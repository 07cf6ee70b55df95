"""The headline of a case is what its card says where cases are sorted by severity."""

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.case.headline import case_headline
from rexview.analysis.case.record import gather_case
from rexview.analysis.memory.engine import memory_engine
from rexview.reviewset import load
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

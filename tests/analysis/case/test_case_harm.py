"""The headline of a case is what its card says where cases are sorted by severity."""

from dataclasses import replace

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.case.headline import (
    build_case_headline,
    find_answer_failures,
    find_failing_models,
    sort_failing_first,
)
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.reviewset import load_review_set
from rexview.schema import Flag
from rexview.settings import DEMO_FOLDER


@pytest.fixture(scope="module")
def engine():
    return build_memory_engine(load_review_set(DEMO_FOLDER))


def test_it_is_that_of_the_cards(engine):
    review_set, table = load_review_set(DEMO_FOLDER), engine.facts.harm
    cases = engine.page(CaseFilter(), 0, 100)
    wrong = {}
    for card in engine.cards(CaseFilter(), cases):
        found = build_case_headline(build_case_page(review_set, card.case.id, engine), table)
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
    page = build_case_page(load_review_set(DEMO_FOLDER), "c01", engine)
    answers = tuple(
        replace(one, model=model) for one, model in zip(page.answers, "mg", strict=True)
    )
    made = replace(page, answers=answers, flags=flags, finals={})
    found = build_case_headline(made, table)
    assert (found.model, found.words[:9]) == ("g", "Suggested")
    assert find_answer_failures(flags, table)["verbose"].confirmed


def test_the_headline_names_what_was_missed_where_the_evidence_is_a_size(engine):
    found = build_case_headline(
        build_case_page(load_review_set(DEMO_FOLDER), "r11", engine), engine.facts.harm
    )
    assert (found.words, found.failure) == ("Harm 3: nodule missed", "omission")


def page_of(engine, models, flags):
    page = build_case_page(load_review_set(DEMO_FOLDER), "c01", engine)
    answers = tuple(replace(page.answers[0], model=model) for model in models)
    return replace(page, answers=answers, flags=flags, finals={})


FLAGS = (
    Flag("c", "e", "omission", "detector", "Possible.", kind="hint"),
    Flag("c", "d", "verbose", "reader", "Too long.", verdict="confirmed", reader="ra"),
    Flag("c", "c", "laterality_error", "reader", "Wrong.", verdict="confirmed", reader="ra"),
    Flag("c", "b", "laterality_error", "reader", "No.", verdict="rejected", reader="ra"),
)


def test_answers_that_fail_come_first_where_not_all_fit(engine):
    page, table = page_of(engine, "abcde", FLAGS), engine.facts.harm
    assert [one.model for one in sort_failing_first(page, table).answers] == [
        "c",
        "e",
        "d",
        "a",
        "b",
    ]
    found = find_failing_models(page, table)
    assert (sorted(found.failing), found.suggested) == (["c", "d"], ("e",))


def test_where_all_fit_they_stay_in_their_order(engine):
    page = page_of(engine, "bc", FLAGS)
    assert sort_failing_first(page, engine.facts.harm) is page


def test_without_a_failure_they_stay_in_their_order(engine):
    page = page_of(engine, "abcde", ())
    assert [one.model for one in sort_failing_first(page, engine.facts.harm).answers] == list(
        "abcde"
    )

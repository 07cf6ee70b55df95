"""What is on ClickHouse and what is in memory add up to what the engine in memory says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.query.clickhouse.clickhouse_engine import ClickHouseEngine
from rexview.analysis.query.clickhouse.table_layout import CASES_TABLE
from rexview.analysis.query.filter.case_filter import CaseFilter, NumberRange
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.schema import FailureMark, WrittenFailure

HOSTILE = (
    f"'); DROP TABLE {CASES_TABLE}; --",
    "{version:String}",
    "\\",
    "\\'",
    "a\tb\n",
    "%s",
    "' OR 1=1 --",
    "\N{PILE OF POO}",
    "NULL",
)
FILTERS = (
    CaseFilter(),
    CaseFilter(failures=("laterality_error", "omission"), sources=("detector",)),
    CaseFilter(sources=("hint",), sort="order"),
    CaseFilter(models=("generalist",), sort="newest"),
    CaseFilter(judged=("laterality_error",), studies=("normal",)),
    CaseFilter(search="effusion", mention="any"),
    CaseFilter(search="the LEFT"),
    CaseFilter(tags=("laterality:None",), sort="gap"),
    CaseFilter(process=NumberRange(1, 4)),
    CaseFilter(findings=("unknown", "pneumothorax")),
)


@pytest.mark.parametrize("asked", FILTERS, ids=str)
def test_counts_pages_and_places_are_those_of_the_engine_in_memory(engine, in_memory, asked):
    assert engine.facets(asked) == in_memory.facets(asked)
    cases = in_memory.page(asked, 0, 100)
    assert engine.page(asked, 0, 100) == cases
    assert engine.page(asked, 1, 2) == cases[1:3]
    assert engine.tally(asked) == in_memory.tally(asked)
    assert engine.scanned(asked) == in_memory.scanned(asked)
    assert engine.cards(asked, cases[:4]) == in_memory.cards(asked, cases[:4])
    for case in (*cases[:2], *cases[-1:], "no such case"):
        assert engine.position(asked, case) == in_memory.position(asked, case)


def test_flags_of_a_case_have_their_evidence(engine, in_memory, given):
    reviewed = set(given.review_set.scores["case"])
    others = [case for case in given.review_set.cases["id"] if case not in reviewed]
    for case in (*sorted(reviewed)[:2], *others):
        answers = given.review_set.answers_of(case)
        verdicts = given.review_set.flags_of(case)
        found = engine.flags(case, answers, verdicts)
        assert found == in_memory.flags(case, answers, verdicts)


@pytest.mark.parametrize("name", ["sites", "tags", "search"])
def test_values_of_a_filter_never_become_sql(engine, in_memory, name):
    for value in HOSTILE:
        given = {"sites": (value,), "tags": (f"laterality:{value}",), "search": value}[name]
        asked = CaseFilter(**{name: given})
        assert engine.page(asked, 0, 9) == in_memory.page(asked, 0, 9)
    n = engine.database.query(f"SELECT count() FROM {CASES_TABLE}").item()
    assert n >= engine.facts.n_cases


def test_answers_marked_with_failures_in_words_are_found(engine, in_memory, given):
    case = engine.written.cases["id"][0]
    model = given.review_set.answers_of(case)[0].model
    at = datetime(2026, 11, 28, tzinfo=UTC)
    words = WrittenFailure("prior", {"name": "Prior", "counts": "It compares."}, "Ann", at)
    said = {
        "written_failures": (words,),
        "marks": (
            FailureMark(case, model, "ann", "prior", "0" * 64, None, at),
            FailureMark(case, model, "ann", "removed", "0" * 64, None, at),
        ),
    }
    marked = ClickHouseEngine(engine.opened, engine.small, replace(engine.written, **said))
    both = (
        marked,
        build_memory_engine(replace(given.review_set, **said), scan=in_memory.table.survey.scan),
    )
    for asked, n in (
        (CaseFilter(marked=("prior",)), 1),
        (CaseFilter(marked=("prior:00000000",), models=(model,)), 1),
        (CaseFilter(marked=("prior:11111111",)), 0),
        (CaseFilter(marked=("removed",)), 0),
        (CaseFilter(), len(given.review_set.cases)),
    ):
        pages = [one.page(asked, 0, 100) for one in both]
        assert pages[0] == pages[1]
        assert len(pages[0]) == n
        facets = [one.facets(asked).facets for one in both]
        assert facets[0] == facets[1]
    assert marked.facts.written_failures == {"prior": "Prior"}
    alone, _ = marked.set_of([case])
    assert [one.mark.failure for one in build_case_page(alone, case, marked).marks] == ["prior"]

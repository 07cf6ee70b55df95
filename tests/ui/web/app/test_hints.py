"""Hints of detectors are told from flags, by name, on every page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.case.case_page import CasePage
from rexview.analysis.overview import build_overview
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet
from rexview.ui.answers.browse_cards import gallery_html
from rexview.ui.answers.flags import flags_html
from rexview.ui.overview.summary import failures_html, other_failures_html


@pytest.fixture(name="review_set", scope="module")
def review_set_fixture(make_set: Any) -> ReviewSet:
    """Answer g misses a finding (hint), m's omission was marked by a reader; p is only cut off."""
    review_set: ReviewSet = make_set(
        cases=[
            {"id": case, "report": {"findings": "Left pneumothorax.", "impression": None}}
            for case in ("c", "p")
        ],
        answers=[
            {"case": "c", "model": "g", "text": "The heart is normal."},
            {"case": "c", "model": "m", "text": "The heart is normal."},
            {"case": "p", "model": "g", "text": "The heart", "finish_reason": "length"},
        ],
        flags=[
            {
                "case": "c",
                "model": "m",
                "reader": "r",
                "failure": "omission",
                "verdict": "confirmed",
            }
        ],
    )
    return review_set


@pytest.fixture(name="engine", scope="module")
def engine_fixture(review_set: ReviewSet) -> MemoryEngine:
    return build_memory_engine(review_set)


def test_a_hint_is_no_failure_until_it_is_asked_for(engine: MemoryEngine) -> None:
    found = engine.selection(CaseFilter(failures=("omission",))).rows
    assert found.select("case", "model").rows() == [("c", "m")]
    asked = engine.selection(CaseFilter(failures=("omission",), sources=("hint",))).rows
    assert asked.select("case", "model").rows() == [("c", "g")]
    counted = {facet.field: facet for facet in engine.facets(CaseFilter()).facets}
    sources = {value.value: value.count for value in counted["sources"].values}
    assert sources == {"detector": 1, "reader": 1, "both": 0, "hint": 1}


def test_hints_do_not_come_before_failures(engine: MemoryEngine) -> None:
    severity = dict(
        engine.table.rows.select("model", "severity")
        .filter(engine.table.rows["case"] == "c")
        .rows()
    )
    assert severity["m"] > severity["g"] > 0
    assert engine.selection(CaseFilter(models=("g",))).case_ids == ["p", "c"]


def test_the_overview_counts_them_apart(engine: MemoryEngine) -> None:
    numbers = build_overview(engine)
    found = {(item.failure, item.model): item for item in numbers.failures}
    assert (found["omission", "g"].flagged.value, found["omission", "g"].hint.value) == (0, 1)
    assert (found["omission", "m"].flagged.value, found["omission", "m"].hint.value) == (1, 0)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", other_failures_html(numbers)))
    assert re.search(r"Missed findings\s+1 suggested\s+1 marked", text)
    assert "omission" not in failures_html(numbers)
    for count in (found["omission", "g"].hint, found["omission", "m"].reader):
        assert engine.selection(count.opens).rows["model"].count() == count.value


def test_nothing_met_gives_no_panel(make_set: Any) -> None:
    engine = build_memory_engine(
        make_set(cases=[{"id": "c"}], answers=[{"case": "c", "model": "g"}])
    )
    assert other_failures_html(build_overview(engine)) == ""


def test_a_card_names_it_as_suggested(review_set: ReviewSet, engine: MemoryEngine) -> None:
    cards = engine.cards(CaseFilter(), ["c"])
    assert [answer.failures for answer in cards[0].answers] == [
        (("omission", "hint"),),
        (("omission", "reader"),),
    ]
    html = gallery_html(
        review_set, cards, CaseFilter(), colours={"g": "#000", "m": "#000"}, gap_threshold=2.0
    )
    assert html.count("Suggested: Missed finding") == 1
    assert html.count("Missed finding · reader") == 1


def flag(failure: str, kind: str | None, **more: Any) -> Flag:
    evidence = (Evidence("answer", "words", start=0, end=5),)
    return Flag("c", "g", failure, "detector", "A sentence.", kind=kind, evidence=evidence, **more)


def listed(*flags: Flag) -> str:
    answer = Answer("c", "g", "words")
    return flags_html(CasePage(Case("c", "q"), (answer,), (), {}, flags), answer, {})


def test_the_case_page_lists_hints_last_and_as_suggested() -> None:
    reader = Flag("c", "g", "omission", "reader", "Seen.", reader="r", verdict="confirmed")
    html = listed(
        flag("hallucination", "hint"),
        flag("omission", "hint"),
        reader,
        flag("token_limit", "usage"),
    )
    names = re.findall(r'class="rx-badge([^"]*)"[^>]*>([^<]*)<', html)
    assert names == [
        ("", "Missed finding"),
        ("", "Token-limit failure"),
        (" rx-hint", "Suggested: Invented finding"),
    ]
    assert "<b>1</b> possible failure to check" in html


def test_one_side_of_a_bilateral_finding_has_a_name_of_its_own() -> None:
    html = listed(flag("side_incomplete", "hint"))
    assert ">Suggested: One side of a bilateral finding<" in html
    html = listed(flag("side_incomplete", "hint"), flag("laterality_error", "report"))
    assert ">Laterality error<" in html

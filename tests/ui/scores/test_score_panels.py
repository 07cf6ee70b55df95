"""The tables of the Scores page as HTML: well formed, escaped, complete, in order."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import parse_qs

import pytest
from support.page_text import StrictReader

from rexview.analysis import CaseFilter, LinkedCount, NumberRange, assign_model_colours
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.scores import MAIN_SCORES, PART_SCORES, ScoreTables, build_score_tables
from rexview.stats.bootstrap import Interval
from rexview.ui.scores import score_tables as model_comparisons
from rexview.ui.scores import score_tables as scores_html
from rexview.ui.scores.score_tables import published_html
from rexview.ui.tables.number_table import MissingReasons, format_p, format_signed, linked_number

EVIL = "<img src=x onerror=alert(1)>\"'&"
PARTS = ("process", "execution", "synthesis", "language")


class Reader(StrictReader):
    def check(self, tag: str, attributes: Any) -> None:
        assert tag not in ("img", "script")
        assert not [name for name, _ in attributes if name.startswith("on")]


def tables_of(
    make_set: Any, models: list[str], cases: int = 8, base: CaseFilter | None = None
) -> ScoreTables:
    """Every model is better than the one before it, the last by far."""
    pairs = [(f"c{n}", place, model) for n in range(cases) for place, model in enumerate(models)]
    far = len(models) - 1
    review_set = make_set(
        cases=[{"id": f"c{n}"} for n in range(cases)],
        answers=[{"case": case, "model": model} for case, _, model in pairs],
        scores=[
            {
                "case": case,
                "model": model,
                "reader": "r",
                "dimension": part,
                "score": 5 if place == far else 2 + (int(case[1:]) + place) % 2,
            }
            for case, place, model in pairs
            for part in PARTS
        ],
    )
    return build_score_tables(build_memory_engine(review_set), base, resamples=99)


def text(written: str) -> str:
    return " ".join(" ".join(Reader.read(written).text).split())


@pytest.fixture(autouse=True)
def no_link_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links ask for the review set of the page's link: there is no page here."""
    monkeypatch.setattr("rexview.ui.web.link.keys.query_value", lambda key: None)


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 20])
def test_every_model_has_every_number(make_set: Any, count: int) -> None:
    models = [f"m{n}{EVIL}" for n in range(count)]
    tables = tables_of(make_set, models)
    for dimensions in (MAIN_SCORES, PART_SCORES):
        written = scores_html.scores_html(tables, dimensions, "Title", assign_model_colours(models))
        shown = text(written)
        for model in models:
            assert model in shown
        cells = len(models) * len([name for name in dimensions if name in tables.dimensions])
        assert len(re.findall(r"<b>\d\.\d\d</b> ±", written)) == cells
        assert ("p adjusted" in shown) == (count == 2)


def test_more_than_two_models_are_compared_in_a_list(make_set: Any) -> None:
    tables = tables_of(make_set, ["a", "b", EVIL])
    assert len(tables.comparison.tests) == 15
    adjusted = [test.p_adj for test in model_comparisons.ordered_tests(tables)]
    known = [p for p in adjusted if p is not None]
    assert known == sorted(known)
    assert adjusted[: len(known)] == known
    shown = text(model_comparisons.pairs_html(tables, "Caption"))
    assert "smallest adjusted p first" in shown
    assert shown.count(EVIL) >= 10
    friedman = text(model_comparisons.friedman_html(tables, "Caption"))
    assert "All models at once" in friedman
    assert len(model_comparisons.pairs_frame(tables)) == 15


def test_of_very_many_pairs_the_first_are_written(make_set: Any) -> None:
    tables = tables_of(make_set, [f"m{n}" for n in range(8)])
    written = model_comparisons.pairs_html(tables, "")
    assert "the first 100 of 140" in text(written)
    assert written.count("<tr ") == 101  # the head has a row
    assert len(model_comparisons.pairs_frame(tables)) == 140


@pytest.mark.parametrize(
    ("base", "title"),
    [
        (CaseFilter(models=("a", "b:c"), sort="gap"), "Cases scored for both"),
        (CaseFilter(process=NumberRange(2)), "Browse also lists those where only one of the two"),
    ],
)
def test_pairs_open_the_cases_scored_for_both(make_set: Any, base: CaseFilter, title: str) -> None:
    tables = tables_of(make_set, ["a", "b:c"], base=base)
    written = model_comparisons.comparison_cells(tables, "execution", MissingReasons())
    (link,) = re.findall(r'href="(.*?)" data-rx-page .*?title="(.*?)">8</a>', written)
    opened = CaseFilter.from_query(parse_qs(unescape(link[0]).partition("?")[2]))
    assert opened == replace(base, model_pairs=("execution:a:b%3Ac",))
    assert title in link[1]


def test_published_figures_are_marked_as_not_ours(make_set: Any) -> None:
    tables = tables_of(make_set, [f"m{n}{EVIL}" for n in range(6)])
    written = published_html(tables)
    shown = text(written)
    assert "not computed here" in shown
    assert "the first 4 of your models are shown here" in shown
    assert f"m3{EVIL}" in shown
    assert f"m4{EVIL}" not in shown
    assert re.search(r'<td class="rx-outside"[^>]*>2\.71 ± 1\.31', written)


def test_a_missing_number_has_its_reason_at_hand_and_below() -> None:
    reasons = MissingReasons()
    cell = reasons.interval(Interval(None, None, "One value <only>."), f"A{EVIL}")
    assert text(cell) == "–"
    assert 'title="One value &lt;only&gt;."' in cell
    assert text(reasons.html()) == f"– One value <only>. (A{EVIL})"
    for number in range(9):
        reasons.add("One value <only>.", f"B{number}")
    assert "and 4 more" in text(reasons.html())
    assert MissingReasons().html() == ""


def test_nothing_is_no_link() -> None:
    assert linked_number(LinkedCount(0, CaseFilter()), "0") == "0"
    assert "<a href=" in linked_number(LinkedCount(1, CaseFilter()), "1")


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.274, "+1.27"), (-0.5, "−0.50"), (-0.001, "0.00"), (0.0, "0.00")],
)
def test_differences_have_a_sign(value: float, written: str) -> None:
    assert format_signed(value) == written


@pytest.mark.parametrize(
    ("p", "written"), [(0.0004, "&lt;0.001"), (0.0496, "0.050"), (1.0, "1.000"), (0.001, "0.001")]
)
def test_p_values(p: float, written: str) -> None:
    assert format_p(p) == written

"""The tables of the Failures page: three models, hostile names, comparisons on demand."""

import re
from html.parser import HTMLParser

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.failures import BY_FINDING, build_failure_groups, build_failure_tables
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.ui.failures.failure_rates import (
    comparisons_html,
    groups_html,
    meanings_html,
    rates_html,
)
from rexview.ui.web.link import keys as link_keys

HOSTILE = '<img src=x onerror=alert(1)>"'
MODELS = ("g", "m", HOSTILE)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.met = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.met.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]


@pytest.fixture
def three(make_set, monkeypatch):
    monkeypatch.setattr(link_keys, "link_query", lambda found=None, **_: found.to_query())
    report = {"findings": "There is a left pneumothorax.", "impression": None}
    texts = {"g": "There is a right pneumothorax.", "m": "There is a left pneumothorax."}
    review_set = make_set(
        cases=[{"id": f"c{n}", "report": report} for n in range(8)],
        answers=[
            {"case": f"c{n}", "model": model, "text": texts.get(model, "Normal.")}
            for n in range(8)
            for model in MODELS
        ],
    )
    return build_memory_engine(review_set)


def test_three_models_have_their_rows_and_their_pairs_apart(three):
    tables = build_failure_tables(three, resamples=99)
    drawn = rates_html(tables, {}, "Table 4")
    assert Tags(drawn).met <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"} | {
        *("a", "b", "small", "span", "p", "ul", "li", "abbr")
    }
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", drawn))
    assert "Generalist 100% 8 of 8 68% to 100% 8 of 8" in text
    assert "Difference" not in text
    pairs = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", comparisons_html(tables)))
    assert "Laterality errors Generalist Medical 4B +100 points" in pairs
    assert "8 pairs failed only Generalist: 8 · only Medical 4B: 0" in pairs
    assert "Differences are A minus B" in pairs
    Tags(comparisons_html(tables))


def test_two_models_say_which_is_first(make_set, monkeypatch):
    monkeypatch.setattr(link_keys, "link_query", lambda found=None, **_: found.to_query())
    answers = [{"case": "c0", "model": model, "text": "Normal."} for model in MODELS[:2]]
    review_set = make_set(cases=[{"id": "c0"}], answers=answers)
    drawn = rates_html(build_failure_tables(build_memory_engine(review_set), resamples=0), {}, "4")
    assert "Differences are Generalist minus Medical 4B" in drawn


def test_groups_mark_small_ones_and_escape_names(three):
    groups = build_failure_groups(three, CaseFilter(), "laterality_error", BY_FINDING, resamples=99)
    drawn = groups_html(groups, "Table 5")
    Tags(drawn)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", drawn))
    assert "pneumothorax 8 8 of 8 100%, 68% to 100% · small group" in text
    assert "Groups with n under 10 are small: treat them as single cases." in text


def test_nothing_is_said_of_small_groups_where_none_is(make_set, monkeypatch):
    monkeypatch.setattr(link_keys, "link_query", lambda found=None, **_: found.to_query())
    report = {"impression": "Right pneumothorax."}
    cases = [{"id": f"c{number}", "report": report} for number in range(10)]
    answers = [{"case": one["id"], "model": "gen", "text": "Left pneumothorax."} for one in cases]
    engine = build_memory_engine(make_set(cases=cases, answers=answers))
    groups = build_failure_groups(engine, CaseFilter(), "laterality_error", BY_FINDING, resamples=0)
    assert [cell.rate.n for group in groups.groups for cell in group.cells if cell.rate.n] == [10]
    assert "small" not in re.sub(r"<[^>]*>", " ", groups_html(groups, "Table 5"))


def test_the_precision_of_a_rule_stands_with_the_failure(three):
    told = meanings_html(build_failure_tables(three, resamples=0))
    said = r"Laterality errors\..*Rule: in tests \d+ of \d+ such flags were right \(\d+% to \d+%\)"
    assert re.search(said, told)

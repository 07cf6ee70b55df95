"""Cards and links as HTML: nothing of a file or a model may come through as markup."""

import re
from html.parser import HTMLParser

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.overview import build_overview
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.ui.answers.browse_cards import gallery_html
from rexview.ui.browse.case_list import filter_bar_html, sources_text
from rexview.ui.overview.summary import failures_html, headline_html, scores_html
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.pages import PAGE_BROWSE, PAGE_CASE, PAGE_OVERVIEW

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;"


class Tags(HTMLParser):
    """Gathers every element and attribute of some HTML."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)


@pytest.fixture
def hostile_set(make_set):
    image = {"id": "i", "path": f"{HOSTILE}.png", "view": "PA", "width": 100, "height": 100}
    wrong = {"image": "i", "label": f"left {HOSTILE}", "box": [10.0, 40.0, 20.0, 20.0]}
    return make_set(
        cases=[
            {
                "id": HOSTILE,
                "question": HOSTILE,
                "category": HOSTILE,
                "site": HOSTILE,
                "tags": [{"name": HOSTILE, "values": [HOSTILE]}],
                "images": [image],
            }
        ],
        answers=[
            {"case": HOSTILE, "model": HOSTILE, "boxes": [wrong]},
            {"case": HOSTILE, "model": "g", "finish_reason": "length"},
        ],
        scores=[
            {"case": HOSTILE, "model": HOSTILE, "reader": HOSTILE, "dimension": name, "score": 2}
            for name in ("process", "execution", "synthesis")
        ],
    )


def test_hostile_text_stays_text_everywhere(hostile_set):
    engine = build_memory_engine(hostile_set)
    chosen = CaseFilter(
        models=(HOSTILE,), sites=(HOSTILE,), categories=(HOSTILE,), search="script alert"
    )
    colours = dict.fromkeys(engine.facts.models, "#123456")
    every = CaseFilter()
    numbers = build_overview(engine)
    cards = engine.cards(every, engine.page(every, 0, 100))
    html = "".join(
        (
            gallery_html(hostile_set, cards, chosen, colours=colours, gap_threshold=2.0),
            filter_bar_html(engine.facts, chosen, engine.facets(chosen)),
            headline_html(numbers),
            failures_html(numbers),
            scores_html(numbers, "Minimum of the readers' means"),
        )
    )
    found = Tags(html)
    assert "a" in found.names
    assert not found.names & {"script", "iframe", "object", "img"}  # the image is not there
    assert not [name for name in found.attributes if name.startswith("on")]
    assert "&lt;script&gt;" in html


def test_a_case_without_image_answers_or_size_has_a_card(make_set):
    review_set = make_set(
        cases=[{"id": "a"}, {"id": "b", "images": [{"id": "i", "path": "i.png", "view": "PA"}]}],
        answers=[{"case": "b", "model": "g"}],
    )
    in_order = CaseFilter(sort="order")
    cards = build_memory_engine(review_set).cards(in_order, ["b", "a"])
    assert [card.case.id for card in cards] == ["b", "a"]
    html = gallery_html(
        review_set, cards, CaseFilter(), colours={"g": "#000", "m": "#000"}, gap_threshold=2.0
    )
    assert "No image" in html
    assert "No answer given yet" in html
    assert "Not scored" in html
    assert "<svg" not in html


def test_cards_tell_the_answers_that_the_filter_is_about(make_set):
    review_set = make_set(
        cases=[{"id": "c"}],
        answers=[
            {"case": "c", "model": "m"},
            {"case": "c", "model": "g", "finish_reason": "length"},
        ],
        flags=[
            {"case": "c", "model": "g", "reader": "r", "failure": "token_limit"},
            {"case": "c", "model": "m", "reader": "r", "failure": "omission"},
        ],
    )
    chosen = CaseFilter(failures=("token_limit",))
    (card,) = build_memory_engine(review_set).cards(chosen, ["c"])
    assert [(answer.model, answer.chosen) for answer in card.answers] == [("g", True), ("m", False)]
    assert [answer.failures for answer in card.answers] == [
        (("token_limit", "both"),),
        (("omission", "reader"),),
    ]


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((0, 0, 0), "none found"),
        ((3, 0, 0), "3 rule only"),
        ((1200, 2, 1), "1,200 rule only · 2 reader only · 1 rule and reader"),
    ],
)
def test_sources_are_told_apart(counts, text):
    assert sources_text(*counts) == text


def test_addresses_are_relative_and_quoted():
    assert href(PAGE_OVERVIEW, {}) == "./"
    assert href(PAGE_CASE, {"case": "a&b=c", "model": ["x y", "ü"]}) == (
        "case?case=a%26b%3Dc&model=x+y&model=%C3%BC"
    )
    assert not re.search(r"[\"'<>]", href(PAGE_BROWSE, {"q": HOSTILE}))


def test_cards_say_why_they_stand_where_they_stand_only_in_that_order(make_set, monkeypatch):
    monkeypatch.setattr(link_keys, "query_value", lambda key: None)
    review_set = make_set(
        cases=[{"id": "c"}],
        answers=[{"case": "c", "model": "g"}, {"case": "c", "model": "m"}],
        flags=[
            {"case": "c", "model": "g", "reader": "r", "failure": "verbose"},
            {"case": "c", "model": "m", "reader": "r", "failure": "laterality_error"},
        ],
    )
    engine = build_memory_engine(review_set)
    for sort, models, told in (
        ("severity", (), ("Harm 3: laterality error", "#222", "Medical 4B")),
        (
            "severity",
            ("g",),
            ("Harm 0: too long", "#111", "Generalist"),
        ),  # of what the filter is about
        ("order", (), ()),
    ):
        found = CaseFilter(sort=sort, models=models)
        (card,) = engine.cards(found, ["c"])
        drawn = gallery_html(
            review_set, [card], found, colours={"g": "#111", "m": "#222"}, gap_threshold=2
        )
        whose = r'<span class="rx-card-whose" style="--rx-colour:(.*?)">(.*?)</span>'
        found = re.findall(rf'<p class="rx-card-harm" .*?>(.*?) {whose}</p>', drawn)
        assert found == ([told] if told else [])
        assert [answer.harm for answer in card.answers] == [
            "Harm 0: too long", "Harm 3: laterality error"
        ]  # fmt: skip


def test_of_a_single_answer_the_card_need_not_say_whose_it_is(make_set, monkeypatch):
    monkeypatch.setattr(link_keys, "query_value", lambda key: None)
    flag = {"case": "c", "model": "g", "reader": "r", "failure": "verbose"}
    review_set = make_set(cases=[{"id": "c"}], answers=[{"case": "c", "model": "g"}], flags=[flag])
    cards = build_memory_engine(review_set).cards(CaseFilter(), ["c"])
    drawn = gallery_html(review_set, cards, CaseFilter(), colours={"g": "#111"}, gap_threshold=2)
    assert "Harm 0: too long</p>" in drawn


def test_cards_show_what_became_of_a_choice(make_set):
    questions = {"question_type": "choice", "options": ["x", "y", "z"]}
    review_set = make_set(
        cases=[
            {"id": "q", **questions, "correct": 1},
            {"id": "u", **questions, "correct": None},
            {"id": "o"},
        ],
        answers=[
            {"case": "q", "model": "g", "text": "B", "choice": 1},
            {"case": "q", "model": "m", "text": "C", "choice": 2},
            {"case": "q", "model": "n", "text": "?"},
            {"case": "q", "model": "o", "text": "7", "choice": 7},
            {"case": "u", "model": "g", "text": "A", "choice": 0},
            {"case": "o", "model": "g", "text": "A"},
        ],
    )
    engine = build_memory_engine(review_set)
    cards = engine.cards(CaseFilter(), ("q", "u", "o"))
    assert [[(one.choice, one.outcome) for one in card.answers] for card in cards] == [
        [(1, "right"), (2, "wrong"), (None, "failed"), (None, "failed")],
        [(0, None)],
        [(None, None)],
    ]
    colours = dict.fromkeys(engine.facts.models, "#123456")
    html = gallery_html(review_set, cards, CaseFilter(), colours=colours, gap_threshold=2.0)
    shown = re.findall(r'class="rx-outcome" data-rx-outcome="(\w+)">(.*?)</span>', html)
    assert shown == [
        ("right", "✓ <b>B</b> right"),
        ("wrong", "✗ <b>C</b> wrong"),
        ("failed", "No usable choice"),
        ("failed", "No usable choice"),
        ("chosen", "<b>A</b> chosen"),
    ]

"""Meetings out of a real database: agenda in order, notes for their writer only, decisions."""

from datetime import date

import pytest
from support.small_set import write_set

from rexview.analysis.meetings import find_meeting, list_meetings, read_presenter_notes
from rexview.errors import StoreRefused
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, merge_reviews, open_reviews

LEAD = Person("ann", "Ann", "lead")
OTHER = Person("bob", "Bob", "adjudicator")


@pytest.fixture
def reviews(tmp_path):
    return open_reviews(load_review_set(write_set(tmp_path / "set")), Settings())


def say(reviews, kind, value, person=LEAD, **more):
    reviews.record([Entry(kind=kind, value=value, **more)], person)


def test_a_meeting_has_its_cases_in_order(reviews):
    first, second = reviews.review_set.cases["id"].to_list()[:2]
    say(reviews, "meeting", {"name": "Chest", "held": "2026-12-01"}, subject="m1")
    say(reviews, "meeting", {"name": "Later"}, subject="m2")
    for case, place in ((first, 2), (second, 1.5)):
        say(reviews, "agenda", {"place": place, "section": "Side"}, case=case, subject="m1")
    assert [one.name for one in list_meetings(reviews)] == ["Later", "Chest"]
    found = find_meeting(reviews, "m1")
    assert found.cases == (second, first)
    assert found.held == date(2026, 12, 1)
    assert found.steps[0] == "question"
    say(reviews, "agenda", None, case=first, subject="m1")
    say(reviews, "meeting", None, subject="m2")
    assert find_meeting(reviews, "m1").cases == (second,)
    assert find_meeting(reviews, "m2") is None


def test_notes_are_their_writers_own(reviews):
    case = reviews.review_set.cases["id"][0]
    say(reviews, "presenter_note", {"text": "Ask Bob."}, case=case, subject="m1")
    assert read_presenter_notes(reviews, "m1", "ann") == {case: "Ask Bob."}
    assert read_presenter_notes(reviews, "m1", "bob") == {}


def test_a_decision_is_a_row_of_the_set(reviews):
    case, model = reviews.review_set.answers.select("case", "model").row(0)
    say(reviews, "meeting", {"name": "Chest", "held": "2026-12-01"}, subject="m1")
    value = {"failure": "omission", "severity": 3, "decision": "retrain", "due": "2026-12-24"}
    say(reviews, "decide", value, case=case, model=model, subject="m1", person=OTHER)
    say(reviews, "decide", {"decision": "exclude"}, case=case, subject="m1")
    rows = merge_reviews(reviews.review_set, reviews).decisions.sort("model", nulls_last=True)
    assert rows["model"].to_list() == [model, None]
    assert rows["failure"].to_list() == ["omission", None]
    assert rows["meeting_name"].to_list() == ["Chest", "Chest"]
    assert rows["held"].dt.date().to_list() == [date(2026, 12, 1)] * 2
    assert rows["due"].dt.date().to_list() == [date(2026, 12, 24), None]
    assert rows["answer_digest"].is_not_null().to_list() == [True, False]
    say(reviews, "decide", None, case=case, subject="m1")
    assert merge_reviews(reviews.review_set, reviews).decisions["model"].to_list() == [model]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("meeting", {"name": " "}),
        ("meeting", {"name": "x", "held": "soon"}),
        ("meeting", {"name": "x", "steps": ["everything"]}),
        ("vote", {"count": -1}),
        ("vote", {"count": 1, "harm": {"5": 1}}),
        ("decide", {"severity": 5}),
        ("agenda", {"place": float("nan")}),
    ],
)
def test_what_makes_no_sense_is_refused(reviews, kind, value):
    case = None if kind == "meeting" else reviews.review_set.cases["id"][0]
    with pytest.raises(StoreRefused):
        say(reviews, kind, value, case=case, subject="m1")

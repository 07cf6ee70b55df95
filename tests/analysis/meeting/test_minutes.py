"""Minutes and decisions out of a real database, compared with what was written there."""

import json
from datetime import date

import pytest
from support.small_set import write_set

from rexview.analysis.meetings import build_minutes, filter_open_decisions, list_decisions
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, merge_reviews, open_reviews

LEAD = Person("ann", "Ann A.", "lead")


@pytest.fixture
def reviews(tmp_path):
    return open_reviews(load_review_set(write_set(tmp_path / "set")), Settings())


@pytest.fixture
def say(reviews):
    """Return a function that writes an entry about the meeting ``m1``."""

    def write(kind, value, **more):
        reviews.record([Entry(kind=kind, value=value, **{"subject": "m1", **more})], LEAD)

    return write


def test_minutes_have_what_was_shown_voted_and_decided(reviews, say):
    first, model = reviews.review_set.answers.select("case", "model").row(0)
    others = (case for case in reviews.review_set.cases["id"] if case != first)
    taken_off, second = next(others), next(others)
    say("meeting", {"name": "Chest", "held": "2026-12-01"})
    for case, place in ((first, 1), (second, 2), (taken_off, 3)):
        say("agenda", {"place": place, "section": "Side"}, case=case)
    say("discussed", {"seconds": 90.5}, case=first)
    say("vote", {"count": 3, "right": {model: 3}, "harm": {"2": 3}}, case=first)
    retrain = {"failure": "omission", "severity": 3, "decision": "retrain", "due": "2026-12-24"}
    say("decide", retrain, case=first, model=model)
    say("decide", {"decision": "accept", "failure": "none"}, case=first)
    say("decide", {"decision": "Ask the vendor", "owner": "Bob"}, case=taken_off)
    say("agenda", None, case=taken_off)
    written = merge_reviews(reviews.review_set, reviews)
    found = build_minutes(written, reviews, "m1")
    assert [(item.number, item.case, item.on_agenda) for item in found.items] == [
        (1, first, True),
        (2, second, True),
        (3, taken_off, False),
    ]
    assert found.seconds == 90.5
    assert found.items[0].vote.right == {model: 3}
    assert [item.case for item in found.postponed] == [second]
    about_case, about_answer = found.items[0].decisions
    assert (about_case.model, about_case.failure_words) == (None, "No failure")
    assert (about_answer.model, about_answer.severity) == (model, 3)
    assert (about_answer.due, about_answer.by) == (date(2026, 12, 24), "Ann A.")
    assert [one.decision_words for one in found.open] == ["Retrain", "Ask the vendor"]
    assert build_minutes(written, reviews, "m2") is None


def test_only_what_has_something_left_to_do_is_open(reviews, say):
    case = reviews.review_set.cases["id"][0]
    say("meeting", {"name": "Chest"})
    for value, is_open in (
        ({"decision": "accept"}, False),
        ({"decision": "accept", "owner": "Bob"}, True),
        ({"failure": "omission", "severity": 2}, False),
        ({"decision": "retrain"}, True),
        ({"decision": "retrain", "done": True}, False),
    ):
        say("decide", value, case=case)
        (found,) = list_decisions(merge_reviews(reviews.review_set, reviews), case=case)
        assert found.is_open is is_open, value


def test_what_is_due_before_today_is_overdue(reviews, say):
    case = reviews.review_set.cases["id"][0]
    say("decide", {"decision": "retrain", "due": "2026-12-24"}, case=case)
    (found,) = filter_open_decisions(list_decisions(merge_reviews(reviews.review_set, reviews)))
    assert not found.is_overdue(date(2026, 12, 24))
    assert found.is_overdue(date(2026, 12, 25))


def test_a_decision_on_an_answer_that_was_replaced_says_so(reviews, say, tmp_path):
    case, model = reviews.review_set.answers.select("case", "model").row(0)
    say("decide", {"decision": "retrain"}, case=case, model=model)
    say("decide", {"decision": "retrain"}, case=case)
    assert not any(
        one.replaced for one in list_decisions(merge_reviews(reviews.review_set, reviews))
    )
    file = next((tmp_path / "set").glob("answers*"))
    text = reviews.review_set.answers_of(case)[0].text
    file.write_text(file.read_text().replace(text, text + " Changed."))
    changed = load_review_set(tmp_path / "set")
    rows = list_decisions(merge_reviews(changed, open_reviews(changed, Settings())))
    assert [(one.model, one.replaced) for one in rows] == [(None, False), (model, True)]


def test_what_a_removed_meeting_decided_is_listed_nowhere(reviews, say):
    case = reviews.review_set.cases["id"][0]
    say("meeting", {"name": "Chest"})
    say("decide", {"decision": "retrain"}, case=case)
    say("decide", {"decision": "accept"}, case=case, subject="m2")
    say("meeting", None)
    assert [one.meeting for one in list_decisions(merge_reviews(reviews.review_set, reviews))] == [
        "m2"
    ]


def test_a_given_decision_that_was_changed_keeps_the_name_and_day_of_its_meeting(tmp_path):
    folder = write_set(tmp_path / "set")
    given = {"case": "c1", "meeting": "old", "reader": "r1", "decision": "retrain"}
    given |= {"meeting_name": "Board", "held": "2026-12-01"}
    (folder / "decisions.jsonl").write_text(json.dumps(given))
    reviews = open_reviews(load_review_set(folder), Settings())
    done = {"decision": "retrain", "done": True}
    reviews.record([Entry("decide", "c1", subject="old", value=done)], LEAD)
    (found,) = list_decisions(merge_reviews(reviews.review_set, reviews))
    assert (found.meeting_name, found.held, found.done) == ("Board", date(2026, 12, 1), True)

"""Decisions as pages show them: listed and filtered on Meeting, for a case on Case; no browser."""

from datetime import UTC, datetime, timedelta

import pytest
from support.page_text import components, shown

from rexview.errors import StoreRefused
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.access import permissions
from rexview.ui.web.server import server_state

LEA = Person("lea", "Lea Lead", "lead")
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
DECIDED = [
    ("m1", "c1", "m", {"decision": "retrain", "owner": "Ben", "due": "2999-01-01"}),
    ("m1", "c1", None, {"decision": "accept", "failure": "none"}),
    ("m1", "c2", None, {"decision": "Ask the vendor", "owner": "Eve", "due": YESTERDAY}),
    ("m2", "c3", None, {"decision": "retrain", "done": True}),
]


@pytest.fixture
def decided(open_app, review_folder, monkeypatch):
    """Two meetings have decided, of which the first is open; Lea is at the page."""
    monkeypatch.setattr(permissions, "current_person", lambda: LEA)
    reviews = open_reviews(load_review_set(review_folder), server_state.settings())
    entries = [
        Entry("meeting", subject="m1", value={"name": "Chest", "decisions": ["Ask the vendor"]}),
        Entry("meeting", subject="m2", value={"name": "Pilot", "closed": True}),
        *(Entry("agenda", case, subject="m1", value={"place": 1}) for case in ("c1", "c2")),
        *(Entry("decide", case, model, of, value=value) for of, case, model, value in DECIDED),
    ]
    reviews.record(entries, LEA)
    yield
    close_databases()


def listed(app):
    (data,) = components(app, "rexview_decision_list")
    return data


def about(rows):
    return [(row["case"], row["model"]) for row in rows]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ({}, [("c2", None), ("c1", "m")]),
        ({"decisions": "late"}, [("c2", None)]),
        ({"decisions": "done"}, [("c3", None)]),
        ({"decisions": "all", "decisions_of": "m1"}, [("c1", None), ("c1", "m"), ("c2", None)]),
        ({"decisions_for": "Ben"}, [("c1", "m")]),
        ({"decisions": "all", "decisions_to": "retrain"}, [("c3", None), ("c1", "m")]),
    ],
)
def test_the_link_says_which_decisions_are_listed(open_app, decided, query, rows):
    app = open_app("meeting", **{"as": "decisions"}, **query)
    assert about(listed(app)["rows"]) == rows
    assert "2 open, 1 overdue." in shown(app)


def test_a_row_has_what_is_needed_to_find_and_change_it(open_app, decided):
    first, second = listed(open_app("meeting", **{"as": "decisions"}))["rows"]
    assert (first["overdue"], second["overdue"]) == (True, False)
    assert first["href"] == "case?case=c2"
    assert second["modelName"] == "Model M"
    assert len(second["shown"]) == 64
    assert first["value"]["decision"] == "Ask the vendor"
    assert [one["by"] for one in first["history"]] == ["Lea Lead"]


def test_nothing_is_listed_where_nothing_was_decided(open_app):
    assert "No meeting has decided anything" in shown(open_app("meeting", **{"as": "decisions"}))


def test_who_looks_may_not_decide(open_app, decided, monkeypatch):
    viewer = Person("vic", "Vic", "viewer")
    monkeypatch.setattr(permissions, "current_person", lambda: viewer)
    monkeypatch.setattr(permissions, "current_role", lambda: "viewer")
    assert listed(open_app("meeting", **{"as": "decisions"}))["may"] is False
    (data,) = components(open_app("case", case="c1"), "rexview_case_decisions")
    assert (data["may"], data["meetings"], data["proposals"]) == (False, [], {})
    assert about(data["past"]) == [("c1", None), ("c1", "m")]


def test_a_case_on_an_open_agenda_can_be_decided_on_its_page(open_app, decided):
    (data,) = components(open_app("case", case="c1"), "rexview_case_decisions")
    assert [one["name"] for one in data["meetings"]] == ["Chest"]
    assert [one["key"] for one in data["subjects"]] == ["", "m", "n"]
    assert data["rows"]["m1"]["m"]["value"]["decision"] == "retrain"
    assert data["past"] == []
    assert data["proposals"].keys() <= {"", "m", "n"}
    assert data["proposals"][""]["severity"] in range(5)


def test_of_a_closed_meeting_a_case_shows_what_was_decided(open_app, decided):
    (data,) = components(open_app("case", case="c3"), "rexview_case_decisions")
    assert data["meetings"] == []
    assert [one["meetingName"] for one in data["past"]] == ["Pilot"]


def test_a_failure_in_own_words_can_be_agreed_on(open_app, decided, review_folder):
    reviews = open_reviews(load_review_set(review_folder), server_state.settings())
    words = {"name": "Comparison that does not exist", "counts": "It compares, and nothing is."}
    reviews.record([Entry("written_failure", subject="comparison", value=words)], LEA)
    (data,) = components(open_app("case", case="c1"), "rexview_case_decisions")
    name = "Comparison that does not exist"
    assert data["choices"]["failures"][-1] == [name, name]
    reviews.record([Entry("decide", "c1", "m", "m1", value={"failure": name})], LEA)
    with pytest.raises(StoreRefused, match="is not known"):
        reviews.record([Entry("decide", "c1", "m", "m1", value={"failure": "Another"})], LEA)
    rows = listed(open_app("meeting", **{"as": "decisions", "decisions": "all"}))["rows"]
    assert name in [row["value"]["failure"] for row in rows]

"""The Study page deals cases and counts; without a browser."""

import pytest
from support.page_text import shown

from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.access import permissions
from rexview.ui.web.saving.reader_study import load_reader_study
from rexview.ui.web.server import review_sets, server_state

LEA = Person("lea", "Lea Lead", "lead")


@pytest.fixture
def kept(open_app, review_folder, monkeypatch):
    """The reviews database as it is on the disk; Lea is at the page."""
    monkeypatch.setattr(permissions, "current_person", lambda: LEA)
    yield lambda: open_reviews(load_review_set(review_folder), server_state.settings())
    close_databases()


def given(kept):
    return sorted((one.case, one.reader, one.order) for one in kept().assignments())


def test_cases_are_dealt_after_a_preview(open_app, kept):
    app = open_app("study")
    assert app.button(key="study_assign").disabled
    app.multiselect(key="study_first").set_value(["lea", "Dr <b>Ann</b>"])
    app.multiselect(key="study_second").set_value(["lea", "Dr Bob"])
    app.number_input(key="study_share").set_value(100).run()
    text = shown(app)
    assert "Dr &lt;b&gt;Ann&lt;/b&gt;" in text
    assert "<b>Ann" not in text
    assert "<b>+1</b>" in text
    assert kept().revision() == 0, "nothing is written by looking"
    app.button(key="study_assign").click().run()
    assert not app.exception
    assert "4 assigned." in shown(app)
    found = given(kept)
    assert [one[0] for one in found] == ["c1", "c1", "c2", "c2"]
    for case in ("c1", "c2"):
        own = [(reader, order) for name, reader, order in found if name == case]
        assert {order for _, order in own} == {"first", "second"}
        assert len({reader for reader, _ in own}) == 2
    assert app.button(key="study_assign").disabled, "nothing is left to add"


def test_cases_can_be_withdrawn_but_not_those_begun(open_app, kept):
    value = {"as": "first", "active": True}
    entries = [Entry("assign", case, None, "lea", value=value) for case in ("c1", "c2")]
    score = Entry("score", "c1", "m", "process", value={"score": 3, "comment": None})
    kept().record([*entries, score], LEA)
    app = open_app("study")
    assert app.button(key="study_withdraw").label == "Withdraw 1 case"
    app.button(key="study_withdraw").click().run()
    assert given(kept) == [("c1", "lea", "first")]
    app.checkbox(key="study_withdraw_all").check().run()
    app.button(key="study_withdraw").click().run()
    assert given(kept) == []
    assert len(kept().scores()) == 1


def test_progress_counts_and_tells_no_score(open_app, kept):
    score = Entry("score", "c1", "m", "process", value={"score": 1, "comment": "Dreadful"})
    kept().record([score], LEA)
    text = shown(open_app("study"))
    assert "Lea Lead" in text
    assert "0 of 2" in text
    assert "Dreadful" not in text


def test_a_study_says_when_every_reader_has_finished(open_app, kept):
    value = {"as": "first", "active": True}
    kept().record([Entry("assign", "c1", None, "ann", value=value)], LEA)
    assert "Every reader has finished" not in shown(open_app("study"))
    ann = Person("ann", "Ann", "reader")
    needed = review_sets.study_engine(kept().review_set).required(["c1"])
    scores = [
        Entry("score", *about, value={"score": 3, "comment": None}) for about in needed.iter_rows()
    ]
    kept().record(scores, ann)
    assert "Every reader has finished" in shown(open_app("study"))
    kept().record([Entry("assign", "c2", None, "ann", value=value)], LEA)
    assert "Every reader has finished" not in shown(open_app("study"))


@pytest.mark.parametrize(("role", "assigns"), [("viewer", False), ("adjudicator", False)])
def test_others_see_progress_and_assign_nothing(open_app, kept, monkeypatch, role, assigns):
    monkeypatch.setattr(permissions, "current_person", lambda: Person("x", "X", role))
    monkeypatch.setattr(permissions, "current_role", lambda: role)
    text = shown(open_app("study"))
    assert "Progress" in text
    assert ("Assign cases" in text) == assigns


def test_readers_get_nothing_of_it(open_app, kept, monkeypatch):
    app = open_app()
    monkeypatch.setattr(permissions, "current_person", lambda: Person("x", "X", "reader"))
    monkeypatch.setattr(permissions, "current_role", lambda: "reader")
    for page in ("study", "adjudicate"):
        text = shown(app.switch_page(f"pages/{page}.py").run())
        assert "does not include this page" in text
        assert "apart" not in text


def test_a_reader_who_is_assigned_nothing_while_others_are_scores_nothing(
    open_app, kept, monkeypatch
):
    value = {"as": "first", "active": True}
    kept().record([Entry("assign", "c1", None, "ann", value=value)], LEA)
    monkeypatch.setattr(permissions, "current_person", lambda: Person("rob", "Rob", "reader"))
    monkeypatch.setattr(permissions, "current_role", lambda: "reader")
    assert "none of them to you" in shown(open_app("score"))


def test_a_lead_who_is_assigned_nothing_may_score_every_case(open_app, kept):
    value = {"as": "first", "active": True}
    kept().record([Entry("assign", "c1", None, "ann", value=value)], LEA)
    assert "none of them to you" not in shown(open_app("score"))
    kept().record([Entry("assign", "c2", None, "lea", value=value)], LEA)
    study = load_reader_study(load_review_set(kept().review_set.folder), LEA)
    assert study.worklist.page(0, 9) == ("c2",), "what a lead is assigned is theirs, as anybody's"

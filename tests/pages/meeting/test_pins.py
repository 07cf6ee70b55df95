"""Cases are pinned to a meeting from the pages that list and show them; without a browser."""

import pytest
from support.page_text import shown

from rexview.analysis.meetings import list_meetings
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.meeting import meetings as writing
from rexview.ui.web.access import permissions
from rexview.ui.web.server import server_state

LEA = Person("lea", "Lea Lead", "lead")


@pytest.fixture
def kept(open_app, review_folder, monkeypatch):
    """The reviews database as it is on the disk; Lea is at the page."""
    monkeypatch.setattr(permissions, "current_person", lambda: LEA)
    yield lambda: open_reviews(load_review_set(review_folder), server_state.settings())
    close_databases()


def plan(kept, *cases, name="Chest", meeting_id="m1", **value):
    entries = [Entry("meeting", subject=meeting_id, value={"name": name, **value})]
    for place, case in enumerate(cases, start=1):
        entries.append(Entry("agenda", case, subject=meeting_id, value={"place": place}))
    kept().record(entries, LEA)


def agendas(kept):
    return {one.name: one.cases for one in list_meetings(kept())}


def opened(app):
    app.session_state["pins_box"] = True
    return app.run()


def test_all_that_a_filter_found_is_pinned_and_undone(open_app, kept):
    plan(kept, "c1")
    app = opened(open_app("browse", answer="not_run"))
    assert app.button(key="pins_many_0").label == "Pin the 1 on this page"
    app = opened(open_app("browse"))
    app.button(key="pins_many_0").click().run()
    assert not app.exception
    assert agendas(kept) == {"Chest": ("c1", "c2", "c3")}
    assert "2 cases pinned to Chest. 1 already on it." in shown(app)
    app.button(key="pins_undo").click().run()
    assert agendas(kept) == {"Chest": ("c1",)}


def test_the_filter_is_kept_with_what_it_found(open_app, kept):
    plan(kept)
    opened(open_app("browse", answer="not_run")).button(key="pins_many_0").click().run()
    (found,) = list_meetings(kept())
    assert [(one.case, one.found_by) for one in found.agenda] == [("c3", "answer=not_run")]


def test_where_no_meeting_is_one_is_begun_and_pinned_to(open_app, kept):
    plan(kept, name="Over", closed=True)
    app = opened(open_app("browse"))
    assert "pins_many_0" not in {one.key for one in app.button}
    app.text_input(key="pins_new_name").set_value("Tomorrow")
    app.button(key="pins_new_begin").click().run()
    opened(app).button(key="pins_many_0").click().run()
    assert agendas(kept) == {"Tomorrow": ("c1", "c2", "c3"), "Over": ()}


def test_the_session_keeps_which_meeting_is_pinned_to(open_app, kept):
    plan(kept, name="First", held="2026-12-01")
    plan(kept, name="Second", meeting_id="m2", held="2026-12-02")
    app = opened(open_app("browse"))
    assert app.selectbox(key="pins_to").value == "m2"
    app.selectbox(key="pins_to").set_value("m1").run()
    opened(app).button(key="pins_many_0").click().run()
    assert agendas(kept) == {"Second": (), "First": ("c1", "c2", "c3")}


def test_an_agenda_is_bounded_and_what_is_too_much_is_not_pinned_in_part(
    open_app, kept, monkeypatch
):
    plan(kept, "c1")
    monkeypatch.setattr(writing, "MOST_CASES", 2)
    app = opened(open_app("browse"))
    app.button(key="pins_many_0").click().run()
    assert "has 1 case, and 2 cases would be added" in shown(app)
    assert "already on it" not in shown(app)
    assert agendas(kept) == {"Chest": ("c1",)}


@pytest.mark.parametrize("page", ["browse", "case", "failures"])
def test_viewers_pin_nothing(open_app, kept, monkeypatch, page):
    plan(kept, "c1")
    app = opened(open_app(page))
    assert "pins_many_0" in {one.key for one in app.button} or page == "case"
    monkeypatch.setattr(permissions, "current_person", lambda: Person("x", "X", "viewer"))
    monkeypatch.setattr(permissions, "current_role", lambda: "viewer")
    text = shown(opened(open_app(page)))
    assert "New meeting" not in text
    assert "data-rx-pin" not in text

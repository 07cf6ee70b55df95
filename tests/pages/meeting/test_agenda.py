"""The Meeting page: meetings begun and chosen, their agenda; without a browser."""

import pytest
from support.page_text import components, shown

from rexview.analysis.meetings import list_meetings
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.meeting import agenda_editor
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


def plan(kept, name, *cases, meeting_id="m1", **value):
    entries = [Entry("meeting", subject=meeting_id, value={"name": name, **value})]
    for place, case in enumerate(cases):
        entries.append(Entry("agenda", case, subject=meeting_id, value={"place": place}))
    kept().record(entries, LEA)


def test_a_meeting_is_begun(open_app, kept):
    app = open_app("meeting")
    assert "No meeting has been planned" in shown(app)
    app.text_input(key="meeting_new_name").set_value("Chest <b>one</b>")
    app.number_input(key="meeting_new_minutes").set_value(45)
    app.button(key="meeting_new_begin").click().run()
    assert not app.exception
    assert [(one.name, one.minutes) for one in list_meetings(kept())] == [("Chest <b>one</b>", 45)]
    assert "No case is on this agenda yet." in shown(app)
    assert "<b>one" not in shown(app)


def test_the_link_says_which_meeting_is_shown(open_app, kept):
    plan(kept, "First", "c1", held="2026-12-01")
    plan(kept, "Second", "c2", meeting_id="m2")
    assert app_cases(open_app("meeting", meeting="m1")) == ["c1"]
    assert app_cases(open_app("meeting", meeting="m2")) == ["c2"]
    assert "This meeting no longer exists" in shown(open_app("meeting", meeting="gone"))


def test_where_a_meeting_is_shown_stands_in_the_address(open_app, kept):
    plan(kept, "First", "c1")
    for view in ("present", "follow"):
        app = open_app("meeting")
        app.button(key=f"agenda_to_{view}").click().run()
        assert not app.exception
        assert app.query_params == {"meeting": "m1", "as": view}
        assert components(app, "rexview_presenting")


def agenda(app):
    (data,) = components(app, "rexview_agenda")
    return data


def app_cases(app):
    return list(agenda(app)["items"])


def test_who_may_not_write_begins_none(open_app, kept, monkeypatch):
    plan(kept, "First", "c1")
    monkeypatch.setattr(permissions, "current_person", lambda: Person("x", "X", "viewer"))
    monkeypatch.setattr(permissions, "current_role", lambda: "viewer")
    app = open_app("meeting")
    assert app_cases(app) == ["c1"]
    assert not {"agenda_add", "agenda_change", "agenda_new"} & {one.key for one in app.button}
    assert [agenda(app)[may] for may in ("mayEdit", "mayNote")] == [False, False]


def opened(app, box):
    app.session_state[box] = True
    return app.run()


def test_cases_are_added_by_ids_and_unknown_ones_are_named_and_stay(open_app, kept):
    plan(kept, "First", "c1")
    app = opened(open_app("meeting"), "agenda_add")
    app.text_area(key="agenda_ids").set_value("c3\nc1, <b>c9</b>")
    app.button(key="agenda_add_ids").click().run()
    assert not app.exception
    text = shown(app)
    assert "1 case added. 1 case was already on it." in text
    assert "Not in this review set: <b>c9</b>." in text  # as text: Markdown shows no HTML
    assert app.text_area(key="agenda_ids").value == "<b>c9</b>"
    assert app_cases(app) == ["c1", "c3"]


def test_a_meeting_is_renamed_closed_and_removed(open_app, kept):
    plan(kept, "First", "c1", minutes=60, decisions=["Ask the vendor"])
    app = opened(open_app("meeting"), "agenda_change")
    key = app.multiselect[0].key.removesuffix("_steps")
    app.text_input(key=f"{key}_name").set_value("Chest")
    app.multiselect(key=f"{key}_steps").set_value(["report", "answers"])
    app.button(key=f"{key}_save").click().run()
    (found,) = list_meetings(kept())
    assert (found.name, found.minutes, found.decisions) == ("Chest", 60, ("Ask the vendor",))
    assert found.steps == ("question", "report", "answers")
    app = opened(app, "agenda_change")
    app.button(key="agenda_close").click().run()
    assert list_meetings(kept())[0].closed
    assert "is closed" in shown(app)
    assert not agenda(app)["mayEdit"]
    app = opened(app, "agenda_change")
    app.checkbox(key="agenda_sure_m1").check().run()
    app.button(key="agenda_remove").click().run()
    assert list_meetings(kept()) == ()
    assert "No meeting has been planned" in shown(app)


def test_what_is_to_be_known_of_a_case_is_told(open_app, kept):
    plan(kept, "First", "c1")
    plan(kept, "Second", "c1", meeting_id="m2")
    shown_for = Entry("discussed", "c1", subject="m2", value={"seconds": 125})
    found = Entry("agenda", "c1", subject="m1", value={"found_by": "failure=token_limit"})
    kept().record([shown_for, found], LEA)
    case = agenda(open_app("meeting", meeting="m1"))["cases"]["c1"]
    assert case["known"] == [{"words": "Discussed before in Second", "warns": True}]
    assert case["found"] == {"words": "Token-limit failures", "href": "browse?failure=token_limit"}
    case = agenda(open_app("meeting", meeting="m2"))["cases"]["c1"]
    assert [one["words"] for one in case["known"]] == [
        "Shown for 2 min",
        "Also planned for First",
    ]


def test_notes_are_for_their_writer_only(open_app, kept, monkeypatch):
    plan(kept, "First", "c1")
    note = Entry("presenter_note", "c1", subject="m1", value={"text": "Ask Bob."})
    kept().record([note], LEA)
    assert agenda(open_app("meeting"))["notes"] == {"c1": {"text": "Ask Bob."}}
    monkeypatch.setattr(permissions, "current_person", lambda: Person("bob", "Bob", "adjudicator"))
    monkeypatch.setattr(permissions, "current_role", lambda: "adjudicator")
    app = open_app("meeting")
    assert agenda(app)["notes"] == {}
    assert "Ask Bob" not in str(components(app)) + shown(app)


def test_cases_that_left_the_set_are_named(open_app, kept, review_folder):
    plan(kept, "First", "c1", "c3")
    cases = review_folder / "cases.jsonl"
    lines = cases.read_text(encoding="utf-8").splitlines()
    cases.write_text("\n".join(line for line in lines if '"c3"' not in line), encoding="utf-8")
    app = open_app("meeting")
    assert "1 case on this agenda is no longer in the review set: c3." in shown(app)
    assert app_cases(app) == ["c1"]


def test_what_another_meeting_did_not_come_to_is_taken_over(open_app, kept):
    plan(kept, "Last week", "c1", "c2", "c3")
    plan(kept, "Today", "c3", meeting_id="m2")
    kept().record([Entry("discussed", "c1", subject="m1", value={"seconds": 60})], LEA)
    app = opened(open_app("meeting", meeting="m2"), "agenda_add")
    app.selectbox(key="agenda_from").set_value("m1").run()
    button = app.button(key="agenda_add_left")
    assert button.label == "Add 2 cases that were not reached"
    button.click().run()
    assert not app.exception
    assert "1 case added. 1 case was already on it." in shown(app)
    assert app_cases(app) == ["c3", "c2"]


def test_what_is_too_much_for_an_agenda_stays_in_the_field(open_app, kept, monkeypatch):
    plan(kept, "First", "c1")
    monkeypatch.setattr(writing, "MOST_CASES", 2)
    app = opened(open_app("meeting"), "agenda_add")
    app.text_area(key="agenda_ids").set_value("c2 c3 c9")
    app.button(key="agenda_add_ids").click().run()
    text = shown(app)
    assert "2 cases would be added" in text
    assert "Not in this review set: c9." in text
    assert "already on it" not in text
    assert app.text_area(key="agenda_ids").value == "c2 c3 c9"


def test_what_the_meeting_decided_stands_beside_its_case(open_app, kept):
    plan(kept, "First", "c1", "c2")
    value = {"decision": "retrain", "failure": "laterality_error", "severity": 3}
    kept().record([Entry("decide", "c1", "m", "m1", value=value)], LEA)
    cases = agenda(open_app("meeting", meeting="m1"))["cases"]
    decided = "Decided: Retrain · Laterality error · harm 3 · Model M"
    assert cases["c1"]["known"] == [{"words": decided, "warns": False}]
    assert cases["c2"]["known"] == []


def test_an_empty_agenda_is_not_presented_and_its_link_leads_back(open_app, kept):
    plan(kept, "Chest")
    assert open_app("meeting", meeting="m1").button(key="agenda_to_present").disabled
    app = open_app("meeting", meeting="m1", **{"as": "present"})
    assert "# Chest" in shown(app)
    app.button(key="presenting_back").click().run()
    assert app.query_params == {"meeting": "m1"}
    assert "No case is on this agenda yet." in shown(app)


def test_who_leads_sees_what_failed_in_each_case_and_nobody_else(open_app, kept, monkeypatch):
    plan(kept, "First", "c1", "c3")
    cases = agenda(open_app("meeting", meeting="m1"))["cases"]
    headline = cases["c1"]["headline"]
    assert headline["words"].startswith("Harm ")
    assert headline["words"].endswith(" · Model M")
    assert 0 <= headline["harm"] <= 4
    monkeypatch.setattr(agenda_editor, "may_lead", lambda: False)
    cases = agenda(open_app("meeting", meeting="m1"))["cases"]
    assert {one["headline"] for one in cases.values()} == {None}

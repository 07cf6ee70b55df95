import json
from datetime import UTC, datetime

import pytest
from page_text import shown

from rexview.analysis.table import FAILURE_BITS
from rexview.errors import StoreFull
from rexview.people import Person
from rexview.reviewset import load
from rexview.store import Entry, Reviews, open_reviews
from rexview.store.database import close_databases
from rexview.ui import people, resources, state


def viewer(app):
    (component,) = [
        one for one in app.get("bidi_component") if one.proto.component_name == "rexview_viewer"
    ]
    return json.loads(component.proto.json)


def test_a_case_shows_question_answers_report_scores_and_flags(open_app):
    app = open_app("case", case="c1")
    text = shown(app)
    for part in (
        "Question 1",
        "Model M",
        "pleural effusion",
        "Reader A",
        "Made for a test",
        "Laterality error",
        "lies on the patient",
        "Cut here: token limit reached",
        "Gap 3",
    ):
        assert part in text, part
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


def test_the_viewer_gets_boxes_with_side_and_conflict(open_app):
    data = viewer(open_app("case", case="c1"))
    (group,) = [group for group in data["groups"] if group["id"] == "m"]
    (box,) = group["boxes"]
    assert box["side"] == "on the patient's right"
    assert "left effusion" in box["note"]
    assert data["views"][0]["orientation"]["left"] == "R"
    assert data["views"][0]["url"].startswith("rexview/pixels/")


def test_a_missing_image_is_told_in_its_place_and_the_case_works_on(open_app):
    app = open_app("case", case="c2")
    (view,) = viewer(app)["views"]
    assert view["url"] is None
    assert "not there" in view["error"]
    assert "Question 2" in shown(app)


def test_next_and_previous_follow_the_filter(open_app):
    app = open_app("case", case="c1", failure="laterality_error")
    assert "1 of 1" in shown(app).replace("<b>", "").replace("</b>", "")
    assert app.button(key="case_next").disabled
    app = open_app("case", case="c1")
    app.button(key="case_next").click().run()
    assert app.query_params["case"] != "c1"
    app.button(key="case_previous").click().run()
    assert app.query_params["case"] == "c1"


@pytest.mark.parametrize("case", ["nope", "<script>", "../x"])
def test_a_case_that_is_not_there_is_explained(open_app, case):
    assert "no such case" in shown(open_app("case", case=case))


def test_without_a_case_the_first_is_shown(open_app):
    assert open_app("case").query_params["case"]


def test_answers_can_be_chosen(open_app):
    app = open_app("case", case="c1")
    app.multiselect(key="show").set_value(["n"]).run()
    assert "Answer of Model N" in shown(app)
    assert "Answer of Model M" not in shown(app)


def test_two_texts_can_be_compared(open_app):
    app = open_app("case", case="c1")
    app.selectbox(key="compare_c1").select_index(0).run()
    assert "<ins>" in shown(app)


def give(app, verdict, token="5c3f7f0a-0000-4000-8000-000000000001"):
    """Say a verdict as the browser would."""
    name = resources.set_id(resources.settings().review_set)
    value = {"verdict": verdict, "comment": None}
    entry = Entry("verdict", "c1", "m", "laterality_error", value=value, token=token)
    app.session_state[state.SESSION_VERDICTS] = {token: (name, entry, datetime.now(UTC))}
    return app.run()


@pytest.fixture
def kept(open_app, review_folder):
    """The reviews database as it is on the disk."""
    yield lambda: open_reviews(load(review_folder), resources.settings())
    close_databases()


@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_a_verdict_waits_for_a_name_and_is_kept(open_app, kept, verdict):
    app = open_app("case", case="c1")
    text = shown(give(app, verdict))
    assert f"<b>You</b> <i>{verdict}" in text, "it is shown at once"
    assert "Give your name to keep what you said" in text
    assert kept().revision() == 0
    app.text_input(key="verdict_name_text").set_value("Dr Ann")
    (go_on,) = [one for one in app.button if one.label == "Go on"]
    go_on.click().run()
    text = shown(app)
    assert "Give your name" not in text
    assert f"<b>You</b> <i>{verdict}" in text
    assert ("rx-badge rx-rejected" in text) == (verdict == "rejected")
    assert kept().flags()["verdict"].to_list() == [verdict]
    assert kept().people()["dr-ann"].name == "Dr Ann"


def test_verdicts_of_others_are_there_and_count(open_app, kept):
    open_app("overview")
    before = resources.answers(resources.open_set(resources.settings().review_set))
    bob = Person("bob", "Dr Bob", "lead")
    entry = Entry("verdict", "c1", "m", "laterality_error", value={"verdict": "rejected"})
    kept().record([entry], bob)
    text = shown(open_app("case", case="c1"))
    assert "<b>Dr Bob</b>" in text
    assert "written here" in text
    assert "rejected" in text
    now = resources.newest(resources.open_set(resources.settings().review_set))
    after = resources.answers(now)
    assert (
        before.rows["detected"].sum() - after.rows["detected"].sum()
        == (FAILURE_BITS["laterality_error"])
    )


def test_scores_written_here_stand_beside_given_ones(open_app, kept):
    bob = Person("bob", "Dr Bob", "lead")
    score = Entry("score", "c1", "m", "process", value={"score": 1, "comment": "No <b>plan</b>."})
    kept().record([score], bob)
    text = shown(open_app("case", case="c1"))
    assert "Dr Bob <small" in text
    assert "Reader A</th>" in text
    assert "No &lt;b&gt;plan&lt;/b&gt;." in text


def test_a_database_that_does_not_take_it_is_told_and_tried_again(
    open_app, kept, review_folder, monkeypatch
):
    app = open_app("case", case="c1")
    person = Person("ann", "Ann", "lead")
    monkeypatch.setattr(people, "current", lambda: person)
    full = StoreFull("The disk is full; nothing was written.", "Make room on it.")

    def fail(*_):
        raise full

    with monkeypatch.context() as broken:
        broken.setattr(Reviews, "record", fail)
        text = shown(give(app, "confirmed"))
        assert "1 verdict is not kept yet" in text
        assert "Make room on it." in text
        assert "<b>You</b> <i>confirmed" in text
    app.button(key="rx_keep_verdicts").click().run()
    assert "not kept yet" not in shown(app)
    assert kept().flags()["verdict"].to_list() == ["confirmed"]


def test_what_the_browser_makes_up_is_refused(open_app, kept, monkeypatch):
    app = open_app("case", case="c1")
    monkeypatch.setattr(people, "current", lambda: Person("ann", "Ann", "lead"))
    text = shown(give(app, "splendid"))
    assert "was not taken" in text
    assert kept().revision(but="reveal") == 0
    assert "was not taken" not in shown(app.run()), "it is not tried again"


def test_without_the_database_pages_show_what_was_given(open_app, review_folder):
    (review_folder / "reviews.sqlite").write_bytes(b"this is no database at all" * 100)
    text = shown(open_app("case", case="c1"))
    assert "cannot be shown now" in text
    assert "Reader A" in text
    assert str(review_folder) not in text

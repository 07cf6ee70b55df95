import json

import pytest
from page_text import shown

from rexview.schema import ReaderFlag
from rexview.ui import resources, state, verdicts


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


def give(app, verdict):
    """Say a verdict as the browser would."""
    named = (resources.set_id(resources.settings().review_set), "c1", "m", "laterality_error")
    word = ReaderFlag("c1", "m", verdicts.SESSION_READER, "laterality_error", verdict)
    app.session_state[state.SESSION_VERDICTS] = {named: word}
    return app.run()


@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_a_verdict_of_this_session_is_shown_and_said_to_be_so(open_app, verdict):
    app = open_app("case", case="c1")
    assert "Kept for this session" not in shown(app)
    text = shown(give(app, verdict))
    assert f"<b>You</b> <i>{verdict} · Kept for this session" in text
    assert ("rx-badge rx-rejected" in text) == (verdict == "rejected")

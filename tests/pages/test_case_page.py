from uuid import uuid4

import pytest
from support.entries.sent import post
from support.page_text import components, shown

from rexview.detect import FAILURE_BITS
from rexview.errors import StoreFull
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, Reviews, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.server import review_sets, server_state


def component(app, name):
    (found,) = components(app, name)
    return found


def viewer(app):
    return component(app, "rexview_viewer")


def card(app):
    """What the card for verdicts is told."""
    return component(app, "rexview_verdicts")


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


def test_a_box_that_may_lie_elsewhere_says_so_and_no_side(open_app, review_folder):
    file = review_folder / "answers.jsonl"
    sure = '"box": [5, 60, 30, 30]'
    file.write_text(file.read_text().replace(sure, f'{sure}, "unsure": true'), encoding="utf-8")
    (group,) = viewer(open_app("case", case="c1"))["groups"]
    (box,) = group["boxes"]
    assert group["name"] == "Model M (boxes unsure)"
    assert (box["side"], box["place"]) == (None, None)
    assert "may be misplaced" in box["note"]


def test_the_viewer_gets_boxes_with_side_and_conflict(open_app):
    data = viewer(open_app("case", case="c1"))
    (group,) = [group for group in data["groups"] if group["id"] == "m"]
    (box,) = group["boxes"]
    assert box["side"] == "on the patient's right"
    assert "left effusion" in box["note"]
    assert data["views"][0]["orientation"]["left"] == "R"
    assert data["views"][0]["url"].startswith("rexview/pixels/")
    assert data["height"] is None  # what the window leaves
    assert data["blinded"] is False


def test_a_missing_image_is_told_in_its_place_and_the_case_works_on(open_app):
    app = open_app("case", case="c2")
    (view,) = viewer(app)["views"]
    assert view["url"] is None
    assert "does not exist" in view["error"]
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


def verdict_entry(app, verdict, failure="laterality_error", reason=None):
    """A verdict as the browser's outbox keeps it."""
    return {
        "token": str(uuid4()),
        "case": "c1",
        "page": "case page",
        "kind": "verdict",
        "slot": "m",
        "shown": card(app)["answers"]["m"]["shown"],
        "subject": failure,
        "value": {"verdict": verdict, "comment": reason},
        "was": None,
        "seen": 1_000_000,
    }


def give(app, verdict, failure="laterality_error", reason=None):
    """Send a verdict as the browser would; return the page, and what the browser was told."""
    entry = verdict_entry(app, verdict, failure, reason)
    told, _ = post(card(app)["outbox"], entry)
    return app.run(), told


def show_unsaved(app, *entries):
    """Tell the page of verdicts that the browser could not save, as its outbox does."""
    name = review_sets.set_id(server_state.settings().review_set)
    told = {"set": name, "key": "1", "entries": list(entries)}
    app.session_state[link_keys.SESSION_VERDICTS] = told
    return app.run()


@pytest.fixture
def kept(open_app, review_folder):
    """The reviews database as it is on the disk."""
    yield lambda: open_reviews(load_review_set(review_folder), server_state.settings())
    close_databases()


@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_a_verdict_waits_for_a_name_and_is_kept(open_app, kept, verdict):
    app = open_app("case", case="c1")
    entry = verdict_entry(app, verdict)
    text = shown(show_unsaved(app, entry))
    assert f">you {verdict} · flagged by rule</i></summary>" in text, "it is shown at once"
    told = card(app)
    assert (told["named"], told["outbox"]["ticket"]) == (False, None), "it waits in the browser"
    assert not app.text_input, "asking for the name moves nothing on the page"
    assert kept().revision() == 0
    app.session_state[link_keys.SESSION_NAME] = "Dr Ann"
    app.run()
    told, _ = post(card(app)["outbox"], entry)
    assert told["saved"] == [entry["token"]]
    text = shown(show_unsaved(app))
    assert (card(app)["named"], card(app)["nameProblem"]) == (True, "")
    assert f">you {verdict} · flagged by rule</i></summary>" in text
    assert ("rx-badge rx-rejected" in text) == (verdict == "rejected")
    assert kept().flags()["verdict"].to_list() == [verdict]
    assert kept().people()["dr-ann"].name == "Dr Ann"


def test_a_verdict_keeps_its_reason(open_app, kept):
    app = named(open_app("case", case="c1"))
    text = shown(give(app, "rejected", reason="The <b>patient</b> is turned.")[0])
    assert "<b>You</b> The &lt;b&gt;patient&lt;/b&gt; is turned." in text
    assert 'data-rx-reason="The &lt;b&gt;patient' in text
    assert kept().flags()["comment"].to_list() == ["The <b>patient</b> is turned."]


def named(app):
    app.session_state[link_keys.SESSION_NAME] = "Dr Ann"
    return app.run()


def test_a_failure_that_no_rule_found_can_be_added_and_taken_back(open_app, kept):
    app = open_app("case", case="c1")
    assert 'data-rx-add="m"' in shown(app)
    offered = card(app)["answers"]["m"]["failures"]
    assert "omission" in offered
    assert "failed_extraction" not in offered, "no choice was asked for"
    assert "boxes_missing" not in offered, "the answer has boxes"
    text = shown(give(named(app), "confirmed", failure="omission", reason="The effusion.")[0])
    assert 'data-rx-item="m/omission"' in text
    mine = 'data-rx-model="m" data-rx-failure="omission" data-rx-mine="confirmed"'
    assert mine in text, "it has the buttons that take it back"
    give(app, None, failure="omission")
    assert 'data-rx-item="m/omission"' not in shown(app)
    assert kept().flags()["verdict"].drop_nulls().to_list() == []


def test_models_of_the_same_name_and_names_with_a_bar_can_be_compared(open_app, review_folder):
    info = review_folder / "reviewset.yaml"
    renamed = (
        info.read_text(encoding="utf-8").replace("Model N", "A | B").replace("Model M", "A | B")
    )
    info.write_text(renamed, encoding="utf-8")
    app = open_app("case", case="c1")
    box = app.selectbox(key="compare_c1")
    assert sum("A | B (m)" in option for option in box.options) == 2
    both = next(place for place, one in enumerate(box.options) if "the report" not in one)
    box.select_index(both).run()
    assert not app.exception
    assert "only in A | B (m)" in shown(app)


def test_a_copied_link_names_the_set(open_app, review_folder):
    told = component(open_app("case", case="c1"), "rexview_share")
    assert told["set"] == {"key": "set", "name": review_sets.set_id(review_folder)}


def test_verdicts_of_others_are_there_and_count(open_app, kept):
    open_app("overview")
    before = review_sets.engine(review_sets.open_set(server_state.settings().review_set))
    bob = Person("bob", "Dr Bob", "lead")
    entry = Entry("verdict", "c1", "m", "laterality_error", value={"verdict": "rejected"})
    kept().record([entry], bob)
    text = shown(open_app("case", case="c1"))
    assert "<b>Dr Bob</b>" in text
    assert "written here" in text
    assert "rejected" in text
    now = review_sets.with_current_reviews(review_sets.open_set(server_state.settings().review_set))
    after = review_sets.engine(now)
    assert (
        before.table.rows["detected"].sum() - after.table.rows["detected"].sum()
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
    assert text.count("case not finished: not counted yet") == 1


def give_to_an_earlier_answer(reviews, review_folder):
    ann = Person("ann", "Ann A.", "reader")
    flag = {"verdict": "confirmed", "comment": None}
    reviews.record(
        [
            Entry("score", "c1", "m", "process", value={"score": 2, "comment": "<i>x</i>"}),
            Entry("verdict", "c1", "m", "omission", value=flag),
        ],
        ann,
    )
    change_text(review_folder)


def change_text(review_folder):
    file = review_folder / "answers.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("**Left** effusion", "No effusion"), encoding="utf-8")


def test_what_was_given_to_an_earlier_answer_is_shown_as_that(open_app, kept, review_folder):
    before = shown(open_app("case", case="c1"))
    assert "On an earlier answer" not in before
    give_to_an_earlier_answer(kept(), review_folder)
    text = shown(open_app("case", case="c1"))
    assert "On an earlier answer" in text
    assert "<b>Model M, Ann A.</b> Process 2 (&lt;i&gt;x&lt;/i&gt;), Missed finding" in text
    assert text.count("Ann A.") == 1, "in no table and in no flag"


def test_a_verdict_that_waited_is_on_the_answer_that_was_read(open_app, kept, review_folder):
    app = open_app("case", case="c1")
    entry = verdict_entry(app, "confirmed")
    change_text(review_folder)
    assert post(card(named(app))["outbox"], entry)[0]["saved"]
    assert kept().flags().is_empty()
    (row,) = kept().current("verdict")
    assert row.answer_digest is not None


def test_a_database_that_does_not_take_it_is_told_and_tried_again(open_app, kept, monkeypatch):
    app = open_app("case", case="c1")
    person = Person("ann", "Ann", "lead")
    monkeypatch.setattr(permissions, "current_person", lambda: person)
    full = StoreFull("The disk is full; nothing was written.", "Make room on it.")
    entry = verdict_entry(app.run(), "confirmed")

    def fail(*_):
        raise full

    with monkeypatch.context() as broken:
        broken.setattr(Reviews, "record", fail)
        told, status = post(card(app)["outbox"], entry)
        assert status == 503
        assert "Make room on it." in told["error"]
        assert ">you confirmed · flagged by rule</i></summary>" in shown(show_unsaved(app, entry))
    assert post(card(app)["outbox"], entry)[0]["saved"] == [entry["token"]]
    assert kept().flags()["verdict"].to_list() == ["confirmed"]


def test_a_verdict_of_another_window_is_not_overwritten_unseen(open_app, kept, monkeypatch):
    app = open_app("case", case="c1")
    monkeypatch.setattr(permissions, "current_person", lambda: Person("ann", "Ann", "lead"))
    seen = card(app.run())["revision"]
    give(app, "rejected")
    late = {**verdict_entry(app, "confirmed"), "seen": seen}
    told, _ = post(card(app)["outbox"], late)
    assert list(told["replaced"]) == [late["token"]]
    assert kept().flags()["verdict"].to_list() == ["rejected"]
    now = {"seen": card(app)["revision"], "was": {"verdict": "rejected", "comment": None}}
    assert post(card(app)["outbox"], {**late, **now})[0]["saved"]


def test_what_the_browser_makes_up_is_refused(open_app, kept, monkeypatch):
    app = open_app("case", case="c1")
    monkeypatch.setattr(permissions, "current_person", lambda: Person("ann", "Ann", "lead"))
    app, told = give(app.run(), "splendid")
    assert list(told["refused"])
    assert kept().revision(but="reveal") == 0
    made_up = verdict_entry(app, "splendid")
    assert "splendid" not in shown(show_unsaved(app, made_up, {**made_up, "value": 3}, 7))


def test_without_the_database_pages_show_what_was_given(open_app, review_folder):
    (review_folder / "reviews.sqlite").write_bytes(b"this is no database at all" * 100)
    text = shown(open_app("case", case="c1"))
    assert "cannot be shown now" in text
    assert "Reader A" in text
    assert str(review_folder) not in text

"""The Score page without a browser: what it gives to the pad and the picture."""

import json

import pytest
from support.page_text import components, shown
from support.reader_tasks import write_tasks

from rexview.people import Person
from rexview.store import Entry
from rexview.ui.web.access import permissions
from rexview.ui.web.server import review_sets

HIDDEN = ("Model M", "Model N", "Reader A", "ra", "one.png", "Right pleural effusion.")


@pytest.fixture
def rules():
    return ""


@pytest.fixture(autouse=True)
def reader(review_folder, rules, monkeypatch):
    """Somebody who has given a name; and the rules of the study."""
    with (review_folder / "reviewset.yaml").open("a", encoding="utf-8") as file:
        file.write(rules)
    person = Person("anna", "Anna", "reader")
    monkeypatch.setattr(permissions, "current_person", lambda: person)
    return person


def component(app, name):
    return next(iter(components(app, name)), None)


def pad(app):
    return component(app, "rexview_score_pad")


def reviews(review_folder):
    return review_sets.reviews(review_sets.open_set(review_folder))


def test_the_pad_gets_a_case_under_letters_and_nothing_that_is_hidden(open_app):
    app = open_app("score", case="c1")
    data = pad(app)
    assert data["case"]["case"] == "c1"
    assert data["worklist"]["total"] == 2
    answers = {answer["slot"]: answer for answer in data["case"]["answers"]}
    assert sorted(answers) == ["A", "B"]
    (whole,) = [one for one in answers.values() if one["needed"]]
    (cut,) = [one for one in answers.values() if not one["needed"]]
    assert "&lt;script&gt;" in whole["html"]
    assert "<script" not in whole["html"]
    dimensions = [item["dimension"] for item in whole["items"]]
    assert dimensions[-2:] == ["image_content", "image_style"]
    assert len(cut["items"]) == 4
    assert "Cut off at the token limit" in cut["note"]
    assert "boxes_missing" not in whole["failures"]
    assert "failed_extraction" not in whole["failures"]
    assert data["case"]["report"] == {"state": "hidden", "html": None, "always": False}
    assert data["case"]["names"] is None
    everything = shown(app) + json.dumps(data) + json.dumps(component(app, "rexview_viewer"))
    for word in HIDDEN:
        assert f'"{word}"' not in everything
        assert len(word) < 3 or word not in everything, word


def test_the_picture_gets_boxes_by_letter(open_app):
    app = open_app("score", case="c1")
    viewer = component(app, "rexview_viewer")
    (whole,) = [one for one in pad(app)["case"]["answers"] if one["needed"]]
    (group,) = viewer["groups"]
    assert (group["id"], group["name"]) == (whole["slot"], f"Answer {whole['slot']}")
    assert group["colour"] == whole["colour"]
    assert set("12345nps") <= set(viewer["takenKeys"])
    assert viewer["blinded"] is True  # nobody's wish shows the reference here
    assert group["boxes"][0]["note"] is None  # no flag of a rule tells what is wrong


def test_the_neighbours_are_named(open_app):
    data = pad(open_app("score"))
    other = {"c1", "c2"} - {data["case"]["case"]}
    assert {data["case"]["next"], data["case"]["previous"]} == {*other, None}


def test_a_case_that_is_not_on_the_list_leads_to_one_that_is(open_app):
    app = open_app("score", case="c3")
    shown_case = pad(app)["case"]["case"]
    assert shown_case in ("c1", "c2")
    assert app.query_params["case"] in (shown_case, [shown_case])


def test_own_scores_are_shown_and_those_of_others_are_not(open_app, review_folder, reader):
    written = reviews(review_folder)
    value = {"score": 2, "comment": "Hm"}
    written.record([Entry("score", "c1", "m", "process", value=value)], reader)
    bert = Person("bert", "Bert", "reader")
    other = {"score": 5, "comment": "Splendid"}
    written.record([Entry("score", "c1", "m", "execution", value=other)], bert)
    data = pad(open_app("score", case="c1"))
    assert list(data["case"]["own"]["scores"].values()) == [value]
    assert "Splendid" not in json.dumps(data)


def test_only_assigned_cases_are_listed(open_app, review_folder):
    lead = Person("lea", "Lea", "lead")
    value = {"as": "second", "active": True}
    reviews(review_folder).record([Entry("assign", "c2", subject="anna", value=value)], lead)
    data = pad(open_app("score"))
    assert data["worklist"]["entries"] == [["c2", "open"]]
    assert (data["case"]["next"], data["case"]["previous"]) == (None, None)


@pytest.mark.parametrize("rules", ["protocol: {report: always}\n"])
def test_the_report_is_always_there_where_the_rules_say_so(open_app):
    report = pad(open_app("score", case="c1"))["case"]["report"]
    assert (report["state"], report["always"]) == ("shown", True)
    assert "Right pleural effusion" in report["html"]


@pytest.mark.parametrize("rules", ["protocol: {report: never}\n"])
def test_the_report_never_comes_where_the_rules_say_so(open_app, review_folder, reader):
    entry = Entry("reveal", "c1", value={"what": "report"})
    reviews(review_folder).record([entry], reader)
    assert pad(open_app("score", case="c1"))["case"]["report"]["state"] == "never"


@pytest.mark.parametrize("rules", ["", "protocol: {reveal_peers: true}\n"])
def test_after_the_reveal_models_are_named_and_others_where_the_rules_say_so(
    open_app, review_folder, reader, rules
):
    written = reviews(review_folder)
    written.record(
        [
            Entry("score", "c1", "m", "process", value={"score": 4, "comment": None}),
            Entry("reveal", "c1", value={"what": "models"}),
        ],
        reader,
    )
    app = open_app("score", case="c1")
    data = pad(app)
    assert sorted(data["case"]["names"].values()) == ["Model M", "Model N"]
    assert data["case"]["own"]["revealed"] is True
    assert pad(open_app("score", case="c2"))["case"]["names"] is None
    (table,) = app.dataframe
    rows = table.value
    assert set(rows["Case"]) == {"c1"}
    assert {"You"} <= set(rows["Reader"].dropna())
    assert ("Reader A" in set(rows["Reader"].dropna())) is bool(rules)
    assert rows[rows["Reader"] == "You"]["Process"].to_list() == [4]


def test_a_case_seen_with_the_models_named_is_recorded_once_and_said(
    open_app, review_folder, monkeypatch
):
    lead = Person("anna", "Anna", "lead")
    monkeypatch.setattr(permissions, "current_person", lambda: lead)
    for _ in range(2):
        assert "Model M" in shown(open_app("case", case="c1"))
    written = reviews(review_folder)
    (row,) = written.history()
    assert (row.kind, row.case, row.person, row.via) == ("reveal", "c1", "anna", "case page")
    data = pad(open_app("score", case="c1"))
    seen = data["case"]["own"]["seen"]
    assert seen["report"] is None
    expected = {"at": row.at.isoformat(), "timing": "before", "accepted": False}
    assert seen["unblinded"] == expected
    assert data["case"]["own"]["revealed"] is False
    other = pad(open_app("score", case="c2"))
    assert other["case"]["own"]["seen"]["unblinded"] is None
    monkeypatch.setattr(permissions, "current_role", lambda: "lead")
    study = shown(open_app("study"))
    assert "Models named" in study
    assert "before scoring" in study


@pytest.mark.parametrize(("seen", "begins"), [(("c1",), "c2"), (("c2",), "c1")])
def test_scoring_begins_with_a_case_that_was_not_seen_with_the_models_named(
    open_app, review_folder, reader, seen, begins
):
    for case in seen:
        open_app("case", case=case)
    assert pad(open_app("score"))["case"]["case"] == begins
    assert pad(open_app("score", case=seen[0]))["case"]["case"] == seen[0]  # as the link asks
    skip = Entry("skip", begins, value={"reason": "Poor film"})
    reviews(review_folder).record([skip], reader)
    assert pad(open_app("score"))["case"]["case"] == seen[0]  # when no other is left


def test_a_case_that_was_begun_is_gone_on_with_though_it_was_seen_since(
    open_app, review_folder, reader
):
    begun = Entry("score", "c1", "m", "process", value={"score": 2, "comment": None})
    reviews(review_folder).record([begun], reader)
    open_app("case", case="c1")
    assert pad(open_app("score"))["case"]["case"] == "c1"


def test_a_case_that_is_not_scored_is_not_recorded(open_app, review_folder):
    open_app("case", case="c3")
    assert reviews(review_folder).revision() == 0


@pytest.mark.parametrize("role", ["viewer", "adjudicator"])
def test_who_never_scores_leaves_no_record(open_app, review_folder, monkeypatch, role):
    monkeypatch.setattr(permissions, "current_person", lambda: Person("x", "X", role))
    assert "Model M" in shown(open_app("case", case="c1"))
    assert reviews(review_folder).revision() == 0


@pytest.mark.parametrize("role", ["viewer", "adjudicator"])
def test_who_may_not_score_gets_no_pad(open_app, monkeypatch, role):
    monkeypatch.setattr(permissions, "current_person", lambda: Person("x", "X", role))
    app = open_app("score", case="c1")
    assert pad(app) is None
    assert component(app, "rexview_viewer") is None


def test_a_name_is_asked_for_first(open_app, monkeypatch):
    monkeypatch.setattr(permissions, "current_person", lambda: None)
    app = open_app("score", case="c1")
    assert pad(app) is None
    assert app.text_input[0].label == "Your name"
    assert any(one.value.startswith("# Score cases") for one in app.markdown)  # what for


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("score", "Score each answer"),
        ("answer", "Answer each question"),
        ("correct", "Correct each report"),
        ("compare", "the better of two reports"),
    ],
)
def test_who_is_asked_for_a_name_reads_what_the_task_is(
    review_folder, open_app, monkeypatch, task, said
):
    write_tasks(review_folder)
    monkeypatch.setattr(permissions, "current_person", lambda: None)
    (purpose,) = [
        one.value for one in open_app("score", task=task).markdown if "# Score" in one.value
    ]
    assert said in purpose

"""The Case page of a generated report, on files."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.opened_app import run_page, server_for
from support.page_text import components, shown, unlabelled
from support.reports.report_set import HOSTILE, write_reports

from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews
from rexview.ui.web.app import case_routes


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = write_reports(tmp_path / "set")
    with server_for(folder, tmp_path, monkeypatch):
        yield folder


def parts(app, case):
    return {
        data["part"]: data["html"]
        for data in components(app, "rexview_case_part")
        if data["case"] == case
    }


def turned_to(app, beside):
    """Return the texts that a browser gets ahead of the page, by case."""
    client = TestClient(Starlette(routes=case_routes.routes()))
    (viewer,) = components(app, "rexview_viewer")
    query = {"beside": beside, "direction": "next"}
    answer = client.get(f"/{viewer['turning']['address']}", params=query)
    return {one["case"]: one["texts"] for one in answer.json()["cases"]}


def test_a_report_stands_beside_its_reference(folder):
    app = run_page("case", case="r1", sort="order")
    made = parts(app, "r1")
    assert "Sentence by sentence" in made["aligned"]
    assert "Corrected by Reader A" in made["report"]
    assert "Finding-level agreement" in made["answers"]
    # the metrics of the app itself stand beside the given ones
    assert '<td title="rexview 1">computed here</td>' in unlabelled(made["answers"])
    assert not app.exception


def test_other_questions_show_none_of_it(folder):
    made = parts(run_page("case", case="o1"), "o1")
    assert made["aligned"] == ""
    assert "rx-agreement" not in made["answers"]


def test_what_is_turned_to_is_what_the_page_then_shows(folder):
    chosen = {"sort": "order", "corrected_by": "judge:x"}
    found = turned_to(run_page("case", case="r1", **chosen), "r1")
    assert list(found) == ["r2", "r3", "o1"]
    for case, texts in found.items():
        assert texts == parts(run_page("case", case=case, **chosen), case)
    assert "Reader A" not in found["r2"]["aligned"]


def test_one_chooses_whose_corrections_are_shown(folder):
    app = run_page("case", case="r1", sort="order")
    (editors,) = [one for one in app.multiselect if one.label == "Corrections by"]
    assert editors.options == ["Reader A", "judge:x"]
    for chosen, others in ((["judge:x"], ["Reader A"]), ([], ["Reader A", "judge:x"])):
        editors.set_value(chosen).run()
        made = parts(app, "r1")["aligned"]
        assert all(one in made for one in chosen)
        assert not any(one in made for one in others)


def test_a_link_that_names_nobody_there_still_opens(folder):
    app = run_page("case", case="r1", corrected_by="nobody")
    assert not app.exception
    assert "Sentence by sentence" in parts(app, "r1")["aligned"]


def test_hostile_words_stay_words(folder):
    text = shown(run_page("case", case="r2"))
    assert "<script>" not in text
    assert "<img src=x" not in text
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in text


def test_cards_show_the_value_that_cases_stand_in_the_order_of(folder):
    order = "worst:bleu_2:radeval:2.0:findings"
    app = run_page("browse", sort=order)
    gallery = "\n".join(data["html"] for data in components(app, "rexview_linked"))
    assert gallery.index("<b>r1</b>") < gallery.index("<b>r2</b>") < gallery.index("<b>r3</b>")
    assert "<small>BLEU-2</small> 0.210" in gallery
    (chosen,) = [one for one in app.selectbox if one.label == "Order"]
    assert chosen.value == order
    table = run_page("browse", sort=order, **{"as": "table"})
    frame = table.dataframe[0].value
    assert frame["BLEU-2 (radeval 2.0, findings)"].tolist()[:3] == [0.21, 0.64, 0.4]


def test_what_is_written_in_the_app_stands_there(folder):
    ann = Person("ann", "Dr Ann", "lead")
    edit = {"action": "delete", "original": "Clear lungs.", "edited": None, "severity": 4}
    said = {"findings": "Clear lungs, seen anew.", "impression": None, "comment": None}
    reviews = open_reviews(load_review_set(folder), Settings())
    reviews.record([Entry("edit", "r3", "m", "1", value=edit)], ann)
    reviews.record([Entry("reference", "r3", value=said)], ann)
    begun = parts(run_page("case", case="r3"), "r3")
    assert "Corrected by Dr Ann" in begun["report"]
    assert "Delete" not in begun["aligned"]  # its reader has not finished
    reviews.record([Entry("corrected", "r3", "m", value={"done": True})], ann)
    made = parts(run_page("case", case="r3"), "r3")["aligned"]
    assert "Dr Ann: 1 correction, worst" in made
    assert "<b>Delete</b>" in made
    assert "written here" in made


def test_an_order_by_a_metric_that_is_not_there_says_so(folder):
    app = run_page("browse", sort="worst:green:<b>odd</b>")
    assert "No report here has a value for GREEN (<b>odd</b>)" in shown(app)
    assert not app.exception


def test_a_pad_of_a_blinded_reader_has_none_of_it(folder):
    app = run_page("score", edit="from:4", sort="worst:bleu_2:radeval:2.0:findings")
    sent = "\n".join(str(data) for data in components(app))
    for word in ("rx-aligned", "agreement", "radeval", "Emergent", "enlarged", "judge:x"):
        assert word not in sent, word

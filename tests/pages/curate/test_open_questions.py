"""The Curate page without a browser: who sees it, what it gives the desk, the curated set."""

import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.curation.candidate_set import CANDIDATES, RATINGS, write_candidate_set
from support.opened_app import run_page, server_for
from support.page_text import components, shown

from rexview.people import Person
from rexview.store import Entry
from rexview.ui.web.access import permissions
from rexview.ui.web.app import case_routes
from rexview.ui.web.server import review_sets

EVE = Person("eve", "Eve E.", "adjudicator")
REASON = "Reasonword of the model."
TOLD = [{**one, "comment": REASON} for one in RATINGS]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = write_candidate_set(tmp_path / "set", candidate_ratings=TOLD)
    with server_for(folder, tmp_path, monkeypatch):
        monkeypatch.setattr(permissions, "current_person", lambda: EVE)
        monkeypatch.setattr(permissions, "current_role", lambda: EVE.role)
        yield folder


@pytest.fixture
def open_curate(folder):
    def open_page(**query):
        app = run_page("curate", **query)
        assert not app.exception
        return app

    return open_page


def desk(app):
    (found,) = components(app, "rexview_curate")
    return found


def candidates(app):
    return {one["id"]: one for one in desk(app)["case"]["content"]["candidates"]}


def test_a_models_and_others_scores_come_after_the_own_ones(open_curate, folder):
    first = open_curate(case="c1")
    assert REASON not in json.dumps(components(first)) + shown(first)
    assert [*candidates(first)] == ["q-low", "q-high", "q-unscored", "q-compare"]
    assert candidates(first)["q-low"]["model"] is None
    assert candidates(first)["q-high"]["others"] == []
    by_score = candidates(open_curate(case="c1", score_first="0"))
    assert [*by_score][:2] == ["q-high", "q-compare"]
    assert (by_score["q-low"]["model"]["sum"], by_score["q-low"]["model"]["stated"]) == (11, 13)
    scores = dict.fromkeys(("relevance", "answerability", "complexity", "clarity"), 4)
    review_set = review_sets.open_set(folder)
    own = Entry("rate", "c1", subject="q-high", value={**scores, "risk": None, "comment": None})
    review_sets.reviews(review_set).record([own], EVE)
    after = candidates(open_curate(case="c1"))
    assert after["q-high"]["model"]["sum"] == 18
    assert after["q-high"]["others"][0]["name"] == "Anna"
    assert after["q-low"]["model"] is None


def test_what_is_fetched_ahead_hides_as_much_and_is_for_curators(open_curate, monkeypatch):
    turning = desk(open_curate(case="c1"))["turning"]
    address = turning["address"]
    client = TestClient(Starlette(routes=case_routes.routes()))
    monkeypatch.setattr("rexview.ui.web.access.sign_in.find_sender", lambda *_: EVE)
    told = client.get(f"/{address}", params={"beside": "c1", "direction": "next"})
    assert [one["case"] for one in told.json()["cases"]] == ["c2", "c3", "c4"]
    assert REASON not in told.text
    for role in ("reader", "viewer"):
        other = Person("rita", "Rita", role)
        monkeypatch.setattr("rexview.ui.web.access.sign_in.find_sender", lambda *_, one=other: one)
        monkeypatch.setattr(permissions, "current_person", lambda one=other: one)
        monkeypatch.setattr(permissions, "current_role", lambda one=other: one.role)
        refused = client.get(f"/{address}", params={"beside": "c1", "direction": "next"})
        assert refused.status_code == 403
        assert "c2" not in refused.text


@pytest.mark.parametrize("role", ["reader", "viewer"])
@pytest.mark.parametrize("view", [None, "set", "ask"])
def test_others_see_nothing_of_it(open_curate, monkeypatch, role, view):
    monkeypatch.setattr(permissions, "current_person", lambda: Person("rita", "Rita", role))
    monkeypatch.setattr(permissions, "current_role", lambda: role)
    app = open_curate(case="c1", **({"as": view} if view else {}))
    assert "Your role does not include this page." in shown(app)
    assert components(app, "rexview_curate") == []
    assert "costophrenic" not in shown(app)


@pytest.mark.parametrize(
    ("show", "listed"), [("open", 3), ("done", 1), ("blocked", 3), ("nonsense", 4)]
)
def test_the_link_says_which_studies_are_gone_through(open_curate, show, listed):
    assert desk(open_curate(curate=show))["worklist"]["total"] == listed


def test_it_opens_where_a_question_waits_for_a_decision(tmp_path, monkeypatch):
    about = [("c2", "q-same"), ("c2", "q-compare"), ("c3", "q-compare")]
    done = [{"case": c, "candidate": q, "reader": "anna", "decision": "rejected"} for c, q in about]
    tables = {
        "candidates": [one for one in CANDIDATES if one["case"] in ("c2", "c3", "c4")],
        "candidate_ratings": [],
        "candidate_tags": [],
    }
    folder = write_candidate_set(tmp_path / "set", selections=done, **tables)
    with server_for(folder, tmp_path, monkeypatch):
        monkeypatch.setattr(permissions, "current_person", lambda: EVE)
        monkeypatch.setattr(permissions, "current_role", lambda: EVE.role)
        first = desk(run_page("curate"))
        assert first["case"]["case"] == "c4"  # c1 is open, too: nothing was proposed there
        assert [desk(run_page("curate", curate=show))["whole"] for show in ("all", "done")] == [
            True,
            False,
        ]


def test_a_name_is_asked_for_before_anything_is_offered(folder, monkeypatch):
    monkeypatch.setattr(permissions, "current_person", lambda: None)
    app = run_page("curate")
    assert [one.label for one in app.text_input] == ["Your name"]
    assert not app.get("button_group")
    assert not app.toggle


def test_one_that_is_not_listed_lies_between_those_that_are(open_curate):
    study = desk(open_curate(case="c1", curate="open"))["case"]
    assert (study["case"], study["place"], study["previous"], study["next"]) == (
        "c1",
        "–",
        None,
        "c2",
    )


def test_the_curated_set_is_shown_and_can_be_taken_away(open_curate):
    app = open_curate(**{"as": "set"})
    text = shown(app)
    assert "1 question chosen" in text
    assert "scorer and Anna" in text
    assert "3 studies without a chosen question" in text
    (button,) = app.get("download_button")
    assert button.proto.label == "Download the set"


def test_a_set_without_candidates_says_how_they_come(tmp_path, monkeypatch):
    names = ("candidates", "candidate_ratings", "candidate_tags", "selections")
    empty = {name: [] for name in names}
    folder = write_candidate_set(tmp_path / "set", **empty)
    with server_for(folder, tmp_path, monkeypatch):
        monkeypatch.setattr(permissions, "current_person", lambda: EVE)
        monkeypatch.setattr(permissions, "current_role", lambda: EVE.role)
        app = run_page("curate")
        assert not app.exception
        assert "No questions were proposed yet" in shown(app)
        assert "python -m rexview curate" in app.code[0].value
        assert desk(app)["case"]["content"]["candidates"] == []

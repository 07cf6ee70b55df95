"""What a browser gets of a case: only what the step shows, in words, ids, addresses and lengths."""

import json

import pytest
from support import ROOT
from support.opened_app import opened_set
from support.page_text import StrictReader
from support.rows import each_row
from support.small_set import write_set

from rexview.analysis.meetings import FIRST_STEP, Meeting
from rexview.reviewset import load_review_set
from rexview.ui.meeting.presenting.presented_case import case_json, models_by_letter
from rexview.vocab import MEETING_STEPS

DEMO = load_review_set(ROOT / "assets" / "demo")
CASES = DEMO.cases["id"].to_list()
LATER = tuple(step for step in MEETING_STEPS if step != FIRST_STEP)


class Plain(StrictReader):
    def check(self, tag, attributes):
        assert tag not in {"script", "img", "iframe"}


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Let the settings be those of an app that was started with nothing."""
    monkeypatch.setattr("sys.argv", ["app.py"])


@pytest.fixture
def given(tmp_path, monkeypatch):
    with opened_set(write_set(tmp_path / "set"), tmp_path, monkeypatch) as review_set:
        yield review_set


def meeting(*steps):
    return Meeting("m1", "Chest", None, None, (FIRST_STEP, *steps), (), False, (), {}, {})


def payload(case, steps, review_set=DEMO, later=()):
    made = case_json(review_set, meeting(*steps, *later), case, len(steps))
    return made, json.dumps(made).lower()


@each_row("case", CASES)
def test_nothing_of_a_later_step_is_sent(case):
    paths = [image.path for image in DEMO.case(case).images]
    names = [name.lower() for model in DEMO.models for name in (model.id, model.name)]
    for number in range(len(LATER) + 1):
        for steps in (LATER[:number], LATER[::-1][:number]):
            made, text = payload(case, steps)
            assert not [path for path in paths if path.lower() in text]
            if "models" not in steps:
                assert not [name for name in names if name in text.replace("[model]", "")]
                assert not [one for one in made["letters"] if one["model"]]
            boxes = [group for group in made["viewer"]["groups"] if group["boxes"]]
            returned = [view for view in made["viewer"]["views"] if view["kind"] == "returned"]
            assert "boxes" in steps or not (boxes or returned)
            assert {"boxes", "report"} <= set(steps) or "reference" not in [
                group["id"] for group in boxes
            ]
            assert set(made["panels"]) <= set(steps)
            assert "report" in steps or "(correct)" not in made["question"]
            tells = {"answers", "boxes", "report", "flags"} <= set(steps)
            assert tells or made["proposals"] == {}
            assert made["notice"]
            if not steps:
                assert made["letters"] == []
                assert made["panels"] == {}


def test_what_may_be_decided_is_proposed_once_failures_are_shown():
    made, _ = payload("c22", LATER)
    letters = {
        model: letter for letter, model in models_by_letter(DEMO, meeting(*LATER), "c22").items()
    }
    missed = {"failure": "omission", "severity": 4, "suggested": False}
    assert made["proposals"] == {"": missed, letters["medical-4b"]: missed}


def test_the_address_of_a_returned_picture_is_as_long_whoever_drew_it():
    case = next(one for one in CASES if any(answer.images for answer in DEMO.answers_of(one)))
    made, _ = payload(case, ("boxes",))
    views = [view for view in made["viewer"]["views"] if view["kind"] == "returned"]
    letters = models_by_letter(DEMO, meeting("boxes"), case)
    assert {view["id"].partition("/")[0] for view in views} <= letters.keys()
    assert {len(view["url"]) for view in made["viewer"]["views"]} == {len(views[0]["url"])}


def test_everything_that_a_file_says_is_escaped(given):
    made, _ = payload("c1", LATER, given)
    for text in (made["question"], *made["panels"].values()):
        assert "<script" not in text
        Plain.read(text)
    assert "&lt;script&gt;" in made["panels"]["answers"]
    assert payload("unknown", LATER, given)[0] is None


def test_names_come_with_the_models_and_letters_stay(given):
    before, _ = payload("c1", ("answers",), given, later=("models",))
    after, _ = payload("c1", ("answers", "models"), given)
    letters = models_by_letter(given, meeting("answers", "models"), "c1")
    assert [one["letter"] for one in before["letters"]] == [*letters]
    assert {one["letter"]: one["model"] for one in after["letters"]} == letters
    colours = [{one["colour"] for one in made["letters"]} for made in (before, after)]
    assert not colours[0] & colours[1]

"""The demo's questions in the making and its judge: made from texts, and said to be simulated."""

import shutil

import pytest
from support import ROOT

from rexview.curation.choice.validation import combine_all_checks
from rexview.reviewset import load_review_set
from tools.demo.curation import write_curation
from tools.demo.opinions import write_opinions

DEMO = ROOT / "assets" / "demo"
MADE = (
    "candidates.jsonl",
    "candidate_ratings.jsonl",
    "candidate_tags.jsonl",
    "selections.jsonl",
    "validations.jsonl",
    "validations/rules.jsonl",
    "opinions.jsonl",
)


@pytest.fixture(scope="module")
def demo():
    return load_review_set(DEMO)


def test_tables_are_those_of_the_texts(tmp_path):
    copy = tmp_path / "demo"
    shutil.copytree(DEMO, copy, ignore=shutil.ignore_patterns("images", *MADE))
    (copy / "images").symlink_to(DEMO / "images", target_is_directory=True)
    write_curation(copy)
    write_opinions(copy)
    for name in MADE:
        assert (copy / name).read_text("utf-8") == (DEMO / name).read_text("utf-8"), name


def test_whatever_a_model_is_made_to_say_is_said_to_be_simulated(demo):
    said = [demo.opinions["judge"]]
    for name in ("candidates", "candidate_ratings", "candidate_tags", "validations"):
        said.append(getattr(demo, name).filter(source="model")["by"])
    for names in said:
        assert len(names)
        assert all("(simulated)" in name for name in names)


def test_chosen_questions_are_those_that_the_demo_asks(demo):
    """What was chosen, edited and given boxes is word for word what the models were asked."""
    chosen = demo.selections.filter(decision="chosen")
    assert len(chosen) == 10
    for row in chosen.iter_rows(named=True):
        assert row["boxes_question"] == demo.case(row["case"]).question


def test_the_checks_have_something_to_show(demo):
    states = [verdict.state for verdict in combine_all_checks(demo).values()]
    assert (states.count("passed"), states.count("failed")) == (6, 3)

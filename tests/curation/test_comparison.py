"""Questions that need an earlier study, and studies that have one."""

import pytest
import yaml
from support import ROOT
from support.curation.candidate_set import CASES, COMPARING, QUESTION, write_candidate_set
from support.rows import each_row

from rexview.curation.comparison_questions import asks_for_comparison, explain_block
from rexview.reviewset import load_review_set

QUESTIONS = yaml.safe_load(
    (ROOT / "tests/curation/comparison_questions.yaml").read_text(encoding="utf-8")
)


@each_row("question", QUESTIONS["needs_prior"])
def test_a_question_about_change_asks_for_a_comparison(question):
    assert asks_for_comparison(question)


@each_row("question", QUESTIONS["one_study_is_enough"])
def test_a_comparison_within_the_image_needs_no_earlier_study(question):
    assert asks_for_comparison(question) is None


@pytest.mark.parametrize(
    ("value", "asks"),
    [
        ("Comparison with prior", True),
        ("Interval change", True),
        ("None", False),
        ("No prior comparison", False),
        ("Current study", False),
        ("Chronic", False),
    ],
)
def test_the_tag_of_time_counts_as_words_do(value, asks):
    found = asks_for_comparison("How large is the heart?", {"temporal_context": (value,)})
    assert (found is not None) == asks


@pytest.fixture
def review_set(tmp_path):
    return load_review_set(write_candidate_set(tmp_path / "set"))


@pytest.mark.parametrize(
    ("case", "blocked"), [("c1", True), ("c2", False), ("c3", True), ("c4", True)]
)
def test_a_comparison_needs_an_earlier_frontal_image_that_is_there(review_set, case, blocked):
    assert len(CASES) == 4
    why = explain_block(review_set, review_set.case(case), COMPARING)
    assert (why is not None) == blocked
    if why:
        assert "last radiograph" in why
    assert explain_block(review_set, review_set.case(case), QUESTION) is None


def test_a_file_that_is_no_picture_is_no_earlier_image(tmp_path):
    folder = write_candidate_set(tmp_path / "set")
    (folder / "images" / "before.png").write_bytes(b"not a picture")
    review_set = load_review_set(folder)
    assert explain_block(review_set, review_set.case("c2"), COMPARING)

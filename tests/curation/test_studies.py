"""Which studies are asked about, and what is told of each."""

import pytest
from support.review_folder import write_review_set

from rexview.curation.candidates import choice_id, open_id
from rexview.curation.source_studies import count_studies, find_source_studies, find_study_cases
from rexview.curation.step import QuestionSubject, parse_question_subject_id
from rexview.reviewset import load_review_set


@pytest.fixture
def review_set(tmp_path):
    cases = [
        {"id": "a", "study_id": "s", "report": {"findings": " Effusion. ", "impression": "Left."}},
        {"id": "b", "study_id": "s", "report": {"findings": "Another."}},
        {"id": "s", "report": {"impression": "Normal."}, "context": {"indication": "Cough"}},
        {"id": "d", "context": {"indication": "Fall", "sex": "F", "age": "64"}},
        {"id": "e", "question_type": "report", "context": {"age": "64"}},
    ]
    rows = [{"question": "What is seen?", **case} for case in cases]
    return load_review_set(write_review_set(tmp_path / "set", info={"name": "Studies"}, cases=rows))


def test_the_first_case_stands_for_its_study(review_set):
    assert find_study_cases(review_set) == ["a", "s", "d", "e"]


def test_two_patients_may_number_their_studies_alike(tmp_path):
    cases = [
        {"id": name, "question": "What is seen?", "study_id": "study1", "patient_id": patient}
        for name, patient in (("a", "p1"), ("b", "p2"), ("c", "p2"))
    ]
    review_set = load_review_set(
        write_review_set(tmp_path / "set", info={"name": "Alike"}, cases=cases)
    )
    assert find_study_cases(review_set) == ["a", "b"]
    assert count_studies(review_set, ["b", "c", "b"]) == 1


@pytest.mark.parametrize(
    ("told_from", "told"),
    [
        (None, ["Effusion.", "Normal.", "Fall\nAge: 64\nSex: F", "Age: 64"]),
        ("findings", ["Effusion.", "Normal.", "Age: 64\nSex: F", "Age: 64"]),
        ("indication", ["", "Cough", "Fall\nAge: 64\nSex: F", "Age: 64"]),
    ],
)
def test_what_is_told_is_the_report_else_the_request(review_set, told_from, told):
    assert [study.known for study in find_source_studies(review_set, told_from)] == told


def test_where_it_is_from_is_said_and_nothing_where_there_is_nothing(review_set):
    sources = [study.source for study in find_source_studies(review_set)]
    assert sources == ["findings", "impression", "indication", None]


def test_names_of_candidates_are_of_their_words():
    assert open_id("Is it  left?") == open_id("Is it left?\n") != open_id("Is it right?")
    assert choice_id("Which?", ["A", "B"]) != choice_id("Which?", ["B", "A"])
    forms = [open_id("x"), choice_id("x", [])]
    assert [one[:2] for one in forms] == ["q-", "m-"]
    assert {len(one) for one in forms} == {14}


def test_a_subject_is_found_again_by_its_id_and_changes_with_its_words():
    one = QuestionSubject("c,1", ("q-1", "edited"), {"question": "x"})
    assert parse_question_subject_id(one.id) == ("c,1", ("q-1", "edited"))
    assert one.id == QuestionSubject("c,1", ("q-1", "edited"), {"question": "x"}).id
    assert one.id != QuestionSubject("c,1", ("q-1", "edited"), {"question": "y"}).id
    assert [parse_question_subject_id(text) for text in ("c1", "{}", "[]", '["c"]', "[1, 2]")] == [
        None
    ] * 5

"""Choice questions: the option with the wrong side is a laterality error, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from rexview.detect import find_flags, find_flags_for_answers, flag_rows, judged_answers, survey
from rexview.detect.laterality.detector import Laterality
from rexview.schema import Flag, ReviewSet, answer_from_row

EFFUSION = "Where is the pleural effusion?"


def answered(
    make_set: Any, options: list[str], choice: int, correct: int | None, **case: Any
) -> ReviewSet:
    review_set: ReviewSet = make_set(
        cases=[
            {
                "id": "c",
                "question_type": "choice",
                "question": EFFUSION,
                "options": options,
                "correct": correct,
                **case,
            }
        ],
        answers=[{"case": "c", "model": "g", "text": "ABCD"[choice], "choice": choice}],
    )
    return review_set


def found(review_set: ReviewSet) -> list[Flag]:
    """The flags of a look, which the survey of all answers has to agree with."""
    case = review_set.case("c")
    assert case is not None
    (row,) = review_set.answers.iter_rows(named=True)
    flags = find_flags_for_answers(case, [answer_from_row(row)], detectors=[Laterality()])
    surveyed = find_flags(review_set, detectors=[Laterality()])["kind"].to_list()
    assert surveyed == [flag.kind for flag in flags]
    return flags


@pytest.mark.parametrize(
    ("question", "chosen", "correct", "said"),
    [
        (EFFUSION, "On the right, large", "On the left, large", "right pleural effusion"),
        (EFFUSION, "Left lower zone", "Right costophrenic angle", "left pleural effusion"),
        ("Which lobe holds the nodule?", "Lingula", "Right middle lobe", "left nodule"),
        ("What is seen?", "Left pneumothorax", "Right apical pneumothorax", "left pneumothorax"),
        ("What is seen?", "RLL pneumonia", "Left lower lobe consolidation", "right pneumonia"),
        ("Which ribs show a rib fracture?", "Left 5 and 6", "Right 5 and 6", "left rib fracture"),
        ("How does the mediastinum shift?", "To the left", "To the right", "left mediastinal"),
        (
            "Where does the central line enter, where does it end?",
            "Enters on the right, ends in the superior vena cava",
            "Enters on the left, ends in the superior vena cava",
            "right central venous catheter",
        ),
    ],
)
def test_the_wrong_side_is_an_error(
    make_set: Any, question: str, chosen: str, correct: str, said: str
) -> None:
    review_set = answered(make_set, ["No finding", correct, chosen], 2, 1, question=question)
    (flag,) = found(review_set)
    assert flag.kind == "choice"
    assert not flag.is_hint
    assert flag.message.startswith(f"Answer: option C, {said}")
    assert "; correct: option B, " in flag.message
    for item, option in zip(flag.evidence, (chosen, correct), strict=True):
        assert item.text
        assert option[item.start : item.end] == item.text


@pytest.mark.parametrize(
    ("question", "chosen", "correct"),
    [
        (EFFUSION, "On the right, large", "On the right, small"),
        (EFFUSION, "On the right", "On both sides"),
        (EFFUSION, "On both sides", "On the left"),
        (EFFUSION, "On the right", "There is none"),
        (EFFUSION, "There is none", "On the left"),
        ("What is seen?", "Right pneumothorax", "Left pleural effusion"),
        ("What is seen?", "Left ventricular enlargement", "Right ventricular enlargement"),
        ("Which view is it?", "Left lateral", "Right lateral"),
        ("Which of these is not present?", "Right effusion", "Left effusion"),
        ("All are true except", "Left pneumothorax", "Right pneumothorax"),
        ("Is the effusion above the pneumothorax?", "On the right", "On the left"),
        (
            "Where does the central line end?",
            "Enters on the left, ends in the left brachiocephalic vein",
            "Enters on the left, ends in the superior vena cava",
        ),
        ("Where does the endotracheal tube end?", "Left main bronchus", "Right main bronchus"),
    ],
)
def test_what_differs_in_another_way_is_none(
    make_set: Any, question: str, chosen: str, correct: str
) -> None:
    assert found(answered(make_set, [chosen, correct], 0, 1, question=question)) == []


def test_the_right_option_is_none_and_is_judged(make_set: Any) -> None:
    review_set = answered(make_set, ["On the left", "On the right"], 0, 0)
    assert found(review_set) == []
    assert judged_answers(survey(review_set, detectors=[Laterality()]))["case"].to_list() == ["c"]


@pytest.mark.parametrize(
    ("options", "correct", "question"),
    [
        (["Upper lobe", "Lower lobe"], 1, EFFUSION),
        (["On the left", "None"], 1, EFFUSION),
        (["On the left", "On the right"], 1, "On which side is there no effusion?"),
        (["On the left", "On the right"], None, EFFUSION),
    ],
)
def test_what_cannot_be_compared_is_not_judged(
    make_set: Any, options: list[str], correct: int | None, question: str
) -> None:
    review_set = answered(make_set, options, 0, correct, question=question)
    assert judged_answers(survey(review_set, detectors=[Laterality()])).is_empty()
    assert found(review_set) == []


def test_the_report_stands_in_for_a_missing_key(make_set: Any) -> None:
    report = {"findings": "Large left pleural effusion.", "impression": None}
    review_set = answered(make_set, ["On the right", "On the left"], 0, None, report=report)
    (flag,) = found(review_set)
    assert flag.message == "Answer: option A, right pleural effusion; report: left."
    assert found(answered(make_set, ["Right", "Left"], 1, None, report=report)) == []


def test_a_key_that_the_report_contradicts_makes_no_error(make_set: Any) -> None:
    report = {"findings": "Large right pleural effusion.", "impression": None}
    assert found(answered(make_set, ["On the right", "On the left"], 0, 1, report=report)) == []


def test_the_rows_for_json_hold_both_options(make_set: Any) -> None:
    report = {"findings": "Large left pleural effusion.", "impression": None}
    review_set = answered(make_set, ["On the right", "On the left"], 0, 1, report=report)
    (row,) = [row for row in flag_rows(review_set) if row["failure"] == "laterality_error"]
    places = [(item["where"], item.get("reference"), item["side"]) for item in row["evidence"]]
    assert places == [
        ("option", None, "right"),
        ("option", True, "left"),
        ("report", None, "left"),
    ]
    assert [item["field"] for item in row["evidence"]] == ["0", "1", "findings"]

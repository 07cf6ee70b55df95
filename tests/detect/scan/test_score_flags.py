"""Score rules for whole columns conclude what the detectors conclude of one answer at a time."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from rexview.detect import DETECTORS, find_flags_for_answers, survey
from rexview.detect.detector import AnswerInCase, ScoringDetector
from rexview.detect.scan.scan import Scan, create_empty_scan, scan
from rexview.schema import ReviewSet
from rexview.vocab import DIMENSIONS

SCORING = [one for one in DETECTORS if isinstance(one, ScoringDetector)]
TEXTS = (
    "No effusion.",
    "This is definitely pneumonia. " * 3,
    "A long text with many words in it. " * 12,
    "A far longer text with many more words in it. " * 40,
    "Right effusion.",
    "Der Herzschatten ist vergrößert, und das ist eindeutig und ohne Zweifel ein Befund. " * 4,
    "",
)
COMMENTS = (None, None, None, "Far too long.", "too brief", "Verbose", "toolong", "Fine.")
BOXES = ([], [], [{"label": "left effusion", "box": [10, 10, 20, 20]}])


def made(make_set: Callable[..., ReviewSet], seed: int) -> ReviewSet:
    """A set whose answers, scores and comments are drawn at random."""
    draw = random.Random(seed)
    models = ["a", "b", "c", "d"]
    cases, answers, scores = [], [], []
    for number in range(40):
        case = f"c{number}"
        cases.append(
            {
                "id": case,
                "question": "What is abnormal?",
                "images": [{"id": "i", "path": "i.png", "width": 100, "height": 100}],
            }
        )
        for model in draw.sample(models, draw.randint(1, 4)):
            answer: dict[str, Any] = {"case": case, "model": model, "text": draw.choice(TEXTS)}
            answer["finish_reason"] = draw.choice(["stop", "stop", "stop", "length"])
            answer["boxes"] = draw.choice(BOXES)
            answers.append(answer)
            for reader in draw.sample(["r", "s"], draw.randint(0, 2)):
                for dimension in draw.sample(DIMENSIONS, draw.randint(0, 6)):
                    scores.append(
                        {
                            "case": case,
                            "model": model,
                            "reader": reader,
                            "dimension": dimension,
                            "score": draw.choice([1, 2, 3, 4, 5, None]),
                            "comment": draw.choice(COMMENTS),
                        }
                    )
    return make_set(cases=cases, answers=answers, scores=scores)


def judged_one_by_one(review_set: ReviewSet, found: Scan) -> list[int]:
    bits = [0] * len(found.state)
    for row, case_id in enumerate(review_set.cases["id"]):
        case, answers = review_set.case(case_id), review_set.answers_of(case_id)
        assert case is not None
        scores = review_set.scores_of(case_id)
        for number, answer in zip(review_set.newest.of_case(row), answers, strict=True):
            own = [score for score in scores if score.model == answer.model]
            one = AnswerInCase(case, answer, own, answers)
            for position, detector in enumerate(found.detectors):
                bits[number] |= detector.can_judge(one) << position
    return bits


@pytest.mark.parametrize("seed", range(6))
def test_columns_and_records_agree(make_set: Any, seed: int) -> None:
    review_set = made(make_set, seed)
    found = scan(review_set, DETECTORS)
    assert found.judged.tolist() == judged_one_by_one(review_set, found)
    flagged = set()
    for row, case_id in enumerate(review_set.cases["id"]):
        case, answers = review_set.case(case_id), review_set.answers_of(case_id)
        assert case is not None
        by_record = find_flags_for_answers(case, answers, review_set.scores_of(case_id))
        told = [flag for flags in found.flags_of_case(row).values() for flag in flags]
        assert sorted(told, key=repr) == sorted(by_record, key=repr)
        flagged |= {(flag.failure, flag.kind) for flag in told}
    if seed == 0:  # each rule had something to find
        assert {(one.failure, one.score_rule().kind) for one in SCORING} <= flagged


def test_one_table_row_a_flag(make_set: Any) -> None:
    found = scan(made(make_set, 3), DETECTORS)
    told = found.told(0, len(found.review_set.cases))
    key = ["answer", "failure", "kind", "finding"]
    assert found.flags.select(key).sort(key).equals(told.select(key).sort(key))


def test_an_answer_that_nobody_looked_at_is_judged_by_its_scores_alone(make_set: Any) -> None:
    review_set = made(make_set, 1)
    before = create_empty_scan(review_set, DETECTORS)
    flagged = set(before.flags["failure"].cast(pl.String))
    assert flagged == {"execution_gap", "disagreement"}
    whole = scan(review_set, DETECTORS)
    of_scores = pl.col("failure").cast(pl.String).is_in(flagged)
    key = ["answer", "failure"]
    assert (
        before.flags.select(key)
        .sort(key)
        .equals(whole.flags.filter(of_scores).select(key).sort(key))
    )


def test_scores_of_a_model_that_did_not_answer_are_passed_over(make_set: Any) -> None:
    review_set = made(make_set, 2)
    stray = review_set.scores.head(1).with_columns(case=pl.lit("nowhere"))
    more = replace(review_set, scores=pl.concat([stray, review_set.scores]))
    assert survey(more).judged.tolist() == survey(review_set).judged.tolist()

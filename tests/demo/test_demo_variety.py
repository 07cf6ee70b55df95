"""The demonstration set shows what it is for: every failure, its look-alikes, and good answers."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support import ROOT
from support.rows import each_row

from rexview.reviewset import load_review_set
from rexview.vocab import FAILURES

DEMO = ROOT / "assets/demo"
Answered = tuple[str, str]
"""Case and model."""


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text("utf-8").splitlines()]


def _table(name: str) -> list[dict[str, str]]:
    with (DEMO / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


CASES = {row["id"]: row for row in _rows("cases.jsonl")}
ANSWERS = {(row["case"], row["model"]): row for row in _rows("answers.jsonl")}
CHOSEN = {
    (row["case"], row["model"]): row["choice"]
    for row in load_review_set(DEMO).answers.select("case", "model", "choice").rows(named=True)
}
"""With those that are read from the answer's text when the set opens."""
SCORES = _table("scores.csv")
FLAGS = _table("flags.csv")
WORST_EDIT = defaultdict[Answered, int](int)
"""Of each report that a reader corrected: the highest severity, 0 where all lines were kept."""
for row in _table("edits.csv"):
    key = row["case"], row["model"]
    WORST_EDIT[key] = max(WORST_EDIT[key], int(row["severity"]))


def _said_by_readers(verdict: str) -> dict[str, set[Answered]]:
    said: dict[str, set[Answered]] = defaultdict(set)
    for row in FLAGS:
        if row["verdict"] == verdict:
            said[row["failure"]].add((row["case"], row["model"]))
    return said


def _given() -> dict[Answered, dict[str, list[int]]]:
    given: dict[Answered, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in SCORES:
        given[row["case"], row["model"]][row["dimension"]].append(int(row["score"]))
    return given


GIVEN = _given()
MEAN = {
    answer: {name: sum(scores) / len(scores) for name, scores in by_dimension.items()}
    for answer, by_dimension in GIVEN.items()
}
AT_LIMIT = {
    answer
    for answer, row in ANSWERS.items()
    if row["finish_reason"] == "length"
    or row["usage"]["output_tokens"] >= row["usage"]["max_output_tokens"]
}
CONFIRMED, REJECTED = _said_by_readers("confirmed"), _said_by_readers("rejected")
SHOWN_BY_FILES = {
    "token_limit": AT_LIMIT,
    "execution_gap": {a for a, mean in MEAN.items() if mean["process"] - mean["execution"] >= 2},
    "disagreement": {
        answer
        for answer, by_dimension in GIVEN.items()
        if any(max(scores) - min(scores) >= 2 for scores in by_dimension.values())
    },
    "failed_extraction": {
        answer
        for answer in ANSWERS
        if CASES[answer[0]]["question_type"] == "choice" and CHOSEN[answer] is None
    },
}
FAILED = {failure: CONFIRMED[failure] | SHOWN_BY_FILES.get(failure, set()) for failure in FAILURES}


def _repeats_itself(text: str) -> bool:
    return re.search(r"(.{20,}?)(?:\1){4,}", text) is not None


@each_row("failure", FAILURES)
def test_every_failure_occurs_at_least_twice(failure: str) -> None:
    assert len(FAILED[failure]) >= 2, sorted(FAILED[failure])
    assert len({case for case, _ in FAILED[failure]}) >= 2


def test_readers_name_the_failures_that_only_a_person_can_see() -> None:
    seen_in_files = {"token_limit", "execution_gap", "disagreement", "failed_extraction"}
    for failure in set(FAILURES) - seen_in_files:
        assert len(CONFIRMED[failure]) >= 2, failure
    assert CONFIRMED["failed_extraction"] <= SHOWN_BY_FILES["failed_extraction"]


@each_row(
    ("case", "model", "failure", "words"),
    [
        # both sides
        ("c24", "medical-4b", "laterality_error", "both lungs"),
        ("c27", "generalist", "laterality_error", "left greater than right"),
        # negated
        ("c22", "generalist", "laterality_error", "no left or right pneumothorax"),
        ("c32", "medical-4b", "hallucination", "argues against a subpulmonic effusion"),
        # a device that crosses the midline
        ("c13", "generalist", "laterality_error", "across the midline"),
        ("c31", "generalist", "laterality_error", "from the patient's left to the patient's right"),
        # an earlier state
        ("c28", "generalist", "hallucination", "the effusion has resolved"),
        ("c29", "medical-4b", "laterality_error", "previously in the right main bronchus"),
        ("c35", "generalist", "hallucination", "previously seen right effusion has resolved"),
        # short and enough, long and asked for, in a picture instead of a list
        ("c34", "medical-4b", "terse", "no failure"),
        ("c37", "generalist", "verbose", "impression:"),
        ("c31", "generalist", "boxes_missing", "returned image"),
        # a letter that decides among several that are named
        ("c36", "generalist", "failed_extraction", "answer: b"),
    ],
)
def test_look_alikes_are_there_and_are_not_failures(
    case: str, model: str, failure: str, words: str
) -> None:
    said = re.sub(r"[\s*]+", " ", ANSWERS[case, model]["text"]).lower()
    assert words in said
    assert (case, model) not in FAILED[failure]


@pytest.mark.parametrize(
    ("case", "model", "ending"),
    [
        ("c04", "generalist", r"nothing to mark"),
        ("c17", "medical-4b", r"osseous abnormality"),
        ("c25", "generalist", r"\n- [^\n]+"),  # a list item
        ("c33", "generalist", r"\n2\. [^\n]+"),  # a reference
        ("c37", "generalist", r"\n2\. [^\n]+"),
    ],
)
def test_some_complete_answers_end_without_a_full_stop(case: str, model: str, ending: str) -> None:
    answer = ANSWERS[case, model]
    assert re.search(ending + r"\Z", answer["text"])
    assert answer["text"][-1].isalnum()
    assert answer["finish_reason"] == "stop"
    assert (case, model) not in FAILED["token_limit"]


def test_readers_reject_look_alikes() -> None:
    both = [(f, a) for f, answers in REJECTED.items() for a in answers & CONFIRMED[f]]
    assert not both
    assert {
        *("laterality_error", "token_limit", "hallucination", "omission", "wrong_type"),
        *("box_misplaced", "box_unrelated", "boxes_missing", "overconfident"),
        *("verbose", "terse", "failed_extraction"),
    } <= set(REJECTED)


def test_each_reader_flag_says_why() -> None:
    silent = [(row["case"], row["failure"]) for row in FLAGS if not row["comment"].strip()]
    assert not silent


def test_readers_do_not_repeat_themselves() -> None:
    comments = [row["comment"].lower() for row in (*SCORES, *FLAGS) if row["comment"]]
    assert [comment for comment, times in Counter(comments).items() if times > 1] == []
    openings = [row["text"][:40].lower() for row in ANSWERS.values() if row["text"]]
    assert len(set(openings)) == len(openings)
    assert len({case["question"] for case in CASES.values()}) == len(CASES)


def test_the_terse_model_stops_at_its_limit_on_about_a_fifth() -> None:
    stopped = [ANSWERS[answer]["text"] for answer in AT_LIMIT if answer[1] == "medical-4b"]
    own = [answer for answer in ANSWERS if answer[1] == "medical-4b"]
    assert 0.15 <= len(stopped) / len(own) <= 0.25
    assert all(model == "medical-4b" for _, model in AT_LIMIT)
    written = [text for text in stopped if text]
    assert 0 < sum(not text for text in stopped) < len(written)
    assert sum(_repeats_itself(text) for text in written) >= 2
    assert sum(not _repeats_itself(text) for text in written) >= 2
    assert all(text[-1] not in ".!?" for text in written)


def test_a_third_of_the_answers_are_good() -> None:
    sound = {
        answer
        for answer, mean in MEAN.items()
        if min(mean["process"], mean["execution"], mean["synthesis"]) >= 4
    }
    chosen = {
        answer
        for answer in ANSWERS
        if CASES[answer[0]]["question_type"] == "choice"
        and CHOSEN[answer] == CASES[answer[0]]["correct"]
    }
    by_readers = set[Answered]().union(*CONFIRMED.values())
    as_written = {answer for answer, severity in WORST_EDIT.items() if severity < 2}
    good = (sound | chosen | as_written) - AT_LIMIT - by_readers
    assert len(good) / len(ANSWERS) >= 1 / 3
    assert len({model for _, model in good}) == 2


def test_categories_are_shared_out_as_in_rexecution() -> None:
    open_cases = [case for case in CASES.values() if case["question_type"] == "open"]
    counts = Counter(case["category"] for case in open_cases)
    share = {name: count / len(open_cases) for name, count in counts.items()}
    assert 0.2 <= share["broad_abnormality"] <= 0.32
    assert 0.55 <= share["diagnostic_reasoning"] <= 0.72
    assert 0.07 <= share["measurement_temporal"] <= 0.15
    kinds = Counter(case["question_type"] for case in CASES.values())
    assert kinds["choice"] >= 3
    assert kinds["report"] >= 2


def test_thirty_studies_of_many_patients_six_with_a_prior() -> None:
    images = [(case, image) for case in CASES.values() for image in case["images"]]
    studies = {Path(image["path"]).stem.rsplit("-", 1)[0] for _, image in images}
    assert len(studies) >= 30
    assert len({case["patient_id"] for case in CASES.values()}) >= 25
    assert len({case["id"] for case, image in images if image.get("prior")}) >= 6
    assert sum(image["view"] == "LATERAL" for _, image in images) >= 5
    for case in CASES.values():
        assert sum(bool(image.get("key")) for image in case["images"]) == 1


def test_one_patient_has_one_age_and_sex() -> None:
    told = defaultdict(set)
    for case in CASES.values():
        told[case["patient_id"]].add((case["context"]["age"], case["context"]["sex"]))
    assert all(len(people) == 1 for people in told.values())


def test_two_or_three_returned_pictures_have_boxes_burned_in() -> None:
    returned = [path for row in ANSWERS.values() for path in row.get("images") or ()]
    assert 2 <= len(returned) <= 3
    for path in returned:
        with Image.open(DEMO / "images" / path) as picture:
            red, green, _ = np.moveaxis(np.asarray(picture.convert("RGB"), np.int16), 2, 0)
        coloured = red - green > 60
        assert 300 < coloured.sum() < 0.1 * coloured.size, path

"""The demonstration's choice questions: what is chosen, by whom, and tables worked out by hand."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from typing import Any

import pytest
from support import ROOT
from support.rows import each_row

from rexview.reviewset import load_review_set
from rexview.stats.multiple_choice import measure_choice_accuracies
from rexview.stats.report.lists import choice_lists
from rexview.vocab import CATEGORIES
from tools.demo.cases import read_texts

DEMO = load_review_set(ROOT / "assets/demo")
MODELS = ("generalist", "medical-4b")
CATEGORIES_OF_REXVQA = {
    *("Quality of Exams", "Lung & Pleural Opacity", "Lung & Pleural Lucency", "Lung Volume"),
    *("Heart", "Aorta", "Other Great Vessel", "Implanted Devices", "Tubes and Lines", "Clavicle"),
    *("Joint", "Rib", "Spine", "Infectious Disease", "Negation", "Pulmonary Neoplasm"),
}
"""As its table 3 names them."""
QUESTIONS: dict[str, dict[str, Any]] = {
    text["id"]: text for text in read_texts() if text["question_type"] == "choice"
}
NEW = {name: text for name, text in QUESTIONS.items() if name.startswith("q")}
LISTS = choice_lists(DEMO, resamples=99)
CHOSEN = {
    (row["case"], row["model"]): row["choice"]
    for row in DEMO.answers.select("case", "model", "choice").rows(named=True)
}
with (ROOT / "assets/demo/choices.csv").open(newline="", encoding="utf-8") as file:
    BY_READER: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for given in csv.DictReader(file):
        BY_READER[given["reader"]][given["case"]] = given


def test_twelve_questions_of_every_task_and_difficulty_some_on_one_study() -> None:
    assert sorted(NEW) == [f"q{number:02}" for number in range(1, 13)]
    assert {text["category"] for text in NEW.values()} == set(CATEGORIES["choice"])
    assert {text["difficulty"] for text in NEW.values()} == {"easy", "medium", "hard"}
    studies = Counter(text["study"] for text in NEW.values())
    assert sorted(studies.values()) == [1, 1, 1, 1, 2, 2, 2, 2]
    for text in QUESTIONS.values():
        assert set(text["tags"]["finding_category"]) <= CATEGORIES_OF_REXVQA
        assert len(text["tags"]["class"]) == 1
    right = Counter(text["correct"] for text in NEW.values())
    assert set(right) == {0, 1, 2, 3}
    assert max(right.values()) <= len(NEW) / 2


@each_row("question", NEW)
@each_row("model", MODELS)
def test_what_a_model_chose_is_read_from_its_words(question: str, model: str) -> None:
    """``says`` is what whoever wrote the answer meant by it."""
    meant = NEW[question]["answers"][model]["says"]
    assert CHOSEN[question, model] == meant


def test_questions_are_missed_in_every_way() -> None:
    right = {
        name: [CHOSEN[name, model] == text["correct"] for model in MODELS]
        for name, text in NEW.items()
    }
    ways = Counter(tuple(pair) for pair in right.values())
    assert ways == {(True, True): 2, (True, False): 5, (False, True): 3, (False, False): 2}
    assert sum(CHOSEN[name, model] is None for name in NEW for model in MODELS) == 2


def test_readers_answer_all_twelve_miss_some_and_differ() -> None:
    for rows in BY_READER.values():
        assert list(rows) == list(NEW)
        for name, row in rows.items():
            assert row["option"] == NEW[name]["options"][int(row["choice"])]
            assert 5 < float(row["seconds"]) < 120
    wrong = {
        reader: {name for name, row in rows.items() if int(row["choice"]) != NEW[name]["correct"]}
        for reader, rows in BY_READER.items()
    }
    assert wrong == {"reader_a": {"q10"}, "reader_b": {"q03", "q12"}}


def test_kappa_of_the_two_readers() -> None:
    """By hand: 9 of 12 alike, 39 of 144 by chance: (108 - 39) / (144 - 39)."""
    from sklearn.metrics import cohen_kappa_score

    first, second = (
        [int(row["choice"]) for row in BY_READER[reader].values()]
        for reader in ("reader_a", "reader_b")
    )
    assert [sorted(Counter(one).items()) for one in (first, second)] == [
        [(0, 1), (1, 3), (2, 4), (3, 4)],
        [(0, 2), (1, 3), (2, 3), (3, 4)],
    ]
    assert sum(a == b for a, b in zip(first, second, strict=True)) == 9
    assert cohen_kappa_score(first, second) == pytest.approx(69 / 105)
    (row,) = [
        row
        for row in LISTS["choice_kappa"]
        if (row["task"], row["rater_a"], row["rater_b"]) == (None, "reader_a", "reader_b")
    ]
    assert (row["n"], row["same"], row["kappa"]) == (12, 9, pytest.approx(69 / 105))


def test_models_and_readers_on_the_questions_that_readers_answered() -> None:
    assert [
        (row["rater"], row["n"], row["correct"], row["failed"]) for row in LISTS["choice_readers"]
    ] == [
        ("generalist", 12, 7, 0),  # not q03 q04 q06 q11 q12
        ("medical-4b", 12, 5, 2),  # q01 q03 q05 q06 q11
        ("reader_a", 12, 11, 0),
        ("reader_b", 12, 10, 0),
    ]
    (tested,) = [row for row in LISTS["choice_tests"] if row["family"] == "models"]
    # c18 c19 c36 c38 q02 q07 q08 q09 q10; q03 q06 q11; q01 q05
    assert [tested[name] for name in ("only_a", "only_b", "both")] == [9, 3, 2]
    assert tested["p"] == pytest.approx(2 * (1 + 12 + 66 + 220) / 2**12)


def test_accuracy_per_task_as_counted_by_hand() -> None:
    """With c18, c19, c36 and c38: (n, right, failed)."""
    by_hand = {
        ("generalist", None): (16, 11, 0),
        ("generalist", "presence_assessment"): (3, 2, 0),  # q01 q08, not q11
        ("generalist", "negation_assessment"): (3, 3, 0),  # c19 q02 q05
        ("generalist", "location_and_distribution"): (3, 1, 0),  # c18, not q03 q06
        ("generalist", "differential_diagnosis"): (4, 3, 0),  # c36 q07 q09, not q12
        ("generalist", "geometric_information"): (3, 2, 0),  # c38 q10, not q04
        ("medical-4b", None): (16, 5, 4),
        ("medical-4b", "presence_assessment"): (3, 2, 0),  # q01 q11, not q08
        ("medical-4b", "negation_assessment"): (3, 1, 1),  # q05, not q02; c19 failed
        ("medical-4b", "location_and_distribution"): (3, 2, 0),  # q03 q06, not c18
        ("medical-4b", "differential_diagnosis"): (4, 0, 2),  # c36 q09 failed
        ("medical-4b", "geometric_information"): (3, 0, 1),  # q04 failed
    }
    counted = {
        (row.model, row.task): (row.n, row.correct, row.failed)
        for row in measure_choice_accuracies(DEMO, MODELS, resamples=99)
        if row.category is None
    }
    assert counted == by_hand

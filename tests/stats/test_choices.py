"""Accuracy of multiple choice: counts by hand, intervals by scipy."""

import pytest
from scipy.stats import binomtest
from support.review_folder import named, write_review_set

from rexview.answer_digest import digests_of
from rexview.reviewset import load_review_set, save_review_set
from rexview.stats.multiple_choice import NO_ANSWERS, measure_choice_accuracies

OPTIONS = ["Effusion", "Mass", "Cardiomegaly"]


def write_choices(folder, *, cases=(), answers=(), models="mn"):
    whole = [
        {"id": f"c{n}", "question": "Which?", "question_type": "choice", "options": OPTIONS}
        | {"correct": 0}
        | dict(changes)
        for n, changes in enumerate(cases)
    ]
    info = {"name": "Choices", "models": named(**{name: name for name in models})}
    return load_review_set(
        write_review_set(folder / "set", info=info, cases=whole, answers=list(answers))
    )


def rows_of(review_set, models=("m", "n")):
    rows = measure_choice_accuracies(review_set, models, resamples=999)
    assert len({(row.model, row.task, row.category) for row in rows}) == len(rows)
    return {(row.model, row.task, row.category): row for row in rows}


def test_counts_by_task_and_finding_category(tmp_path):
    tags = [{"finding_category": ["pleura"]}, {"Finding category": ["pleura", "heart"]}, {}, {}]
    tasks = ["presence_assessment", "presence_assessment", "geometric_information", None]
    cases = [{"category": task, "tags": tag} for task, tag in zip(tasks, tags, strict=True)]
    answers = [
        {"case": "c0", "model": "m", "text": "The answer is A."},
        {"case": "c1", "model": "m", "choice": 1},
        {"case": "c2", "model": "m", "text": "A or B"},
        {"case": "c3", "model": "m", "error": "timeout"},
        {"case": "c0", "model": "n", "choice": 7},
    ]
    rows = rows_of(write_choices(tmp_path, cases=cases, answers=answers))
    counts = {key: (row.n, row.correct, row.failed) for key, row in rows.items()}
    presence, geometry = "presence_assessment", "geometric_information"
    assert counts == {
        ("m", None, None): (4, 1, 2),
        ("m", geometry, None): (1, 0, 1),
        ("m", presence, None): (2, 1, 0),
        ("m", None, "heart"): (1, 0, 0),
        ("m", None, "pleura"): (2, 1, 0),
        ("m", presence, "heart"): (1, 0, 0),
        ("m", presence, "pleura"): (2, 1, 0),
        ("n", None, None): (1, 0, 1),
        ("n", presence, None): (1, 0, 1),
        ("n", None, "pleura"): (1, 0, 1),
        ("n", presence, "pleura"): (1, 0, 1),
    }
    total = rows["m", None, None]
    limits = binomtest(1, 4).proportion_ci(0.95, method="wilson")
    assert (total.low, total.high) == pytest.approx((limits.low, limits.high))
    assert (total.accuracy, total.accuracy_read, total.interval) == (0.25, 0.5, "wilson")
    assert total.read_from_text == 1
    assert rows["n", None, None].accuracy_read is None


def test_questions_of_one_study_are_not_independent(tmp_path):
    cases = [{"study_id": f"s{n // 5}", "correct": n // 5 % 2} for n in range(40)]
    answers = [{"case": f"c{n}", "model": "m", "choice": 0} for n in range(40)]
    row = rows_of(write_choices(tmp_path, cases=cases, answers=answers))["m", None, None]
    assert (row.interval, row.patients, row.accuracy) == ("cluster_bootstrap", 8, 0.5)
    wilson = binomtest(20, 40).proportion_ci(0.95, method="wilson")
    assert row.high - row.low > 1.5 * (wilson.high - wilson.low)


def test_a_question_without_a_right_option_is_in_no_number(tmp_path):
    answers = [{"case": f"c{n}", "model": "m", "choice": 0} for n in range(2)]
    review_set = write_choices(tmp_path, cases=[{}, {"correct": None}], answers=answers)
    row = rows_of(review_set)["m", None, None]
    assert (row.n, row.correct, row.unmarked) == (1, 1, 1)


def test_every_model_has_its_total(tmp_path):
    cases = [{"question_type": "open", "options": [], "correct": None}]
    answers = [{"case": "c0", "model": "m", "text": "A"}]
    rows = rows_of(write_choices(tmp_path, cases=cases, answers=answers))
    assert set(rows) == {("m", None, None), ("n", None, None)}
    row = rows["m", None, None]
    assert (row.n, row.accuracy, row.low, row.why) == (0, None, None, NO_ANSWERS)


def test_what_was_read_is_neither_written_nor_part_of_the_digest(tmp_path):
    answers = [{"case": "c0", "model": "m", "text": "B"}]
    review_set = write_choices(tmp_path, cases=[{}], answers=answers)
    assert review_set.answers_of("c0")[0].choice == 1
    save_review_set(review_set, tmp_path / "again")
    assert "choice" not in (tmp_path / "again/answers.jsonl").read_text()
    assert load_review_set(tmp_path / "again").answers_of("c0")[0].choice == 1
    given = [{"case": "c0", "model": "m", "text": "B", "choice": 1}]
    (tmp_path / "other").mkdir()
    other = write_choices(tmp_path / "other", cases=[{}], answers=given)
    assert digests_of(review_set).of("c0", "m") != digests_of(other).of("c0", "m")

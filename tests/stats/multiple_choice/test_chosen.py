"""Who chose what, counted by hand on a small set; kappa and McNemar by the libraries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control
from support.made_rows.choices import FAILS, OPTIONS, READ, RIGHT, write_choice_set
from support.review_folder import named, write_review_set

from rexview.reviewset import load_review_set
from rexview.stats.multiple_choice import (
    FAILED_CHOICE,
    NO_CHOICE,
    RaterChoices,
    collect_choices,
    compare_choices,
    count_options,
    measure_accuracy,
    measure_choice_kappa,
    tally_choices,
    tally_rater_pair,
)
from rexview.stats.report.lists import choice_lists

N = 36


@pytest.fixture(scope="module", name="chosen")
def chosen_fixture(tmp_path_factory: pytest.TempPathFactory) -> RaterChoices:
    return collect_choices(
        load_review_set(write_choice_set(tmp_path_factory.mktemp("choices") / "set"))
    )


def place(chosen: RaterChoices, rater: str) -> int:
    return [one.id for one in chosen.raters].index(rater)


def test_raters_are_models_then_people_and_readers_are_named(chosen: RaterChoices) -> None:
    found = [(one.id, one.name, one.kind, one.given) for one in chosen.raters]
    assert found == [
        ("gem", "Gem", "model", "answers"),
        ("med", "Med", "model", "answers"),
        ("res", "Resident 1", "reader", "answers"),
        ("ra", "Reader A", "reader", "choices"),
        ("rb", "Reader B", "reader", "choices"),
    ]
    assert (len(chosen), len(chosen.unmarked)) == (N, 1)
    assert np.flatnonzero(chosen.read_by_people).tolist() == list(range(READ))


def test_failed_choices_are_in_n_and_wrong(chosen: RaterChoices) -> None:
    gem = tally_choices(chosen, place(chosen, "gem"))
    failed = [n for n in range(N) if n % FAILS == FAILS - 1]
    right = [n for n in range(N) if n % RIGHT["gem"] < RIGHT["gem"] - 1 and n not in failed]
    found = measure_accuracy(gem, resamples=99)
    assert (found.rate.n, found.rate.flagged, found.failed) == (N, len(right), len(failed))
    assert found.without_failed.n == N - len(failed)
    assert found.without_failed.share == pytest.approx(len(right) / (N - len(failed)))
    assert found.wrong == N - len(right) - len(failed)
    assert (found.rate.clusters, found.rate.method) == (N // 3, "cluster_bootstrap")
    resident = measure_accuracy(tally_choices(chosen, place(chosen, "res")), resamples=99)
    assert (resident.rate.n, resident.failed) == (READ, 0)


def test_mcnemar_counts_questions_that_both_answered(chosen: RaterChoices) -> None:
    a, b = place(chosen, "gem"), place(chosen, "ra")
    right = chosen.option == chosen.right[:, np.newaxis]
    only_a = int((right[:READ, a] & ~right[:READ, b]).sum())
    only_b = int((right[:READ, b] & ~right[:READ, a]).sum())
    [test] = compare_choices({(None, a, b): tally_rater_pair(chosen, a, b)}, resamples=99)
    assert (test.n_pairs, test.only_a, test.only_b) == (READ, only_a, only_b)
    assert test.left_out == N - READ
    assert test.difference == pytest.approx((only_a - only_b) / READ)
    assert test.p == pytest.approx(binomtest(only_a, only_a + only_b).pvalue)


def test_kappa_is_that_of_scikit_learn_on_the_options(chosen: RaterChoices) -> None:
    from sklearn.metrics import cohen_kappa_score

    a, b = place(chosen, "gem"), place(chosen, "med")
    usable = (chosen.option[:, a] >= 0) & (chosen.option[:, b] >= 0)
    found = measure_choice_kappa(None, a, b, count_options(chosen, a, b))
    options = chosen.option[usable]
    assert found.n == usable.sum() == N - 3
    assert found.kappa == pytest.approx(cohen_kappa_score(options[:, a], options[:, b]))
    assert found.agreement == pytest.approx((options[:, a] == options[:, b]).mean())


def test_a_kappa_without_variance_says_why() -> None:
    table = np.array([[5, 0], [2, 0]])
    found = measure_choice_kappa("t", 0, 1, table)
    assert (found.n, found.same, found.kappa) == (7, 5, None)
    assert found.why is not None
    assert "without variance" in found.why
    assert measure_choice_kappa(None, 0, 1, np.zeros((2, 2), dtype=int)).why == (
        "No question has a usable choice from both."
    )


def test_a_choice_of_other_words_than_the_option_has_counts_nowhere(tmp_path: Path) -> None:
    """The question was changed after the reader answered it."""
    case = {"question": "?", "question_type": "choice", "options": OPTIONS, "correct": 0}
    rows = [
        {"case": "c0", "choice": 0, "option": OPTIONS[0]},
        {"case": "c1", "choice": 0, "option": "Something else"},
        {"case": "c2", "choice": 9},
        {"case": "nowhere", "choice": 0},
        {"case": "c3", "choice": 1, "created": "2026-01-01T10:00:00Z"},
    ]
    folder = write_review_set(
        tmp_path / "set",
        info={"name": "n", "models": named(ra="A model of the same id"), "readers": named(ra="R")},
        cases=[case | {"id": f"c{n}"} for n in range(4)] + [case | {"id": "nowhere"}],
        answers=[{"case": "c0", "model": "ra", "choice": 1}],
        choices=[row | {"reader": "ra"} for row in rows if row["case"] != "nowhere"],
    )
    chosen = collect_choices(load_review_set(folder))
    assert [one.id for one in chosen.raters] == ["ra", "reader:ra"]
    assert chosen.option[:, 1].tolist() == [0, NO_CHOICE, FAILED_CHOICE, 1, NO_CHOICE]


def test_what_a_filter_leaves(chosen: RaterChoices) -> None:
    cases = np.zeros(N + 1, dtype=bool)
    cases[[2, 5, N]] = True
    answers = np.zeros(int(chosen.number.max()) + 1, dtype=bool)
    answers[chosen.number[2, 0]] = True
    left = chosen.left(answers, cases)
    asked = (left.option != NO_CHOICE).tolist()
    assert asked == [[True, False, False, True, True], [False, False, False, True, True]]
    assert len(left.unmarked) == 1
    assert len(chosen.left(None, ~cases)) == N - 2


def test_the_lists_of_the_command_line_add_up(tmp_path: Path) -> None:
    lists = choice_lists(load_review_set(write_choice_set(tmp_path / "set")), resamples=99)
    of_raters = lists["choice_raters"]
    totals = {row["rater"]: row for row in of_raters if row["by"] is None}
    assert list(totals) == ["gem", "med", "res", "ra", "rb"]
    for by in ("task", "difficulty", "site", "category", "class"):
        for rater, total in totals.items():
            parts = [row for row in of_raters if (row["by"], row["rater"]) == (by, rater)]
            for count in ("n", "correct", "failed"):
                assert sum(row[count] for row in parts) == total[count], (by, rater)
    assert {row["n"] for row in lists["choice_readers"]} == {READ}
    families = [row["family"] for row in lists["choice_tests"]]
    assert families == ["models"] + 6 * ["readers"]
    adjusted = [row["p_adj"] for row in lists["choice_tests"] if row["family"] == "readers"]
    given = [row["p"] for row in lists["choice_tests"] if row["family"] == "readers"]
    assert adjusted == pytest.approx(false_discovery_control(given).tolist())
    assert len(lists["choice_kappa"]) == 4 * 10


def test_nobody_answered_nothing_is_listed(tmp_path: Path) -> None:
    case = {"id": "c", "question": "?"}
    folder = write_review_set(tmp_path / "set", info={"name": "n"}, cases=[case], answers=[])
    assert not any(choice_lists(load_review_set(folder)).values())

"""What a model says against itself when the same is asked again."""

from dataclasses import replace

import pytest
from support.repeated_set import CASES, CHANGED, OPPOSED, TEXTS, write_repeated

from rexview.detect.self_contradiction import (
    REPEAT_COLUMNS,
    compare_repeats,
    find_repeat_differences,
    start_comparing_repeats,
)
from rexview.reviewset import load_review_set
from rexview.schema import Answer, Case

CASE = Case("c", "Is there an effusion?")


def opposed(*texts, case=CASE):
    """The findings on which some answers say opposite sides."""
    return set(find_repeat_differences(case, [Answer("c", "m", text) for text in texts]).sides)


@pytest.mark.parametrize(
    ("texts", "families"),
    [
        (("Left pleural effusion.", "Right pleural effusion."), {"pleural_fluid"}),
        (("Possible left effusion.", "No finding.", "Right effusion."), {"pleural_fluid"}),
        (("Left pleural effusion.", "Left pleural effusion."), set()),
        (("Left pleural effusion.", "No right pleural effusion."), set()),
        (("Left pleural effusion.", "Bilateral pleural effusions."), set()),
        (("Left pleural effusion.", "Effusions on the right and on the left."), set()),
        (("Left pleural effusion.", "Right rib fracture."), set()),
        (("Left pleural effusion.", "Pleural effusion."), set()),
        (("Left pleural effusion.", ""), set()),
    ],
)
def test_opposite_sides(texts, families):
    assert opposed(*texts) == families


def test_what_only_repeats_the_question_is_no_contradiction():
    asked = Case("c", "Is there a right pleural effusion in this patient?")
    repeated = (
        "Is there a right pleural effusion in this patient? There is a left pleural effusion."
    )
    assert opposed("Left pleural effusion.", repeated, case=asked) == set()


def test_the_mentions_stand_by_answer():
    answers = [Answer("c", "m", text) for text in ("Right effusion.", "None.", "Left effusion.")]
    (found,) = find_repeat_differences(CASE, answers).sides.values()
    assert [mention and mention.side for mention in found] == ["right", None, "left"]


@pytest.mark.parametrize(
    ("chosen", "choices"),
    [((0, 1, 0), (0, 1)), ((1, 1), ()), ((0, None), ()), ((0, 5), ()), ((None, None), ())],
)
def test_different_choices(chosen, choices):
    case = Case("c", "Which?", question_type="choice", options=("a", "b"))
    answers = [Answer("c", "m", choice=choice) for choice in chosen]
    assert find_repeat_differences(case, answers).choices == choices


def test_a_whole_set(tmp_path):
    review_set = load_review_set(write_repeated(tmp_path / "set"))
    found = compare_repeats(review_set)
    assert found.schema == REPEAT_COLUMNS
    newest, models = review_set.newest, [model.id for model in review_set.models]
    about = [
        (CASES[newest.case[number]]["id"], models[newest.model[number]])
        for number in found["number"]
    ]
    assert set(about) == {pair for pair, given in TEXTS.items() if len(given) > 1}
    rows = dict(zip(about, found.iter_rows(named=True), strict=True))
    assert {pair for pair, row in rows.items() if row["side"]} == OPPOSED
    assert {pair for pair, row in rows.items() if row["choice"]} == CHANGED
    assert {pair: row["usable"] for pair, row in rows.items() if row["is_choice"]} == {
        ("c2", "m"): 2,
        ("c2", "n"): 2,
        ("c5", "m"): 3,
    }
    assert set(found["times"]) == {3}
    assert compare_repeats(review_set) is found
    assert start_comparing_repeats(review_set)


def test_a_comparison_ahead_is_the_one_that_is_asked_for(tmp_path):
    review_set = load_review_set(write_repeated(tmp_path / "set"))
    while not start_comparing_repeats(review_set):
        pass
    assert compare_repeats(review_set).height == 6
    assert compare_repeats(replace(review_set, fingerprint="with scores")) is compare_repeats(
        review_set
    )


def test_a_set_in_which_nothing_was_asked_again(tmp_path):
    folder = write_repeated(tmp_path / "set")
    for part in (folder / "answers").iterdir():
        part.unlink()
    (folder / "answers.jsonl").unlink()
    assert compare_repeats(load_review_set(folder)).is_empty()

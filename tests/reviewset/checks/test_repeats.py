"""The same asked several times in one run: no duplicates, one of them shown, the others at hand."""

import polars as pl
import pytest

from rexview.importers import import_source
from rexview.reviewset import load_review_set, save_review_set

OLD, NEW = {"run_id": "old", "created": "2025-01-01"}, {"run_id": "new", "created": "2025-02-01"}


def rows(*given):
    """Answers of model m1 to case c1, each with its number as text."""
    return [{"case": "c1", "model": "m1", "text": str(n), **one} for n, one in enumerate(given)]


def shown(review_set):
    """The text of the answer that is shown, and those of its other repeats."""
    (answer,) = review_set.answers_of("c1")
    return answer.text, [one.text for one in review_set.repeats_of("c1", "m1")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([NEW, NEW | {"repeat": 2}, NEW | {"repeat": 3}], ("0", ["1", "2"])),
        ([NEW | {"repeat": 3}, NEW | {"repeat": 1}, NEW | {"repeat": 2}], ("1", ["2", "0"])),
        ([NEW | {"repeat": 3}, NEW | {"repeat": 2}], ("1", ["0"])),  # the first failed
        ([NEW, OLD | {"repeat": 2}, NEW | {"repeat": 2}, OLD], ("0", ["2"])),
        ([OLD | {"repeat": 1}, NEW, OLD | {"repeat": 2}], ("1", [])),
        ([NEW | {"created": "2025-02-03"}, NEW | {"repeat": 2}, OLD], ("0", ["1"])),
        ([{}, {"repeat": 2}], ("0", ["1"])),
        ([{"created": "2025-01-01"}, {"created": "2025-01-02", "repeat": 2}], ("0", ["1"])),
        ([{"created": "2025-01-01"}, {"created": "2025-01-02"}], ("1", [])),
    ],
)
def test_the_lowest_repeat_of_the_newest_run_is_shown(small, given, expected):
    small.jsonl("answers", rows(*given))
    assert small.problems() == []
    assert shown(small.load()) == expected
    assert len(small.load().answers_of("c1", all_runs=True)) == len(given)


def test_the_number_of_an_answer(small):
    small.jsonl("answers", rows({}, {"repeat": 2}))
    review_set = small.load()
    assert [one.repeat for one in review_set.answers_of("c1")] == [1]
    assert [one.repeat for one in review_set.repeats_of("c1", "m1")] == [2]
    assert review_set.repeats_of("c1", "m2") == review_set.repeats_of("c9", "m1") == ()


@pytest.mark.parametrize(
    ("given", "severity", "message"),
    [
        ([NEW | {"repeat": 2}] * 2, "error", "case and model and run_id and repeat"),
        ([NEW, NEW | {"repeat": 1}], "error", "says something else"),
        ([NEW | {"text": "a"}, NEW | {"text": "a", "repeat": 1}], "warning", "repeats row 1"),
        (
            [{"created": "2025-01-01"}, {"created": "2024-01-01"}, {"repeat": 2}],
            "error",
            "something else",
        ),
    ],
)
def test_two_answers_of_one_number(small, given, severity, message):
    small.jsonl("answers", rows(*given))
    problem = small.only_problem()
    assert problem.severity == severity
    assert message in problem.message


@pytest.mark.parametrize("repeat", [0, -1, 1.5, "second"])
def test_what_is_no_number_of_a_repeat(small, repeat):
    small.answer(repeat=repeat)
    problem = small.only_problem()
    assert (problem.severity, problem.field) == ("error", "repeat")


@pytest.mark.parametrize("table_format", ["jsonl", "csv", "parquet"])
def test_repeats_are_written_and_read_again(small, tmp_path, table_format):
    small.jsonl("answers", rows(NEW, NEW | {"repeat": 2}, OLD))
    save_review_set(small.load(), tmp_path / "copy", table_format=table_format, images="refer")
    again = load_review_set(tmp_path / "copy")
    assert shown(again) == ("0", ["1"])
    assert again.answers["repeat"].to_list() == [None, 2, None]


def test_repeats_come_in_with_an_import(small, tmp_path):
    small.jsonl("answers", rows(NEW))
    source = tmp_path / "answers.csv"
    source.write_text("case,model,text,run_id,repeat\nc1,m1,second,new,2\nc1,m1,third,new,3\n")
    import_source("auto", [source], small.folder, into=True)
    assert shown(small.load()) == ("0", ["second", "third"])


def test_models_and_cases_are_kept_apart(small):
    small.jsonl("cases", [{"id": f"c{n}", "question": "?"} for n in range(4)])
    given = [
        {"case": f"c{case}", "model": model, "text": f"{case}{model}{repeat}", "repeat": repeat}
        for repeat in (2, 1, 3)
        for case in range(4)
        for model in ("m1", "m2")
        if (case, model) != (2, "m1") or repeat == 1
    ]
    pl.DataFrame(given).write_parquet(small.folder / "answers.parquet")
    review_set = small.load()
    for case in range(4):
        for model in ("m1", "m2"):
            texts = [one.text for one in review_set.repeats_of(f"c{case}", model)]
            alone = (case, model) == (2, "m1")
            assert texts == ([] if alone else [f"{case}{model}2", f"{case}{model}3"])

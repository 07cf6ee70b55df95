"""What becomes of columns: text without a name, models, options, pictures, scales, the rest."""

import csv
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.rows import each_row

from rexview.errors import ImportSourceError
from rexview.importers import ColumnMapping, import_source, propose_mapping
from rexview.importers.table.cells import ScoreScale

ANSWER = "There is a small effusion on the left, without pneumothorax."
OTHER = "The heart is enlarged, otherwise the radiograph is normal."


def write_csv(path, *rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def answers(done):
    return set(done.review_set.answers.select("case", "model", "text").rows())


def mapped(path):
    return {one.field: one.column for one in propose_mapping(path).fields if one.column}


def scores(done):
    columns = ("case", "model", "reader", "dimension", "score")
    return sorted(done.review_set.scores.select(columns).rows())


@pytest.mark.parametrize("name", ["AI", "LLM", "system", "model name", "AI system"])
def test_columns_that_name_the_model(tmp_path, run_import, name):
    rows = [["c1", "GPT-5", ANSWER], ["c1", "Gemini", OTHER]]
    source = write_csv(tmp_path / "t.csv", ["case", name, "What it said"], *rows)
    done = run_import("table", source, mapping="proposed")
    assert answers(done) == {("c1", "GPT-5", ANSWER), ("c1", "Gemini", OTHER)}


def test_a_column_called_ai_that_is_full_of_text_holds_answers(tmp_path, run_import):
    source = write_csv(tmp_path / "t.csv", ["case", "question", "AI"], ["c1", "What?", ANSWER])
    done = run_import("table", source, mapping="proposed")
    assert answers(done) == {("c1", "AI", ANSWER)}


def test_text_that_no_name_explains_is_an_answer(tmp_path, run_import):
    header = ["case", "question", "GPT-5 answer", "Zephyr", "radiologist's comment", "history"]
    row = ["c1", "What is seen?", ANSWER, OTHER, ANSWER + " I agree.", "Cough for two long weeks."]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, row), mapping="proposed")
    assert answers(done) == {("c1", "GPT-5", ANSWER), ("c1", "Zephyr", OTHER)}
    assert "I agree" in done.review_set.case("c1").extra["radiologist's comment"]


def test_a_text_beside_a_model_column_is_kept_and_said(tmp_path, run_import):
    header = ["case", "model", "answer", "freitext"]
    rows = [["c1", "A", ANSWER, OTHER + " (A)"], ["c1", "B", ANSWER, OTHER + " (B)"]]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    assert done.review_set.answers_of("c1")[0].extra["freitext"].startswith(OTHER)
    assert done.messages("could be a model's answers")


def test_a_plain_answer_beside_a_prediction_is_the_right_one(tmp_path, run_import):
    header = ["id", "question", "options", "answer", "prediction"]
    row = ["c1", "Which?", json.dumps(["Nodule", "Effusion"]), "Effusion", "Nodule"]
    done = run_import("table", write_csv(tmp_path / "m.csv", header, row), mapping="proposed")
    assert done.review_set.case("c1").correct == 1
    assert answers(done) == {("c1", "m", "Nodule")}


@pytest.mark.parametrize("empty", ["", "N/A", "None", "nan", "NULL", "-", "not run"])
def test_an_empty_cell_is_not_run(tmp_path, run_import, empty):
    long = [["c1", "A", ANSWER], ["c1", "B", empty], ["c2", "A", OTHER], ["c2", "B", OTHER]]
    wide = [["c1", "Q1?", ANSWER, empty], ["c2", "Q2?", OTHER, OTHER]]
    for header, rows in (
        (["case", "model", "answer"], long),
        (["case", "question", "A answer", "B answer"], wide),
    ):
        source = write_csv(tmp_path / "t.csv", header, *rows)
        done = run_import("table", source, mapping="proposed")
        assert answers(done) == {("c1", "A", ANSWER), ("c2", "A", OTHER), ("c2", "B", OTHER)}
        assert done.report.receipt.not_run == {"B": 1}
        done = run_import("table", source, mapping="proposed", empty="answer")
        assert len(answers(done)) == 4
        assert done.report.receipt.not_run == {}


def test_answers_alone_make_their_cases(tmp_path, run_import):
    header = ["case", "model", "answer"]
    one = write_csv(tmp_path / "a.csv", header, ["c1", "A", ANSWER], ["c2", "A", "N/A"])
    two = write_csv(tmp_path / "b.csv", header, ["c3", "B", OTHER])
    done = run_import("table", one, two, mapping="proposed")
    assert done.review_set.cases["id"].to_list() == ["c1", "c2", "c3"]
    assert not done.report.problems
    cases = write_csv(tmp_path / "c.csv", ["case", "question"], ["c1", "What?"], ["c2", "What?"])
    done = run_import("table", one, two, cases, mapping="proposed")
    assert done.messages("no source describes")


def test_none_with_a_full_stop_is_an_answer(tmp_path, run_import):
    source = write_csv(tmp_path / "t.csv", ["case", "model", "answer"], ["c1", "A", "None."])
    assert answers(run_import("table", source, mapping="proposed")) == {("c1", "A", "None.")}


def test_a_finish_reason_or_a_score_says_that_there_was_an_answer(tmp_path, run_import):
    header = ["case", "model", "answer", "finish_reason", "process_r1"]
    rows = [["c1", "A", "", "length", ""], ["c2", "A", "", "", 2], ["c3", "A", "", "", ""]]
    rows += [["c4", "A", ANSWER, "stop", 4]]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    assert sorted(done.review_set.answers["case"]) == ["c1", "c2", "c4"]


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        (["options"], [json.dumps(["Nodule", "Effusion"])]),
        (["options"], ["['Nodule', 'Effusion']"]),
        (["options"], ["Nodule\nEffusion"]),
        (["options"], ["Nodule; Effusion"]),
        (["option_A", "option_B"], ["Nodule", "Effusion"]),
        (["choice 1", "choice 2"], ["Nodule", "Effusion"]),
        (["A", "B"], ["Nodule", "Effusion"]),
    ],
)
@pytest.mark.parametrize("right", ["B", "(b)", "Effusion"])
def test_options(tmp_path, run_import, header, cells, right):
    row = ["c1", "Which?", *cells, right, "m", "The answer is B", "B"]
    names = ["case", "question", *header, "correct_answer", "model", "response", "parsed"]
    done = run_import("table", write_csv(tmp_path / "t.csv", names, row), mapping="proposed")
    case = done.review_set.case("c1")
    assert (case.options, case.correct) == (("Nodule", "Effusion"), 1)
    answer = done.review_set.answers_of("c1")[0]
    assert (answer.text, answer.choice) == ("The answer is B", 1)


def test_letters_in_columns_of_models_are_choices(tmp_path, run_import):
    header = ["case", "question", "options", "correct_answer", "GPT-5", "Gemini"]
    rows = [["c1", "Which?", "Nodule; Effusion", "B", "B", "(A)"]]
    rows += [["c2", "Which?", "Mass; Nodule", "A", "E", "The answer is B"]]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    chosen = {
        (case, one.model): one.choice
        for case in ("c1", "c2")
        for one in done.review_set.answers_of(case)
    }
    assert (chosen["c1", "GPT-5"], chosen["c1", "Gemini"]) == (1, 0)
    assert chosen["c2", "GPT-5"] is None  # a letter of no option is none


def test_options_in_one_text(tmp_path, run_import):
    row = ["c1", "Which?", "A. Nodule, B. Effusion, right, C. None of these", "C"]
    source = write_csv(tmp_path / "t.csv", ["case", "question", "options", "response"], row)
    case = run_import("table", source, mapping="proposed").review_set.case("c1")
    assert case.options == ("A. Nodule", "B. Effusion, right", "C. None of these")


@pytest.mark.parametrize(
    ("numbers", "told", "expected"),
    [
        ([0, 1], None, [0, 1]),  # a 0 says that they count from 0
        ([1, 2], None, [0, 1]),  # a 2 of two options, that they count from 1
        ([1, 1], None, [None, None]),  # nobody can know
        ([1, 1], "0", [1, 1]),
        ([1, 1], "1", [0, 0]),
    ],
)
def test_what_numbers_of_options_count_from(tmp_path, run_import, numbers, told, expected):
    rows = [
        [f"c{place}", "Which?", "Nodule; Effusion", number, ANSWER]
        for place, number in enumerate(numbers)
    ]
    header = ["case", "question", "options", "gold_idx", "response"]
    source = write_csv(tmp_path / "t.csv", header, *rows)
    given = {} if told is None else {"index_from": told}
    done = run_import("table", source, mapping="proposed", **given)
    cases = [done.review_set.case(f"c{place}") for place in (0, 1)]
    assert [case.correct for case in cases] == expected
    if expected == [None, None]:
        assert cases[0].extra == {"gold_idx": "1"}
        assert done.messages("is none of the options")


def test_several_columns_of_pictures(tmp_path, run_import):
    header = ["case", "frontal_image", "lateral_image", "prior_image", "heatmap", "answer"]
    rows = [["c1", "a.png", "b.png", "c.png", "h.png", ANSWER], ["c2", "d.png", "", "", "", OTHER]]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    images = done.review_set.case("c1").images
    assert [(one.path, one.view, one.prior) for one in images] == [
        ("a.png", "FRONTAL", False),
        ("b.png", "LATERAL", False),
        ("c.png", "UNKNOWN", True),
    ]
    assert done.review_set.case("c1").extra == {"heatmap": "h.png"}
    assert len(done.review_set.case("c2").images) == 1


def test_two_reports_and_two_questions_are_said_and_kept(tmp_path, run_import):
    header = ["case", "question", "report", "gt_report", "model", "answer"]
    rows = [["c1", "Q?", "Findings: Clear.", "Findings: Nodule.", "A", ANSWER]]
    rows += [["c1", "Q?", "Findings: Mass.", "Findings: Nodule.", "B", OTHER]]
    source = write_csv(tmp_path / "t.csv", header, *rows)
    done = run_import("table", source, mapping="proposed")
    case = done.review_set.case("c1")
    assert case.report.findings == "Clear."
    assert case.extra == {"gt_report": "Findings: Nodule.", "report_findings_2": "Mass."}
    assert {(one.row, one.field) for one in done.report.problems} == {
        (None, "gt_report"),
        (2, "report"),
    }


@pytest.mark.parametrize("extra", ["text", "boxes", "images", "id", "created", "extra"])
def test_extra_columns_never_pass_for_fields(tmp_path, run_import, extra):
    header = ["case", "question", "model", "answer", "ward"]
    source = write_csv(tmp_path / "t.csv", header, ["c1", "Q?", "A", ANSWER, "W1"])
    told = json.loads(propose_mapping(source).to_json())
    told["columns"] = [*header[:-1], extra]
    told["fields"] = [one for one in told["fields"] if one["column"] in (None, *header[:-1])]
    write_csv(source, told["columns"], ["c1", "Q?", "A", ANSWER, "W1"])
    done = run_import("table", source, mapping=told)
    assert done.review_set.case("c1").extra == {extra: "W1"}


def test_every_column_has_an_example_except_those_of_identity(tmp_path):
    header = ["case", "answer", "ward", "Patient Name"]
    mapping = propose_mapping(write_csv(tmp_path / "t.csv", header, ["c1", ANSWER, "W1", "Jane"]))
    assert [(one.column, one.samples) for one in mapping.kept] == [("ward", ("W1",))]
    assert "Jane" not in mapping.to_json()
    assert ColumnMapping.from_json(mapping.to_json()) == mapping


def test_a_mapped_column_that_cannot_be_used_is_kept(tmp_path, run_import):
    header = ["case", "question", "view", "normal", "correct", "score", "comment", "answer"]
    row = ["c1", "Q?", "PA", "perhaps", "B", "4", "fine", ANSWER]
    source = write_csv(tmp_path / "t.csv", header, row)
    told = {
        "columns": header,
        "fields": [{"field": name, "column": name} for name in header],
    }
    done = run_import("table", source, mapping=told)
    kept = done.review_set.case("c1").extra | done.review_set.answers_of("c1")[0].extra
    assert kept == {
        "view": "PA",
        "normal": "perhaps",
        "correct": "B",
        "score": "4",
        "comment": "fine",
    }


def test_an_id_of_another_language_is_found(tmp_path, run_import):
    header = ["Fall_ID", "question", "model", "answer"]
    rows = [[f"T{n}", "What?", model, f"{ANSWER} {n}"] for n in range(3) for model in "AB"]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    assert done.review_set.cases["id"].to_list() == ["T0", "T1", "T2"]
    assert done.review_set.answers.height == 6


def test_runs_of_a_model_in_columns(tmp_path, run_import):
    header = ["case", "question", "gpt-4o run1", "gpt-4o run2", "gemini"]
    source = write_csv(tmp_path / "t.csv", header, ["c1", "Q?", ANSWER, OTHER, OTHER])
    done = run_import("table", source, mapping="proposed")
    runs = done.review_set.answers.select("model", "run_id").rows()
    assert sorted(runs, key=str) == [("gemini", None), ("gpt-4o", "1"), ("gpt-4o", "2")]


def test_two_columns_of_one_model_and_one_of_none(tmp_path, run_import):
    header = ["case", "a", "b", "c"]
    source = write_csv(tmp_path / "t.csv", header, ["c1", ANSWER, OTHER, "Normal."])
    told = {
        "columns": header,
        "fields": [{"field": "case", "column": "case"}, {"field": "answer", "column": "c"}],
        "answers": [{"column": "a", "model": "X"}, {"column": "b", "model": "X"}],
        "model": "Y",
    }
    done = run_import("table", source, mapping=told)
    assert set(done.review_set.answers.select("model", "run_id", "text").rows()) == {
        ("X", None, ANSWER),
        ("X", "2", OTHER),
        ("Y", None, "Normal."),
    }


# Scores


@each_row(
    ("scale", "given", "score"),
    [
        ("0-10", "0", 1), ("0-10", "10", 5), ("0-10", "5", 3), ("0-10", "6.25", 4),
        ("10-0", "0", 5), ("1-7", "7", 5), ("0-100", "41.2", 3), ("0 to 1", "0.5", 3),
        ("poor, fair, good", "Fair", 3), ("poor, fair, good", "GOOD", 5),
        ("0-10", "11", None), ("0-10", "good", None), ("poor, good", "fair", None),
    ],
)  # fmt: skip
def test_scales(scale, given, score):
    assert ScoreScale.of(scale).convert(given) == score


@pytest.mark.parametrize("scale", ["", "5", "3-3", "good", "a,,b", "a, a"])
def test_what_is_no_scale(tmp_path, scale):
    with pytest.raises(ValueError, match="must be such as 0-10"):
        ScoreScale.of(scale)


def test_another_scale_is_kept_unless_it_is_declared(tmp_path, run_import):
    rows = [[f"c{n}", "A", ANSWER, n] for n in range(11)]
    header = ["case", "model", "answer", "process_r1"]
    source = write_csv(tmp_path / "t.csv", header, *rows)
    done = run_import("table", source, mapping="proposed")
    assert done.review_set.scores.height == 0
    assert done.review_set.case("c7").extra == {"process_r1": "7"}
    assert "--scale 0-10" in done.messages("not from 1 to 5")[0]
    done = run_import("table", source, mapping="proposed", scale="0-10")
    assert [score for *_, score in scores(done)] == [1, 1, 5, 2, 2, 3, 3, 3, 4, 4, 5]
    assert json.loads(done.review_set.scores["extra"][7]) == {"score_given": "7"}


def test_a_scale_that_is_none_is_refused(tmp_path):
    source = write_csv(tmp_path / "t.csv", ["case", "answer"], ["c1", ANSWER])
    options = {"mapping": "proposed", "scale": "five", "dimension": "beauty"}
    with pytest.raises(ImportSourceError) as caught:
        import_source("table", [source], tmp_path / "out", options=options)
    assert {one.field for one in caught.value.problems} == {"scale", "dimension"}


def test_scores_of_no_dimension_and_of_others(tmp_path, run_import):
    said = write_csv(tmp_path / "a.csv", ["case", "model", "answer"], ["c1", "A", ANSWER])
    header = ["case", "model", "reader", "criterion", "score", "comment"]
    rows = [["c1", "A", "Ann", "accuracy", 4, "well"], ["c1", "A", "Bob", "accuracy", 2, ""]]
    scored = write_csv(tmp_path / "0_scores.csv", header, *rows)
    done = run_import("table", scored, said, mapping="proposed")
    assert done.review_set.answers_of("c1")[0].extra == {
        "accuracy (Ann)": "4",
        "accuracy (Bob)": "2",
        "comment (Ann)": "well",
    }
    done = run_import("table", scored, said, mapping="proposed", dimension="accuracy=execution")
    assert scores(done) == [
        ("c1", "A", "Ann", "execution", 4),
        ("c1", "A", "Bob", "execution", 2),
    ]
    wide = write_csv(
        tmp_path / "w.csv",
        ["case", "model", "answer", "Reader 1", "Reader 2"],
        *(["c1", "A", ANSWER, 4, 5], ["c2", "A", OTHER, 3, 2]),
    )
    assert run_import("table", wide, mapping="proposed").messages("of no known dimension")
    done = run_import("table", wide, mapping="proposed", dimension="execution")
    assert scores(done)[:2] == [
        ("c1", "A", "Reader 1", "execution", 4),
        ("c1", "A", "Reader 2", "execution", 5),
    ]


def test_scores_for_answers_of_another_file_whatever_the_order(tmp_path, run_import):
    cases = write_csv(tmp_path / "z.csv", ["case", "question"], ["c1", "What?"])
    said = write_csv(tmp_path / "m.csv", ["case", "GPT answer", "X answer"], ["c1", ANSWER, OTHER])
    scored = write_csv(tmp_path / "a.csv", ["case", "GPT process R1", "X process R1"], ["c1", 5, 1])
    for order in ((scored, said, cases), (cases, said, scored)):
        done = run_import("table", *order, mapping="proposed")
        assert scores(done) == [
            ("c1", "GPT", "R1", "process", 5),
            ("c1", "X", "R1", "process", 1),
        ]
        assert done.review_set.case("c1").question == "What?"


# Nothing is lost

NAMES = [
    *("case", "question", "model", "answer", "AI", "report", "image", "view", "score", "process"),
    *("options", "correct", "choice", "run", "created", "reader", "comment", "normal", "age"),
    *("GPT-5 answer", "Zephyr", "error", "finish_reason", "output_tokens", "ward", "text"),
]
CELLS = [
    *("", "c1", "c2", "A", "B", ANSWER, OTHER, "3", "0", "7.5", "N/A", "PA", "yes", "x.png"),
    *("2025-01-01", "stop", "A; B", '["Nodule", "Mass"]', "[1", "../../x", "93", "None"),
]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_rows_in_are_rows_used_and_rows_named(tmp_path, data):
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=7, unique=True))
    cells = st.lists(st.sampled_from(CELLS), min_size=len(names), max_size=len(names))
    rows = data.draw(st.lists(cells, min_size=1, max_size=6))
    unique = random.Random(str((names, rows)))
    marked = [
        [f"{cell} §{unique.random()}" if "." in cell and ".." not in cell else cell for cell in row]
        for row in rows
    ]
    source = tmp_path / data.draw(st.sampled_from(["t.csv", "t.json", "t.jsonl"]))
    entries = [dict(zip(names, row, strict=True)) for row in marked]
    if source.suffix == ".csv":
        write_csv(source, names, *marked)
    elif source.suffix == ".json":
        source.write_text(json.dumps(entries))
    else:
        source.write_text("\n".join(map(json.dumps, entries)) + "\n{broken\n")
    numbers = (tmp_path / f"out{number}" for number in range(10_000))
    out = next(path for path in numbers if not path.exists())
    try:
        receipt = import_source("table", [source], out, options={"mapping": "proposed"}).receipt
    except ImportSourceError:
        return  # a table of nothing but noise
    blank = sum(not any(row) for row in marked) if source.suffix == ".csv" else 0
    broken = source.suffix == ".jsonl"
    assert receipt.rows_in == len(marked) - blank + broken
    assert receipt.rows_in == receipt.rows_used + sum(one.count for one in receipt.rows_unused)
    assert not any("does not say" in one.why for one in receipt.rows_unused)
    named = json.dumps(receipt.as_json(), ensure_ascii=False, default=str)
    written = "".join(path.read_text() for path in out.rglob("*.jsonl")) + named
    for row in marked:
        for cell in row:  # what is marked is unlike every other cell, and must be somewhere
            if "§" in cell:
                assert json.dumps(cell, ensure_ascii=False)[1:-1] in written

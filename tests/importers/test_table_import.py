import csv
import json

import pytest
from openpyxl import Workbook
from support.rows import each_row

from rexview.errors import ImportSourceError
from rexview.importers import ColumnMapping, import_source, propose_mapping
from rexview.importers.table.cells import (
    read_list,
    read_number,
    read_option,
    read_whole_number,
    read_yes_no,
)
from rexview.reviewset.tables.values import parse_date

ANSWER = "There is a small effusion on the left, without pneumothorax."
OTHER = "The heart is enlarged, otherwise the radiograph is normal."


def write_csv(path, *rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def marks(review_set):
    columns = ("case", "model", "reader", "dimension", "score")
    return sorted(review_set.scores.select(columns).rows())


def test_one_row_per_answer(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "images" / "c1.png")
    source = write_csv(
        tmp_path / "my_answers.csv",
        ["case", "question", "model", "answer", "finish_reason", "output_tokens", "max_tokens",
         "report", "image", "view", "age", "sex", "indication", "process_r1", "execution_r1",
         "process_r2", "laterality", "seed word", "temperature"],
        ["c1", "Any effusion?", "GPT-5", ANSWER, "stop", "50", "100", "Findings: Effusion. "
         "Impression: Effusion.", "c1.png", "PA", "93", "F", "Cough", "5", "2", "4", "left", "k",
         "0.1"],
        ["c1", "Any effusion?", "MedGemma", "", "MAX_TOKENS", "100", "100", "Findings: Effusion. "
         "Impression: Effusion.", "c1.png", "PA", "93", "F", "Cough", "", "", "-", "left", "k",
         "0.7"],
    )  # fmt: skip
    done = run_import("table", source, mapping="proposed")
    case = done.review_set.case("c1")
    assert case.question == "Any effusion?"
    assert (case.report.findings, case.report.impression) == ("Effusion.", "Effusion.")
    assert (case.context.age, case.context.sex, case.context.indication) == ("90+", "F", "Cough")
    assert [(one.id, one.view, one.width) for one in case.images] == [("c1", "PA", 64)]
    assert case.tags == {"laterality": ("left",)}
    assert case.extra == {"seed word": "k"}
    first, second = done.review_set.answers_of("c1")
    assert (first.model, first.text, first.finish_reason) == ("GPT-5", ANSWER, "stop")
    assert (first.output_tokens, first.max_output_tokens) == (50, 100)
    assert first.extra == {"temperature": "0.1"}
    assert (second.model, second.text or "", second.finish_reason) == ("MedGemma", "", "length")
    assert second.finish_reason_raw == "MAX_TOKENS"
    assert marks(done.review_set) == [
        ("c1", "GPT-5", "r1", "execution", 2),
        ("c1", "GPT-5", "r1", "process", 5),
        ("c1", "GPT-5", "r2", "process", 4),
    ]
    assert done.review_set.info.name == "my answers"
    assert done.report.counts["images found"] == 1


def test_one_column_per_model(tmp_path, run_import):
    source = write_csv(
        tmp_path / "wide.csv",
        ["id", "question", "GPT-5 answer", "Gemini answer", "GPT-5 process R1",
         "Gemini process R1", "Gemini laterality error R1", "hospital ward"],
        ["c1", "First?", ANSWER, OTHER, 4, 2, "yes", "W1"],
        ["c2", "Second?", ANSWER, "", 3, "", "no", "W2"],
        ["c3", "Third?", "", "", "", 1, "", ""],
    )  # fmt: skip
    done = run_import("table", source, mapping="proposed")
    answers = done.review_set.answers.select("case", "model", "text").rows()
    assert [(case, model) for case, model, _ in answers] == [
        ("c1", "GPT-5"),
        ("c1", "Gemini"),
        ("c2", "GPT-5"),
        ("c2", "Gemini"),  # a reader looked at it: it exists, and is empty
        ("c3", "Gemini"),
    ]
    assert marks(done.review_set) == [
        ("c1", "GPT-5", "R1", "process", 4),
        ("c1", "Gemini", "R1", "process", 2),
        ("c2", "GPT-5", "R1", "process", 3),
        ("c3", "Gemini", "R1", "process", 1),
    ]
    flags = done.review_set.flags.select("case", "model", "reader", "failure", "verdict").rows()
    assert flags == [("c1", "Gemini", "R1", "laterality_error", "confirmed")]
    assert done.review_set.case("c1").extra == {"hospital ward": "W1"}


def test_a_row_for_each_reader(tmp_path, run_import):
    header = ["case", "model", "answer", "reader", "process", "execution", "comment"]
    source = write_csv(
        tmp_path / "t.csv",
        header,
        ["c1", "A", ANSWER, "Ann", 4, 3, "fine"],
        ["c1", "A", ANSWER, "Bob", 2, "n/a", ""],
        ["c1", "A", ANSWER, "Bob", 5, 1, ""],
    )
    done = run_import("table", source, mapping="proposed")
    assert done.review_set.answers.height == 1
    assert marks(done.review_set) == [
        ("c1", "A", "Ann", "execution", 3),
        ("c1", "A", "Ann", "process", 4),
        ("c1", "A", "Bob", "execution", 1),
        ("c1", "A", "Bob", "process", 2),
    ]
    assert done.review_set.scores["comment"].to_list()[0] == "fine"
    assert {one.name for one in done.review_set.info.readers} == {"Ann", "Bob"}
    assert [(one.row, one.field) for one in done.report.problems] == [(3, "process")]


def test_a_row_for_each_score(tmp_path, run_import):
    rows = [["c1", "A", ANSWER, "R1", "Process", 4], ["c1", "A", ANSWER, "R1", "Image Style", 2]]
    rows += [["c1", "A", ANSWER, "R2", "beauty", 2]]
    header = ["case", "model", "answer", "reader", "dimension", "score"]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    assert marks(done.review_set) == [
        ("c1", "A", "R1", "image_style", 2),
        ("c1", "A", "R1", "process", 4),
    ]
    assert [(one.row, one.field) for one in done.report.problems] == [(3, "dimension")]


def test_scores_that_are_no_scores(tmp_path, run_import):
    values = ["0", "6", "3.5", "good", "", "-", "4.0", "5/5", "4,0"]
    rows = [[f"c{n}", ANSWER, value] for n, value in enumerate(values)]
    source = write_csv(tmp_path / "t.csv", ["case", "answer", "process"], *rows)
    told = json.loads(propose_mapping(source).to_json())
    told["marks"] = [{"column": "process", "mark": "process", "reader": "Ann"}]
    done = run_import("table", source, mapping=told)
    assert [(case, score) for case, _, _, _, score in marks(done.review_set)] == [
        ("c6", 4),
        ("c7", 5),
        ("c8", 4),
    ]
    assert {one.row for one in done.report.problems if one.field == "process"} == {1, 2, 3, 4}
    assert done.review_set.info.readers[0].id == "Ann"


def test_cases_are_gathered_without_a_case_column(tmp_path, run_import):
    source = write_csv(
        tmp_path / "t.csv",
        ["id", "study", "question", "model", "answer"],
        [1, "s1", "First?", "A", ANSWER],
        [2, "s1", "First?", "B", OTHER],
        [3, "s1", "Second?", "A", ANSWER],
        [4, "s2", "First?", "A", ANSWER],
    )
    done = run_import("table", source, mapping="proposed")
    cases = {
        case_id: (case.study_id, case.question)
        for case_id in done.review_set.cases["id"]
        for case in [done.review_set.case(case_id)]
    }
    assert cases == {
        "case-001": ("s1", "First?"),
        "case-002": ("s1", "Second?"),
        "case-003": ("s2", "First?"),
    }
    assert done.review_set.answers["case"].to_list() == [
        *("case-001", "case-001", "case-002", "case-003"),
    ]


def test_rows_that_contradict_each_other(tmp_path, run_import):
    source = write_csv(
        tmp_path / "t.csv",
        ["case", "question", "model", "answer"],
        ["c1", "First?", "A", ANSWER],
        ["c1", "Other?", "A", OTHER],
        ["", "No id?", "A", OTHER],
        ["c1", "First?", "A", ANSWER],
    )
    told = json.loads(propose_mapping(source).to_json())
    for entry in told["fields"]:
        if entry["field"] in ("case", "study_id"):
            entry["column"] = "case" if entry["field"] == "case" else None
    done = run_import("table", source, mapping=told, second_answers="first")
    assert done.review_set.case("c1").question == "First?"
    assert done.review_set.answers.select("case", "text").rows() == [
        ("c1", ANSWER),
        ("row 3", OTHER),
    ]
    assert {(one.row, one.field) for one in done.report.problems} == {
        (2, "question"),
        (2, "answer"),
        (3, "case"),
    }
    done = run_import("table", source, mapping=told)
    runs = done.review_set.answers_of("c1", all_runs=True)
    assert {(one.run_id, one.text) for one in runs} == {(None, ANSWER), ("2", OTHER)}
    assert done.review_set.case("c1").extra == {"question_2": "Other?"}


def test_runs_of_one_model_stay_apart(tmp_path, run_import):
    header = ["case", "model", "run", "answer", "created"]
    rows = [["c1", "A", 1, ANSWER, "2025-01-01"], ["c1", "A", 2, OTHER, "2025-01-02T10:00:00Z"]]
    rows += [["c1", "A", 3, "third", "yesterday"]]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    assert len(done.review_set.answers_of("c1", all_runs=True)) == 3
    assert [one.text for one in done.review_set.answers_of("c1")] == [OTHER]
    assert [(one.row, one.field) for one in done.report.problems] == [(3, "created")]


def test_choice_questions(tmp_path, run_import):
    header = ["case", "question", "options", "correct", "model", "answer", "choice"]
    options = json.dumps(["A. Effusion", "B. Nodule"])
    rows = [["c1", "Which?", options, "B", "m", "I think B", "B"]]
    rows += [["c2", "Which?", "Effusion; Nodule", "Nodule", "m", "zero", "7"]]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    one, two = done.review_set.case("c1"), done.review_set.case("c2")
    assert (one.question_type, one.options, one.correct) == (
        "choice",
        ("A. Effusion", "B. Nodule"),
        1,
    )
    assert (two.options, two.correct) == (("Effusion", "Nodule"), 1)
    assert done.review_set.answers_of("c1")[0].choice == 1


def test_report_table_without_questions(tmp_path, run_import):
    header = ["study_id", "ground_truth", "prediction"]
    source = write_csv(tmp_path / "CheXagent.csv", header, ["s/1", OTHER, ANSWER])
    done = run_import("table", source, mapping="proposed")
    case = done.review_set.case("case-001")
    assert (case.question_type, case.study_id, case.report.findings) == ("report", "s/1", OTHER)
    assert done.review_set.answers["model"].to_list() == ["CheXagent"]
    assert run_import("table", source, mapping="proposed", model="Agent").review_set.answers[
        "model"
    ].to_list() == ["Agent"]


def test_table_without_answers(tmp_path, run_import):
    source = write_csv(tmp_path / "t.csv", ["image", "view"], ["a.png", "PA"], ["b.png", "LAT"])
    done = run_import("table", source, mapping="proposed", question="What is it?")
    assert [done.review_set.case(case).question for case in done.review_set.cases["id"]] == [
        "What is it?",
        "What is it?",
    ]
    assert done.messages("No column holds answers")


def test_identity_is_left_out_unless_mapped(tmp_path, run_import):
    header = ["case", "Patient Name", "DOB", "answer"]
    source = write_csv(tmp_path / "t.csv", header, ["c1", "Jane Doe", "1931-12-24", ANSWER])
    done = run_import("table", source, mapping="proposed")
    written = "".join(path.read_text() for path in done.review_set.folder.glob("*.*"))
    assert "Jane Doe" not in written
    assert "1931" not in written
    assert done.messages("look like a patient's identity")
    assert all("Jane" not in str(one) for one in done.report.problems)


def test_several_files_of_the_same_columns(tmp_path, run_import):
    header = ["case", "model", "answer"]
    one = write_csv(tmp_path / "one.csv", header, ["c1", "A", ANSWER])
    two = write_csv(tmp_path / "two.csv", header, ["c1", "B", OTHER], ["c2", "B", OTHER])
    done = run_import("table", one, two, mapping=propose_mapping(one))
    assert set(done.review_set.answers.select("case", "model").rows()) == {
        ("c1", "A"),
        ("c1", "B"),
        ("c2", "B"),
    }


def test_excel_as_a_clinician_keeps_it(tmp_path, run_import):
    book = Workbook()
    sheet = book.active
    sheet.append(["Reader study"])
    sheet.append(["Case", "Question", "Model", "Answer", "Process R1", "Scored"])
    sheet.append([1, "Any effusion?", "A", ANSWER, 4, True])
    sheet.append([None, None, "B", OTHER, "=2+1", False])
    sheet.merge_cells("A3:A4")
    sheet.merge_cells("B3:B4")
    source = tmp_path / "study.xlsx"
    book.save(source)
    done = run_import("table", source, mapping="proposed")
    assert set(done.review_set.answers.select("case", "model").rows()) == {("1", "A"), ("1", "B")}
    assert marks(done.review_set) == [("1", "A", "R1", "process", 4)]
    assert {(one.row, one.field) for one in done.report.problems} == {
        (3, None),
        (4, "column E"),
    }


def test_cells_that_look_like_formulas_stay_text(tmp_path, run_import):
    source = write_csv(tmp_path / "t.csv", ["case", "answer"], ["c1", "=cmd|'/c calc'!A1"])
    done = run_import("table", source, mapping="proposed")
    assert done.review_set.answers["text"].to_list() == ["=cmd|'/c calc'!A1"]


def test_unknown_finish_reasons_are_kept_and_reported(tmp_path, run_import):
    rows = [[f"c{n}", ANSWER, reason] for n, reason in enumerate(["stop"] * 9 + ["tired"])]
    source = write_csv(tmp_path / "t.csv", ["case", "answer", "finish reason"], *rows)
    done = run_import("table", source, mapping="proposed")
    answer = done.review_set.answers_of("c9")[0]
    assert answer.finish_reason == "unknown"
    assert [(one.row, one.field) for one in done.report.problems] == [(10, "finish reason")]


def test_several_images_in_one_cell_and_in_several_rows(tmp_path, run_import):
    header = ["case", "image", "view", "answer"]
    rows = [["c1", "['a/1.png', 'a/2.png']", "PA|LATERAL", ANSWER]]
    rows += [["c2", "b/1.png", "PA", ANSWER], ["c2", "b/2.png", "LL", ANSWER]]
    done = run_import("table", write_csv(tmp_path / "t.csv", header, *rows), mapping="proposed")
    for case_id in ("c1", "c2"):
        images = done.review_set.case(case_id).images
        assert [(one.id, one.view) for one in images] == [("1", "PA"), ("2", "LATERAL")]


def test_the_mapping_must_be_confirmed(tmp_path):
    source = write_csv(tmp_path / "t.csv", ["case", "answer"], ["c1", ANSWER])
    with pytest.raises(ImportSourceError) as caught:
        import_source("table", [source], tmp_path / "out")
    assert caught.value.problems[0].field == "mapping"
    assert "--show-mapping" in caught.value.problems[0].remedy


def test_a_mapping_of_another_file(tmp_path):
    one = write_csv(tmp_path / "one.csv", ["case", "answer"], ["c1", ANSWER])
    two = write_csv(tmp_path / "two.csv", ["id", "reply"], ["c1", ANSWER])
    with pytest.raises(ImportSourceError) as caught:
        import_source("table", [two], tmp_path / "o", options={"mapping": propose_mapping(one)})
    assert {one.message for one in caught.value.problems} == {
        "The table has no column “case”.",
        "The table has no column “answer”.",
    }


def test_a_mapping_that_maps_nothing(tmp_path):
    source = write_csv(tmp_path / "t.csv", ["a", "b"], ["1", "2"])
    mapping = ColumnMapping("t.csv", ("a", "b"), ())
    with pytest.raises(ImportSourceError, match=r"t\.csv cannot be imported"):
        import_source("table", [source], tmp_path / "out", options={"mapping": mapping})


def test_a_large_table_is_read_in_full(tmp_path, run_import):
    rows = [[f"c{n // 2}", "Q?", "AB"[n % 2], f"answer {n}", n % 7] for n in range(6000)]
    header = ["case", "question", "model", "answer", "process_r1"]
    source = write_csv(tmp_path / "t.csv", header, *rows)
    told = json.loads(propose_mapping(source).to_json())
    told["marks"] = [{"column": "process_r1", "mark": "process", "reader": "r1"}]
    done = run_import("table", source, mapping=told)
    assert done.report.counts["cases"] == 3000
    assert done.report.counts["answers"] == 6000
    assert len(done.report.problems) < 60


@each_row(
    ("text", "number"),
    [
        ("3", 3.0), ("3.0", 3.0), ("3,5", 3.5), ("1,024", 1024.0), ("4/5", 4.0),
        ("0,512", 0.512), ("-0,125", -0.125),
        ("4 out of 5", 4.0), ("-2", -2.0), ("1e3", 1000.0), ("nan", None), ("inf", None),
        ("1e999", None), ("", None), (None, None), ("x", None), ("9" * 50, None),
    ],
)  # fmt: skip
def test_read_number(text, number):
    assert read_number(text) == number


def test_read_whole_refuses_fractions_and_overflow():
    assert read_whole_number("12.0") == 12
    assert read_whole_number("12.5") is None
    assert read_whole_number("99999999999999999999") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("Yes", True), ("x", True), ("1.0", True), ("no", False), ("0", False), ("maybe", None)],
)
def test_read_yes_no(text, value):
    assert read_yes_no(text) is value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.png", ["a.png"]),
        ("a.png; b.png", ["a.png", "b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        ("left, and right", ["left, and right"]),
        ('["x", null, 3]', ["x", "3"]),
        ("['x', 'y']", ["x", "y"]),
        ("[not a list", ["[not a list"]),
        ("Mass|Nodule", ["Mass", "Nodule"]),
        ("", []),
        ("[" * 10_000 + "]", ["[" * 10_000 + "]"]),
    ],
)
def test_read_list(text, values):
    assert read_list(text) == values


@pytest.mark.parametrize(
    ("text", "index"),
    [("B", 1), ("(c)", 2), ("A. Effusion", 0), ("2", 2), ("Z", None), ("9", None), ("", None)],
)
def test_read_option(text, index):
    assert read_option(text, 4) == index


def test_read_date_is_in_utc_where_nothing_else_is_said():
    assert parse_date("2025-01-31").isoformat() == "2025-01-31T00:00:00+00:00"
    assert parse_date("2025-01-31T10:00:00+02:00").utcoffset().total_seconds() == 7200
    assert parse_date("31.1.2025") is None

"""Rows that joined the cases of other files, counted in the receipt of every format."""

import csv
import json

import pytest

from rexview.errors import ImportSourceError

REPORT = "The heart is normal in size. There is no pleural effusion."
QUESTION = {
    "question": "Which of these is seen?",
    "options": ["A. Nodule", "B. Effusion"],
    "correct_answer": "B",
    "task_name": "presence",
}


@pytest.fixture(name="put")
def put_fixture(tmp_path):
    def put(name, content):
        path = tmp_path / name
        if path.suffix == ".csv":
            with path.open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows(content)
        elif path.suffix == ".jsonl":
            path.write_text("".join(f"{json.dumps(one)}\n" for one in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return put


@pytest.fixture(name="cases")
def cases_fixture(put):
    """Three studies with their reports."""
    rows = [(f"s{n}", REPORT) for n in (1, 2, 3)]
    return put("reports.csv", [("study_id", "radiologist_report"), *rows])


def joins_of(done):
    return {
        one.file: (one.key, one.joined, one.unmatched, one.several, one.otherwise)
        for one in done.report.receipt.joins
    }


def test_rexrank(put, run_import):
    studies = {name: {"report": REPORT, "image_path": [f"{name}.png"]} for name in ("1", "2")}
    predicted = {name: {"model_prediction": REPORT} for name in ("s1", "s2", "s9")}
    sources = put("data.json", studies), put("gem.json", predicted)
    done = run_import("rexrank", *sources)
    assert joins_of(done) == {"gem.json": ("study id", 2, 1, 0, 2)}
    assert done.review_set.answers["case"].to_list() == ["1", "2"]


def test_one_rexrank_file_joins_nothing(put, run_import):
    done = run_import("rexrank", put("gem.json", {"s1": {"report": "", "model_prediction": "x"}}))
    assert joins_of(done) == {}


def test_rexvqa(put, run_import):
    metadata = put("test_vqa_data.json", dict.fromkeys(("q1", "q2"), QUESTION))
    done = run_import("rexvqa", metadata, put("gem.json", {"q1": "B", "q2": "A", "q7": "A"}))
    assert joins_of(done) == {"gem.json": ("id", 2, 1, 0, 0)}


def test_predictions_of_other_questions_alone_are_refused(put, run_import):
    metadata = put("test_vqa_data.json", dict.fromkeys(("q1", "q2"), QUESTION))
    with pytest.raises(ImportSourceError) as caught:
        run_import("rexvqa", metadata, put("gem.json", {"q01x": "B", "q02x": "A"}))
    [error] = [one for one in caught.value.problems if one.severity == "error"]
    assert (error.file, error.row, error.field) == ("gem.json", 1, "id")
    assert "“q01x” (nearest: “q1”)" in error.message


def test_logs_of_runs(put, cases, run_import):
    samples = [
        {"doc_id": name, "input": "What is seen?", "target": "", "filtered_resps": ["Nothing."]}
        for name in ("s1", "s2", "s7")
    ]
    done = run_import("auto", cases, put("gem_samples_cxr.jsonl", samples))
    assert joins_of(done)["gem_samples_cxr.jsonl"] == ("id", 2, 1, 0, 0)


def test_metrics(put, cases, run_import):
    answers = put("gem.csv", [("study_id", "gem answer"), ("s1", REPORT), ("s2", REPORT)])
    values = [("study_id", "model", "bleu", "bertscore")]
    values += [(name, "gem", 0.5, 0.7) for name in ("1", "2", "9")]
    done = run_import("auto", cases, answers, put("scores.csv", values))
    assert joins_of(done)["scores.csv"] == ("study_id", 2, 1, 0, 2)
    assert set(done.review_set.metrics["case"]) == set(done.review_set.answers["case"])


def test_metrics_of_no_case_are_refused(put, cases, run_import):
    values = [("study_id", "model", "bleu"), ("x1", "gem", 0.5), ("x2", "gem", 0.5)]
    with pytest.raises(ImportSourceError) as caught:
        run_import("auto", cases, put("scores.csv", values))
    [error] = [one for one in caught.value.problems if one.severity == "error"]
    assert (error.file, error.field) == ("scores.csv", "study_id")
    assert error.message.startswith("2 of its 2 ids are of no case that the other sources have")


def test_edits(put, cases, run_import):
    lines = [("study_id", "model", "original_line", "edited_line")]
    lines += [(name, "gem", "Left effusion.", "Right effusion.") for name in ("1", "3", "s8")]
    done = run_import("auto", cases, put("edits.csv", lines))
    assert joins_of(done)["edits.csv"] == ("study_id", 2, 1, 0, 2)
    assert done.report.receipt.cases == 4


def test_a_refused_import_lists_no_warnings_that_follow_from_it(put, run_import):
    first = put("a.csv", [("study_id", "report"), ("1", REPORT), ("2", REPORT)])
    other = REPORT.replace("no", "a small")
    second = put("b.csv", [("study_id", "report"), ("1", other), ("2", other)])
    with pytest.raises(ImportSourceError) as caught:
        run_import("auto", first, second)
    assert {one.severity for one in caught.value.problems} == {"error"}

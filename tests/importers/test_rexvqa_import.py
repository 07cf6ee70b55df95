"""ReXVQA's files: questions, predictions of models and readers in any shape, all problems told."""

import csv
import json

import pytest

from rexview.errors import ImportSourceError
from rexview.stats.multiple_choice import collect_choices

ENTRY = {
    "question": "Which of these is seen?",
    "options": ["A. Nodule", "B. Effusion", "C. None"],
    "correct_answer": "B",
    "correct_answer_explanation": "The costophrenic angle is blunted.",
    "task_name": "presence_assessment",
    "category": "Lung & Pleural Opacity",
    "subcategory": "Pleura",
    "class": "Effusion",
    "study_id": "s1",
    "StudyInstanceUid": "1.2.3",
    "PatientID": "P7",
    "PatientAge": "093Y",
    "PatientSex": "F",
    "StudyDate": "20240101",
    "Indication": "Cough.",
    "Findings": "Blunted angle.",
    "Impression": "None",
    "ImagePath": ["../deid_png/s1/0.png", "../deid_png/s1/1.png"],
    "ImageModality": ["DX", "DX"],
    "ImageViewPosition": ["PA", "LATERAL"],
}
IDS = ("q1", "q2", "q3")


@pytest.fixture(name="put")
def put_fixture(tmp_path):
    def put(name, value):
        text = value if isinstance(value, str) else json.dumps(value)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return put


@pytest.fixture(name="metadata")
def metadata_fixture(put):
    return put("test_vqa_data.json", dict.fromkeys(IDS, ENTRY))


def test_a_question_with_all_that_is_kept_of_it(metadata, put, run_import):
    done = run_import("rexvqa", metadata, put("gem.json", {"q1": "B"}))
    case = done.review_set.case("q1")
    assert (case.question_type, case.category, case.correct) == ("choice", "presence_assessment", 1)
    assert case.explanation == ENTRY["correct_answer_explanation"]
    assert case.tags == {
        "category": ("Lung & Pleural Opacity",),
        "subcategory": ("Pleura",),
        "class": ("Effusion",),
    }
    assert (case.study_id, case.patient_id, case.context.age) == ("s1", "P7", "90+")
    assert (case.report.findings, case.report.impression) == ("Blunted angle.", None)
    assert [(one.path, one.view) for one in case.images] == [
        ("deid_png/s1/0.png", "PA"),
        ("deid_png/s1/1.png", "LATERAL"),
    ]
    assert case.extra == {"ImageModality": ["DX", "DX"]}
    receipt = done.report.receipt
    assert {one.column for one in receipt.identity_columns} == {"StudyInstanceUid", "StudyDate"}


def test_raters_in_every_shape(metadata, put, run_import, tmp_path):
    lines = [json.dumps({"id": name, "prediction": "Answer: **B**"}) for name in IDS]
    with (tmp_path / "predictions_csv-model.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "prediction"), *((name, "(C)") for name in IDS)])
    sources = (
        put("predictions_gem.json", dict.fromkeys(IDS, "B")),
        put("med.jsonl", "\n".join(lines)),
        tmp_path / "predictions_csv-model.csv",
        put("two.json", {"x": {"q1": "B", "q2": None}, "y": {"q1": "I cannot tell."}}),
        put("reader_1.json", {"q1": "A", "q2": "B"}),
        put("reader_2.json", {"q1": "B"}),
        put("zoe.json", {"q1": "Effusion"}),
    )
    done = run_import("rexvqa", *sources, metadata, reader=["zoe.json=Dr. Zoe"])
    chosen = collect_choices(done.review_set)
    raters = {one.id: (one.kind, at) for at, one in enumerate(chosen.raters)}
    assert {name: kind for name, (kind, _) in raters.items()} == {
        "gem": "model",
        "med": "model",
        "csv-model": "model",
        "x": "model",
        "y": "model",
        "Reader 1": "reader",
        "Reader 2": "reader",
        "Dr. Zoe": "reader",
    }
    of_first = {name: int(chosen.option[0, at]) for name, (_, at) in raters.items()}
    assert of_first == {
        **dict.fromkeys(("gem", "med", "x", "Reader 2", "Dr. Zoe"), 1),
        "csv-model": 2,
        "y": -1,
        "Reader 1": 0,
    }
    assert done.report.receipt.not_run == {"x": 1}


def test_malformed_predictions_are_all_reported_and_none_is_guessed(metadata, put, run_import):
    sources = (
        put("a.json", {"q1": 3, "q2": "B", "q3": ["B"]}),
        put(
            "b.jsonl",
            '{"id": "q1", "prediction": "A"}\n{broken\n{"prediction": "A"}\n[1]\n'
            '{"id": null, "prediction": "A"}',
        ),
        put("c.csv", "id,prediction\nq1,A,B\nq2\n"),
        put("d.json", [{"id": "q1", "prediction": "A"}, {"id": "q1", "prediction": "B"}]),
        put("e.json", [{"id": "q1"}, 5]),
    )
    with pytest.raises(ImportSourceError) as refused:
        run_import("rexvqa", metadata, *sources, reader=["nobody.json=R", "R"])
    told = {(one.file, one.row) for one in refused.value.problems if one.severity == "error"}
    assert told >= {
        *(("a.json", 1), ("a.json", 3)),
        *(("b.jsonl", 2), ("b.jsonl", 3), ("b.jsonl", 4), ("b.jsonl", 5)),
        *(("c.csv", 2), ("c.csv", 3), ("d.json", 2), ("e.json", 1), ("e.json", 2)),
        ("reader", None),
    }
    assert all(one.remedy for one in refused.value.problems)


def test_a_prediction_that_stands_twice_is_said(metadata, put, run_import):
    done = run_import("rexvqa", metadata, put("a.json", '{"M": {"q1": "A", "q1": "B"}}'))
    assert [one.file for one in done.report.problems if "twice" in one.message] == ["a.json"]


def test_bad_questions_are_all_reported(put, run_import):
    bad = {
        "q1": ENTRY | {"correct_answer": "E"},
        "q2": ENTRY | {"options": "A. Yes"},
        "q3": ENTRY | {"question": ""},
        "q4": ENTRY | {"options": ["A. Yes"]},
        "q5": "text",
    }
    with pytest.raises(ImportSourceError) as refused:
        run_import("rexvqa", put("meta.json", {"q0": ENTRY, **bad}))
    found = {(one.row, one.field) for one in refused.value.problems}
    assert found >= {
        (2, "correct_answer"),
        (3, "options"),
        (4, "question"),
        (5, "options"),
        (6, "id"),
    }


def test_predictions_of_unknown_questions_are_left_out_and_said(metadata, put, run_import):
    done = run_import("rexvqa", metadata, put("gem.json", {"q1": "B", "q9": "A", "q8": "A"}))
    assert len(done.review_set.cases) == 3
    [warning] = [one for one in done.report.problems if one.field == "id"]
    assert warning.message.startswith("2 predictions are for questions that no metadata has")


def test_predictions_alone_are_refused(put, run_import):
    with pytest.raises(ImportSourceError, match="cannot be imported"):
        run_import("rexvqa", put("gem.json", {"q1": "B"}))


def test_many_studies_with_pictures_of_the_same_name(put, run_import):
    """Looking each picture up must not go through all others of its name."""
    studies = {
        f"q{n}": ENTRY | {"study_id": f"s{n}", "ImagePath": [f"../deid_png/s{n}/0.png"]}
        for n in range(400)
    }
    done = run_import("rexvqa", put("meta.json", studies), put("gem.json", {"q1": "B"}))
    paths = {one.path for n in range(400) for one in done.review_set.case(f"q{n}").images}
    assert len(paths) == 400


def test_auto_knows_metadata_and_readers(metadata, put, run_import):
    sources = [
        metadata,
        put("gem.json", dict.fromkeys(IDS, "B")),
        put("reader_2.csv", "id,prediction\nq1,A\nq2,B\n"),
        put("zoe.csv", "id,prediction\nq1,C\nq2,B\n"),
    ]
    done = run_import("auto", *sources, reader=["zoe.csv=Dr. Zoe"])
    kinds = {one.id: one.kind for one in done.review_set.info.models}
    assert kinds == {"gem": None, "reader_2": "reader", "Dr. Zoe": "reader"}
    assert [one.view for one in done.review_set.case("q1").images] == ["PA", "LATERAL"]
    assert "No column holds answers" not in str(done.report.receipt.problems)
    named = [one.file for one in done.report.receipt.files_read]
    assert sorted(named) == sorted(one.name for one in sources)


def test_auto_takes_metadata_with_answers_beside_as_a_table(put, run_import):
    content = {name: ENTRY | {"GPT-4o": "B"} for name in IDS}
    assert run_import("auto", put("vqa.json", content)).report.receipt.models == {"GPT-4o": 3}


@pytest.mark.parametrize("option", ["reader", "model"])
def test_auto_refuses_a_name_for_a_file_that_is_not_there(metadata, run_import, option):
    with pytest.raises(ImportSourceError) as caught:
        run_import("auto", metadata, **{option: ["zoe.csv=Dr. Zoe"]})
    assert "There is no file “zoe.csv”" in str(caught.value.problems)


def test_a_malformed_prediction_names_model_and_question(metadata, put, run_import):
    with pytest.raises(ImportSourceError) as caught:
        run_import("rexvqa", metadata, put("two.json", {"x": {"q1": 1}, "y": {"q1": "B", "q2": 2}}))
    said = [one.message for one in caught.value.problems if one.severity == "error"]
    assert said == [
        "The prediction of x to “q1” is int, not a text.",
        "The prediction of y to “q2” is int, not a text.",
    ]


def test_predictions_separated_by_semicolons(metadata, put, run_import):
    done = run_import("rexvqa", metadata, put("gem.csv", "id;prediction\nq1;B, I think\nq2;(C)\n"))
    assert done.review_set.answers["text"].to_list() == ["B, I think", "(C)"]

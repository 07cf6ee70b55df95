"""Public data sets and tools, in small: each case of tests/data/imports is read as it is meant."""

import csv
import json
import shutil

import pytest
from openpyxl import Workbook
from PIL import Image
from support import ROOT

from rexview.detect.scan.survey import find_flags_for_answers
from rexview.detect.token_limit import TokenLimit
from rexview.errors import ImportSourceError

CASES = ROOT / "tests/data/imports"
PICTURES = {
    "chestxdet10_img": {f"images/x{n}.png": (1024, 1024) for n in (1, 2, 3)},
    "fi_v1": {"images/a.png": (500, 600), "images/b.png": (500, 600)},
    "indiana": {
        f"images/images_normalized/{name}.dcm.png": (200, 300)
        for name in (
            "901_IM-0001-3001",
            "901_IM-0001-4001",
            "902_IM-0652-1001",
            "902_IM-0652-2001",
        )
    },
    "llava": {"images/a.png": (512, 512), "images/b.png": (512, 512)},
    "ls_report": {"images/x1.png": (1000, 800)},
    "ls_rotated": {f"images/{name}.png": (1000, 1000) for name in ("r", "r2", "r3")},
    "maira2": {"images/s1.png": (1000, 800), "images/s2.png": (1000, 800)},
    "mscxr": {f"files/p10/p10000001/s50000001/{name}.jpg": (2544, 3056) for name in ("d1", "d2")},
    "padchest_gr": {f"PadChest_GR/{name}.png": (800, 1000) for name in ("1001_aa", "1002_bb")},
    "qwen_text": {f"images/q{n}.png": (1200, 900) for n in (1, 2, 3)},
    "vinbig": {f"images/{name}.png": (2000, 2400) for name in ("aa01", "bb02", "cc03")},
    "vindr": {f"images/{name}.png": (2000, 2400) for name in ("aa01", "bb02", "cc03")},
}
FILMS = ("0004cfab", "00313ee0", "00436515")


@pytest.fixture(name="case")
def case_fixture(tmp_path, make_dicom):
    """Copy a case to a folder of its own, with pictures of the right size unless told otherwise."""

    def copy(name, *, pictures=True):
        folder = tmp_path / name
        shutil.copytree(CASES / name, folder)
        for path, size in PICTURES.get(name, {}).items() if pictures else ():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            Image.new("L", size, 40).save(folder / path)
        if name == "rsna" and pictures:
            for film in FILMS:
                # a film of 40 x 30 pixels would be too small for its boxes
                big = {"Rows": 1024, "Columns": 1024, "PixelData": bytes(2 * 1024 * 1024)}
                make_dicom(folder / f"stage_2_train_images/{film}.dcm", PatientID=film, **big)
        return folder

    return copy


def cases_of(imported):
    return {row["id"]: row for row in imported.review_set.cases.iter_rows(named=True)}


def reports_of(imported, key="id"):
    rows = imported.review_set.cases.iter_rows(named=True)
    return {
        row[key]: tuple((row["report"] or {}).get(part) for part in ("findings", "impression"))
        for row in rows
    }


def expected_of(imported):
    extras = [imported.review_set.case(name).extra for name in cases_of(imported)]
    return [extra.get("expected answer") for extra in extras]


def answers_of(imported):
    rows = imported.review_set.answers.iter_rows(named=True)
    return {(row["case"], row["model"]): row["text"] for row in rows}


def boxes_of(rows, field):
    return {
        row.get("id") or row["case"]: [
            (box["label"], [round(number) for number in box["box"]]) for box in row[field] or []
        ]
        for row in rows.iter_rows(named=True)
    }


def extra_of(row):
    return json.loads(row["extra"] or "{}")


def first_file_named(case_id):
    """The stem of a picture's path, which names a case made of it."""
    return case_id.rpartition("/")[2]


class TestReportsBesideImages:
    def test_findings_and_impression_are_the_report(self, case, run_import):
        done = run_import("auto", case("fi_v1"))
        assert reports_of(done) == {
            "a": (
                "The heart is enlarged. There is a small left pleural effusion. No pneumothorax.",
                "Small left effusion.",
            ),
            "b": ("The lungs are clear. No effusion or pneumothorax.", "No acute disease."),
        }
        assert [row["normal"] for row in cases_of(done).values()] == [None, None]
        assert {model for _, model in answers_of(done)} == {"preds_gpt"}

    def test_without_the_pictures(self, case, run_import):
        done = run_import("auto", case("fi_v1", pictures=False))
        assert done.review_set.cases.height == 2
        assert all(all(report) for report in reports_of(done).values())

    def test_studies_of_several_pictures_are_joined_by_their_id(self, case, run_import):
        done = run_import("auto", case("indiana"))
        assert reports_of(done)["902"] == (
            "Borderline cardiomegaly. Small right effusion.",
            "Cardiomegaly.",
        )
        assert {
            id: {image["view"] for image in row["images"]} for id, row in cases_of(done).items()
        } == {"901": {"FRONTAL", "LATERAL"}, "902": {"FRONTAL", "LATERAL"}}
        assert answers_of(done) == {
            ("901", "preds_gpt5"): "Normal chest.",
            ("902", "preds_gpt5"): "Small left effusion.",
        }
        assert not done.messages("was not found")


class TestBoxes:
    def test_targets_classes_and_prediction_strings_of_rsna(self, case, run_import):
        done = run_import("auto", case("rsna"))
        assert done.review_set.cases.height == 3
        reference = boxes_of(done.review_set.cases, "reference_boxes")
        assert reference["study-002"] == [
            ("", [264, 152, 213, 379]),
            ("", [562, 152, 256, 453]),
        ]
        assert [row["normal"] for row in cases_of(done).values()] == [False, False, True]
        drawn = boxes_of(done.review_set.answers, "boxes")
        assert drawn["study-002"] == reference["study-002"]
        assert drawn["study-001"] == []
        assert not any(done.review_set.answers["text"].to_list())

    def test_rsna_without_films(self, case, run_import):
        done = run_import("auto", case("rsna", pictures=False))
        assert sorted(cases_of(done)) == sorted(FILMS)
        assert done.review_set.answers.height == 3

    def test_prediction_strings_with_classes(self, case, run_import):
        done = run_import("auto", case("vinbig"))
        assert boxes_of(done.review_set.answers, "boxes") == {
            "aa01": [],
            "bb02": [("class 3", [691, 1375, 962, 456]), ("class 0", [1052, 715, 247, 251])],
            "cc03": [("class 10", [100, 1715, 400, 251])],
        }
        rows = done.review_set.answers["boxes"].to_list()
        scores = [box["score"] for row in rows for box in row or []]
        assert scores == [0.91, 0.55, 0.77]

    def test_classes_have_the_names_that_another_table_gives(self, case, run_import, tmp_path):
        folder = case("vinbig")
        shutil.copy(CASES / "vindr/train.csv", folder / "train.csv")
        done = run_import("auto", folder)
        assert boxes_of(done.review_set.answers, "boxes")["bb02"][0][0] == "Cardiomegaly"

    def test_rows_of_no_finding(self, case, run_import):
        done = run_import("auto", case("vindr"))
        assert {id: row["normal"] for id, row in cases_of(done).items()} == {
            "aa01": True,
            "bb02": None,
            "cc03": None,
        }
        assert len(boxes_of(done.review_set.cases, "reference_boxes")["bb02"]) == 3

    def test_parallel_lists_of_labels_and_corners(self, case, run_import):
        for pictures in (True, False):
            folder = case("chestxdet10_img", pictures=pictures)
            done = run_import("auto", folder)
            assert boxes_of(done.review_set.cases, "reference_boxes")["x1"] == [
                ("Effusion", [100, 700, 200, 200]),
                ("Nodule", [600, 200, 80, 90]),
            ]
            shutil.rmtree(folder)

    def test_category_names(self, case, run_import):
        done = run_import("auto", case("mscxr"))
        assert boxes_of(done.review_set.cases, "reference_boxes") == {
            "s50000001": [
                ("Pneumothorax", [1500, 300, 700, 900]),
                ("Pleural Effusion", [200, 2200, 600, 500]),
            ]
        }

    def test_rotated_rectangles(self, case, run_import):
        done = run_import("auto", case("ls_rotated"))
        boxes = boxes_of(done.review_set.cases, "reference_boxes")
        assert boxes["r"] == [("opacity", [400, 500, 100, 200])]
        assert boxes["r2"] == [("opacity", [500, 500, 200, 100])]
        assert boxes["r3"] == [("opacity", [500, 321, 179, 224])]

    def test_rotated_ellipses_and_films_that_are_no_squares(self, case, run_import):
        folder = case("ls_rotated")
        tasks = json.loads((folder / "export.json").read_text())
        for task, kind in zip(tasks, ("ellipselabels", "rectanglelabels"), strict=False):
            [result] = task["annotations"][0]["result"]
            result["type"] = kind
            result["original_width"], result["original_height"] = 1000, 500
            value = result["value"] = {"x": 50, "y": 50, "rotation": 90, kind: ["mass"]}
            ellipse = kind == "ellipselabels"
            value |= {"radiusX": 10, "radiusY": 4} if ellipse else {"width": 20, "height": 10}
        (folder / "export.json").write_text(json.dumps(tasks[:2]))
        for name in ("r", "r2"):
            Image.new("L", (1000, 500)).save(folder / f"images/{name}.png")
        boxes = boxes_of(run_import("auto", folder).review_set.cases, "reference_boxes")
        assert boxes["r"] == [("mass", [480, 150, 40, 200])]
        assert boxes["r2"] == [("mass", [450, 250, 50, 200])]

    def test_scored_annotations_of_coco_are_a_models(self, run_import, make_picture, tmp_path):
        make_picture(tmp_path / "in/a.png", (400, 300))
        content = {
            "images": [{"id": 1, "file_name": "a.png", "width": 400, "height": 300}],
            "categories": [{"id": 1, "name": "mass"}],
            "annotations": [
                {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 40]},
                {"id": 2, "image_id": 1, "category_id": 1, "bbox": [5, 6, 70, 80], "score": 0.7},
            ],
        }
        (tmp_path / "in/yolo.json").write_text(json.dumps(content))
        done = run_import("auto", tmp_path / "in")
        assert boxes_of(done.review_set.cases, "reference_boxes") == {
            "a": [("mass", [1, 2, 30, 40])]
        }
        assert boxes_of(done.review_set.answers, "boxes") == {"a": [("mass", [5, 6, 70, 80])]}
        assert done.review_set.answers["model"].to_list() == ["yolo"]


class TestReportTexts:
    def test_heads_and_misspelt_headings(self, case, run_import):
        done = run_import("auto", case("mimic"))
        assert reports_of(done) == {
            "s50000001": ("Small left effusion.", "Left effusion."),
            "s50000002": ("Right lower lobe pneumonia.  No effusion.", None),
            "s50000003": ("The right apical pneumothorax is small.", "Small right pneumothorax."),
            "s50000004": (
                None,
                "AP chest compared to ___:\n\n Small left pleural effusion.  ET tube in standard "
                "placement.",
            ),
            "s50000005": (
                "CHEST RADIOGRAPH\n\n Heart size is normal.  There is a small right effusion.",
                None,
            ),
        }
        rows = cases_of(done)
        told = extra_of(rows["s50000003"])
        assert told["recommendation"] == "Repeat film."
        assert told["notification"] == "discussed by telephone at 9 AM."
        assert extra_of(rows["s50000005"]) == {"addendum": "The effusion is on the LEFT."}
        assert extra_of(rows["s50000004"]) == {"report_head": "AP CHEST, 4:11 A.M., ___"}

    def test_narratives_are_no_findings(self, case, run_import):
        done = run_import("auto", case("chexpertplus"))
        reports = list(reports_of(done).values())
        assert reports == [
            (None, "1. Small left effusion."),
            ("Clear.", "1. Normal."),
            ("Clear.", "1. Normal."),
            (None, "1. Edema."),
        ]
        assert done.review_set.answers.height == 3

    def test_the_report_of_a_task(self, case, run_import):
        done = run_import("auto", case("ls_report"))
        assert reports_of(done) == {"x1": ("Left pleural effusion. Heart normal.", None)}
        assert cases_of(done)["x1"]["question"] == "Where is the effusion?"
        assert not done.messages("JSON")


def test_the_line_that_names_the_delimiter(case, run_import):
    done = run_import("auto", case("sepline"))
    assert answers_of(done)["1", "GPT-5"] == "There is a left effusion, small."


def write_rows(path, columns, rows):
    """Write rows as the ending of a file says: CSV, JSON, JSON Lines or Excel."""
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [dict(zip(columns, row, strict=True)) for row in rows]
    if path.suffix == ".json":
        path.write_text(json.dumps(entries))
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    elif path.suffix == ".xlsx":
        book = Workbook()
        for row in (columns, *rows):
            book.active.append(list(row))
        book.save(path)
    else:
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([columns, *rows])
    return path


REPORTS = [("50000011", "Small left pleural effusion."), ("50000013", "Right pneumothorax.")]
ANSWERS = [("50000011", "Small right pleural effusion."), ("50000013", "Left pneumothorax.")]


class TestWhoseATextIs:
    def test_the_reference_and_the_prediction(self, case, run_import):
        done = run_import("auto", case("cxrmetric"))
        assert set(reports_of(done, "study_id").values()) == {
            ("Small left pleural effusion. Heart is enlarged.", None),
            ("No acute process.", None),
            ("Right pneumothorax.", None),
        }
        assert "Left pneumothorax." in answers_of(done).values()
        assert {model for _, model in answers_of(done)} == {"predicted_reports"}

    @pytest.mark.parametrize(
        ("reference", "model"),
        [
            ("gt.csv", "a_pred.csv"),
            ("z_reference.json", "a.generated.json"),
            ("radiologist.xlsx", "hyp.xlsx"),
            ("gold.jsonl", "medgemma.csv"),
            ("original_reports.csv", "outputs.jsonl"),
            ("ground_truth/reports.csv", "llava/reports.csv"),
        ],
    )
    @pytest.mark.parametrize("column", ["report", "findings"])
    def test_names_of_files_and_folders_tell(self, reference, model, column, run_import, tmp_path):
        write_rows(tmp_path / "in" / reference, ("study_id", column), REPORTS)
        write_rows(tmp_path / "in" / model, ("study_id", column), ANSWERS)
        done = run_import("auto", tmp_path / "in")
        texts = {report for report, _ in reports_of(done).values()}
        assert texts == {text for _, text in REPORTS}
        assert {text.removeprefix("FINDINGS: ") for text in answers_of(done).values()} == {
            text for _, text in ANSWERS
        }

    def test_what_nothing_tells_is_refused_with_the_option(self, run_import, tmp_path):
        for name, rows in (("a.csv", REPORTS), ("b.csv", ANSWERS)):
            write_rows(tmp_path / "in" / name, ("study_id", "report"), rows)
        with pytest.raises(ImportSourceError) as caught:
            run_import("auto", tmp_path / "in")
        errors = [one for one in caught.value.problems if one.severity == "error"]
        assert {one.file for one in errors} == {"in/a.csv", "in/b.csv"}
        assert all("--reference" in one.remedy for one in errors)
        for option in ({"reference": ["b.csv"]}, {"model": ["a.csv=GPT-5"]}):
            done = run_import("auto", tmp_path / "in", **option)
            assert {report for report, _ in reports_of(done).values()} == {
                text for _, text in ANSWERS
            }
            assert set(answers_of(done).values()) == {text for _, text in REPORTS}

    def test_two_columns_that_nothing_tells_apart(self, run_import, tmp_path):
        rows = [
            (name, f"{text} The heart is of normal size.", f"{other} The heart is enlarged now.")
            for (name, text), (_, other) in zip(REPORTS, ANSWERS, strict=True)
        ]
        write_rows(tmp_path / "x.csv", ("id", "report_1", "report_2"), rows)
        with pytest.raises(ImportSourceError) as caught:
            run_import("auto", tmp_path / "x.csv")
        assert any("--reference x.csv=COLUMN" in one.remedy for one in caught.value.problems)
        done = run_import("auto", tmp_path / "x.csv", reference=["x.csv=report_2"])
        assert {report for report, _ in reports_of(done).values()} == {row[2] for row in rows}
        assert {model for _, model in answers_of(done)} == {"report_1"}

    @pytest.mark.parametrize(
        "columns",
        [
            ("gt_report", "gen_report"),
            ("original_report", "predicted_report"),
            ("label", "pred"),
            ("target", "output"),
            ("reference", "hypothesis"),
            ("ground_truth", "generated_text"),
        ],
    )
    def test_names_of_columns_tell(self, columns, case, run_import, tmp_path):
        with (case("long_d") / "results.csv").open(encoding="utf-8") as stream:
            rows = list(csv.reader(stream))[1:]
        for order in (0, 1):
            names = ("study_id", *(columns[::-1] if order else columns))
            given = [(id, b, a) if order else (id, a, b) for id, a, b in rows]
            done = run_import("auto", write_rows(tmp_path / f"results{order}.csv", names, given))
            assert {report for report, _ in reports_of(done).values()} == {a for _, a, _ in rows}
            assert set(answers_of(done).values()) == {b for _, _, b in rows}

    def test_sections_of_both_sides(self, run_import, tmp_path):
        columns = ("id", "gt_findings", "gt_impression", "pred_findings", "pred_impression")
        rows = [("1", "Left effusion.", "Effusion.", "Right effusion.", "Effusion, right.")]
        done = run_import("auto", write_rows(tmp_path / "r.csv", columns, rows))
        assert reports_of(done) == {"1": ("Left effusion.", "Effusion.")}
        assert list(answers_of(done).values()) == [
            "FINDINGS: Right effusion.\nIMPRESSION: Effusion, right."
        ]

    def test_questions_of_llava(self, case, run_import):
        done = run_import("auto", case("llava"))
        assert [row["question"] for row in cases_of(done).values()] == [
            "Is there a pleural effusion?",
            "On which side is the catheter?",
            "Is the heart enlarged?",
        ]
        assert {model for _, model in answers_of(done)} == {"llava-med-v1.5-mistral-7b"}

    def test_prompts_that_do_not_ask(self, run_import, tmp_path):
        asked = [(n, f"Describe film {n}.") for n in range(4)]
        told = [(n, f"Describe film {n}.", f"Film {n} shows an effusion.") for n in range(4)]
        columns = ("question_id", "prompt", "text")
        write_rows(tmp_path / "in/q.jsonl", ("question_id", "text"), asked)
        write_rows(tmp_path / "in/a_med.jsonl", columns, told)
        done = run_import("auto", tmp_path / "in")
        assert {model for _, model in answers_of(done)} == {"a_med"}
        assert cases_of(done)["0"]["question"] == "Describe film 0."

    def test_right_answers_of_a_data_set(self, case, run_import):
        done = run_import("auto", case("vqarad"))
        assert {model for _, model in answers_of(done)} == {"LLaVA"}
        assert expected_of(done) == ["Yes", "Left side", "In the superior vena cava"]
        assert set(reports_of(done).values()) == {(None, None)}

    @pytest.mark.parametrize("name", ["answer", "reference_answer", "expert answer"])
    @pytest.mark.parametrize("file", ["qa.csv", "qa.jsonl"])
    def test_short_answers_beside_a_models_are_expected(self, run_import, tmp_path, name, file):
        asked = [(n, f"Is sign {n} seen?", "Yes" if n % 2 else "No") for n in range(4)]
        write_rows(tmp_path / f"in/test_{file}", ("qid", "question", name), asked)
        told = [(n, f"Sign {n} is seen on the film.") for n in range(4)]
        write_rows(tmp_path / "in/preds_gpt.csv", ("qid", "prediction"), told)
        done = run_import("auto", tmp_path / "in")
        assert expected_of(done) == ["No", "Yes", "No", "Yes"]
        assert {model for _, model in answers_of(done)} == {"preds_gpt"}

    def test_long_reference_answers_are_reports(self, run_import, tmp_path):
        long = "There is a large effusion on the left side, and the heart is enlarged."
        rows = [(n, f"What is seen on film {n}?", long, long[:-1]) for n in range(3)]
        columns = ("id", "question", "reference answer", "GPT-5 answer")
        write_rows(tmp_path / "in/qa.csv", columns, rows)
        done = run_import("auto", tmp_path / "in")
        assert {report for report, _ in reports_of(done).values()} == {long}

    def test_answers_of_a_data_set_alone(self, case, run_import):
        file = case("vqarad") / "vqa_rad_public.json"
        done = run_import("auto", file)
        assert expected_of(done) == ["Yes", "Left side", "In the superior vena cava"]
        assert answers_of(done) == {}
        assert len(answers_of(run_import("auto", file, model=["Mine"]))) == 3


class TestJoins:
    def test_studies_of_mimic_by_number(self, case, run_import):
        done = run_import("auto", case("mimic_noimg"))
        assert done.review_set.cases.height == 5
        assert set(answers_of(done)) == {
            ("s50000001", "GPT-5"),
            ("s50000003", "GPT-5"),
            ("s50000005", "GPT-5"),
        }

    def test_floats_are_whole_numbers(self, case, run_import):
        done = run_import("auto", case("ids_float"))
        assert done.review_set.cases["study_id"].to_list() == ["50000012", "50000013", "50000014"]
        assert done.review_set.answers.height == 3
        receipt = done.report.receipt
        assert [(one.joined, one.unmatched, one.otherwise) for one in receipt.joins] == [(3, 1, 3)]
        assert [(one.count, one.rows) for one in receipt.rows_unused] == [(1, (3,))]

    def test_ids_that_match_nothing_are_refused(self, case, run_import):
        with pytest.raises(ImportSourceError) as caught:
            run_import("auto", case("study_nomatch"))
        [error] = [one for one in caught.value.problems if one.severity == "error"]
        assert "“A1x” (nearest: “A1”)" in error.message
        assert (error.file, error.row, error.field) == ("study_nomatch/answers.csv", 1, "study_id")

    def test_ids_without_their_digits_are_refused(self, case, run_import):
        with pytest.raises(ImportSourceError) as caught:
            run_import("auto", case("ids_sci"))
        lost = [one for one in caught.value.problems if "lost its digits" in one.message]
        assert [(one.row, one.field) for one in lost] == [(1, "study_id"), (2, "study_id")]

    @pytest.mark.parametrize(
        ("known", "given", "joined"),
        [
            (("s101", "s102"), ("101", "102"), 2),
            (("101", "102"), ("study_101", "study_102"), 2),
            (("7", "12"), ("007", "012"), 2),
            (("CXR-7", "CXR-12"), ("cxr_0007", "cxr_0012"), 2),
            (("A7", "A12"), ("a7", "A12"), 2),
            (("7", "12"), ("7.0", "12.0"), 2),
            (("A7", "A12"), ("B7", "B12"), 0),
            (("7", "07", "12"), ("007", "12"), 1),
            (("7", "12"), ("7", "007", "12"), 2),
        ],
    )
    @pytest.mark.parametrize("form", ["csv", "json", "by_id"])
    def test_ids_written_otherwise(self, known, given, joined, form, run_import, tmp_path):
        cases = [(one, "Any effusion?", f"Film {one}.") for one in known]
        write_rows(tmp_path / "in/cases.csv", ("id", "question", "report"), cases)
        texts = [(one, f"Answer {one}.") for one in given]
        if form == "by_id":
            (tmp_path / "in/gpt5.json").write_text(json.dumps(dict(texts)))
        else:
            write_rows(tmp_path / f"in/gpt5.{form}", ("id", "answer"), texts)
        if joined == 0:
            with pytest.raises(ImportSourceError):
                run_import("auto", tmp_path / "in")
            return
        done = run_import("auto", tmp_path / "in")
        assert sum(case in known for case, _ in answers_of(done)) == joined
        assert done.review_set.answers.height == len(given)
        [join] = done.report.receipt.joins
        assert (join.joined, join.unmatched) == (joined, len(given) - joined)


class TestBoxesInTexts:
    def test_sentences_of_padchest(self, case, run_import):
        done = run_import("auto", case("padchest_gr"))
        assert {id: (row["study_id"], row["normal"]) for id, row in cases_of(done).items()} == {
            "1001_aa": ("1001", False),
            "1002_bb": ("1002", True),
        }
        assert reports_of(done, "study_id")["1001"] == (
            "Small right pleural effusion. Normal heart size.",
            None,
        )
        boxes = boxes_of(done.review_set.cases, "reference_boxes")
        assert boxes["1001_aa"] == [("pleural effusion", [80, 600, 240, 300])]
        assert extra_of(cases_of(done)["1001_aa"])["report_es"].startswith("Pequeño derrame")
        assert not any("{'" in (row["extra"] or "") for row in cases_of(done).values())

    def test_grounded_reports_of_maira(self, case, run_import):
        done = run_import("auto", case("maira2"))
        text = "There is a moderate right pleural effusion. The heart is normal."
        assert answers_of(done)["s1", "MAIRA-2"] == text
        assert answers_of(done)["s1", "maira2_grounded"] == text
        rows = done.review_set.answers.iter_rows(named=True)
        boxes = [box for row in rows for box in row["boxes"] or []]
        label = "There is a moderate right pleural effusion."
        assert [(one["label"], one["box"], one["unsure"]) for one in boxes] == [
            (label, [55, 220, 390, 312], True)
        ] * 2
        assert len(done.messages("in the texts of")) == 2

    def test_json_of_qwen(self, case, run_import):
        done = run_import("auto", case("qwen_text"))
        assert boxes_of(done.review_set.answers, "boxes") == {
            "q1": [("right pleural effusion", [100, 200, 400, 400])],
            "q2": [("left opacity", [640, 300, 540, 580])],
            "q3": [],
        }
        assert any("read as pixels of the picture as it was sent" in n for n in done.report.notes)

    @pytest.mark.parametrize(
        ("model", "text", "box", "unsure"),
        [
            (
                "gemini-2.5-pro",
                '[{"box_2d": [100, 200, 500, 400], "label": "mass"}]',
                [200, 50, 200, 200],
                None,
            ),
            (
                "CheXagent-2-3b",
                "<|ref|>mass<|/ref|><|box|>(20,10),(40,50)<|/box|>",
                [200, 50, 200, 200],
                None,
            ),
            ("medgemma-1.5-4b", '{"box_2d": [100, 200, 500, 400], "label": "mass"}', None, True),
            (
                "unheard-of",
                '{"bbox": [200, 50, 400, 250], "label": "mass"}',
                [200, 50, 200, 200],
                1,
            ),
        ],
    )
    def test_conventions_of_models(
        self, model, text, box, unsure, run_import, make_picture, tmp_path
    ):
        make_picture(tmp_path / "in/a.png", (1000, 500))
        columns = ("case_id", "image", "model", "answer")
        write_rows(tmp_path / "in/t.json", columns, [("c", "a.png", model, text)])
        done = run_import("auto", tmp_path / "in")
        [found] = done.review_set.answers["boxes"].to_list()[0]
        assert found["label"] == "mass"
        assert box is None or found["box"] == box
        assert bool(found["unsure"]) == bool(unsure)

    def test_points_of_molmo_are_said(self, run_import, make_picture, tmp_path):
        make_picture(tmp_path / "in/a.png", (1000, 500))
        text = '<point x="10.5" y="20.1" alt="mass">mass</point>'
        columns = ("case_id", "image", "model", "answer")
        write_rows(tmp_path / "in/t.csv", columns, [("c", "a.png", "Molmo-7B", text)])
        done = run_import("auto", tmp_path / "in")
        assert answers_of(done)["c", "Molmo-7B"] == text
        assert done.messages("mark points, which are no boxes")


def test_a_cell_that_excel_cut(case, run_import):
    done = run_import("auto", case("excel_cut"))
    assert [one.row for one in done.report.problems if "as many as Excel" in one.message] == [2]
    [case_one, _] = done.review_set.cases["id"].to_list()
    answers = done.review_set.answers_of(case_one)
    assert (
        find_flags_for_answers(done.review_set.case(case_one), answers, detectors=[TokenLimit()])
        == []
    )


def test_texts_of_the_same_name_that_only_their_contents_tell(run_import, tmp_path):
    head = "FINAL REPORT EXAMINATION: CHEST INDICATION: cough."
    texts = [
        ("50000001", f"{head} FINDINGS: Clear lungs. IMPRESSON: Normal. RECOMMENDATION: none."),
        ("50000002", f"{head} FINDINGS: Left effusion. IMPRESSION: Effusion."),
    ]
    told = [("s50000001", "Clear lungs."), ("s50000002", "An effusion on the right side.")]
    write_rows(tmp_path / "in/texts.csv", ("study_id", "text"), texts)
    write_rows(tmp_path / "in/gemini.csv", ("study_id", "text"), told)
    done = run_import("auto", tmp_path / "in")
    assert reports_of(done, "study_id") == {
        "50000001": ("Clear lungs.", "Normal."),
        "50000002": ("Left effusion.", "Effusion."),
    }
    assert {model for _, model in answers_of(done)} == {"gemini"}
    assert set(answers_of(done).values()) == {text for _, text in told}


def test_folders_of_reports_and_of_a_model(run_import, tmp_path):
    for folder, size in (("reports", "normal"), ("llava", "enlarged")):
        (tmp_path / "in" / folder).mkdir(parents=True)
        for study in ("s1", "s2"):
            text = f"FINDINGS: The heart of {study} is {size}.\nIMPRESSION: Done."
            (tmp_path / f"in/{folder}/{study}.txt").write_text(text)
    done = run_import("auto", tmp_path / "in")
    assert {model for _, model in answers_of(done)} == {"llava"}
    assert reports_of(done)["s1"] == ("The heart of s1 is normal.", "Done.")


def test_several_pictures_of_a_study_a_row_each(run_import, tmp_path):
    text = "FINDINGS: Clear.\nIMPRESSION: Normal."
    rows = [("s1", view, f"s1/{view}.png", text) for view in ("PA", "LATERAL")]
    write_rows(tmp_path / "in/studies.csv", ("study_id", "view", "path", "report"), rows)
    write_rows(tmp_path / "in/maira.csv", ("study_id", "generated_report"), [("s1", "Clear.")])
    done = run_import("auto", tmp_path / "in")
    [row] = cases_of(done).values()
    assert [image["view"] for image in row["images"]] == ["PA", "LATERAL"]
    assert list(answers_of(done).values()) == ["Clear."]


def test_lists_of_scores_are_a_models(run_import, tmp_path):
    entry = {"image": "a.png", "boxes": [[10, 20, 110, 220], [200, 300, 400, 500]]}
    entry |= {"labels": ["mass", "nodule"], "scores": [0.9, 0.4]}
    (tmp_path / "yolo.json").write_text(json.dumps([entry, {**entry, "image": "b.png"}]))
    done = run_import("auto", tmp_path / "yolo.json")
    boxes = boxes_of(done.review_set.answers, "boxes")
    assert boxes["a"] == [("mass", [10, 20, 100, 200]), ("nodule", [200, 300, 200, 200])]
    assert not any(boxes_of(done.review_set.cases, "reference_boxes").values())


def test_texts_of_a_reference_called_answers(run_import, tmp_path):
    write_rows(tmp_path / "in/gt.csv", ("id", "text"), REPORTS)
    write_rows(tmp_path / "in/preds.csv", ("id", "text"), ANSWERS)
    done = run_import("auto", tmp_path / "in")
    assert {report for report, _ in reports_of(done).values()} == {text for _, text in REPORTS}
    assert set(answers_of(done).values()) == {text for _, text in ANSWERS}

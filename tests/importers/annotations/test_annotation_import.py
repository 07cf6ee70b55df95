"""Files of annotation tools, report texts and corrected lines, imported together with pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.rows import each_row

from rexview.importers.line_edits import fold_kind, fold_significance


@pytest.fixture(name="scans")
def scans_fixture(tmp_path: Path, make_picture) -> Path:
    """Two pictures of 100 x 200."""
    for name in ("chest_1.png", "chest_2.png"):
        make_picture(tmp_path / "s/images" / name, (100, 200))
    return tmp_path / "s"


def answers_of(done: Any) -> list[Any]:
    cases = done.review_set.cases["id"].to_list()
    return [answer for case in cases for answer in done.review_set.answers_of(case)]


def boxes_of(done: Any, case: str) -> list[tuple[str, tuple[float, ...]]]:
    return [
        (box.label, tuple(round(number, 3) for number in box.box))
        for box in done.review_set.case(case).reference_boxes
    ]


def model_boxes(done: Any) -> list[tuple[str, str, str, tuple[float, ...], float | None]]:
    return sorted(
        (
            answer.case,
            answer.model,
            box.label,
            tuple(round(number, 3) for number in box.box),
            box.score,
        )
        for answer in answers_of(done)
        for box in answer.boxes
    )


def complete(done: Any) -> None:
    receipt = done.report.receipt
    assert receipt.rows_in == receipt.rows_used + sum(one.count for one in receipt.rows_unused)
    assert not [one for one in receipt.rows_unused if "does not say why" in one.why]


def test_yolo_labels_and_predictions(scans, run_import):
    for folder, line in (("labels", ""), ("runs/detect/exp3/labels", " 0.75")):
        (scans / folder).mkdir(parents=True)
        (scans / folder / "chest_1.txt").write_text(f"1 0.5 0.25 0.2 0.1{line}\n")
    (scans / "classes.txt").write_text("Mass\nNodule\n")
    done = run_import("auto", scans)
    complete(done)
    assert sorted(done.review_set.cases["id"]) == ["chest_1", "chest_2"]
    assert boxes_of(done, "chest_1") == [("Nodule", (40, 40, 20, 20))]
    assert model_boxes(done) == [
        ("chest_1", "exp3", "Nodule", (40, 40, 20, 20), 0.75),
    ]
    assert done.report.receipt.rows_in == 2


def test_pascal_voc(scans, run_import):
    for name in ("chest_1", "chest_2"):
        (scans / f"{name}.xml").write_text(
            f"<annotation><filename>{name}.png</filename><path>C:\\x\\{name}.png</path>"
            "<object><name>Mass</name><bndbox><xmin>10</xmin><ymin>20</ymin><xmax>40</xmax>"
            "<ymax>60</ymax></bndbox></object></annotation>"
        )
    done = run_import("auto", scans)
    complete(done)
    assert boxes_of(done, "chest_2") == [("Mass", (10, 20, 30, 40))]
    assert done.report.receipt.reference_boxes == 2


def test_label_studio(scans, run_import):
    rectangle = {
        "original_width": 100,
        "original_height": 200,
        "value": {
            "x": 10,
            "y": 20,
            "width": 30,
            "height": 40,
            "rectanglelabels": ["Mass"],
        },
        "from_name": "label",
        "type": "rectanglelabels",
    }
    tasks = [
        {
            "id": number,
            "data": {"image": f"/data/upload/1/0a1b2c3d-chest_{number}.png", "ward": "B"},
            "annotations": [{"completed_by": 3, "result": [rectangle] if number == 1 else []}],
            "predictions": [
                {"model_version": "det", "result": [{**rectangle, "score": 0.5}][: number % 2]}
            ],
        }
        for number in (1, 2)
    ]
    (scans / "export.json").write_text(json.dumps(tasks))
    done = run_import("auto", scans)
    complete(done)
    assert done.review_set.cases.height == 2
    assert boxes_of(done, "chest_1") == [("Mass", (10, 40, 30, 80))]
    assert model_boxes(done) == [("chest_1", "det", "Mass", (10, 40, 30, 80), 0.5)]
    assert done.report.receipt.models == {"det": 2}
    assert done.review_set.case("chest_2").extra["ward"] == "B"


def test_fiftyone(scans, run_import):
    def detections(**more: Any) -> dict[str, Any]:
        box = {"_cls": "Detection", "label": "Mass", "bounding_box": [0.1, 0.2, 0.3, 0.4], **more}
        return {"_cls": "Detections", "detections": [box]}

    samples = [
        {
            "filepath": "images/chest_1.png",
            "ground_truth": detections(),
            "dino": detections(confidence=0.25),
            "site": "B",
        },
        {"filepath": "images/chest_2.png", "dino": None},
    ]
    (scans / "samples.json").write_text(json.dumps({"samples": samples}))
    (scans / "metadata.json").write_text(json.dumps({"name": "x", "media_type": "image"}))
    done = run_import("auto", scans)
    complete(done)
    assert boxes_of(done, "chest_1") == [("Mass", (10, 40, 30, 80))]
    assert model_boxes(done) == [("chest_1", "dino", "Mass", (10, 40, 30, 80), 0.25)]
    assert done.report.receipt.not_run == {"dino": 1}
    assert done.review_set.cases.height == 2


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("file,model,label,x1,y1,x2,y2,conf\nchest_1.png,A,Mass,0.1,0.2,0.4,0.6,0.5\n", 0.5),
        ("case,AI,finding,cx,cy,w,h\nchest_1,A,Mass,25%,40%,30%,40%\n", None),
        ('image,system,label,"Bbox [x,y,w,h]"\nchest_1.png,A,Mass,"[10, 40, 30, 80]"\n', None),
        ("image,model,label,box_2d\nchest_1.png,A,Mass,\"[200, 100, 600, 400]\"\n", None),
    ],
)  # fmt: skip
def test_tables_of_a_models_boxes_are_never_the_reference(scans, run_import, content, expected):
    (scans / "boxes.csv").write_text(content)
    done = run_import("auto", scans)
    complete(done)
    found = [one for one in model_boxes(done) if one[0].endswith("chest_1")]
    assert found == [("chest_1", "A", "Mass", (10, 40, 30, 80), expected)]
    assert done.report.receipt.reference_boxes == 0


def test_a_confidence_without_a_model_is_the_models_of_the_file(scans, run_import):
    (scans / "yolo11.csv").write_text(
        "image,label,x,y,width,height,score\nchest_1.png,Mass,10,40,30,80,0.9\nabsent.png,Mass,1,1,5,5,1\n"
    )
    done = run_import("auto", scans)
    complete(done)
    assert model_boxes(done) == [("chest_1", "yolo11", "Mass", (10, 40, 30, 80), 0.9)]
    assert done.report.receipt.rows_unused[0].rows == (2,)


def test_the_order_of_the_sources_does_not_matter(scans, run_import):
    boxes = scans / "boxes.csv"
    boxes.write_text("image,label,x1,y1,x2,y2\nchest_1.png,Mass,10,40,40,120\n")
    first = run_import("auto", boxes, scans / "images")
    second = run_import("auto", scans / "images", boxes)
    assert boxes_of(first, "chest_1") == boxes_of(second, "chest_1") == [("Mass", (10, 40, 30, 80))]
    assert (first.review_set.folder / "cases.jsonl").read_bytes() == (
        second.review_set.folder / "cases.jsonl"
    ).read_bytes()


def test_boxes_alone_make_cases_of_the_pictures_that_they_name(tmp_path, run_import):
    (tmp_path / "boxes.csv").write_text(
        "image,label,x1,y1,x2,y2,rad_id\na/0.png,Mass,10,40,40,120,R9\nb/0.png,Mass,1,2,3,4,\n"
    )
    done = run_import("auto", tmp_path / "boxes.csv")
    complete(done)
    assert sorted(done.review_set.cases["id"]) == ["a/0", "b/0"]
    (kept,) = done.report.receipt.columns_kept
    assert (kept.column, kept.example, kept.kept_as) == ("rad_id", "R9", "box")


def test_boxes_in_fractions_of_unknown_pictures_are_kept_as_given(tmp_path, run_import):
    (tmp_path / "boxes.csv").write_text("image,label,x1,y1,x2,y2\na.png,Mass,0.1,0.2,0.4,0.6\n")
    done = run_import("auto", tmp_path / "boxes.csv")
    complete(done)
    (kept,) = done.review_set.case("a").extra["boxes_as_given"]
    assert kept["numbers"] == [0.1, 0.2, 0.4, 0.6]
    assert done.messages("whose size is not known")


REPORT = "FINAL REPORT\n INDICATION: Cough.\n FINDINGS:\n Small nodule.\n IMPRESSION:\n Nodule.\n"


def test_mimic_folders_with_reports_and_metadata(tmp_path, run_import, make_picture):
    root = tmp_path / "mimic"
    study = "files/p10/p10000032/s50414267"
    for name in ("aaaa-1", "aaaa-2"):
        make_picture(root / study / f"{name}.jpg")
    (root / f"{study}.txt").write_text(REPORT)
    (root / "LICENSE.txt").write_text("You may use this.")
    (root / "metadata.csv").write_text(
        "dicom_id,subject_id,study_id,ViewPosition,StudyDate\n"
        "aaaa-1,10000032,50414267,PA,21800506\naaaa-2,10000032,50414267,LATERAL,21800506\n"
    )
    done = run_import("auto", root)
    complete(done)
    assert done.review_set.cases["id"].to_list() == ["s50414267"]
    case = done.review_set.case("s50414267")
    assert (case.study_id, case.patient_id) == ("50414267", "10000032")
    assert case.report.findings == "Small nodule."
    assert case.report.impression == "Nodule."
    assert case.context.indication == "Cough."
    assert [(image.view, image.key) for image in case.images] == [("PA", True), ("LATERAL", False)]
    assert [one.file for one in done.report.receipt.files_unread] == ["mimic/LICENSE.txt"]
    assert [one.column for one in done.report.receipt.identity_columns] == ["StudyDate"]


def test_a_folder_of_texts_for_each_source(scans, run_import):
    for folder, text in (("reference", "Truth."), ("model_a", "One.\n"), ("model_b", "Two.")):
        for name in ("chest_1", "chest_2"):
            (scans / "reports" / folder).mkdir(parents=True, exist_ok=True)
            (scans / "reports" / folder / f"{name}.txt").write_text(text)
    done = run_import("auto", scans)
    complete(done)
    assert done.report.receipt.models == {"model_a": 2, "model_b": 2}
    assert done.review_set.case("chest_1").report.findings == "Truth."
    assert {one.text for one in answers_of(done)} == {"One.", "Two."}


def test_corrected_lines(tmp_path, run_import):
    (tmp_path / "refisco.csv").write_text(
        "study_id,source,radiologist,line_no,original_line,edited_line,error_severity,label\n"
        "s1,X-REM,r1,1,Edema.,,2,Actionable\n"
        "s1,X-REM,r1,2,Normal heart.,Normal heart.,,None\n"
        "s1,X-REM,r1,3,,Effusion.,4,Emergent\n"
        "s1,X-REM,r1,4,No mass.,Small mass.,3,Urgent\n"
        ",X-REM,r1,1,Lost.,,1,\n"
    )
    done = run_import("auto", tmp_path / "refisco.csv")
    complete(done)
    edits = done.review_set.edits.sort("_row")
    rows = edits.select("line", "original", "edited", "action", "severity").rows()
    assert rows == [
        (1, "Edema.", None, "delete", 2),
        (2, "Normal heart.", "Normal heart.", "keep", None),
        (2, None, "Effusion.", "insert", 4),
        (3, "No mass.", "Small mass.", "substitute", 3),
    ]
    (answer,) = answers_of(done)
    assert (answer.case, answer.model) == ("s1", "X-REM")
    assert answer.text == "Edema.\nNormal heart.\nNo mass."
    assert edits["reader"].unique().to_list() == ["r1"]
    assert done.report.receipt.rows_unused[0].rows == (5,)


def test_corrected_lines_of_both_versions_of_refisco(tmp_path, run_import):
    """The first marks what stays and leaves out what goes; the second marks what goes."""
    (tmp_path / "v0.csv").write_text(
        "id,indication,impression_original,impression_edited,score,annotator,source\n"
        "s1,Cough,Edema.,[delete],2,a,X-REM\n"
        "s1,Cough,Normal heart.,[no edit],0,a,X-REM\n"
        "s1,Cough,,Effusion.,3,a,X-REM\n"
    )
    (tmp_path / "v1.csv").write_text(
        "data_id,report_type,original_line,corrected_line,error_clinical_severity,comments,"
        "annotator_id\n"
        "d1,base,Edema.,[delete] not there,2,no,b\n"
        "d1,base,Normal heart.,,0,,b\n"
        "d1,base,Left mass.,Right mass.,4,side,b\n"
    )
    done = run_import("auto", tmp_path / "v0.csv", tmp_path / "v1.csv")
    complete(done)
    edits = done.review_set.edits.sort("case", "_row", descending=[True, False])
    columns = ("case", "model", "reader", "line", "edited", "action", "severity")
    assert edits.select(columns).rows() == [
        ("s1", "X-REM", "a", 1, None, "delete", 2),
        ("s1", "X-REM", "a", 2, "Normal heart.", "keep", 0),
        ("s1", "X-REM", "a", 2, "Effusion.", "insert", 3),
        ("d1", "base", "b", 1, None, "delete", 2),
        ("d1", "base", "b", 2, "Normal heart.", "keep", 0),
        ("d1", "base", "b", 3, "Right mass.", "substitute", 4),
    ]


@each_row(
    ("word", "kind"),
    [
        ("False report of a finding in the candidate", "false_finding"),
        ("Missing a finding present in the reference", "missing_finding"),
        ("Misidentification of a finding's anatomic location/position", "location"),
        ("Misassessment of the severity of a finding", "severity"),
        ("Mentioning a comparison that isn't in the reference", "comparison"),
        ("Omitting a comparison detailing a change from a prior study", "comparison"),
        ("false_findings", "false_finding"),
        ("Omission", "missing_finding"),
        ("temporal", "comparison"),
        ("overinterpretation", "descriptor"),
        ("measurement", "measurement"),
        ("size", "size"),
        ("Certainty", "certainty"),
        ("grammar", "grammar"),
        ("considerable", "considerable"),
        (None, None),
    ],
)
def test_words_for_kinds_of_errors(word, kind):
    assert fold_kind(word) == kind


@pytest.mark.parametrize(
    ("word", "significance"),
    [
        ("Significant", "significant"),
        ("clinically insignificant", "negligible"),
        ("urgent", "significant"),
        ("actionable_not_urgent", "significant"),
        ("not_actionable_not_urgent", "negligible"),
        ("benign_expected", "negligible"),
        ("perhaps", "perhaps"),
        (None, None),
    ],
)
def test_words_for_what_matters(word, significance):
    assert fold_significance(word) == significance


def test_kinds_and_significance_are_read(tmp_path, run_import):
    (tmp_path / "edits.csv").write_text(
        "study_id,model,original_line,corrected_line,severity,error_category,clinical_significance\n"
        "s1,M,Left mass.,Right mass.,4,Incorrect location/position,significant\n"
        "s1,M,No mass.,Mass.,3,spelling,\n"
    )
    done = run_import("auto", tmp_path / "edits.csv")
    assert done.review_set.edits.select("kind", "significance").rows() == [
        ("location", "significant"),
        ("spelling", None),
    ]


def test_answers_by_the_film_go_to_the_case_that_shows_it(scans, run_import):
    """The picture is there, too: it is the case's, and no case of its own."""
    (scans / "cases.csv").write_text(
        "case,film,question\nC1,chest_1.png,Is there a mass?\nC2,chest_2.png,Where is it?\n"
    )
    (scans / "GPT.csv").write_text("film,output\nchest_1.png,A mass.\nchest_2.png,Left.\n")
    done = run_import("auto", scans)
    complete(done)
    assert done.review_set.cases["id"].to_list() == ["C1", "C2"]
    assert [(one.case, one.model) for one in answers_of(done)] == [("C1", "GPT"), ("C2", "GPT")]

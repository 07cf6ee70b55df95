import json

import polars as pl
import pytest

from rexview.errors import ImportSourceError
from rexview.importers import import_source
from rexview.reviewset import check_review_set, find_image_file


def study(**fields):
    return {
        "image_path": ["s/0.png", "s/1.png"],
        "key_image_path": "s/0.png",
        "frontal_lateral": ["Frontal", "Lateral"],
        "section_findings": "Clear lungs.",
        "section_impression": "Normal.",
        "report": "Findings: Clear lungs. Impression: Normal.",
        "context": "Indication: Cough. Comparison: None.",
        "split": "val",
        **fields,
    }


def write_json(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_data_file_becomes_report_cases(tmp_path, run_import):
    done = run_import("rexrank", write_json(tmp_path / "ReXRank_X.json", {"a": study()}))
    case = done.review_set.case("a")
    assert case.question_type == "report"
    assert case.question.startswith("Write the findings")
    assert (case.report.findings, case.report.impression) == ("Clear lungs.", "Normal.")
    assert (case.context.indication, case.context.comparison) == ("Cough.", "None.")
    assert [(one.id, one.view, one.key) for one in case.images] == [
        ("0", "FRONTAL", True),
        ("1", "LATERAL", False),
    ]
    assert case.study_id == "a"
    assert case.extra == {"split": "val"}
    assert done.review_set.answers.height == 0
    assert done.report.counts["cases"] == 1


def test_nan_tokens_missing_sections_and_upper_case(tmp_path, run_import):
    source = tmp_path / "data.json"
    source.write_text(
        """{
        "nan_findings": {"section_findings": NaN, "section_impression": "1. NO CHANGE.",
                         "report": "Findings: None. Impression: 1. NO CHANGE."},
        "only_report": {"report": "FINDINGS: LUNGS CLEAR. IMPRESSION: NORMAL."},
        "nothing": {"section_findings": NaN, "section_impression": NaN, "report": NaN,
                    "context": NaN, "image_path": NaN, "age": Infinity},
        "half": {"section_findings": "Clear.", "section_impression": NaN,
                 "report": "Findings: Clear. Impression: None."}
        }""",
        encoding="utf-8",
    )
    done = run_import("rexrank", source)
    reports = {
        case_id: (report.findings, report.impression)
        for case_id in done.review_set.cases["id"]
        for report in [done.review_set.case(case_id).report]
    }
    assert reports == {
        "nan_findings": (None, "1. NO CHANGE."),
        "only_report": ("LUNGS CLEAR.", "NORMAL."),
        "nothing": (None, None),
        "half": ("Clear.", None),
    }


def test_mimic_style_ids_paths_and_views(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "files/p10/p100/s5/aa-bb.jpg")
    entry = {
        "image_path": ["/p10/p100/s5/aa-bb.jpg", "/p10/p100/s5/cc-dd.jpg"],
        "key_image_path": "/p10/p100/s5/aa-bb.jpg",
        "frontal_lateral": ["postero-anterior", "left lateral"],
        "subject_id": 100,
        "context": "Age:50-60.Gender:M.Indication: Fever.",
        "section_findings": "Clear.",
    }
    source = write_json(tmp_path / "mimic.json", {"p10/p100/s5": entry, "50123": entry})
    done = run_import("rexrank", source)
    case = done.review_set.case("p10/p100/s5")
    assert [(one.id, one.view) for one in case.images] == [("aa-bb", "PA"), ("cc-dd", "LATERAL")]
    assert (case.images[0].width, case.images[0].height) == (64, 48)
    assert find_image_file(done.review_set, case.images[0].path).is_file()
    assert case.patient_id == "100"
    assert (case.context.age, case.context.sex) == ("50-60", "M")
    assert done.messages("was not found") == ["The image p10/p100/s5/cc-dd.jpg was not found."]


def test_chexpert_plus_ap_pa_refines_frontal(tmp_path, run_import):
    entry = study(ap_pa=["AP", None], age=77.0, sex="Female", race="White")
    case = run_import("rexrank", write_json(tmp_path / "c.json", {"a": entry})).review_set.case("a")
    assert [one.view for one in case.images] == ["AP", "LATERAL"]
    assert (case.context.age, case.context.sex) == ("77", "F")
    assert case.extra["race"] == "White"


def test_views_that_do_not_match_the_images_stay_unknown(tmp_path, run_import):
    entry = study(frontal_lateral=["Lateral", "Lateral", "Frontal"])
    done = run_import("rexrank", write_json(tmp_path / "c.json", {"a": entry}))
    assert [one.view for one in done.review_set.case("a").images] == ["UNKNOWN", "UNKNOWN"]
    problem = next(one for one in done.report.problems if one.field == "frontal_lateral")
    assert (problem.severity, problem.row) == ("warning", 1)


def test_key_image_that_is_not_listed_is_added(tmp_path, run_import):
    entry = study(key_image_path="s/key.png")
    case = run_import("rexrank", write_json(tmp_path / "c.json", {"a": entry})).review_set.case("a")
    assert [(one.id, one.key) for one in case.images] == [
        ("key", True),
        ("0", False),
        ("1", False),
    ]


def test_several_prediction_files_are_several_models_on_the_same_cases(tmp_path, run_import):
    data = write_json(tmp_path / "ReXRank_IUXray_valid.json", {"a": study(), "b": study()})
    verbatim = "Findings: Effusion on the left.  Impression:Effusion.\n"
    first = {"a": study(model_prediction=verbatim), "b": study(model_prediction="Clear.")}
    one = write_json(tmp_path / "MedVersa_IUXray_valid.json", first)
    second = tmp_path / "predictions_CheXagent-2.json"
    second.write_text(
        '{"a": {"model_prediction": "Normal."}, "b": {"model_prediction": NaN},'
        ' "z": {"model_prediction": "Other."}}',
        encoding="utf-8",
    )
    done = run_import("rexrank", data, one, second)
    answers = done.review_set.answers.select("case", "model", "text").rows()
    assert answers == [
        ("a", "MedVersa", verbatim),
        ("b", "MedVersa", "Clear."),
        ("a", "CheXagent-2", "Normal."),
    ]
    assert [model.name for model in done.review_set.models] == ["MedVersa", "CheXagent-2"]
    assert {model.kind for model in done.review_set.models} == {"report"}
    assert set(done.review_set.cases["id"]) == {"a", "b"}
    assert done.messages("1 predictions are for studies that no data file has")
    assert done.messages("1 studies have no prediction")


def test_prediction_file_alone_brings_its_own_cases(tmp_path, run_import):
    entry = {
        "dicom_id": ["d1"],
        "img_root_dir": "/p10/p1/s1",
        "findings": "Clear.",
        "impression": "Normal.",
        "model_prediction": "Findings:Clear.Impression:Normal.",
    }
    done = run_import("rexrank", write_json(tmp_path / "prediction.json", {"1": entry}))
    case = done.review_set.case("1")
    assert case.images[0].path == "p10/p1/s1/d1.jpg"
    assert (case.report.findings, case.report.impression) == ("Clear.", "Normal.")
    assert done.review_set.answers["model"].to_list() == ["prediction"]


@pytest.mark.parametrize("named", [["MAIRA-2"], ["pred.json=MAIRA-2"]])
def test_model_name_as_told(tmp_path, run_import, named):
    source = write_json(tmp_path / "pred.json", {"a": study(model_prediction="Clear.")})
    done = run_import("rexrank", source, model=named)
    assert done.review_set.answers["model"].to_list() == ["MAIRA-2"]


def test_more_model_names_than_files_is_an_error(tmp_path):
    source = write_json(tmp_path / "pred.json", {"a": study(model_prediction="Clear.")})
    with pytest.raises(ImportSourceError) as caught:
        import_source("rexrank", [source], tmp_path / "out", options={"model": ["A", "B"]})
    errors = [one for one in caught.value.problems if one.severity == "error"]
    assert [one.field for one in errors] == ["model"]


def test_same_model_in_two_files_keeps_the_first_of_each_study(tmp_path, run_import):
    one = write_json(tmp_path / "m_test.json", {"a": study(model_prediction="One.")})
    two = write_json(
        tmp_path / "m_valid.json",
        {"a": study(model_prediction="Two."), "b": study(model_prediction="Three.")},
    )
    done = run_import("rexrank", one, two)
    assert done.review_set.answers.select("case", "model", "text").rows() == [
        ("a", "m", "One."),
        ("b", "m", "Three."),
    ]
    assert done.messages("1 predictions differ")


def test_files_that_disagree_about_the_report(tmp_path, run_import):
    one = write_json(tmp_path / "one.json", {"a": study()})
    two = write_json(tmp_path / "two.json", {"a": study(section_findings="Nodule.")})
    done = run_import("rexrank", one, two)
    assert done.review_set.case("a").report.findings == "Clear lungs."
    assert done.messages("The report differs")


def test_repeated_ids_keep_the_first(tmp_path, run_import):
    source = tmp_path / "twice.json"
    source.write_text('{"a": {"section_findings": "First."}, "a": {"section_findings": "Second."}}')
    done = run_import("rexrank", source)
    assert done.review_set.case("a").report.findings == "First."
    assert done.messages("occurs more than once")


def test_a_list_of_studies_is_read_by_its_ids(tmp_path, run_import):
    entries = [{"study_id": 7, **study()}, study(), "text", {"study_id": 7, **study()}]
    done = run_import("rexrank", write_json(tmp_path / "list.json", entries))
    assert done.review_set.cases["id"].to_list() == ["7"]
    assert len(done.messages("no study id")) == 2
    assert len(done.messages("more than once")) == 1


@pytest.mark.parametrize(
    "hostile",
    ["../../etc/passwd", "a/../../../etc/passwd", "/etc/passwd", "C:\\Windows\\win.ini", "~root/x",
     "http://elsewhere/x.png", "a\u0000b.png", "..", "x/" * 200 + "y.png"],
)  # fmt: skip
def test_image_paths_cannot_leave_the_folder(tmp_path, run_import, hostile, make_picture):
    make_picture(tmp_path / "images" / "ok.png")
    entry = study(image_path=[hostile, "ok.png"], key_image_path="ok.png", frontal_lateral=None)
    done = run_import("rexrank", write_json(tmp_path / "d.json", {"a": entry}))
    base = (tmp_path / "images").resolve()
    for image in done.review_set.case("a").images:
        assert find_image_file(done.review_set, image.path).is_relative_to(base)
    assert "ok" in [one.id for one in done.review_set.case("a").images]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b'{"a": {', "not valid JSON"),
        (b"42", "neither a dict of studies"),
        (b"{}", "no study"),
        (b"[]", "no study"),
        (b'{"a": 1, "b": [2]}', "no study"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a": {"age": ' + b"9" * 5000 + b"}}", "number too long"),
    ],
)
def test_unusable_files_are_errors_without_a_traceback(tmp_path, content, part):
    source = tmp_path / "bad.json"
    source.write_bytes(content)
    with pytest.raises(ImportSourceError) as caught:
        import_source("rexrank", [source], tmp_path / "out")
    assert any(part in one.message for one in caught.value.problems)
    assert not (tmp_path / "out").exists()


def test_every_bad_file_is_reported_at_once(tmp_path):
    bad = [tmp_path / "one.json", tmp_path / "two.json"]
    for path in bad:
        path.write_text("{")
    with pytest.raises(ImportSourceError) as caught:
        import_source("rexrank", bad, tmp_path / "out")
    assert {one.file for one in caught.value.problems} == {"one.json", "two.json"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, run_import, encoding):
    source = tmp_path / "e.json"
    text = json.dumps({"a": {"section_findings": "Größe unverändert"}}, ensure_ascii=False)
    source.write_bytes(text.encode(encoding))
    done = run_import("rexrank", source)
    assert done.review_set.case("a").report.findings == "Größe unverändert"
    assert bool(done.messages("Windows-1252")) is (encoding == "cp1252")


def test_text_that_utf8_cannot_hold(tmp_path, run_import):
    source = tmp_path / "s.json"
    source.write_text('{"a\\ud800": {"section_findings": "x\\udfff y", "k\\ud800": "v\\u0000"}}')
    done = run_import("rexrank", source)
    assert done.review_set.cases["id"].to_list() == ["a?"]
    assert done.review_set.case("a?").report.findings == "x? y"


def test_odd_field_types_do_no_harm(tmp_path, run_import):
    entry = {
        "image_path": {"a": 1},
        "frontal_lateral": 3,
        "report": ["x"],
        "context": {"age": 95, "gender": "F", "Indication": "Cough", "comparison": None},
        "section_findings": 7,
        "subject_id": 12.0,
        "deep": [[[[[[[[[[[[[[[[[[[[[[[[["bottom"]]]]]]]]]]]]]]]]]]]]]]]]],
        "number": 10**30,
        "extra": {"a": [1, None, "b"]},
    }
    case = run_import("rexrank", write_json(tmp_path / "o.json", {"a": entry})).review_set.case("a")
    assert case.images == ()
    assert case.report.findings == "7"
    assert case.patient_id == "12"
    assert (case.context.age, case.context.indication) == ("90+", "Cough")
    assert case.extra["number"] == str(10**30)
    assert case.extra["extra"] == {"a": [1, None, "b"]}
    assert "bottom" not in json.dumps(case.extra)


def test_long_lists_of_images_and_problems_stay_bounded(tmp_path, run_import):
    studies = {f"s{n}": study(frontal_lateral=["PA"]) for n in range(300)}
    studies["long"] = study(image_path=[f"{n}.png" for n in range(20_000)], frontal_lateral=None)
    done = run_import("rexrank", write_json(tmp_path / "l.json", studies))
    assert len(done.review_set.case("long").images) == 20_001
    assert len(done.report.problems) < 100
    assert any("250 more like this" in one.message for one in done.report.problems)


def test_site_question_and_name_as_told(tmp_path, run_import):
    source = write_json(tmp_path / "d.json", {"a": study()})
    done = run_import("rexrank", source, site="A", question="Report this.", name="My set")
    case = done.review_set.case("a")
    assert (case.site, case.question, done.review_set.info.name) == ("A", "Report this.", "My set")


@pytest.mark.parametrize("table_format", ["jsonl", "csv", "parquet"])
def test_every_table_format_gives_the_same_set(tmp_path, run_import, table_format):
    source = write_json(tmp_path / "d.json", {"a": study(model_prediction="Line 1\nLine 2, é")})
    done = run_import("rexrank", source, table_format=table_format)
    assert (done.review_set.folder / f"cases.{table_format}").is_file()
    assert done.review_set.answers["text"].to_list() == ["Line 1\nLine 2, é"]
    assert done.review_set.case("a").images[1].view == "LATERAL"


@pytest.mark.shared
def test_real_rexrank_file(shared_data, run_import):
    done = run_import("rexrank", shared_data / "rexrank/ReXRank_IUXray_valid.json")
    cases = done.review_set.cases
    assert cases.height == 296
    assert done.report.counts["images"] == 592
    report = cases["report"].struct.unnest()
    assert report["findings"].null_count() + report["impression"].null_count() == 0
    assert cases.select(pl.col("context").struct.field("comparison")).to_series().null_count() == 0
    fields = {one.field for one in done.report.problems}
    assert fields == {"images", "frontal_lateral"}
    found = check_review_set(done.review_set.folder)
    assert {one.field for one in found if "no answers" not in one.message} == {"images"}

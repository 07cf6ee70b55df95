import json

import pytest

from rexview.errors import ImportSourceError
from rexview.importers import import_source


def coco(boxes=((1, 2, [10, 20, 30, 40]),), **more):
    return {
        "images": [
            {"id": 1, "file_name": "x/a.png", "width": 100, "height": 80, "view": "PA"},
            {"id": 2, "file_name": "b.png", "width": 100, "height": 80, "site": "A"},
        ],
        "annotations": [
            {"id": number, "image_id": image, "category_id": category, "bbox": box}
            for number, (image, category, box) in enumerate(boxes)
        ],
        "categories": [{"id": 2, "name": "Nodule"}, {"id": 3, "name": "Mass"}],
        **more,
    }


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture(name="folder")
def folder_fixture(tmp_path, make_picture):
    make_picture(tmp_path / "d/images/x/a.png", (100, 80))
    make_picture(tmp_path / "d/images/b.png", (50, 40))
    return tmp_path / "d"


def test_boxes_become_reference_boxes(folder, run_import):
    boxes = [(1, 2, [10, 20, 30, 40]), (1, 3, [1.5, 2, 3, 4]), (2, 2, [10, 20, 30, 40])]
    done = run_import("coco", write_json(folder / "boxes.json", coco(boxes)))
    assert done.review_set.cases["id"].to_list() == ["x/a", "b"]
    one, two = done.review_set.case("x/a"), done.review_set.case("b")
    assert [(box.image, box.label, box.box) for box in one.reference_boxes] == [
        ("a", "Nodule", (10.0, 20.0, 30.0, 40.0)),
        ("a", "Mass", (1.5, 2.0, 3.0, 4.0)),
    ]
    assert one.images[0].view == "PA"
    assert two.site == "A"
    # measured on 100 x 80 pixels, the file has 50 x 40
    assert two.reference_boxes[0].box == (5.0, 10.0, 15.0, 20.0)
    assert any("1 boxes were scaled" in note for note in done.report.notes)
    assert done.review_set.answers.height == 0


def test_boxes_of_a_model(folder, run_import):
    done = run_import("coco", write_json(folder / "boxes.json", coco()), model="Detector")
    (answer,) = done.review_set.answers_of("x/a")
    assert (answer.model, answer.text or "") == ("Detector", "")
    assert [(box.label, box.box) for box in answer.boxes] == [("Nodule", (10.0, 20.0, 30.0, 40.0))]
    assert done.review_set.case("x/a").reference_boxes == ()
    assert done.review_set.models[0].draws_boxes is True
    assert done.review_set.answers.height == 1


@pytest.mark.parametrize("results_first", [True, False])
def test_results_are_added_to_their_data_set(folder, run_import, results_first):
    truth = write_json(folder / "truth.json", coco())
    results = write_json(
        folder / "yolo.json",
        [
            {"image_id": 1, "category_id": 3, "bbox": [1, 1, 5, 5], "score": 0.75},
            {"image_id": 2.0, "category_id": 2, "bbox": [2, 2, 4, 4], "score": None},
            {"image_id": 99, "category_id": 2, "bbox": [2, 2, 4, 4]},
        ],
    )
    sources = (results, truth) if results_first else (truth, results)
    done = run_import("coco", *sources)
    assert len(done.review_set.case("x/a").reference_boxes) == 1
    answers = {
        answer.case: [(box.label, box.box, box.score) for box in answer.boxes]
        for case in ("x/a", "b")
        for answer in done.review_set.answers_of(case)
    }
    assert answers == {
        "x/a": [("Mass", (1.0, 1.0, 5.0, 5.0), 0.75)],
        "b": [("Nodule", (1.0, 1.0, 2.0, 2.0), None)],
    }
    assert done.review_set.answers["model"].unique().to_list() == ["yolo"]
    assert done.messages("1 boxes are for images that the data set does not list")


def test_images_of_one_study_are_one_case(folder, run_import):
    data = coco()
    for image in data["images"]:
        image["study_id"] = 7
    case = run_import("coco", write_json(folder / "b.json", data)).review_set.case("7")
    assert [one.id for one in case.images] == ["a", "b"]
    assert case.study_id == "7"


def test_outlines_and_crowds_are_noted(folder, run_import):
    data = coco()
    data["annotations"][0] |= {"segmentation": [[1, 2, 3, 4]], "iscrowd": 1, "area": 3}
    done = run_import("coco", write_json(folder / "b.json", data))
    assert len(done.review_set.case("x/a").reference_boxes) == 1
    assert any("outlines were passed over" in note for note in done.report.notes)
    assert any("iscrowd" in note for note in done.report.notes)


def test_missing_images_are_one_warning(tmp_path, run_import):
    done = run_import("coco", write_json(tmp_path / "b.json", coco()))
    assert len(done.messages("None of the 2 images was found")) == 1
    assert done.review_set.case("x/a").reference_boxes[0].box == (10.0, 20.0, 30.0, 40.0)


def test_images_folder_as_told(tmp_path, folder, run_import):
    source = write_json(tmp_path / "elsewhere" / "b.json", coco())
    done = run_import("coco", source, images=folder / "images")
    assert done.report.counts["images found"] == 2
    assert done.report.problems == ()


def test_bad_boxes(folder, run_import):
    source = folder / "b.json"
    data = coco(
        [
            *((1, 2, [1, 2, 3]), (1, 2, "1,2,3,4"), (1, 2, [1, 2, None, 4])),
            *((None, 2, [1, 2, 3, 4]),),
            *((1, 2, [0, 0, 0, 5]), (1, 2, [500, 500, 5, 5]), (1, 77, [1, 1, 5, 5])),
        ]
    )  # fmt: skip
    data["annotations"] += ["text", {"image_id": 1, "category_id": 2, "bbox": [1, 2, True, 4]}]
    text = json.dumps(data).replace("[0, 0, 0, 5]", "[0, 0, 0, 5]")
    text = text.replace('"bbox": [1, 2, 3]', '"bbox": [NaN, Infinity, 1e999, 3]')
    source.write_text(text)
    done = run_import("coco", source)
    found = [(box.label, box.box) for box in done.review_set.case("x/a").reference_boxes]
    assert found == [
        ("Nodule", (0.0, 0.0, 0.0, 5.0)),
        ("Nodule", (500.0, 500.0, 5.0, 5.0)),
        ("77", (1.0, 1.0, 5.0, 5.0)),
    ]
    assert {one.row for one in done.report.problems} == {1, 2, 3, 4, 5, 6, 7, 8, 9}


def test_boxes_as_shares_of_the_image_are_pointed_out(folder, run_import):
    done = run_import("coco", write_json(folder / "b.json", coco([(1, 2, [0.1, 0.2, 0.3, 0.4])])))
    assert done.messages("between 0 and 1")


def test_image_of_another_shape_is_pointed_out(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "x/a.png", (100, 100))
    make_picture(tmp_path / "b.png", (100, 80))
    done = run_import("coco", write_json(tmp_path / "b.json", coco()))
    assert done.messages("another shape")


def test_bad_images(folder, run_import):
    data = coco()
    data["images"] += [
        *({"id": 1, "file_name": "other.png"}, {"id": 3, "file_name": "b.png"}, {"id": 4}),
        *(
            "text",
            {"id": 5, "file_name": "../../../etc/passwd"},
            {"id": 6, "file_name": "a/../../c"},
        ),
    ]
    done = run_import("coco", write_json(folder / "b.json", data))
    assert done.review_set.cases["id"].to_list() == ["x/a", "b", "etc/passwd"]
    rows = {one.row for one in done.report.problems if one.row}
    assert rows == {3, 4, 5, 6, 8}


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ({}, "no lists"),
        ({"images": {}, "annotations": []}, "no lists"),
        ({"images": [], "annotations": []}, "Nothing was found"),
        ([{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}], "nothing about its images"),
        (3, "no lists"),
    ],
)
def test_unusable_files(tmp_path, content, part):
    with pytest.raises(ImportSourceError) as caught:
        import_source("coco", [write_json(tmp_path / "b.json", content)], tmp_path / "out")
    assert any(part in one.message for one in caught.value.problems)

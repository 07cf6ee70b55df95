"""Boxes in the files of annotation tools, as those tools write them."""

from __future__ import annotations

from typing import Any

import pytest

from rexview.importers import fiftyone, label_studio, pascal_voc, yolo

RECTANGLE: dict[str, Any] = {
    "original_width": 600,
    "original_height": 403,
    "image_rotation": 0,
    "value": {
        "x": 20.5,
        "y": 30,
        "width": 10,
        "height": 12.5,
        "rotation": 0,
        "rectanglelabels": ["Nodule"],
    },
    "id": "Dx_aB91ISN",
    "from_name": "label",
    "to_name": "image",
    "type": "rectanglelabels",
    "origin": "manual",
}


def _task(**given: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "data": {"image": "/data/upload/3/1a2b3c4d-chest_07.png", "indication": "Cough."},
        "annotations": [],
        "predictions": [],
        "created_at": "2025-03-04T10:00:00Z",
        **given,
    }


def test_label_studio_boxes_of_people_and_models() -> None:
    predicted = {**RECTANGLE, "score": 0.82}
    export = [
        _task(
            annotations=[{"id": 1, "completed_by": 4, "result": [RECTANGLE]}],
            predictions=[{"model_version": "det-v2", "score": 0.8, "result": [predicted]}],
        )
    ]
    assert label_studio.looks_like_tasks(export)
    (task,) = label_studio.read_tasks(export)
    assert not isinstance(task, int)
    assert task.images == ("1a2b3c4d-chest_07.png", "chest_07.png")
    assert task.data == {"indication": "Cough."}
    person, model = task.boxes
    assert person.numbers == (20.5, 30, 10, 12.5)
    assert (person.label, person.model, person.score, person.size) == (
        "Nodule",
        None,
        None,
        (600, 403),
    )
    assert (model.model, model.score) == ("det-v2", 0.82)


def test_label_studio_words_and_what_is_not_read() -> None:
    def result(kind: str, **value: Any) -> dict[str, Any]:
        return {"type": kind, "from_name": f"my_{kind}", "to_name": "image", "value": value}

    results = [
        result("choices", choices=["wrong side", "missed"]),
        result("textarea", text=["Two lines", "of text"]),
        result("rating", rating=4),
        result("taxonomy", taxonomy=[["Lung", "Left"]]),
        result("brushlabels", format="rle", rle=[1, 2]),
        result("rectanglelabels", x=1, y=2, rectanglelabels=["no size"]),
        {"type": "choices"},
    ]
    (task,) = label_studio.read_tasks(
        [_task(annotations=[{"result": results}, {"was_cancelled": True, "result": [RECTANGLE]}])]
    )
    assert not isinstance(task, int)
    assert task.words == {
        None: {
            "my_choices": ["wrong side", "missed"],
            "my_textarea": ["Two lines", "of text"],
            "my_rating": ["4"],
            "my_taxonomy": ["Lung / Left"],
        }
    }
    assert task.unread == {
        "brushlabels": 1,
        "rectanglelabels without four numbers": 1,
        "choices": 1,
        "skipped annotation": 1,
    }
    assert task.boxes == []


def test_label_studio_other_shapes_become_the_box_around_them() -> None:
    polygon = {
        "type": "polygonlabels",
        "value": {"points": [[10, 20], [30, 25], [15, 60]], "polygonlabels": ["Mass"]},
    }
    ellipse = {
        "type": "ellipselabels",
        "value": {"x": 50, "y": 40, "radiusX": 5, "radiusY": 10, "ellipselabels": ["Heart"]},
    }
    (task,) = label_studio.read_tasks([_task(annotations=[{"result": [polygon, ellipse]}])])
    assert not isinstance(task, int)
    assert [box.numbers for box in task.boxes] == [(10, 20, 20, 40), (45, 30, 10, 20)]


def test_label_studio_short_form() -> None:
    export = [
        {
            "image": "/data/local-files/?d=xrays%2Fa.png",
            "id": 1,
            "label": [{**RECTANGLE["value"], "original_width": 600, "original_height": 403}],
            "choice": "Abnormal",
            "annotator": 1,
            "lead_time": 12.1,
        },
        "not a task",
    ]
    assert label_studio.looks_like_tasks(export)
    task, wrong = label_studio.read_tasks(export)
    assert wrong == 2
    assert not isinstance(task, int)
    assert task.images == ("xrays/a.png",)
    assert task.data == {"choice": "Abnormal"}
    assert [(box.label, box.numbers, box.size) for box in task.boxes] == [
        ("Nodule", (20.5, 30, 10, 12.5), (600, 403))
    ]


@pytest.mark.parametrize("content", [None, {}, [], [1], [{"data": 3}], [{"id": "a", "text": "b"}]])
def test_other_json_is_neither_label_studio_nor_fiftyone(content: Any) -> None:
    assert not label_studio.looks_like_tasks(content)
    assert not fiftyone.looks_like_samples(content)


def test_fiftyone_samples() -> None:
    detection = {
        "_id": {"$oid": "5f"},
        "_cls": "Detection",
        "label": "Effusion",
        "bounding_box": [0.25, 0.5, 0.5, 0.125],
    }
    content = {
        "samples": [
            {
                "filepath": "data/a.png",
                "tags": ["test"],
                "metadata": {"_cls": "ImageMetadata", "width": 512, "height": 256},
                "ground_truth": {"_cls": "Detections", "detections": [detection]},
                "yolo": {
                    "_cls": "Detections",
                    "detections": [{**detection, "confidence": 0.5, "iscrowd": 1}],
                },
                "quality": {"_cls": "Classification", "label": "rotated", "confidence": None},
                "lines": {"_cls": "Polylines", "polylines": []},
                "site": "B",
            },
            {"no": "path"},
        ]
    }
    assert fiftyone.looks_like_samples(content)
    sample, wrong = fiftyone.read_samples(content)
    assert wrong == 2
    assert not isinstance(sample, int)
    assert (sample.image, sample.size) == ("data/a.png", (512, 256))
    truth, predicted = sample.boxes
    assert (truth.model, truth.numbers) == (None, (0.25, 0.5, 0.5, 0.125))
    assert (predicted.model, predicted.score, predicted.extra) == ("yolo", 0.5, {"iscrowd": 1})
    assert sample.labels == {"quality": [("rotated", None)], "tags": [("test", None)]}
    assert sample.extra == {"site": "B"}
    assert sample.unread == {"lines (Polylines)": 1}


def test_fiftyone_labels() -> None:
    content = {
        "classes": ["Mass", "Nodule"],
        "labels": {"a": [{"label": 1, "bounding_box": [0, 0, 0.5, 0.5]}], "b": None, "c": 0},
    }
    assert fiftyone.looks_like_samples(content)
    a, b, c = fiftyone.read_samples(content)
    assert not isinstance(a, int)
    assert not isinstance(b, int)
    assert not isinstance(c, int)
    assert [box.label for box in a.boxes] == ["Nodule"]
    assert (b.boxes, b.labels) == ([], {})
    assert c.labels == {"ground_truth": [("Mass", None)]}


VOC = """<?xml version="1.0"?>
<annotation>
  <folder>xrays</folder>
  <filename>a.png</filename>
  <size><width>640</width><height>480</height><depth>1</depth></size>
  <object>
    <name>Pneumothorax</name><pose>Unspecified</pose><truncated>0</truncated>
    <difficult>1</difficult>
    <bndbox><xmin>10</xmin><ymin>20</ymin><xmax>110</xmax><ymax>220.5</ymax></bndbox>
  </object>
  <object><name>Mass</name></object>
</annotation>
"""


def test_voc() -> None:
    assert pascal_voc.looks_like_voc(VOC)
    found = pascal_voc.read_annotation(VOC)
    assert found.image == "a.png"
    assert found.broken == [2]
    (box,) = found.boxes
    assert (box.label, box.numbers, box.size) == ("Pneumothorax", (10, 20, 110, 220.5), (640, 480))
    assert box.extra == {"difficult": "1"}


def test_voc_refuses_entities_and_says_why() -> None:
    bomb = VOC.replace("<annotation>", '<!DOCTYPE a [<!ENTITY b "c">]><annotation>')
    for text, why in ((bomb, "entities"), (VOC[:-20], "well-formed"), ("<a/>", "outermost")):
        with pytest.raises(pascal_voc.NotPascalVoc, match=why):
            pascal_voc.read_annotation(text)
    unnamed = VOC.replace("<filename>a.png</filename>", "")
    with pytest.raises(pascal_voc.NotPascalVoc, match="filename"):
        pascal_voc.read_annotation(unnamed)


def test_yolo_boxes_outlines_and_confidences() -> None:
    text = "1 0.5 0.25 0.2 0.1\n0 0.5 0.5 0.2 0.2 0.91\n\n0 0.1 0.2 0.3 0.2 0.3 0.6\n2 0 0 x 1\n"
    found = yolo.read_labels("set/labels/a.txt", text, ["Mass", "Nodule"], "exp3")
    assert found.broken == [5]
    assert found.outlines == 1
    truth, predicted, outline = found.boxes
    assert (truth.image, truth.label, truth.numbers, truth.row) == (
        "set/images/a",
        "Nodule",
        (0.5, 0.25, 0.2, 0.1),
        1,
    )
    assert (truth.model, truth.score) == (None, None)
    assert (predicted.label, predicted.model, predicted.score) == ("Mass", "exp3", 0.91)
    assert outline.numbers == pytest.approx((0.2, 0.4, 0.2, 0.4))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 0.5 0.5 0.2 0.2", True),
        ("0 0.5 0.5 0.2 0.2 0.9\n3 .1 .2 .3 .4 .5\n", True),
        ("0 120 80 30 40", False),
        ("The lungs are clear.", False),
        ("", False),
        ("0 0.5 0.5", False),
    ],
)
def test_yolo_is_known_by_its_lines(text: str, *, expected: bool) -> None:
    assert yolo.looks_like_labels(text) is expected


def test_yolo_class_names() -> None:
    assert yolo.class_names("x/classes.txt", "Mass\nNodule\n\n") == ["Mass", "Nodule"]
    assert yolo.class_names("x/obj.names", "Mass") == ["Mass"]
    assert yolo.class_names("x/readme.txt", "Mass") is None
    assert yolo.names_of_yaml({"nc": 2, "names": {0: "Mass", 2: "Nodule"}}) == [
        "Mass",
        "1",
        "Nodule",
    ]
    assert yolo.names_of_yaml({"names": ["Mass"]}) == ["Mass"]
    assert yolo.names_of_yaml({"names": {"a": 1}}) is None

"""COCO, Label Studio and FiftyOne: every box with whose it is, in shares or pixels of the film."""

import base64
import json
import math
from dataclasses import replace

import cv2
import numpy as np
import pytest
from support import ROOT
from support.exports.exported_set import exported, write_exported_set
from support.hostile_set import write_hostile_set
from support.review_folder import RAMP, named, write_review_set

from rexview.errors import ExportCancelled
from rexview.export.annotations import plain_model_names
from rexview.export.annotations.labelstudio import CONFIG
from rexview.export.export_formats import EXPORT_FORMATS
from rexview.export.export_job import ExportProgress, write_export
from rexview.export.export_records import ExportModel
from rexview.importers import import_source
from rexview.reviewset import load_review_set

WIDE = np.tile(np.linspace(0, 65535, 90, dtype=np.uint16), (40, 1))
"""A film of 90 x 40 pixels."""
NOTES = ("“nowhere” is left out", "“beyond” is left out", "AP: left out with its boxes")


def box(image, label, *numbers, **more):
    return {"image": image, "label": label, "box": list(numbers), **more}


@pytest.fixture
def folder(tmp_path):
    """Write a set with boxes on a frontal, a lateral and a prior film, two models and the truth."""
    images = [
        {"id": "pa", "path": "a.png", "view": "PA"},  # the set does not say its size
        {"id": "lat", "path": "b.png", "view": "LATERAL", "width": 90, "height": 40},
        {"id": "old", "path": "a.png", "view": "PA", "prior": True, "width": 100, "height": 120},
        {"id": "lost", "path": "lost.png", "view": "AP"},
    ]
    boxes = {
        "one": [
            box("pa", 'Effusion <&"\n', 5, 60.5, 30, 30.25, score=0.25),
            box("lat", "effusion", 1, 2, 3, 4, score=0.5),
            box("old", "effusion", 70, 80, 60, 60, score=1),  # sticks out of the film
            box("old", "nowhere", 500, 500, 5, 5),
            box("lost", "lost", 1, 1, 2, 2),
            box("pa", "beyond", 100, 0, 5, 5),  # seen only when the film is read
        ],
        "two-b": [box("pa", "nodule", 10, 10, 5, 5), box("pa", "", 20, 20, 5, 5)],
    }
    truth = [box("pa", "effusion", 6, 61, 29, 28), box("lat", "x", 0, 0, 90, 40)]
    first = {"id": "c1", "question": "What is there?", "images": images, "reference_boxes": truth}
    return write_review_set(
        tmp_path / "set",
        info={
            "name": "Boxes",
            "notice": "Made for a test.",
            "models": named(**{"one": "Model One", "two-b": "Model.Öne!"}),
        },
        cases=[first, {"id": "c2", "question": "And here?", "images": [images[1]]}],
        answers=[
            {"case": "c1", "model": model, "text": "Seen.", "boxes": given}
            for model, given in boxes.items()
        ],
        pictures={"a.png": RAMP, "b.png": WIDE},
    )


def written(folder, name, out, **how):
    """Write an export; return where it is, and what was noted."""
    progress = ExportProgress()
    content, _ = exported(folder, **how)
    write_export(content, EXPORT_FORMATS[name], out, progress)
    return out, progress.notes


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_coco_has_every_box_in_pixels_and_says_whose_it_is(folder, tmp_path):
    out, notes = written(folder, "coco", tmp_path / "out.json")
    found = read(out)
    sizes = {one["image"]: (one["width"], one["height"]) for one in found["images"]}
    assert sizes == {"pa": (100, 120), "lat": (90, 40), "old": (100, 120)}
    assert [one["file_name"] for one in found["images"]] == ["a.png", "b.png", "a.png", "b.png"]
    assert [one["case"] for one in found["images"]] == ["c1", "c1", "c1", "c2"]
    labels = {one["id"]: one["name"] for one in found["categories"]}
    images = {one["id"]: one["image"] for one in found["images"]}
    assert sorted(
        (one["attributes"]["model"] or "", images[one["image_id"]], labels[one["category_id"]])
        for one in found["annotations"]
    ) == [
        ("", "lat", "x"),
        ("", "pa", "effusion"),
        ("one", "lat", "effusion"),
        ("one", "old", "effusion"),
        ("one", "pa", 'Effusion <&"\n'),
        ("two-b", "pa", "no label"),
        ("two-b", "pa", "nodule"),
    ]
    first = next(one for one in found["annotations"] if one.get("score") == 0.25)
    assert first["bbox"] == [5, 60.5, 30, 30.25]
    assert first["area"] == 30 * 30.25
    assert first["attributes"]["source"] == "model"
    assert first["attributes"]["side"] == "right"
    assert [one["id"] for one in found["annotations"]] == list(range(1, 8))
    assert found["licenses"] == []
    assert found["info"]["notice"] == "Made for a test."
    for words in (*NOTES, "names of files occur more than once"):
        assert any(words in note for note in notes), words


def test_label_studio_has_percent_pictures_and_whose_they_are(folder, tmp_path):
    out, notes = written(folder, "labelstudio", tmp_path / "out.json")
    tasks = read(out)
    assert [(one["data"]["case"], one["data"]["image_id"]) for one in tasks] == [
        ("c1", "pa"),
        ("c1", "lat"),
        ("c1", "old"),
        ("c2", "lat"),
    ]
    first = tasks[0]
    assert [one["model_version"] for one in first["predictions"]] == ["Model One", "Model.Öne!"]
    (result,) = first["predictions"][0]["result"]
    assert result["score"] == 0.25
    value = result["value"]
    assert value["rectanglelabels"] == ['Effusion <&"\n']
    assert [value[edge] for edge in ("x", "y", "width", "height")] == pytest.approx(
        [5, 60.5 / 1.2, 30, 30.25 / 1.2]
    )
    (truth,) = first["annotations"]
    assert truth["ground_truth"]
    assert {"value": "nodule"} in first["data"]["labels"]
    old = tasks[2]["predictions"][0]["result"][0]["value"]  # cut off where the film ends
    assert (old["x"] + old["width"], old["y"] + old["height"]) == pytest.approx((100, 100))
    assert tasks[3]["predictions"] == tasks[3]["annotations"] == []
    assert first["data"]["notice"] == "Made for a test."
    content = base64.b64decode(first["data"]["image"].removeprefix("data:image/jpeg;base64,"))
    film = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
    assert film.shape[:2] == (120, 100)
    assert all(any(words in note for note in notes) for words in NOTES)


def test_the_documents_have_label_studios_configuration():
    told = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
    assert CONFIG.split() == told.partition("```xml")[2].partition("```")[0].split()


def test_fiftyone_opens_as_it_was(folder, tmp_path):
    out, notes = written(folder, "fiftyone", tmp_path / "out")
    samples = read(out / "samples.json")["samples"]
    metadata = read(out / "metadata.json")
    assert "version" not in metadata  # with one, FiftyOne wants its own database's records
    assert metadata["info"]["models"] == {"model_one": "Model One", "model_ne": "Model.Öne!"}
    films = {sample["filepath"].removeprefix("data/") for sample in samples}
    assert len(films) == len(samples) == 4
    assert {path.name for path in (out / "data").iterdir()} == films
    assert {"ground_truth", "predictions_model_one", "predictions_model_ne"} < samples[0].keys()
    assert samples[0]["answer_model_one"] == "Seen."
    assert samples[3].keys().isdisjoint({"ground_truth", "predictions_model_one"})
    film = cv2.imread(str(out / samples[1]["filepath"]), cv2.IMREAD_UNCHANGED)
    assert film.shape == (40, 90)
    assert (samples[1]["metadata"]["width"], samples[1]["metadata"]["height"]) == (90, 40)
    (found,) = samples[1]["predictions_model_one"]["detections"]
    assert found["bounding_box"] == pytest.approx([1 / 90, 2 / 40, 3 / 90, 4 / 40])
    assert (found["label"], found["confidence"]) == ("effusion", 0.5)
    assert all(any(words in note for note in notes) for words in NOTES)


def test_the_apps_own_importer_finds_fiftyones_boxes_where_they_were(folder, tmp_path):
    out, _ = written(folder, "fiftyone", tmp_path / "out")
    import_source("auto", [out], tmp_path / "back")
    back = load_review_set(tmp_path / "back")
    found = {}
    for row in back.cases.iter_rows(named=True):
        name = back.case(row["id"]).images[0].path.rpartition("/")[2]
        given = {one.model: one.boxes for one in back.answers_of(row["id"])}
        found[name] = [one.box for one in given.get("predictions_model_one", ())]
    wanted = [[(5, 60.5, 30, 30.25)], [(1, 2, 3, 4)], [(70, 80, 30, 40)], []]
    for sample, boxes in zip(read(out / "samples.json")["samples"], wanted, strict=True):
        there = found[sample["filepath"].removeprefix("data/")]
        assert len(there) == len(boxes)
        assert all(math.dist(*pair) < 0.5 for pair in zip(there, boxes, strict=True))


@pytest.mark.parametrize("name", ["coco", "labelstudio", "fiftyone", "html"])
def test_hostile_words_and_pseudonyms_break_no_format(tmp_path, name):
    ending = EXPORT_FORMATS[name].ending
    written(write_hostile_set(tmp_path / "hostile"), name, tmp_path / f"hostile-out{ending}")
    folder = write_exported_set(tmp_path / "set")
    out, _ = written(folder, name, tmp_path / f"out{ending}", pseudonyms=True)
    for text in [out] if out.is_file() else sorted(out.rglob("*.json")):
        words = text.read_text(encoding="utf-8").casefold()
        for told in ("Northfield", "ACC-77001", "one.png", str(tmp_path)):
            assert told.casefold() not in words, told
    assert "case-001" in words


@pytest.mark.parametrize("name", ["coco", "labelstudio", "fiftyone", "html"])
def test_what_is_cancelled_leaves_nothing(folder, tmp_path, name):
    out = tmp_path / f"out{EXPORT_FORMATS[name].ending}"
    asked = []

    def is_cancelled():
        asked.append(True)
        return len(asked) > 1

    content, _ = exported(folder)
    with pytest.raises(ExportCancelled):
        write_export(content, EXPORT_FORMATS[name], out, ExportProgress(is_cancelled=is_cancelled))
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_models_whose_names_are_alike_in_plain_letters_are_told_apart(folder):
    content, _ = exported(folder)
    alike = tuple(ExportModel(str(place), name, "#000000") for place, name in enumerate("ÄÖÜ"))
    assert plain_model_names(replace(content, models=alike)) == {
        "0": "model",
        "1": "model_2",
        "2": "model_3",
    }

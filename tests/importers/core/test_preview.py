"""An import makes what its preview says; a decision reaches the table and boxes that it is of."""

import json
from dataclasses import replace

import pytest

from rexview.importers import import_source
from rexview.importers.import_run import preview_source

COUNTED = ("cases", "answers", "models", "scores", "reference_boxes", "model_boxes", "rows_in")


@pytest.fixture
def sources(tmp_path, make_picture):
    """Return a folder with two pictures, boxes in COCO and of a model, and two tables."""
    folder = tmp_path / "in"
    for name in ("a", "b"):
        make_picture(folder / f"{name}.png", (80, 60))
    images = [
        {"id": number, "file_name": f"{name}.png", "width": 80, "height": 60}
        for number, name in enumerate(("a", "b"), start=1)
    ]
    box = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 30, 40]}
    categories = [{"id": 1, "name": "nodule"}]
    (folder / "truth.json").write_text(
        json.dumps({"images": images, "categories": categories, "annotations": [box]})
    )
    (folder / "found.json").write_text(json.dumps([{**box, "score": 0.5}]))
    (folder / "answers.csv").write_text("case,model,answer,site\na,GPT,Nodule.,X\nb,GPT,Clear.,Y\n")
    (folder / "more.csv").write_text("case,model,answer,site\na,MAIRA,Clear.,X\nb,MAIRA,,Y\n")
    return folder


def listed(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))


def test_a_preview_has_the_numbers_of_the_import_and_writes_nothing(sources, tmp_path):
    before = listed(tmp_path)
    preview = preview_source("auto", [sources], {})
    assert preview.error is None
    assert listed(tmp_path) == before
    made = import_source("auto", [sources], tmp_path / "out").receipt
    for name in COUNTED:
        assert getattr(preview.receipt, name) == getattr(made, name), name
    assert {one.file for one in made.files_read} == {
        "in/a.png",
        "in/b.png",
        "in/truth.json",
        "in/found.json",
        "in/answers.csv",
        "in/more.csv",
    }
    assert preview.receipt.files_read == made.files_read


def test_boxes_come_with_their_pictures_and_a_reading_holds_for_one_model(sources):
    preview = preview_source("auto", [sources], {})
    whose = {(one.file, one.model): one for one in preview.boxes}
    (reference,) = (key for key in whose if key[1] is None)
    (model,) = (key for key in whose if key[1] is not None)
    (case, image, *_), *_ = whose[reference].pictures
    assert preview.pictures[case, image][:4] == b"RIFF"
    assert {str(one.proposal.reading) for one in preview.boxes} == {"xywh:pixels"}
    other = preview_source("auto", [sources], {"boxes_as": {model: "xyxy:pixels"}})
    readings = {(one.file, one.model): str(one.proposal.reading) for one in other.boxes}
    assert readings == {reference: "xywh:pixels", model: "xyxy:pixels"}


def test_a_confirmed_mapping_is_of_its_own_table(sources, tmp_path):
    preview = preview_source("auto", [sources], {})
    first = next(one for one in preview.mappings if one.file == "in/answers.csv")
    without = replace(
        first,
        fields=tuple(
            replace(one, column=None) if one.field == "site" else one for one in first.fields
        ),
        identity=("site",),
    )
    made = import_source("auto", [sources], tmp_path / "out", options={"mapping": [without]})
    (left_out,) = made.receipt.columns_unused
    assert (left_out.file, left_out.column, left_out.example) == ("in/answers.csv", "site", "X")
    assert made.receipt.identity_columns == []
    assert made.receipt.models["MAIRA"] == 1


def test_what_cannot_be_imported_still_shows_what_its_columns_were_taken_for(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("first,second\n1,2\n3,4\n")
    preview = preview_source("table", [table], {"mapping": "proposed"})
    assert preview.error is not None
    (mapping,) = preview.mappings
    assert mapping.columns == ("first", "second")


def test_a_damaged_picture_is_told_by_the_import(sources, tmp_path):
    picture = sources / "b.png"
    content = bytearray(picture.read_bytes())
    content[-40:-20] = bytes(20)
    picture.write_bytes(content)
    assert preview_source("images", [sources], {}).receipt.cases == 2
    assert import_source("images", [sources], tmp_path / "out").receipt.cases == 1

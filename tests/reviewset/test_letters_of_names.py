"""File names whose accented letters are one character (NFC) or two (NFD, as macOS writes them)."""

import json
from unicodedata import normalize

import pytest
from PIL import Image

from rexview.errors import PathEscape
from rexview.importers import import_source
from rexview.reviewset import check_review_set, find_image_file, load_review_set
from rexview.reviewset.image_paths import join_inside

NAME = "Müller/Aufnahme é.png"


def write_set(folder, path, *files):
    for number, file in enumerate(files):
        target = folder / "images" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (30 + number, 20)).save(target)
    images = [{"id": "1", "path": path, "view": "PA"}]
    case = {"id": "c", "question": "Is there an effusion?", "images": images}
    (folder / "cases.jsonl").write_text(json.dumps(case, ensure_ascii=False), encoding="utf-8")
    answer = {"case": "c", "model": "m", "text": "Clear lungs."}
    (folder / "answers.jsonl").write_text(json.dumps(answer))
    (folder / "reviewset.yaml").write_text("format: 1\nname: Letters\nmodels: [{id: m}]\n")
    return folder


@pytest.mark.parametrize(("on_disk", "in_table"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_found_whichever_form_the_table_has(tmp_path, on_disk, in_table):
    folder = write_set(tmp_path, normalize(in_table, NAME), normalize(on_disk, NAME))
    assert check_review_set(folder) == []
    review_set = load_review_set(folder)
    image = review_set.case("c").images[0]
    assert (image.width, image.height) == (30, 20)
    assert find_image_file(review_set, image.path).is_file()


def test_two_files_that_differ_only_so(tmp_path):
    both = [normalize("NFC", "é.png"), normalize("NFD", "é.png")]
    folder = write_set(tmp_path, both[1], *both)
    if len(list((folder / "images").iterdir())) == 1:
        pytest.skip("this disk takes both for one file")
    (problem,) = check_review_set(folder)
    assert "differ only in how an accented letter is stored" in problem.message
    assert load_review_set(folder).case("c").images[0].width == 31  # the one as written


def test_neither_is_guessed_where_both_would_do(tmp_path):
    """A third spelling fits both files: mixed forms."""
    files = [normalize("NFC", "éé.png"), normalize("NFD", "éé.png")]
    folder = write_set(tmp_path, "é" + normalize("NFD", "é.png"), *files)
    if len(list((folder / "images").iterdir())) == 1:
        pytest.skip("this disk takes both for one file")
    assert "There is no image file" in check_review_set(folder)[0].message


def test_a_link_that_is_found_so_leads_nowhere_else(tmp_path):
    base = tmp_path / "images"
    base.mkdir()
    (tmp_path / "secret.png").write_bytes(b"x")
    (base / normalize("NFD", "é.png")).symlink_to(tmp_path / "secret.png")
    with pytest.raises(PathEscape):
        join_inside(base, normalize("NFC", "é.png"))


def test_a_listing_is_made_anew_when_the_folder_changes(tmp_path):
    written = normalize("NFC", "é.png")
    assert not join_inside(tmp_path, written).exists()
    (tmp_path / normalize("NFD", "é.png")).write_bytes(b"x")
    assert join_inside(tmp_path, written).exists()


@pytest.mark.parametrize("copy", [False, True])
def test_an_import_finds_them(tmp_path, copy):
    source = tmp_path / "source"
    (source / "images").mkdir(parents=True)
    Image.new("L", (30, 20)).save(source / "images" / normalize("NFD", "aufnahme-é.png"))
    written = normalize("NFC", "aufnahme-é.png")
    coco = {
        "images": [{"id": 1, "file_name": written, "width": 30, "height": 20}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
        "categories": [{"id": 1, "name": "Nodule"}],
    }
    file = source / "boxes.json"
    file.write_text(json.dumps(coco, ensure_ascii=False), encoding="utf-8")
    report = import_source("coco", [file], tmp_path / "out", options={"copy": copy})
    assert report.counts["images found"] == 1
    assert not [one for one in check_review_set(tmp_path / "out") if "image file" in one.message]
    beside = source / "images"
    table = beside / "boxes.csv"
    table.write_text(f"image,label,x,y,width,height\n{written},Mass,1,2,3,4\n", encoding="utf-8")
    report = import_source("images", [beside], tmp_path / "out2")
    assert report.counts["reference boxes"] == 1


def test_an_import_says_which_names_are_twins(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for form in ("NFC", "NFD"):
        Image.new("L", (30, 20)).save(source / normalize(form, "é.png"))
    if len(list(source.iterdir())) == 1:
        pytest.skip("this disk takes both for one file")
    report = import_source("images", [source], tmp_path / "out")
    assert report.counts["cases"] == 2
    assert sum("accented letter" in one.message for one in report.problems) == 2

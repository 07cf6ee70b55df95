import json
import logging
import os
import warnings

import pytest
from PIL import Image

from rexview.errors import ImportSourceError
from rexview.imaging import read_image
from rexview.importers import import_source
from rexview.importers.import_run import preview_source
from rexview.reviewset import find_image_file

PERSON = ("DOE", "JANE", "MRN0012345", "19311224", "20240229", "ACC777", "1.2.840.99")


def written_text(folder):
    names = " ".join(str(path.relative_to(folder)) for path in folder.rglob("*"))
    tables = [path for path in folder.glob("*.*") if path.suffix in (".jsonl", ".yaml", ".csv")]
    return names + "".join(path.read_text(encoding="utf-8") for path in tables)


def test_pictures_become_cases(tmp_path, run_import, make_picture):
    scans = tmp_path / "my_scans"
    make_picture(scans / "a.png", (64, 48))
    make_picture(scans / "b.jpg", (30, 20))
    make_picture(scans / "c.webp", (10, 12))
    make_picture(scans / "d.png", (8, 8), "RGBA")
    make_picture(scans / "e.png", (8, 8), "P")
    done = run_import("images", scans)
    assert done.review_set.cases["id"].to_list() == ["a", "b", "c", "d", "e"]
    image = done.review_set.case("b").images[0]
    assert (image.path, image.width, image.height, image.view) == ("b.jpg", 30, 20, "UNKNOWN")
    assert done.review_set.case("a").question.startswith("What abnormalities")
    assert done.review_set.info.name == "my scans"
    assert done.report.problems == ()
    for case_id in done.review_set.cases["id"]:
        path = done.review_set.case(case_id).images[0].path
        assert read_image(find_image_file(done.review_set, path)).pixels.size


def test_small_folders_are_studies(tmp_path, run_import, make_picture):
    scans = tmp_path / "scans"
    make_picture(scans / "patient1/study1/view1_frontal.jpg")
    make_picture(scans / "patient1/study1/view2_lateral.jpg")
    make_picture(scans / "patient2/study1/view1_frontal.jpg")
    make_picture(scans / "loose.png")
    for number in range(9):
        make_picture(scans / f"many/{number:03}.png")
    done = run_import("images", scans)
    cases = done.review_set.cases["id"].to_list()
    assert cases[0] == "loose"
    assert "many/000" in cases
    case = done.review_set.case("patient1/study1")
    assert [(one.id, one.view, one.key) for one in case.images] == [
        ("view1_frontal", "FRONTAL", True),
        ("view2_lateral", "LATERAL", False),
    ]
    assert len(cases) == 12
    assert any("taken for one study" in note for note in done.report.notes)


@pytest.mark.parametrize(
    ("group", "cases"),
    [("file", ["a/1", "a/2", "b"]), ("folder", ["images", "a"]), ("auto", ["b", "a"])],
)
def test_how_pictures_are_grouped(tmp_path, run_import, make_picture, group, cases):
    for name in ("a/1.png", "a/2.png", "b.png"):
        make_picture(tmp_path / "s" / name)
    found = run_import("images", tmp_path / "s", group=group).review_set.cases["id"].to_list()
    assert sorted(found) == sorted(cases)


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("view1_frontal.png", "FRONTAL"),
        ("chest-lateral.png", "LATERAL"),
        ("case12_PA.png", "PA"),
        ("x_ap.png", "AP"),
        ("pa0012.png", "UNKNOWN"),
        ("frontal_lateral.png", "UNKNOWN"),
        ("IMG_1.png", "UNKNOWN"),
    ],
)
def test_views_in_file_names(tmp_path, run_import, make_picture, name, view):
    make_picture(tmp_path / "s" / name)
    done = run_import("images", tmp_path / "s")
    assert done.review_set.case(name.removesuffix(".png")).images[0].view == view


def test_same_name_with_two_endings(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "s/a.jpg")
    make_picture(tmp_path / "s/a.png")
    assert run_import("images", tmp_path / "s").review_set.cases["id"].to_list() == ["a", "a.png"]


def test_dicom_by_study_without_a_trace_of_the_person(tmp_path, run_import, make_dicom, caplog):
    scans = tmp_path / "scans"
    uid = "1.2.840.99.1"
    make_dicom(
        scans / "x/1", StudyInstanceUID=uid, ViewPosition="LL", InstanceNumber=2, PatientAge="092Y"
    )
    make_dicom(
        scans / "y/2.dcm",
        StudyInstanceUID=uid,
        ViewPosition="PA",
        InstanceNumber=1,
        PatientAge="092Y",
        PatientSex="F",
        PatientOrientation=["L", "F"],
    )
    make_dicom(scans / "y/3.dcm", StudyInstanceUID="1.2.840.99.2", ViewPosition="AP")
    make_dicom(scans / "z/4.dcm", StudyInstanceUID="1.2.840.99.3", PatientID="MRN0012345-B")
    with caplog.at_level(logging.DEBUG):
        done = run_import("images", scans)
    assert done.review_set.cases["id"].to_list() == ["study-001", "study-002", "study-003"]
    case = done.review_set.case("study-001")
    assert [(one.id, one.view, one.key) for one in case.images] == [
        ("1", "PA", True),
        ("2", "LATERAL", False),
    ]
    assert case.images[0].patient_orientation == ("L", "F")
    assert (case.images[0].width, case.images[0].height) == (30, 40)
    assert (case.context.age, case.context.sex) == ("90+", "F")
    assert done.review_set.cases["patient_id"].to_list() == [
        *("patient-001", "patient-001", "patient-002"),
    ]
    said = written_text(done.review_set.folder) + str(done.report) + caplog.text
    assert not [part for part in PERSON if part in said]
    assert done.messages("4 files carry a patient's name or id")


def test_copying_gives_dicom_neutral_names(tmp_path, run_import, make_dicom, make_picture):
    scans = tmp_path / "scans"
    make_dicom(scans / "DOE_JANE/19311224.dcm", StudyInstanceUID="1.2.840.99.1")
    make_picture(scans / "plain/a.png")
    done = run_import("images", scans, copy=True)
    folder = done.review_set.folder
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    assert files == [
        "cases.jsonl",
        "images/plain/a.png",
        "images/study-001/1.dcm",
        "reviewset.yaml",
    ]
    assert not [part for part in PERSON if part in written_text(folder)]
    path = find_image_file(done.review_set, done.review_set.case("study-001").images[0].path)
    assert read_image(path).pixels.shape == (40, 30)


def test_dicom_that_is_no_radiograph(tmp_path, run_import, make_dicom):
    scans = tmp_path / "scans"
    make_dicom(scans / "ok.dcm", StudyInstanceUID="1.2.840.99.1")
    make_dicom(scans / "ct.dcm", Modality="CT")
    report = make_dicom(scans / "sr.dcm", Modality="SR")
    from pydicom import dcmread

    data = dcmread(report)
    for name in ("PixelData", "Rows", "Columns"):
        delattr(data, name)
    data.save_as(report)
    done = run_import("images", scans)
    assert done.review_set.cases.height == 1
    left_out = {one.file: one.message for one in done.report.problems if one.field is None}
    assert "not a radiograph (CT)" in left_out["ct.dcm"]
    assert "no picture" in left_out["sr.dcm"]


def test_broken_files_are_listed_and_left_out(tmp_path, run_import, make_picture, make_dicom):
    scans = tmp_path / "scans"
    make_picture(scans / "ok.png")
    broken = {
        "empty.png": b"",
        "text.png": b"hello",
        "noise.dcm": b"DICM" * 100,
        "marked.dcm": b"\0" * 128 + b"DICM" + b"\xff" * 200,
    }
    for name, content in broken.items():
        (scans / name).write_bytes(content)
    for name, make in (
        ("cut.png", make_picture),
        ("cut.jpg", make_picture),
        ("cut.webp", make_picture),
    ):
        whole = make(scans / name, (200, 200)).read_bytes()
        (scans / name).write_bytes(whole[: len(whole) * 2 // 3])
    whole = make_dicom(scans / "cut.dcm").read_bytes()
    (scans / "cut.dcm").write_bytes(whole[:-500])
    bad = bytearray(make_picture(scans / "flipped.png", (200, 200)).read_bytes())
    bad[len(bad) // 2] ^= 0xFF
    (scans / "flipped.png").write_bytes(bad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = run_import("images", scans)
    assert done.review_set.cases["id"].to_list() == ["ok"]
    expected = {*broken, "cut.png", "cut.jpg", "cut.webp", "cut.dcm", "flipped.png"}
    assert {one.file for one in done.report.problems} == expected
    assert all(one.severity == "warning" for one in done.report.problems)


def test_other_files_are_passed_over(tmp_path, run_import, make_picture):
    scans = tmp_path / "scans"
    make_picture(scans / "ok.png")
    for name in ("notes.txt", ".DS_Store", "Thumbs.db", "DICOMDIR", "readme.md", "data"):
        (scans / name).write_bytes(b"x" * 200)
    make_picture(scans / ".hidden" / "h.png")
    make_picture(scans / "__MACOSX" / "m.png")
    make_picture(scans / "old" / "images" / "o.png")
    (scans / "old" / "reviewset.yaml").write_text("format: 1\nname: x\n")
    done = run_import("images", scans)
    assert done.review_set.cases["id"].to_list() == ["ok"]
    assert done.report.problems == ()


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_links_that_lead_out_of_the_folder(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "scans" / "ok.png")
    secret = make_picture(tmp_path / "elsewhere" / "secret.png")
    (tmp_path / "scans" / "link.png").symlink_to(secret)
    (tmp_path / "scans" / "folder").symlink_to(secret.parent)
    done = run_import("images", tmp_path / "scans")
    assert done.review_set.cases["id"].to_list() == ["ok"]
    assert done.messages("link to a place outside")


def test_single_files_as_sources(tmp_path, run_import, make_picture):
    sources = [make_picture(tmp_path / "s" / name) for name in ("a/1.png", "b/2.png", "b/3.png")]
    done = run_import("images", *sources[:2])
    assert sorted(done.review_set.cases["id"]) == ["a", "b"]
    assert {one.images[0].path for one in map(done.review_set.case, ("a", "b"))} == {
        "a/1.png",
        "b/2.png",
    }


NIH_BOXES = (
    "Image Index,Finding Label,Bbox [x,y,w,h],,,\n"
    "001_000.png,Nodule,10.5,12.0,20.0,21.5,,,\n"
    "002_000.png,Mass,1,2,3,4,,,\n"
    "absent.png,Mass,1,2,3,4,,,\n"
)
NIH_METADATA = (
    "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,"
    "OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],\n"
    "001_000.png,Nodule|Mass,0,17,058Y,M,PA,2682,2749,0.143,0.143,\n"
    "002_000.png,No Finding,1,17,411,F,AP,2682,2749,0.143,0.143,\n"
)


def test_nih_tables_are_recognised_by_their_columns(tmp_path, run_import, make_picture):
    scans = tmp_path / "nih"
    make_picture(scans / "images_001/images/001_000.png", (100, 100))
    make_picture(scans / "images_002/images/002_000.png", (100, 100))
    (scans / "BBox_List_2017.csv").write_text(NIH_BOXES)
    (scans / "Data_Entry_2017.csv").write_text(NIH_METADATA)
    (scans / "other.csv").write_text("a,b\n1,2\n")
    done = run_import("images", scans, group="file")
    one = done.review_set.case("images_001/images/001_000")
    two = done.review_set.case("images_002/images/002_000")
    assert [(box.label, box.box) for box in one.reference_boxes] == [
        ("Nodule", (10.5, 12.0, 20.0, 21.5))
    ]
    assert (one.context.age, one.context.sex, one.images[0].view) == ("58", "M", "PA")
    assert (one.normal, two.normal) == (False, True)
    assert (two.context.age, two.images[0].view) == (None, "AP")
    assert one.extra["labels"] == ["Nodule", "Mass"]
    assert one.patient_id == two.patient_id == "patient-001"
    assert done.report.counts["reference boxes"] == 2
    assert any(
        note.startswith("BBox_List_2017.csv: recognised as boxes") for note in done.report.notes
    )
    assert any(note.startswith("Data_Entry_2017.csv: recognised") for note in done.report.notes)
    assert done.messages("1 boxes are for images that are not in the folder")


def test_tables_beside_the_images_can_be_left_alone(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "s/001_000.png")
    (tmp_path / "s/BBox_List_2017.csv").write_text(NIH_BOXES)
    done = run_import("images", tmp_path / "s", tables=False)
    assert "reference boxes" not in done.report.counts


@pytest.mark.parametrize(
    "content",
    [
        "image_id,class_name,rad_id,x_min,y_min,x_max,y_max\na,Mass,R1,10,20,30,50\n"
        "a,No finding,R2,,,,\n",
        "image;label;x;y;width;height\na.png;Mass;10;20;20;30\n",
        "filename,label,bbox\na.png,Mass,\"[10, 20, 20, 30]\"\n",
        "file,class,x1,y1,x2,y2\na.png,Mass,10,20,30,50\n",
    ],
)  # fmt: skip
def test_tables_of_boxes_of_other_sources(tmp_path, run_import, make_picture, content):
    make_picture(tmp_path / "s/a.png", (100, 100))
    boxes = tmp_path / "boxes.csv"
    boxes.write_text(content)
    done = run_import("images", tmp_path / "s", boxes=boxes)
    found = [(box.image, box.label, box.box) for box in done.review_set.case("a").reference_boxes]
    assert found == [("a", "Mass", (10.0, 20.0, 20.0, 30.0))]


def test_boxes_that_are_none(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "s/a.png", (100, 100))
    boxes = tmp_path / "boxes.csv"
    boxes.write_text(
        "image,label,x,y,width,height\na,A,nan,1,2,3\na,B,inf,1,2,3\na,C,1,2,x,4\n"
        "a,D,10,10,0,5\na,E,500,500,5,5\na,F,1,1,5,5\n,G,1,1,5,5\n../a,H,2,2,5,5\n"
    )
    done = run_import("images", tmp_path / "s", boxes=boxes)
    assert [box.label for box in done.review_set.case("a").reference_boxes] == ["D", "E", "F", "H"]
    rows = {one.row for one in done.report.problems}
    assert rows == {1, 2, 3, 4, 5}


def test_coco_json_beside_the_images(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "s/a.png", (50, 50))
    coco = {
        "images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 100}],
        "annotations": [{"image_id": 1, "category_id": 2, "bbox": [10, 20, 30, 40]}],
        "categories": [{"id": 2, "name": "Nodule"}],
    }
    (tmp_path / "s/_annotations.coco.json").write_text(json.dumps(coco))
    done = run_import("images", tmp_path / "s")
    box = done.review_set.case("a").reference_boxes[0]
    assert (box.label, box.box) == ("Nodule", (5.0, 10.0, 15.0, 20.0))
    assert any("scaled" in note for note in done.report.notes)


def test_coco_boxes_on_images_that_the_file_does_not_list(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "s/a.png", (50, 50))
    coco = {"images": [], "annotations": [{"image_id": 7, "bbox": [1, 2, 3, 4]}], "categories": []}
    (tmp_path / "s/boxes.json").write_text(json.dumps(coco))
    done = run_import("images", tmp_path / "s")
    assert done.messages("1 boxes are for images that are not in the folder")


def test_a_names_file_that_several_images_share_is_not_guessed(tmp_path, run_import, make_picture):
    for folder in ("x", "y"):
        make_picture(tmp_path / f"s/{folder}/0.png")
    (tmp_path / "s/boxes.csv").write_text("image,label,x,y,width,height\n0.png,A,1,1,5,5\n")
    done = run_import("images", tmp_path / "s")
    assert "reference boxes" not in done.report.counts
    assert done.messages("occurs there more than once")


def test_a_table_that_is_neither_boxes_nor_metadata(tmp_path, make_picture):
    make_picture(tmp_path / "s/a.png")
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    with pytest.raises(ImportSourceError) as caught:
        import_source("images", [tmp_path / "s"], tmp_path / "out", options={"boxes": table})
    assert caught.value.problems[0].file == "t.csv"


def test_identity_in_metadata_is_not_carried_over(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "s/a.png")
    (tmp_path / "s/m.csv").write_text(
        "image,Patient Name,MRN,Study Date,patient id,age,ward\na,Doe,MRN99,2024-02-29,P77,40,W3\n"
    )
    done = run_import("images", tmp_path / "s")
    text = written_text(done.review_set.folder)
    assert not [part for part in ("Doe", "MRN99", "2024-02-29", "P77") if part in text]
    assert done.review_set.case("a").extra == {"ward": "W3"}


def dicom_files(folder, make_dicom):
    """One DICOM file under names and in forms that only its content tells."""
    from pydicom import dcmread

    plain = make_dicom(folder / "plain.dcm", StudyInstanceUID="1.2.840.99.1")
    content = plain.read_bytes()
    for name in ("no-ending", "IM0001.001", "named.jpg", "named.txt"):
        (folder / name).write_bytes(content)
    for name, implicit in (("bare-explicit", False), ("bare-implicit.png", True)):
        dataset = dcmread(plain)
        del dataset.file_meta
        dataset.preamble = None
        dataset.save_as(folder / name, implicit_vr=implicit, little_endian=True)
        assert (folder / name).read_bytes()[128:132] != b"DICM"
    return 7


def test_dicom_is_known_by_its_content(tmp_path, run_import, make_dicom):
    scans = tmp_path / "scans"
    number = dicom_files(scans, make_dicom)
    done = run_import("images", scans)
    case = done.review_set.case("study-001")
    assert (done.review_set.cases.height, len(case.images)) == (1, number)
    assert {(image.width, image.height) for image in case.images} == {(30, 40)}
    for image in case.images:
        assert read_image(find_image_file(done.review_set, image.path)).pixels.shape == (40, 30)
    named = {one.file for one in done.report.problems if "and is DICOM" in one.message}
    assert named == {"named.jpg", "bare-implicit.png"}


def test_pictures_are_known_by_their_content(tmp_path, run_import, make_picture):
    scans = tmp_path / "scans"
    for name in ("a.tif", "b.tiff", "c.bmp", "d.gif", "e.webp", "f.png"):
        make_picture(scans / name)
    make_picture(scans / "f.png").rename(scans / "f.jpg")
    make_picture(scans / "g.jpg").rename(scans / "g")
    done = run_import("images", scans)
    assert done.review_set.cases["id"].to_list() == list("abcdefg")
    (problem,) = done.report.problems
    assert (problem.file, "named as JPEG and is PNG" in problem.message) == ("f.jpg", True)
    for case in "abcdefg":
        image = done.review_set.case(case).images[0]
        assert (image.width, image.height) == (64, 48)


def test_what_is_unusual_about_a_picture_is_said(tmp_path, run_import, make_picture):
    scans = tmp_path / "scans"
    make_picture(scans / "plain.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("L", (64, 48)).save(scans / "turned.jpg", exif=exif)
    pages = [Image.new("L", (64, 48), shade) for shade in (1, 2, 3)]
    pages[0].save(scans / "pages.tif", save_all=True, append_images=pages[1:])
    done = run_import("images", scans)
    told = {one.file: one.message for one in done.report.problems}
    assert told.keys() == {"turned.jpg", "pages.tif"}
    assert "asks to be shown turned" in told["turned.jpg"]
    assert "3 frames or pages" in told["pages.tif"]
    turned = done.review_set.case("turned").images[0]
    assert (turned.width, turned.height) == (48, 64)


def test_a_picture_that_only_decoding_finds_broken(tmp_path, run_import, make_picture):
    scans = tmp_path / "scans"
    make_picture(scans / "ok.png")
    whole = make_picture(scans / "broken.tif", (200, 200))
    Image.open(whole).save(whole, compression="tiff_deflate")
    content = bytearray(whole.read_bytes())
    start = content.index(b"\x78\x9c") if b"\x78\x9c" in content else 8
    content[start : start + 40] = bytes(40)
    whole.write_bytes(content)
    done = run_import("images", scans)
    assert done.review_set.cases["id"].to_list() == ["ok"]
    assert done.messages("damaged")


def test_files_that_are_no_pictures_are_counted(tmp_path, run_import, make_picture):
    scans = tmp_path / "scans"
    make_picture(scans / "ok.png")
    for name in ("a.txt", "b.txt", "c.md", "data"):
        (scans / name).write_bytes(b"no picture " * 20)
    done = run_import("images", scans)
    (note,) = [one for one in done.report.notes if "no pictures" in one]
    assert note == "Files in the folder that are no pictures: 4: .txt (2), .md, data."


@pytest.mark.parametrize("how", ["auto", "file", "folder"])
def test_counts_of_each_way_to_gather_pictures(tmp_path, run_import, make_picture, make_dicom, how):
    scans = tmp_path / "s"
    for name in ("a/1.png", "a/2.png", "b.png", "c.png"):
        make_picture(scans / name)
    expected = {"auto": 3, "file": 4, "folder": 2}
    assert preview_source("images", [scans], {}).groupings == expected
    make_dicom(scans / "x", StudyInstanceUID="1.2.840.99.1")
    assert preview_source("images", [scans], {}).groupings == expected
    done = run_import("images", scans, group=how)
    assert done.review_set.cases.height == expected[how] + 1
    notes = [one for one in done.report.notes if "group:" in one]
    assert len(notes) == (how == "auto")
    if notes:
        assert "3 cases of pictures" in notes[0]
        assert "4 (group: file)" in notes[0]
        assert "2 (group: folder)" in notes[0]


def test_pictures_of_one_folder_could_be_one_study(tmp_path, run_import, make_picture):
    for name in ("1.png", "2.png"):
        make_picture(tmp_path / "s" / name)
    (note,) = [one for one in run_import("images", tmp_path / "s").report.notes if "group:" in one]
    assert "2 cases. With every folder a study they would be 1" in note


def test_an_empty_folder(tmp_path):
    (tmp_path / "s").mkdir()
    with pytest.raises(ImportSourceError) as caught:
        import_source("images", [tmp_path / "s"], tmp_path / "out")
    assert "Nothing was found" in caught.value.problems[0].message
    assert not (tmp_path / "out").exists()


def test_a_picture_that_would_unpack_to_something_huge(tmp_path, run_import, make_picture):
    make_picture(tmp_path / "s/ok.png")
    Image.new("1", (30_000, 30_000)).save(tmp_path / "s/huge.png")
    done = run_import("images", tmp_path / "s")
    assert done.review_set.cases["id"].to_list() == ["ok"]
    assert {one.file for one in done.report.problems} == {"huge.png"}


@pytest.mark.shared
def test_real_nih_folder(shared_data, run_import):
    done = run_import("images", shared_data / "nih")
    cases = done.review_set.cases
    assert cases.height == 8
    assert done.report.counts["reference boxes"] == 8
    assert done.report.problems == ()
    assert ["no answers" in one.message for one in done.review_set.warnings] == [True]
    case = done.review_set.case("00013911_000")
    assert [(box.label, box.box) for box in case.reference_boxes] == [
        ("Nodule", (118.1, 483.3, 85.6, 101.9))
    ]
    assert (case.context.age, case.context.sex, case.images[0].view) == ("67", "M", "PA")
    rgba = done.review_set.case("00001369_000").images[0]
    picture = read_image(find_image_file(done.review_set, rgba.path))
    assert picture.pixels.shape == (rgba.height, rgba.width) == (1024, 1024)
    assert not (done.review_set.folder / "images").exists()

"""Boxes in structured reports and presentation states, read back with highdicom and DCMTK."""

import shutil
import subprocess

import cv2
import highdicom as hd
import numpy as np
import pytest
from support.exports.dicom_set import (
    BOXES,
    LONG_ID,
    MODEL,
    UIDS,
    content_items,
    errors_of,
    films,
    part_of,
    write_as_dicom,
    write_dicom_set,
)
from support.exports.exported_set import write_exported_set

from rexview.export.export_request import ExportRequest
from rexview.imaging import read_image, render_display

VALIDATORS = [["dciodvfy", "-new"], ["dsrdump", "+U8"]]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The set, and what was noted and written of it: as it is, and with pseudonyms."""
    place = tmp_path_factory.mktemp("dicom")
    folder = write_dicom_set(place / "set")
    return {
        "folder": folder,
        "plain": (place / "plain", *write_as_dicom(folder, place / "plain")),
        "hidden": (place / "hidden", *write_as_dicom(folder, place / "hidden", pseudonyms=True)),
    }


def corners(box):
    x, y, width, height = box
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]


def texts(dataset):
    return [item.TextValue for item in content_items(dataset) if item.ValueType == "TEXT"]


def on_film(box, columns):
    """The part of a box that lies on a film, as the test's boxes leave it to the right only."""
    x, y, width, height = box
    return x, y, min(width, columns - x), height


def boxes_in(report):
    """Yield the instance that each box of a report is on, and its corners."""
    read = hd.sr.ComprehensiveSR.from_dataset(report)
    for group in read.content.get_planar_roi_measurement_groups():
        region = group.roi
        assert region.GraphicType == "POLYLINE"
        source = region.ContentSequence[0].ReferencedSOPSequence[0]
        yield source.ReferencedSOPInstanceUID, region.value, group


def instances(files, case):
    """The instance that stands for each image of a case, by its number of rows and columns."""
    return {
        (one.Rows, one.Columns, one.get("BitsStored")): one.SOPInstanceUID
        for (of, name), one in files.items()
        if of == case and name.startswith("image")
    }


def test_every_box_lies_where_it_did(made):
    _, _, files = made["plain"]
    for case in ("mixed", "deep", "nameless"):
        found = list(boxes_in(files[case, "report-01-m"]))
        expected = [
            corners(on_film(box, {"film": 80, "colour": 80}.get(image, 1000)))
            for (of, image), boxes in BOXES.items()
            for box in boxes
            if of == case
        ]
        assert len(found) == len(expected)
        for (_, points, _), box in zip(found, expected, strict=True):
            np.testing.assert_allclose(points, box, atol=0.01)
        uids = {group.tracking_uid for _, _, group in found}
        assert len(uids) == len(found)


def test_boxes_are_on_their_own_image(made):
    _, _, files = made["plain"]
    lateral = instances(files, "mixed")[41, 37, 8]
    on = [instance for instance, _, _ in boxes_in(files["mixed", "report-01-m"])]
    assert on == [UIDS["film"]] * 3 + [lateral, UIDS["prior"]]


def test_finding_site_side_and_model_stand_with_a_box(made):
    _, _, files = made["plain"]
    _, _, group = next(boxes_in(files["mixed", "report-01-m"]))
    assert group.finding_type.value == "60046008"
    assert [site.value.meaning for site in group.finding_sites] == ["Pleural structure"]
    side = group.finding_sites[0].ContentSequence[0].ConceptCodeSequence[0]
    assert side.CodeMeaning == "Right"
    told = {
        item.name.meaning: item.value
        for item in group[0].ContentSequence
        if "Text" in str(type(item))
    }
    assert told["Algorithm Name"] == MODEL
    assert told["Algorithm Version"] == "not stated"
    assert told["Label of the box, as given"] == "Right pleural effusion"


def test_a_box_that_sticks_out_says_what_was_given(made):
    _, _, files = made["plain"]
    groups = [group for _, _, group in boxes_in(files["mixed", "report-01-m"])]
    said = [[one for one in texts(group[0]) if "Sticks out" in one] for group in groups]
    given = "Sticks out of the image. As given: x, y, width, height 40, 5, 60, 20."
    assert said == [[], [given], [], [], []]


def test_a_box_without_a_film_stays_as_text(made):
    _, notes, files = made["plain"]
    report = files[LONG_ID.replace("\\", "-").replace(" ", "-")[:40], "report-01-m"]
    assert list(boxes_in(report)) == []
    assert "Mass (film: x, y, width, height 1, 2, 3, 4). Its image cannot be read." in texts(report)
    assert any("left out" in note for note in notes)
    assert any(f"'Mass' of {MODEL}" in note for note in notes)


def test_presentation_states_have_the_same_boxes(made):
    _, _, files = made["plain"]
    reported = {
        (case, group.tracking_uid): (instance, points)
        for case in ("mixed", "deep", "nameless")
        for instance, points, group in boxes_in(files[case, "report-01-m"])
    }
    drawn = {}
    for (case, name), state in files.items():
        if not name.startswith("boxes"):
            continue
        for annotation in state.GraphicAnnotationSequence:
            instance = annotation.ReferencedImageSequence[0].ReferencedSOPInstanceUID
            labels = [one.UnformattedTextValue for one in annotation.TextObjectSequence]
            assert labels == ["Right pleural effusion"] * len(labels)
            for graphic in annotation.GraphicObjectSequence:
                points = np.array(graphic.GraphicData).reshape(-1, 2)
                drawn[case, graphic.TrackingUID] = (instance, points)
    assert drawn.keys() == reported.keys()
    for key, (instance, points) in drawn.items():
        assert reported[key][0] == instance
        np.testing.assert_allclose(points, reported[key][1], atol=0.01)


@pytest.mark.parametrize("command", VALIDATORS, ids=["dciodvfy", "dsrdump"])
@pytest.mark.parametrize("how", ["plain", "hidden", "meeting"])
def test_validators_find_no_error(made, tmp_path, how, command):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    if how == "meeting":
        folder = write_exported_set(tmp_path / "set")
        write_as_dicom(folder, tmp_path / "out", ExportRequest(meeting="m1"))
    out = tmp_path / "out" if how == "meeting" else made[how][0]
    paths = sorted(out.rglob("*.dcm"))
    if command[0] == "dsrdump":
        paths = [path for path in paths if part_of(path)[1].startswith(("report", "selection"))]
    assert paths
    assert {path.stem: found for path in paths if (found := errors_of(command, path))} == {}


@pytest.mark.parametrize(
    ("case", "state", "image", "source"),
    [
        ("mixed", "boxes-01-01-m", None, "film.dcm"),
        ("mixed", "boxes-02-01-m", "image-01-lateral", "odd.png"),
        ("mixed", "boxes-03-01-m", None, "prior.dcm"),
        ("deep", "boxes-01-01-m", "image-01-pa", "sixteen.png"),
        ("nameless", "boxes-01-01-m", "image-01-pa", "nameless.dcm"),
    ],
)
def test_dcmtk_draws_what_the_app_shows(made, tmp_path, case, state, image, source):
    if not shutil.which("dcmp2pgm"):
        pytest.skip("dcmp2pgm is not installed")
    out, _, _ = made["plain"]
    film = next(out.glob(f"*-{case}_{image}.dcm")) if image else made["folder"] / "images" / source
    drawn = tmp_path / "drawn.pgm"
    command = ["dcmp2pgm", "-p", next(out.glob(f"*-{case}_{state}.dcm")), film, drawn]
    subprocess.run(command, check=True, capture_output=True)
    theirs = cv2.imread(str(drawn), cv2.IMREAD_UNCHANGED).astype(int)
    ours = render_display(read_image(made["folder"] / "images" / source), "initial")
    assert theirs.shape == ours.shape
    assert np.abs(theirs - ours).max() <= 1


def test_secondary_captures_keep_every_grey_value(made):
    _, _, files = made["plain"]
    pixels = films()
    for case, name, expected in (
        ("mixed", "image-01-lateral", pixels["odd"]),
        ("deep", "image-01-pa", pixels["sixteen"]),
        ("deep", "image-02-pa", pixels["colour"]),
        ("nameless", "image-01-pa", pixels["twelve"]),
    ):
        read = files[case, name]
        assert read.SOPClassUID.name == "Secondary Capture Image Storage"
        np.testing.assert_array_equal(read.pixel_array, expected)
    assert files["nameless", "image-01-pa"].BitsStored == 12
    _, _, hidden = made["hidden"]
    prior = hidden["case-001", "image-03-prior-pa"]
    np.testing.assert_array_equal(prior.pixel_array, pixels["twelve"])
    assert prior.PhotometricInterpretation == "MONOCHROME1"


def test_returned_pictures_come_along(made):
    _, _, files = made["plain"]
    returned = files["mixed", "image-02-returned"]
    np.testing.assert_array_equal(returned.pixel_array, films()["colour"])
    assert returned.SOPInstanceUID in str(files["mixed", "report-01-m"])
    assert returned.SOPInstanceUID not in str(files["mixed", "report-case"])

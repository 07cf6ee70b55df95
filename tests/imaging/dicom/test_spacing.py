"""Millimetres, the shape of a pixel, and what else a header says about the picture."""

import pytest
from pydicom.dataset import Dataset

from rexview.geometry import UNKNOWN_ORIENTATION
from rexview.imaging import read_image

IMAGER = {"ImagerPixelSpacing": [0.2, 0.1]}
PIXEL = {"PixelSpacing": [0.16, 0.08]}


@pytest.mark.parametrize(
    ("elements", "expected", "words"),
    [
        (IMAGER, (0.2, 0.1, "detector"), "somewhat larger than life"),
        (
            IMAGER | {"EstimatedRadiographicMagnificationFactor": "1.25"},
            (0.2, 0.1, "detector"),
            "about 1.25 times larger",
        ),
        (IMAGER | {"PixelSpacing": [0.2, 0.1]}, (0.2, 0.1, "detector"), "larger than life"),
        (IMAGER | PIXEL, (0.16, 0.08, "patient"), "calibrated, the file does not say how"),
        (
            IMAGER | PIXEL | {"PixelSpacingCalibrationType": "GEOMETRY"},
            (0.16, 0.08, "patient"),
            "corrected for the geometric magnification",
        ),
        (
            PIXEL
            | {
                "PixelSpacingCalibrationType": "FIDUCIAL",
                "PixelSpacingCalibrationDescription": "25 mm ball",
            },
            (0.16, 0.08, "patient"),
            "object of known size (25 mm ball)",
        ),
        (PIXEL, (0.16, 0.08, "detector"), "does not say whether"),
        (PIXEL | {"Modality": "CT"}, (0.16, 0.08, "patient"), None),
        ({"NominalScannedPixelSpacing": [0.3, 0.3]}, (0.3, 0.3, "detector"), "larger than life"),
    ],
)
def test_where_millimetres_hold(write_dicom, film, elements, expected, words):
    spacing = read_image(write_dicom(film, **elements)).spacing
    assert spacing is not None
    assert (spacing.row_mm, spacing.col_mm, spacing.at) == expected
    assert (spacing.note is None) == (words is None)
    assert words is None or words in (spacing.note or "")


@pytest.mark.parametrize(
    "elements",
    [
        {},
        {"ImagerPixelSpacing": [0, 0]},
        {"ImagerPixelSpacing": [-0.1, 0.1]},
        {"ImagerPixelSpacing": [1e9, 1]},
        {"PixelSpacing": 0.1},
    ],
)
def test_impossible_spacing_is_unknown(write_dicom, film, elements):
    radiograph = read_image(write_dicom(film, **elements))
    assert radiograph.spacing is None
    assert radiograph.aspect == 1


@pytest.mark.parametrize(
    ("elements", "aspect"),
    [
        ({"PixelAspectRatio": [2, 1]}, 2),
        ({"PixelAspectRatio": [4, 5]}, 0.8),
        ({"PixelAspectRatio": [0, 0]}, 1),
        ({"PixelAspectRatio": [1, 500]}, 1),
        (IMAGER, 2),
        (IMAGER | {"PixelAspectRatio": [1, 3]}, 2),
    ],
)
def test_aspect_is_height_by_width(write_dicom, film, elements, aspect):
    assert read_image(write_dicom(film, **elements)).aspect == pytest.approx(aspect)


def test_orientation_and_view(write_dicom, film):
    plain = read_image(write_dicom(film))
    assert (plain.view, plain.patient_orientation) == (None, None)
    assert plain.orientation == UNKNOWN_ORIENTATION
    frontal = read_image(write_dicom(film, ViewPosition="PA"))
    assert (frontal.orientation.left, frontal.orientation.source) == ("R", "view")
    mirrored = read_image(write_dicom(film, ViewPosition="PA", PatientOrientation=["R", "F"]))
    assert mirrored.patient_orientation == ("R", "F")
    assert mirrored.orientation.mirrored


def test_view_code_stands_in_for_the_view_position(write_dicom, film):
    code = Dataset()
    code.CodeValue, code.CodingSchemeDesignator = "399348003", "SCT"
    code.CodeMeaning = "antero-posterior"
    radiograph = read_image(write_dicom(film, ViewCodeSequence=[code]))
    assert radiograph.view == "antero-posterior"
    assert radiograph.orientation.left == "R"


@pytest.mark.parametrize("words", [[], ["L"], ["", ""]])
def test_incomplete_orientation_is_none(write_dicom, film, words):
    assert read_image(write_dicom(film, PatientOrientation=words)).patient_orientation is None

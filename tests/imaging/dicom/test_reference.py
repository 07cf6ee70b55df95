"""The UIDs by which other DICOM objects refer to an image."""

import cv2
import pytest

from rexview.errors import ImageMissing
from rexview.imaging.image_files import read_reference

STUDY = {"StudyInstanceUID": "1.2.3", "SeriesInstanceUID": "1.2.3.1"}


def test_an_image_is_named_by_its_uids(write_dicom, film):
    found = read_reference(write_dicom(film, **STUDY))
    assert (found.study, found.series, found.instance) == ("1.2.3", "1.2.3.1", "1.2.3.4")
    assert found.sop_class == "1.2.840.10008.5.1.4.1.1.1.1"
    assert (found.rows, found.columns, found.frames) == (60, 80, 1)


@pytest.mark.parametrize(
    "elements",
    [
        {},
        {"StudyInstanceUID": "1.2.3"},
        {**STUDY, "SOPInstanceUID": "Zebedee Quixote"},
        {**STUDY, "SOPInstanceUID": "1." * 40 + "1"},
        {**STUDY, "SOPClassUID": "1.2.840.10008.5.1.4.1.1.88.33"},
    ],
    ids=["no study", "no series", "a name", "too long", "a report"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nothing_can_refer_to_a_file_without_proper_uids(write_dicom, film, elements):
    assert read_reference(write_dicom(film, **elements)) is None


def test_nothing_refers_to_what_is_no_dicom(tmp_path, film):
    cv2.imwrite(str(tmp_path / "film.png"), film)
    assert read_reference(tmp_path / "film.png") is None
    with pytest.raises(ImageMissing):
        read_reference(tmp_path / "none.dcm")

import pydicom
import pytest
from PIL import Image
from pydicom.uid import ExplicitVRLittleEndian

from rexview.imaging import ImageFacts
from rexview.reviewset import image_checks
from rexview.reviewset.image_checks import read_image_header


def write_dicom(path, **elements):
    dataset = pydicom.Dataset()
    dataset.file_meta = pydicom.dataset.FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.SOPClassUID = "1.2.840.10008.5.1.4.1.1.1.1"
    dataset.SOPInstanceUID = "1.2.3"
    dataset.Rows, dataset.Columns, dataset.BitsAllocated = 30, 20, 8
    dataset.PixelData = bytes(30 * 20)
    for name, value in elements.items():
        setattr(dataset, name, value)
    path.parent.mkdir(parents=True, exist_ok=True)
    dataset.save_as(path, enforce_file_format=True)
    return path


def found(small):
    return [(p.severity, p.file, p.row, p.field) for p in small.problems()]


class TestMissing:
    def test_an_image_that_is_not_there_is_a_warning(self, small):
        (small.folder / "images" / "a" / "pa.png").unlink()
        assert found(small) == [("warning", "cases.jsonl", 1, "images[0].path")]

    def test_a_returned_picture_too(self, small):
        small.answer(images=["a/pa.png", "b/none.png"])
        assert found(small) == [("warning", "answers.jsonl", 1, "images[1]")]

    def test_a_folder_is_no_image(self, small):
        small.answer(images=["a"])
        assert found(small) == [("warning", "answers.jsonl", 1, "images[0]")]

    def test_without_the_folder_there_is_one_warning(self, small):
        (small.folder / "images").rename(small.folder / "pictures")
        assert found(small) == [("warning", "reviewset.yaml", None, "images")]

    def test_a_name_that_no_file_can_have(self, small):
        small.answer(images=["x" * 5000 + ".png"])
        assert found(small) == [("warning", "answers.jsonl", 1, "images[0]")]

    def test_only_so_many_files_are_looked_for(self, small, monkeypatch):
        monkeypatch.setattr(image_checks, "MAX_SEARCHED_FILES", 2)
        small.answer(images=[f"none-{n}.png" for n in range(5)])
        assert [field for *_, field in found(small)] == ["images[0]"]


class TestEscapes:
    @pytest.mark.parametrize("path", ["../x.png", "/etc/hostname", "a/../../x.png", "..\\x.png"])
    def test_a_path_that_leads_out_is_an_error(self, small, path):
        small.case(images=[{"id": "i", "path": path, "width": 1, "height": 1}])
        assert found(small) == [("error", "cases.jsonl", 1, "images[0].path")]
        small.case().answer(images=[path])
        assert found(small) == [("error", "answers.jsonl", 1, "images[0]")]

    def test_so_is_a_link_that_leads_out(self, small):
        (small.folder / "images" / "link.png").symlink_to(small.folder / "cases.jsonl")
        small.answer(images=["link.png"])
        assert found(small) == [("error", "answers.jsonl", 1, "images[0]")]

    def test_or_a_linked_folder(self, small):
        (small.folder / "images" / "up").symlink_to(small.folder)
        small.answer(images=["up/cases.jsonl", "up/reviewset.yaml"])
        places = [("error", "answers.jsonl", 1, f"images[{number}]") for number in range(2)]
        assert found(small) == places

    def test_a_link_within_the_folder_is_fine(self, small):
        (small.folder / "images" / "link.png").symlink_to("a/pa.png")
        small.answer(images=["link.png"])
        assert found(small) == []


def test_two_images_of_a_case_with_one_id(small):
    images = [{"id": "i", "path": "a/pa.png", "width": 1, "height": 1}] * 2
    assert ("error", "cases.jsonl", 1, "images") in found(small.case(images=images))


class TestHeaders:
    def test_a_raster_image_gives_its_size(self, tmp_path):
        Image.new("L", (30, 20)).save(tmp_path / "x.png")
        assert read_image_header(tmp_path / "x.png") == ImageFacts(30, 20)

    def test_dicom_gives_size_orientation_and_view(self, tmp_path):
        path = write_dicom(tmp_path / "x", PatientOrientation=["L", "F"], ViewPosition="PA")
        assert read_image_header(path) == ImageFacts(
            20, 30, patient_orientation=("L", "F"), view="PA"
        )

    def test_dicom_without_them(self, tmp_path):
        assert read_image_header(write_dicom(tmp_path / "x.dcm")) == ImageFacts(20, 30)

    def test_dicom_without_a_preamble(self, tmp_path):
        path = write_dicom(tmp_path / "x.dcm", ViewPosition="LL")
        dataset = pydicom.dcmread(path)
        del dataset.file_meta
        dataset.preamble = None
        dataset.save_as(path, implicit_vr=False, little_endian=True, enforce_file_format=False)
        assert read_image_header(path) == ImageFacts(20, 30, view="LL")

    @pytest.mark.parametrize("name", ["x.png", "x.dcm", "x"])
    @pytest.mark.parametrize(
        "content", [b"", b"not an image", b"\x89PNG\r\n\x1a\n\0\0", b"\0" * 500]
    )
    def test_what_is_no_image_gives_nothing(self, tmp_path, name, content):
        (tmp_path / name).write_bytes(content)
        assert read_image_header(tmp_path / name) is None

    def test_no_file_gives_nothing(self, tmp_path):
        assert read_image_header(tmp_path / "none.png") is None

    def test_a_changed_file_is_read_again(self, tmp_path):
        path = tmp_path / "x.png"
        Image.new("L", (30, 20)).save(path)
        assert read_image_header(path) == ImageFacts(30, 20)
        Image.new("L", (40, 50)).save(path)
        assert read_image_header(path) == ImageFacts(40, 50)


class TestFilledIn:
    @pytest.fixture
    def unsized(self, small):
        """A PNG and a DICOM file of which the tables say nothing."""
        folder = small.folder / "images"
        Image.new("L", (30, 20)).save(folder / "a" / "pa.png")
        write_dicom(folder / "b.dcm", PatientOrientation=["R", "F"], ViewPosition="AP")
        return small.case(images=[{"id": "a", "path": "a/pa.png"}, {"id": "b", "path": "b.dcm"}])

    def test_what_is_absent_is_read_from_the_files(self, unsized):
        first, second = unsized.load().case("c1").images
        assert (first.width, first.height, first.view) == (30, 20, "UNKNOWN")
        assert first.patient_orientation is None
        assert (second.width, second.height) == (20, 30)
        assert (second.view, second.view_raw) == ("AP", "AP")
        assert second.patient_orientation == ("R", "F")

    @pytest.mark.parametrize("name", ["IM0001.001", "no-ending"])
    def test_a_file_of_any_ending_may_be_dicom(self, unsized, name):
        (unsized.folder / "images" / "b.dcm").rename(unsized.folder / "images" / name)
        unsized.case(images=[{"id": "b", "path": name, "width": 20, "height": 30}])
        assert unsized.load().case("c1").images[0].patient_orientation == ("R", "F")

    def test_what_is_given_stays(self, unsized):
        given = {"width": 5, "height": 6, "patient_orientation": ["L", "F"], "view": "LL"}
        unsized.case(images=[{"id": "b", "path": "b.dcm"} | given])
        (image,) = unsized.load().case("c1").images
        assert (image.width, image.height, image.view) == (5, 6, "LATERAL")
        assert image.patient_orientation == ("L", "F")

    def test_boxes_are_checked_against_the_size_that_was_read(self, unsized):
        unsized.answer(boxes=[{"image": "a", "label": "x", "box": [31, 0, 5, 5]}])
        boxes = [place for *_, place in found(unsized) if "box" in str(place)]
        assert boxes == ["boxes[0].box"]

    def test_a_broken_file_leaves_the_gap(self, small):
        small.case(images=[{"id": "a", "path": "a/pa.png"}])
        assert small.load().case("c1").images[0].width is None

    def test_nothing_is_read_when_all_is_given(self, small, monkeypatch):
        def refuse(path):
            raise AssertionError(f"{path} was read")

        monkeypatch.setattr(image_checks, "read_image_header", refuse)
        assert small.load().case("c1").images[0].width == 1000

    def test_beyond_a_number_of_files_those_with_boxes_come_first(self, small, monkeypatch):
        monkeypatch.setattr(image_checks, "MAX_READ_HEADERS", 2)
        images = []
        for number in range(4):
            Image.new("L", (10 + number, 20)).save(small.folder / "images" / f"{number}.png")
            images.append({"id": str(number), "path": f"{number}.png", "view": "PA"})
        reference = [{"image": "3", "label": "x", "box": [0, 0, 1, 1]}]
        small.case(images=images, reference_boxes=reference)
        small.answer(boxes=[{"image": "2", "label": "x", "box": [0, 0, 1, 1]}])
        widths = [image.width for image in small.load().case("c1").images]
        assert widths == [None, None, 12, 13]
        assert small.problems() == []
        small.answer(boxes=[{"image": i, "label": "x", "box": [0, 0, 1, 1]} for i in "012"])
        problem = small.only_problem()
        assert (problem.severity, problem.row) == ("warning", None)
        assert "2 images with boxes" in problem.message

    def test_a_link_that_leads_out_is_not_read(self, unsized, monkeypatch):
        outside = unsized.folder.parent / "outside.png"
        Image.new("L", (9, 9)).save(outside)
        (unsized.folder / "images" / "link.png").symlink_to(outside)
        read = []
        monkeypatch.setattr(image_checks, "read_image_header", read.append)
        unsized.case(images=[{"id": "a", "path": "link.png"}])
        assert [severity for severity, *_ in found(unsized)] == ["error"]
        assert read == []


def test_reading_a_header_does_not_decode_pixels(tmp_path):
    Image.effect_noise((300, 200), 50).save(tmp_path / "x.png")
    content = (tmp_path / "x.png").read_bytes()
    (tmp_path / "x.png").write_bytes(content[:100])
    assert read_image_header(tmp_path / "x.png") == ImageFacts(300, 200)

"""What is sent for a case: words, pictures, and nothing of the truth."""

import json
from dataclasses import replace

import cv2
import numpy as np
import pytest

from rexview.models.backend import AttemptFailed
from rexview.schema import Context, StudyImage

CHOICE = {"question_type": "choice", "options": ("Effusion", "{options}"), "correct": 1}


def sent_words(request):
    """Return all that is sent but for the bytes of pictures."""
    return json.dumps([request.described(), request.notes])


class TestWords:
    def test_question_context_and_views_are_sent_as_they_are(self, case, ask):
        request, _ = ask(case)
        words = request.parts[-1]
        assert "Is there an effusion? Mark {it}." in words
        given = "Age: 64\nSex: F\nIndication: Fever {since} Monday.\nComparison: Film of May."
        assert given in words
        captions = [part for part in request.parts[:-1] if isinstance(part, str)]
        assert captions == [
            "Image 1: PA, current study, 1678 x 2048 pixels.",
            "Image 2: lateral, current study, 1600 x 2000 pixels.",
            "Image 3: AP, EARLIER study, for comparison, 1024 x 1024 pixels.",
        ]

    def test_the_question_with_boxes_is_put_where_boxes_are_asked_for(self, case, ask):
        case = replace(case, question_boxes="Is there an effusion? Box it {well}.")
        request, _ = ask(case, prompt="expert-1-boxes")
        assert "Question: Is there an effusion? Box it {well}.\n" in request.parts[-1]
        assert "Mark {it}" not in request.parts[-1]
        changed = replace(case, question_boxes="Is there an effusion? Box it.")
        assert ask(changed, prompt="expert-1-boxes")[0].key != request.key
        for model, prompt in (("medgemma-4b-it", "expert-1-boxes"), ("gpt-5-mini", "expert-1")):
            words = ask(case, model, prompt=prompt)[0].parts[-1]
            assert "Question: Is there an effusion? Mark {it}.\n" in words
            assert "Box it" not in words

    @pytest.mark.parametrize("structured", [False, True])
    @pytest.mark.parametrize("kind", ["open", "report", "choice"])
    def test_nothing_of_the_truth_is_sent(self, case, ask, kind, structured):
        more = {"options": ("Yes", "No"), "correct": 0} if kind == "choice" else {}
        case = replace(case, question_type=kind, **more)
        request, _ = ask(case, structured=structured)
        words = sent_words(request)
        assert "SECRET" not in words
        assert "777" not in words

    def test_the_right_option_changes_nothing(self, case, ask):
        case = replace(case, **CHOICE)
        other = replace(case, correct=0, report=replace(case.report, findings="Other."))
        assert ask(case)[0].key == ask(other)[0].key

    def test_options_get_letters_and_their_curly_brackets_stay(self, case, ask):
        request, _ = ask(replace(case, **CHOICE))
        assert "A. Effusion\nB. {options}\n" in request.parts[-1]
        assert request.schema["properties"]["answer"]["enum"] == ["A", "B"]
        assert "boxes" not in request.schema["properties"]

    def test_options_that_carry_letters_keep_them(self, case, ask):
        case = replace(case, question_type="choice", options=("A. Yes", "B. No"), correct=0)
        assert "\nA. Yes\nB. No\n" in ask(case)[0].parts[-1]

    def test_a_choice_without_options_cannot_be_asked(self, case, ask):
        with pytest.raises(AttemptFailed, match="needs 1 to 26 options") as caught:
            ask(replace(case, question_type="choice"))
        assert (caught.value.kind, caught.value.stops_all) == ("request", False)

    def test_no_context_no_words_about_it(self, case, ask):
        assert "known of the patient" not in ask(replace(case, context=Context()))[0].parts[-1]

    def test_boxes_are_asked_for_in_the_convention_of_the_card(self, case, ask):
        words = ask(case, "medgemma-1.5-4b-it")[0].parts[-1]
        assert "[top, left, bottom, right] as whole numbers from 0 to 1000" in words
        assert '"box_2d": [top, left, bottom, right], "image"' in words

    def test_a_model_that_draws_none_is_not_asked_for_boxes(self, case, ask):
        request, _ = ask(case, "medgemma-4b-it", prompt="expert-1-boxes")
        assert "bounding box" not in request.parts[-1]
        assert any("No boxes were asked for" in note for note in request.notes)

    def test_a_strict_schema_needs_all_of_its_parts(self, case, ask):
        def objects(schema):
            if schema.get("type") == "object":
                yield schema
            for inner in (*schema.get("properties", {}).values(), schema.get("items")):
                yield from objects(inner) if inner else ()

        found = list(objects(ask(case)[0].schema))
        assert len(found) == 2
        for one in found:
            assert one["required"] == list(one["properties"])
            assert one["additionalProperties"] is False


class TestPictures:
    def test_key_frontal_first_then_views_then_priors(self, case, ask):
        request, _ = ask(case)
        assert [image.image for image in request.images] == ["pa", "lat", "old"]
        assert request.notes == ()

    @pytest.mark.parametrize(
        ("changes", "sent", "told"),
        [
            ({"images": 2}, ["pa", "lat"], "this model takes 2: old (AP, earlier study)"),
            ({"priors": False}, ["pa", "lat"], "old (AP, earlier study)"),
            ({"all_views": False}, ["pa", "old"], "lat (LATERAL)"),
            ({"images": 0}, [], "old (AP, earlier study), lat (LATERAL), pa (PA)"),
        ],
    )
    def test_what_is_left_out_is_named(self, case, ask, changes, sent, told):
        request, _ = ask(case, **changes)
        assert [image.image for image in request.images] == sent
        assert told in " ".join(request.notes)

    def test_the_same_case_gives_the_same_bytes(self, case, ask):
        first, second = ask(case)[0], ask(case)[0]
        assert first.key == second.key
        assert first.key != ask(case, repeat=2)[0].key
        assert first.key != ask(case, image_format="jpeg")[0].key

    def test_square_pictures_are_padded_and_placed(self, case, ask):
        picture = ask(case, "medgemma-1.5-4b-it")[0].images[0]
        pixels = cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_UNCHANGED)
        assert pixels.shape == (896, 896) == (picture.height, picture.width)
        assert (picture.stored_width, picture.stored_height) == (2048, 2500)
        place = picture.placement
        assert (place.left, place.top) == (81, 0)
        assert place.scale_x == pytest.approx(734 / 2048)
        assert pixels[:, :81].max() == 0
        assert pixels[450, 81 + 734 - 1] > 250

    def test_most_pixels_bound_a_picture(self, case, ask):
        picture = ask(case, "claude-sonnet-4")[0].images[0]
        assert picture.width * picture.height == pytest.approx(1_150_000, rel=0.002)

    def test_every_image_that_cannot_be_sent_is_named(self, case, ask, folder):
        (folder / "pa.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
        (folder / "lat.png").unlink()
        with pytest.raises(AttemptFailed) as caught:
            ask(case)
        assert caught.value.kind == "image"
        assert "'pa'" in str(caught.value)
        assert "'lat': There is no such file." in str(caught.value)
        assert str(folder) not in str(caught.value)

    def test_a_dicom_file_is_sent_as_the_viewer_shows_it_without_names(self, case, ask, folder):
        from pydicom.dataset import Dataset, FileMetaDataset
        from pydicom.uid import ExplicitVRLittleEndian

        ds = Dataset()
        ds.file_meta = FileMetaDataset()
        ds.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        ds.SOPClassUID, ds.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.1.1", "1.2.3.4"
        ds.PatientName, ds.Rows, ds.Columns = "Zebedee^Quixote", 100, 80
        ds.SamplesPerPixel, ds.PhotometricInterpretation = 1, "MONOCHROME1"
        ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = 16, 12, 11, 0
        ds.WindowCenter, ds.WindowWidth = 1000, 2000
        ds.PixelAspectRatio = [2, 1]
        pixels = np.full((100, 80), 500, np.uint16)
        pixels[:, :40] = 1500
        ds.PixelData = pixels.tobytes()
        ds["PixelData"].VR = "OW"
        ds.save_as(folder / "x.dcm", enforce_file_format=True)
        case = replace(case, images=(StudyImage("x", "x.dcm", "PA"),))
        picture = ask(case)[0].images[0]
        shown = cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_UNCHANGED)
        assert shown.shape == (200, 80)  # pixels twice as high as wide
        assert picture.placement.scale_y == 2.0
        assert shown[100, 10] < shown[100, 70]  # high values are dark
        assert b"Zebedee" not in picture.data

    def test_a_cache_keeps_pictures_until_the_file_changes(self, case, folder):
        from rexview.imaging import DiskCache
        from rexview.models.asking.model_cards import find_card
        from rexview.models.asking.request_images import encode_images

        cache = DiskCache(folder / "cache", 10_000_000)
        image, card = case.images[2], find_card("gpt-5-mini")

        def send():
            return encode_images([image], lambda one: folder / one.path, card, cache)[0]

        first = send()
        assert cache.size() > 0
        assert send() == first
        cv2.imwrite(str(folder / "pa.png"), np.zeros((50, 60), np.uint8))
        assert (send().width, send().height) == (60, 50)

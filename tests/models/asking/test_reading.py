"""What answers become: from a real server, in every form, and where they are something else."""

import json
from dataclasses import replace

import pytest
from support.model_server import started

from rexview.models.asking.reply_reader import read_answer
from rexview.models.backend import Reply
from rexview.models.endpoints.endpoint import Endpoint
from rexview.text.written_boxes import BoxForm

CARD = "medgemma-1.5-4b-it"


@pytest.fixture(name="read")
def read_fixture(ask, case):
    """Read a text as the answer to a case."""

    def read(text, *, outcome="answered", of=case, **how):
        request, card = ask(of, **how)
        return read_answer(request, Reply(outcome, text), of, card)

    return read


def structured(**parts):
    return json.dumps({"plan": "Look.", "findings": "Fluid.", "conclusion": "Effusion.", **parts})


class TestStructured:
    def test_the_text_is_for_a_reader(self, read):
        parts = read(structured(boxes=[]))
        assert parts.text == "Plan:\nLook.\n\nFindings:\nFluid.\n\nConclusion:\nEffusion."
        assert (parts.outcome, parts.boxes, parts.notes) == ("answered", (), ())

    def test_a_fence_around_it_does_not_matter(self, read):
        assert read(f"```json\n{structured(boxes=[])}\n```").outcome == "answered"

    def test_what_is_not_json_is_kept_whole(self, read):
        raw = structured()[:-9]
        parts = read(raw)
        assert (parts.text, parts.outcome) == (raw, "malformed")
        assert read(raw, outcome="cut_off").outcome == "cut_off"
        assert read('["a"]').outcome == "malformed"

    def test_missing_parts_are_told(self, read):
        assert "Missing in the answer: boxes." in read(structured()).notes

    def test_refusals_and_the_like_stay_what_they_are(self, read):
        for outcome in ("refused", "filtered", "empty", "reasoning_used_limit"):
            parts = read("", outcome=outcome)
            assert (parts.outcome, parts.text) == (outcome, "")

    def test_a_choice_and_its_reason(self, read, case):
        of = replace(case, question_type="choice", options=("Effusion", "Nodule"))
        parts = read('{"answer": "B", "reason": "Round."}', of=of)
        assert (parts.choice, parts.explanation) == (1, "Round.")
        assert parts.text == "B. Nodule\n\nRound."
        parts = read('{"answer": "C", "reason": "Round."}', of=of)
        assert parts.choice is None
        assert "names none of the options" in parts.notes[-1]
        assert parts.text == "C\n\nRound."


class TestBoxes:
    def test_side_label_and_image(self, read):
        known = {"boxes": BoxForm("pixels_sent", "xyxy", "box")}
        box = {"label": "effusion", "side": "right", "box": [100, 200, 300, 500], "image": 2}
        parts = read(structured(boxes=[box]), **known)
        [found] = parts.boxes
        assert (found.image, found.label, found.unsure) == ("lat", "right effusion", None)
        assert found.box == (100, 200, 200, 300)

    def test_an_unknown_convention_makes_them_unsure(self, read):
        box = {"label": "effusion", "side": "right", "box": [100, 200, 300, 500], "image": 2}
        parts = read(structured(boxes=[box]))
        assert parts.boxes[0].unsure is True
        assert "not known (read as pixels of the picture as sent)" in parts.notes[0]

    def test_nothing_is_left_out_without_a_word(self, read):
        known = {"boxes": BoxForm("pixels_sent", "xyxy", "box")}
        rows = [
            {"label": "a", "box": [1500, 100, 1900, 300], "image": 1},  # over the right edge
            {"label": "b", "box": [300, 100, 100, 300], "image": 1},  # inside out
            {"label": "c", "box": [5000, 100, 6000, 300], "image": 1},  # outside
            {"label": "d", "box": [1, 2, 30, 40]},
            {"label": "e", "box": [1, 2, 30]},
            {"label": "f", "box_2d": [2, 1, 40, 30], "image": 3},
        ]
        parts = read(structured(boxes=rows), **known)
        assert [box.label for box in parts.boxes] == ["a", "d", "f"]
        assert parts.boxes[0].box[0] + parts.boxes[0].box[2] == 2048
        assert parts.boxes[2].box == (1, 2, 29, 38)
        assert parts.notes == (
            "1 box without the number of an image: taken to be on pa.",
            "1 box in the order that the names of their fields say.",
            "1 box cut at the edge of the image.",
            "2 boxes left out: without area, or outside the image.",
            "1 box could not be read: not four numbers, or too many boxes.",
        )

    def test_a_model_that_draws_none_gets_none_from_numbers(self, read):
        text = "Effusion [1, 2, 30, 40]."
        parts = read(text, model="medgemma-4b-it")
        assert (parts.boxes, parts.text) == ((), text)

    @pytest.mark.parametrize("convention", ["pixels_sent", "normalised_1000", "normalised_1"])
    @pytest.mark.parametrize("corners", ["xyxy", "yxyx", "xywh", "cxcywh"])
    def test_a_server_that_writes_in_each_convention(self, server, case, ask, convention, corners):
        drawn = {"at": [[200, 300, 150, 220]], "labels": ["right effusion"], "key": "where"}
        told = {"boxes": {**drawn, "convention": convention, "corners": corners}}
        server.script([{"turns": [told]}])
        form = BoxForm(convention, corners, "where")
        request, card = ask(case, CARD, boxes=form)
        parameters = replace(request.parameters, base_url=server.base_url)
        endpoint = Endpoint(parameters, key="sk-test-0123456789", connections=1)
        try:
            [reply] = endpoint.ask([replace(request, parameters=parameters)])
        finally:
            endpoint.close()
        parts = read_answer(request, reply, case, card)
        [box] = parts.boxes
        # 734 x 896 of the 2048 x 2500 film, 81 pixels of padding at the left
        scale = 734 / 2048
        expected = ((200 - 81) / scale, 300 / scale, 150 / scale, 220 / scale)
        assert box.box == pytest.approx(expected, abs=1.5 / scale)
        assert (box.image, box.label, box.unsure) == ("pa", "right effusion", None)


@pytest.fixture(name="server", scope="module")
def server_fixture():
    with started() as server:
        yield server


def test_four_numbers_are_boxes_only_where_boxes_were_asked_for(read, case):
    """A report names ribs and levels; a field or a tag of a box says what it is."""
    report = replace(case, question_type="report")
    assert read("Old fractures of the ribs [4, 5, 6, 7].", of=report).boxes == ()
    assert read("Old fractures of the ribs (4, 5, 6, 7).", of=report).boxes == ()
    said = 'Effusion {"box_2d": [100, 100, 500, 500], "label": "effusion"}.'
    assert len(read(said, of=report).boxes) == 1
    assert len(read("Effusion: [100, 100, 500, 500].", of=case).boxes) == 1

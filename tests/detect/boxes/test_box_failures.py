"""Boxes: not drawn, off their finding, and not in the text."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from rexview.detect import box_request, cases_asking_for_boxes, find_flags, find_flags_for_answers
from rexview.detect.box_failures import BoxesMissing, BoxMisplaced, BoxUnrelated
from rexview.schema import Answer, AnswerBox, Case, Flag, ReferenceBox, Report, Score, StudyImage

PA = StudyImage("pa", "pa.png", view="PA", width=1000, height=1000)
LATERAL = StudyImage("lat", "lat.png", view="LATERAL", width=1000, height=1000)
PRIOR = StudyImage("old", "old.png", view="PA", prior=True, width=1000, height=1000)
HERE = (100.0, 500.0, 300.0, 300.0)
ELSEWHERE = (600.0, 100.0, 200.0, 200.0)


def case(question: str = "What is abnormal? Mark it with a box.", **more: Any) -> Case:
    return replace(Case("c", question, images=(PA,)), **more)


def answer(text: str = "", *boxes: AnswerBox, **more: Any) -> Answer:
    return Answer("c", "g", text=text, finish_reason="stop", boxes=boxes, **more)


def box(label: str, place: tuple[float, ...] = HERE, image: str = "pa") -> AnswerBox:
    return AnswerBox(image, label, place)


def reference(label: str, place: tuple[float, ...] = HERE, image: str = "pa") -> ReferenceBox:
    return ReferenceBox(image, label, place)


def scores(dimension: str, *marks: int) -> list[Score]:
    return [Score("c", "g", f"r{n}", dimension, mark) for n, mark in enumerate(marks)]


class TestBoxRequest:
    @pytest.mark.parametrize(
        "question",
        [
            "Mark each one with a box.",
            "Draw bounding boxes around all abnormalities.",
            "Is there a nodule? Mark it.",
            "Outline the opacity on the image.",
            "Return the image with its course marked.",
            "Give the pixel coordinates of the mass.",
            "Annotate any fracture.",
            "PLEASE MARK THE HEART",
            "Show the opacity on the image.",
            "Localise the tip on this radiograph.",
        ],
    )
    def test_asked(self, make_set: Any, question: str) -> None:
        asking = cases_asking_for_boxes(make_set(cases=[{"id": "c", "question": question}]))
        assert asking["case"].to_list() == ["c"]
        span = box_request(question)
        assert span is not None
        assert question[slice(*span)].strip()

    @pytest.mark.parametrize(
        "question",
        [
            "",
            "Is there marked cardiomegaly?",
            "The film came without side marker. Is there pneumonia?",
            "Describe the findings. Do not draw boxes.",
            "Describe the findings; no boxes are needed.",
            "Boxes are not required.",
            "Mark the correct option.",
            "Tick the box that fits.",
            "Outline the differential diagnosis.",
            "Highlight the key findings in your report.",
            "What conclusion do you draw?",
        ],
    )
    def test_not_asked(self, question: str) -> None:
        assert box_request(question) is None


class TestMissing:
    def find(self, text: str, **more: Any) -> list[Flag]:
        return find_flags_for_answers(case(**more), [answer(text)], detectors=[BoxesMissing()])

    def test_a_finding_without_the_box_that_was_asked_for(self) -> None:
        (flag,) = self.find("There is a left pleural effusion.")
        assert (flag.failure, flag.kind) == ("boxes_missing", "text")
        assert "left pleural effusion" in flag.message
        question, words = flag.evidence
        assert (question.where, words.where) == ("question", "answer")
        assert words.side == "left"

    @pytest.mark.parametrize(
        "text", ["The lungs are clear. No effusion.", "An effusion cannot be excluded.", "", "Ok."]
    )
    def test_nothing_to_mark(self, text: str) -> None:
        assert self.find(text) == []

    def test_not_asked_for(self) -> None:
        assert self.find("There is an effusion.", question="What is abnormal?") == []

    def test_a_device_only_when_devices_are_asked_for(self) -> None:
        text = "An endotracheal tube is in place."
        assert self.find(text) == []
        assert len(self.find(text, question="Mark the tip of each tube with a box.")) == 1

    def test_drawn_in_any_way(self) -> None:
        text = "There is an effusion."
        for drawn in (answer(text, box("effusion")), answer(text, images=("back.png",))):
            assert find_flags_for_answers(case(), [drawn], detectors=[BoxesMissing()]) == []

    def test_a_cut_answer_could_not_draw(self) -> None:
        cut = replace(answer("There is an effusion."), finish_reason="length")
        assert find_flags_for_answers(case(), [cut], detectors=[BoxesMissing()]) == []

    def test_a_model_that_draws_no_boxes_misses_none(self) -> None:
        found = find_flags_for_answers(
            case(), [answer("An effusion.")], detectors=[BoxesMissing(frozenset({"g"}))]
        )
        assert found == []

    def test_a_model_that_draws_is_held_to_the_question_with_boxes(self) -> None:
        plain = case(question="What is there?", question_boxes="What is there? Mark it with a box.")
        told = [answer("There is an effusion.")]
        (flag,) = find_flags_for_answers(
            plain, told, detectors=[BoxesMissing(drawing=frozenset({"g"}))]
        )
        assert (flag.evidence[0].where, flag.evidence[0].text) == ("question_boxes", "Mark it")
        assert (
            find_flags_for_answers(plain, told, detectors=[BoxesMissing()]) == []
        )  # was put the plain one


class TestMisplaced:
    def find(
        self, *boxes: AnswerBox, given: list[Score] | None = None, **more: Any
    ) -> list[tuple[str | None, str]]:
        flags = find_flags_for_answers(
            case(**more), [answer("x", *boxes)], given or [], detectors=[BoxMisplaced()]
        )
        for flag in flags:
            assert flag.failure == "box_misplaced"
            assert flag.evidence
        return [(flag.kind, flag.evidence[0].text) for flag in flags]

    def test_far_from_the_reference_box(self) -> None:
        found = self.find(
            box("left effusion", ELSEWHERE), reference_boxes=(reference("Pleural effusion"),)
        )
        assert found == [("reference_boxes", "left effusion")]

    @pytest.mark.parametrize(
        ("place", "flagged"),
        [
            (HERE, False),
            ((100.0, 500.0, 300.0, 91.0), False),  # IoU 0.303
            ((100.0, 500.0, 300.0, 89.0), True),  # IoU 0.297
        ],
    )
    def test_the_threshold(self, place: tuple[float, ...], flagged: bool) -> None:
        found = self.find(box("effusion", place), reference_boxes=(reference("Pleural effusion"),))
        assert bool(found) == flagged

    def test_words_of_one_family_are_compared(self) -> None:
        opacity = (reference("Right lower lobe consolidation"),)
        assert self.find(box("pneumonia", ELSEWHERE), reference_boxes=opacity)
        assert not self.find(box("Rib fracture", ELSEWHERE), reference_boxes=opacity)
        assert not self.find(box("", ELSEWHERE), reference_boxes=opacity)

    def test_each_side_of_a_bilateral_finding(self) -> None:
        both = (
            reference("Right pleural effusion", HERE),
            reference("Left pleural effusion", (650.0, 500.0, 300.0, 300.0)),
        )
        right, left = box("right effusion"), box("left effusion", (650.0, 500.0, 300.0, 300.0))
        whole = box("bilateral effusions", (100.0, 500.0, 850.0, 300.0))
        assert not self.find(right, left, reference_boxes=both)
        assert not self.find(whole, reference_boxes=both)
        wrong = box("left effusion", (650.0, 0.0, 200.0, 200.0))
        assert self.find(right, wrong, reference_boxes=both) == [
            ("reference_boxes", "left effusion")
        ]

    def test_two_boxes_for_one_reference_box(self) -> None:
        halves = (
            box("opacity", (100.0, 100.0, 200.0, 50.0)),
            box("opacity", (100.0, 150.0, 200.0, 50.0)),
        )
        wide = (reference("Opacity", (100.0, 100.0, 200.0, 100.0)),)
        assert not self.find(*halves, reference_boxes=wide)
        quarters = [box("opacity", (100.0 + 50 * n, 100.0, 50.0, 100.0)) for n in range(4)]
        assert not self.find(*quarters, reference_boxes=wide)

    def test_only_boxes_on_the_same_image(self) -> None:
        images = (PA, LATERAL, PRIOR)
        for image in ("lat", "old"):
            found = self.find(
                box("effusion", ELSEWHERE, image),
                images=images,
                reference_boxes=(reference("effusion"),),
            )
            assert not found
        lateral = (reference("effusion", HERE, "lat"),)
        assert self.find(box("effusion", ELSEWHERE, "lat"), images=images, reference_boxes=lateral)

    def test_a_tip_is_not_held_against_the_whole_device(self) -> None:
        whole = (reference("Right PICC", (0.0, 0.0, 500.0, 500.0)),)
        assert not self.find(box("PICC tip", (480.0, 480.0, 30.0, 30.0)), reference_boxes=whole)
        tip = (reference("PICC tip", (480.0, 480.0, 20.0, 20.0)),)
        assert not self.find(box("PICC tip", (450.0, 450.0, 90.0, 90.0)), reference_boxes=tip)
        assert self.find(box("PICC tip", (0.0, 0.0, 30.0, 30.0)), reference_boxes=tip)

    @pytest.mark.parametrize(
        ("place", "kinds"),
        [
            ((1200.0, 10.0, 50.0, 50.0), ["outside"]),
            ((960.0, 10.0, 100.0, 50.0), ["outside"]),
            ((940.0, 10.0, 100.0, 50.0), []),
            ((-300.0, -300.0, 100.0, 100.0), ["outside"]),
            ((math.nan, 0.0, 1.0, 1.0), []),
            ((0.0, 0.0, 0.0, 5.0), []),
            ((0.0, 0.0, -5.0, 5.0), []),
            ((), []),
        ],
    )
    def test_outside_the_image(self, place: tuple[float, ...], kinds: list[str]) -> None:
        assert [kind for kind, _ in self.find(box("effusion", place))] == kinds

    def test_readers_scores(self) -> None:
        low, high = scores("image_content", 2, 2), scores("image_content", 2, 3)
        assert self.find(box("effusion"), given=low) == [("scores", "Image Content 2")]
        assert not self.find(box("effusion"), given=high)
        assert not self.find(given=low)  # nothing was drawn
        assert not self.find(box("effusion"), given=scores("image_style", 1))


class TestUnrelated:
    def find(
        self, text: str, *boxes: AnswerBox, given: list[Score] | None = None, **more: Any
    ) -> list[Flag]:
        return find_flags_for_answers(
            case(**more), [answer(text, *boxes)], given or [], detectors=[BoxUnrelated()]
        )

    def test_a_label_that_the_text_does_not_mention(self) -> None:
        (flag,) = self.find("A pacemaker is in place.", box("Rib fracture"))
        assert (flag.kind, flag.evidence[0].box) == ("text", HERE)
        assert "does not mention" in flag.message

    def test_a_fracture_of_another_bone_does_not_meet_it(self) -> None:
        assert self.find("Fracture of the left clavicle.", box("Rib fracture"))

    def test_a_label_that_the_text_denies(self) -> None:
        (flag,) = self.find("There is no pneumothorax.", box("Pneumothorax"))
        assert "not there" in flag.message
        assert flag.evidence[1].where == "answer"

    @pytest.mark.parametrize(
        ("text", "label"),
        [
            ("There is a left pleural effusion.", "Left pleural effusion"),
            ("Left lower lobe pneumonia is likely.", "consolidation"),
            ("Patchy atelectasis at the left base.", "opacity"),
            ("The heart is enlarged.", "Cardiomegaly"),
            ("There is a left pleural effusion.", ""),
            ("There is a left pleural effusion.", "Box 1"),
            ("Fracture of the fifth rib.", "Rib fracture"),
            ("Sure of the fractures; no broken rib has a second break.", "Rib fractures"),
            ("Fractured left clavicle.", "fracture"),
            ("", "Rib fracture"),
        ],
    )
    def test_a_label_that_the_text_meets(self, text: str, label: str) -> None:
        assert self.find(text, box(label)) == []

    def test_the_question_and_the_option_count_too(self) -> None:
        asked = "Where is the pleural effusion?"
        assert self.find("On the left.", box("Pleural effusion"), question=asked) == []
        chosen = answer("B.", box("Pneumothorax"), choice=1)
        options = case(options=("Nodule", "Pneumothorax"), question_type="choice")
        assert find_flags_for_answers(options, [chosen], detectors=[BoxUnrelated()]) == []

    def test_readers_scores(self) -> None:
        text = "An effusion."
        low = scores("image_style", 2)
        assert [flag.kind for flag in self.find(text, box("effusion"), given=low)] == ["scores"]
        assert self.find(text, given=low) == []
        assert self.find(text, box("effusion"), given=scores("image_style", 3)) == []


def test_all_answers_at_once_agree_with_single_looks(make_set: Any) -> None:
    place = {"id": "pa", "path": "pa.png", "view": "PA", "width": 1000, "height": 1000}
    drawn = {"image": "pa", "label": "Rib fracture", "box": list(ELSEWHERE)}
    review_set = make_set(
        cases=[
            {
                "id": "c",
                "question": "Mark it with a box.",
                "images": [place],
                "reference_boxes": [{"image": "pa", "label": "Rib fracture", "box": list(HERE)}],
            },
            {"id": "d", "question": "What is it?", "images": [place]},
        ],
        answers=[
            {"case": "c", "model": "g", "text": "An effusion.", "boxes": [drawn]},
            {"case": "c", "model": "m", "text": "An effusion."},
            {"case": "d", "model": "m", "text": "An effusion."},
        ],
    )
    found = [BoxesMissing(), BoxMisplaced(), BoxUnrelated()]
    flags = find_flags(review_set, detectors=found).select("case", "model", "failure", "kind")
    assert flags.rows() == [
        ("c", "g", "box_misplaced", "reference_boxes"),
        ("c", "g", "box_unrelated", "text"),
        ("c", "m", "boxes_missing", "text"),
    ]


def test_models_that_draw_no_boxes_are_known_from_the_set(make_set: Any) -> None:
    review_set = make_set(
        cases=[{"id": "c", "question": "Mark it with a box."}],
        answers=[{"case": "c", "model": model, "text": "An effusion."} for model in ("g", "m")],
    )
    models = tuple(replace(m, draws_boxes=m.id == "m") for m in review_set.models)
    review_set = replace(review_set, info=replace(review_set.info, models=models))
    flags = find_flags(review_set).filter(pl.col("failure") == "boxes_missing")
    assert flags["model"].to_list() == ["m"]


def test_a_report_is_not_needed() -> None:
    assert find_flags_for_answers(
        case(report=Report()), [answer("An effusion.")], detectors=[BoxesMissing()]
    )


class TestUnsureBoxes:
    """A box of which it is not known how its model counts enters no failure."""

    CASE = replace(
        Case("c", "What is abnormal? Mark it with a box.", images=(PA,)),
        report=Report("Right pleural effusion."),
        reference_boxes=(reference("right pleural effusion"),),
    )

    @pytest.mark.parametrize(
        ("label", "place", "failure"),
        [
            ("right pleural effusion", ELSEWHERE, "box_misplaced"),
            ("right pleural effusion", ELSEWHERE, "laterality_error"),
            ("right pleural effusion", (2000.0, 10.0, 50.0, 50.0), "box_misplaced"),
            ("pneumothorax", HERE, "box_unrelated"),
        ],
    )
    def test_it_is_flagged_when_sure_and_not_when_unsure(
        self, label: str, place: tuple[float, ...], failure: str
    ) -> None:
        drawn = box(label, place)
        text = "There is a right pleural effusion."
        sure = find_flags_for_answers(self.CASE, [answer(text, drawn)])
        unsure = find_flags_for_answers(self.CASE, [answer(text, replace(drawn, unsure=True))])
        assert failure in {found.failure for found in sure}
        assert not [found for found in unsure if found.failure != "boxes_missing"]

    def test_it_counts_as_drawn(self) -> None:
        drawn = replace(box("right pleural effusion"), unsure=True)
        found = find_flags_for_answers(
            self.CASE, [answer("There is a right pleural effusion.", drawn)]
        )
        assert found == []

    def test_a_row_of_a_file_says_so(self, make_set: Any) -> None:
        row = {"image": "pa", "label": "effusion", "box": [1, 2, 3, 4], "unsure": True}
        review_set = make_set(
            cases=[{"id": "c", "question": "Q?", "images": [{"id": "pa", "path": "pa.png"}]}],
            answers=[{"case": "c", "model": "g", "text": "Effusion.", "boxes": [row]}],
        )
        [found] = review_set.answers_of("c")
        assert found.boxes[0].unsure is True

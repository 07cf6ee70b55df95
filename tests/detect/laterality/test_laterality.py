"""Boxes on the wrong side: against their label and against reference boxes."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.detect import find_flags_for_answers, judged_answers, name_flags, survey
from rexview.detect.laterality.detector import Laterality
from rexview.geometry import box_side, orientation_of
from rexview.schema import ReviewSet, answer_from_row

SCREEN_LEFT = [100.0, 400.0, 200.0, 300.0]  # of 1000 x 1000: the patient's right as displayed
SCREEN_RIGHT = [700.0, 400.0, 200.0, 300.0]
MIDDLE = [400.0, 400.0, 200.0, 300.0]


def image(**changes: Any) -> dict[str, Any]:
    standard = {"id": "i", "path": "i.png", "view": "PA", "width": 1000, "height": 1000}
    return {**standard, **changes}


def box(label: str | None, place: list[float], image_id: str | None = "i") -> dict[str, Any]:
    return {"image": image_id, "label": label, "box": place}


def flags_in(review_set: ReviewSet) -> list[Any]:
    """Flags of the looks at single answers, which the survey of all answers has to agree with."""
    detector = Laterality()
    whole = survey(review_set, detectors=[detector])
    surveyed = name_flags(whole).select("case", "kind").rows()
    found = []
    for row in review_set.answers.iter_rows(named=True):
        case = review_set.case(row["case"])
        assert case is not None
        single = find_flags_for_answers(case, [answer_from_row(row)], detectors=[detector])
        judged = judged_answers(whole).filter(pl.col("case") == row["case"])
        assert not (single and judged.is_empty())
        found += single
    assert sorted(surveyed) == sorted((flag.case, flag.kind) for flag in found)
    return found


def one_answer(make_set: Any, boxes: list[Any], *, images: Any = None, **case: Any) -> ReviewSet:
    cases = [{"id": "c", "images": images or [image()], **case}]
    review_set: ReviewSet = make_set(
        cases=cases, answers=[{"case": "c", "model": "g", "boxes": boxes}]
    )
    return review_set


class TestAgainstTheLabel:
    def test_the_wrong_side_is_flagged_with_both_sides_as_evidence(self, make_set: Any) -> None:
        review_set = one_answer(make_set, [box("right pleural effusion", SCREEN_RIGHT)])
        (flag,) = flags_in(review_set)
        assert flag.kind == "boxes"
        assert flag.failure == "laterality_error"
        assert flag.message == "The box “right pleural effusion” lies on the patient's left."
        claimed, lies = flag.evidence
        assert (claimed.text, claimed.side, claimed.start, claimed.end) == ("right", "right", 0, 5)
        assert (lies.side, lies.image, lies.box) == ("left", "i", tuple(SCREEN_RIGHT))

    @pytest.mark.parametrize(
        ("label", "place"),
        [
            ("right effusion", SCREEN_LEFT),
            ("left effusion", SCREEN_RIGHT),
            ("right effusion", MIDDLE),
            ("right effusion", [0.0, 0.0, 1000.0, 1000.0]),
            ("effusion", SCREEN_RIGHT),
            ("bilateral effusion", SCREEN_RIGHT),
            ("opacity on the left side of the image", SCREEN_LEFT),
            ("right effusion", [700.0, 400.0, float("nan"), 300.0]),
            ("right effusion", [700.0, 400.0, 0.0, 300.0]),
            ("right effusion", [1200.0, 400.0, 100.0, 300.0]),
            ("right effusion", [700.0, 400.0]),
            (None, SCREEN_RIGHT),
        ],
    )
    def test_nothing_is_flagged(self, make_set: Any, label: str, place: list[float]) -> None:
        assert flags_in(one_answer(make_set, [box(label, place)])) == []

    @pytest.mark.parametrize(
        ("changes", "wrong"),
        [
            ({}, SCREEN_RIGHT),
            ({"view": "AP"}, SCREEN_RIGHT),
            ({"view": "UNKNOWN"}, None),
            ({"view": "LATERAL"}, None),
            ({"view": "LATERAL", "patient_orientation": ["A", "F"]}, None),
            ({"patient_orientation": ["L", "F"]}, SCREEN_RIGHT),
            ({"patient_orientation": ["R", "F"]}, SCREEN_LEFT),
            ({"view": "UNKNOWN", "patient_orientation": ["R", "H"]}, SCREEN_LEFT),
            ({"patient_orientation": ["F", "L"]}, [400.0, 700.0, 200.0, 200.0]),
            ({"patient_orientation": ["H", "R"]}, [400.0, 100.0, 200.0, 200.0]),
            ({"laterality_flip": True}, SCREEN_LEFT),
            ({"width": None}, None),
        ],
    )
    def test_the_image_decides_which_side_is_which(
        self, make_set: Any, changes: dict[str, Any], wrong: list[float] | None
    ) -> None:
        places = [SCREEN_LEFT, SCREEN_RIGHT, [400.0, 700.0, 200.0, 200.0]]
        places.append([400.0, 100.0, 200.0, 200.0])
        flagged = [
            place
            for place in places
            if flags_in(
                one_answer(make_set, [box("RLL opacity", place)], images=[image(**changes)])
            )
        ]
        assert flagged == ([wrong] if wrong else [])

    def test_a_box_without_an_image_is_on_the_only_one(self, make_set: Any) -> None:
        wrong = [box("right effusion", SCREEN_RIGHT, None)]
        assert len(flags_in(one_answer(make_set, wrong))) == 1
        two = [image(), image(id="j", view="LATERAL")]
        assert flags_in(one_answer(make_set, wrong, images=two)) == []

    def test_a_box_on_an_unknown_image_gives_no_verdict(self, make_set: Any) -> None:
        assert flags_in(one_answer(make_set, [box("right effusion", SCREEN_RIGHT, "?")])) == []


class TestDevices:
    """Devices that stay on one side are held to it; those that cross the midline are not."""

    @pytest.mark.parametrize(
        ("label", "text", "flagged"),
        [
            ("left pacemaker generator", None, True),
            ("left chest tube", None, True),
            ("pleural drain (L)", None, True),
            ("left port-a-cath", None, True),
            ("Port", "There is a left chest wall port.", True),
            ("Pacemaker", "Left-sided pacemaker. Small right effusion.", True),
            ("ICD", "A left ICD is seen.", True),
            ("Chest tube", "Chest tube on the left.", True),
            ("Port", "There is a right chest wall port.", False),
            ("Port", "There is a chest wall port.", False),
            ("Port tip", "There is a left chest wall port.", False),
            ("Pacemaker lead", "Left-sided pacemaker.", False),
            ("left PICC", None, False),
            ("left subclavian line", None, False),
            ("Central line", "Left subclavian central line.", False),
        ],
    )
    def test_on_the_other_side(
        self, make_set: Any, label: str, text: str | None, flagged: bool
    ) -> None:
        cases = [{"id": "c", "images": [image()]}]
        answers = [{"case": "c", "model": "g", "text": text, "boxes": [box(label, SCREEN_LEFT)]}]
        found = flags_in(make_set(cases=cases, answers=answers))
        assert [flag.kind for flag in found] == (["boxes"] if flagged else [])


class TestAgainstReferenceBoxes:
    reference = ({"image": "i", "label": "Pleural effusion", "box": SCREEN_LEFT, "side": "right"},)

    def test_the_other_side_is_flagged(self, make_set: Any) -> None:
        review_set = one_answer(
            make_set, [box("pleural effusion", SCREEN_RIGHT)], reference_boxes=self.reference
        )
        (flag,) = flags_in(review_set)
        assert flag.kind == "reference_boxes"
        assert flag.message == (
            "The box “pleural effusion” lies on the patient's left; "
            "the reference box “Pleural effusion” lies on the right."
        )
        assert [(item.where, item.side) for item in flag.evidence] == [
            ("box", "left"),
            ("reference_box", "right"),
        ]

    def test_a_label_that_agrees_with_its_own_box_is_still_wrong(self, make_set: Any) -> None:
        review_set = one_answer(
            make_set, [box("left pleural effusion", SCREEN_RIGHT)], reference_boxes=self.reference
        )
        assert [flag.kind for flag in flags_in(review_set)] == ["reference_boxes"]

    @pytest.mark.parametrize(
        "boxes",
        [
            [box("pleural effusion", SCREEN_LEFT)],
            [box("pleural effusion", SCREEN_LEFT), box("pleural effusion", SCREEN_RIGHT)],
            [box("nodule", SCREEN_RIGHT)],
            [box("pleural effusion", MIDDLE)],
        ],
    )
    def test_nothing_is_flagged(self, make_set: Any, boxes: list[Any]) -> None:
        assert flags_in(one_answer(make_set, boxes, reference_boxes=self.reference)) == []

    def test_a_finding_on_both_sides_of_the_reference_is_no_verdict(self, make_set: Any) -> None:
        both = [*self.reference, {"image": "i", "label": "pleural effusion", "box": SCREEN_RIGHT}]
        review_set = one_answer(
            make_set, [box("pleural effusion", SCREEN_RIGHT)], reference_boxes=both
        )
        assert flags_in(review_set) == []

    @pytest.mark.parametrize(
        ("text", "flagged"),
        [
            ("Bilateral pleural effusions.", False),
            ("Right effusion. Left effusion.", False),
            ("Left pleural effusion.", True),
        ],
    )
    def test_an_answer_with_both_sides_is_not_contradicted_by_one(
        self, make_set: Any, text: str, flagged: bool
    ) -> None:
        cases = [{"id": "c", "images": [image()], "reference_boxes": self.reference}]
        drawn = [box("pleural effusion", SCREEN_RIGHT)]
        answers = [{"case": "c", "model": "g", "text": text, "boxes": drawn}]
        kinds = {flag.kind for flag in flags_in(make_set(cases=cases, answers=answers))}
        assert kinds == ({"reference_boxes"} if flagged else set())

    def test_a_reference_on_the_other_side_of_another_image_is_no_verdict(
        self, make_set: Any
    ) -> None:
        both = [*self.reference, {"image": "j", "label": "pleural effusion", "box": SCREEN_RIGHT}]
        drawn = [box("pleural effusion", SCREEN_RIGHT)]
        images = [image(), image(id="j")]
        assert flags_in(one_answer(make_set, drawn, images=images, reference_boxes=both)) == []

    def test_a_reference_that_contradicts_itself_is_no_verdict(self, make_set: Any) -> None:
        wrong = [{**self.reference[0], "side": "left"}]
        review_set = one_answer(
            make_set, [box("pleural effusion", SCREEN_RIGHT)], reference_boxes=wrong
        )
        assert flags_in(review_set) == []


_PLACE = st.floats(-200, 1200, allow_nan=False)
_ORIENTATIONS = [None, *map(list, itertools.product("RLHFAP", repeat=2))]


@given(
    place=st.lists(_PLACE, min_size=4, max_size=4),
    words=st.sampled_from(_ORIENTATIONS),
    view=st.sampled_from(["PA", "LATERAL", "UNKNOWN"]),
    flip=st.sampled_from([None, True, False]),
)
def test_the_survey_and_the_geometry_agree_on_every_box(
    make_set: Any, place: list[float], words: list[str] | None, view: str, flip: bool | None
) -> None:
    picture = image(view=view, patient_orientation=words, laterality_flip=flip)
    boxes = [box("right effusion", place), box("left effusion", place)]
    side = box_side(place, 1000, 1000, orientation_of(view, words, flip))
    expected = 1 if side in ("right", "left") else 0
    assert len(flags_in(one_answer(make_set, boxes, images=[picture]))) == expected

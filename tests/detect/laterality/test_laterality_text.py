"""Sides in texts: against the report, within the answer, and with boxes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from bench.corpus import laterality_pairs
from rexview.detect import find_flags, find_flags_for_answers, flag_rows
from rexview.detect.detector import Detector
from rexview.detect.laterality.detector import Laterality, SideIncomplete
from rexview.schema import Answer, AnswerBox, Case, Flag, ReferenceBox, Report, StudyImage

IMAGE = StudyImage(id="i", path="i.png", view="PA", width=1000, height=1000)
LATERALITY = Laterality()
ON_THE_LEFT = (700.0, 400.0, 200.0, 300.0)
ON_THE_RIGHT = (100.0, 400.0, 200.0, 300.0)


def flags(
    answer: str,
    report: str = "",
    *,
    boxes: tuple[AnswerBox, ...] = (),
    by: Detector = LATERALITY,
    **case: Any,
) -> list[Flag]:
    given = {"id": "c", "question": "What is there?", "images": (IMAGE,), **case}
    return find_flags_for_answers(
        Case(report=Report(findings=report), **given),
        [Answer(case="c", model="m", text=answer, boxes=boxes)],
        detectors=[by],
    )


def hints(answer: str, report: str) -> list[Flag]:
    return flags(answer, report, by=SideIncomplete())


def kinds(answer: str, report: str = "", **more: Any) -> list[str | None]:
    return [flag.kind for flag in flags(answer, report, **more)]


@pytest.mark.parametrize(
    ("answer", "report"),
    [
        ("Left rib fx's.", "Right rib fractures."),
        ("Shunt tubing courses along the left hemithorax.", "VP shunt over the right chest."),
        ("Vagal nerve stimulator, right chest.", "VNS generator on the left."),
        ("Plate and screw fixation of the right clavicle.", "Left clavicular plate and screws."),
        ("Absent right breast shadow.", "Left mastectomy."),
        ("IJ sheath on the left.", "RIJ sheath, tip in the SVC."),
    ],
)
def test_words_of_one_family_and_dictated_ones_are_compared(answer: str, report: str) -> None:
    assert kinds(answer, report) == ["report"]
    assert kinds(report, report) == []


@pytest.mark.parametrize(
    ("answer", "report"),
    [
        ("Left retrocardiac opacity.", "Pneumonia is not excluded in the right clinical setting."),
        ("Left basal atelectasis. The lung right above it is clear.", "Left basal atelectasis."),
    ],
)
def test_a_right_that_is_no_side_is_none(answer: str, report: str) -> None:
    assert kinds(answer, report) == []


class TestAgainstTheReport:
    def test_the_flag_says_both_sides_and_shows_both_words(self) -> None:
        answer, report = "There is a right pleural effusion.", "Small left effusion."
        (flag,) = flags(answer, report)
        assert (flag.failure, flag.kind) == ("laterality_error", "report")
        assert flag.message == "Answer: right pleural effusion; report: left."
        own, other = flag.evidence
        assert (own.where, own.text, own.side) == ("answer", "right pleural effusion", "right")
        assert answer[own.start : own.end] == own.text
        assert (other.where, other.field, other.text) == ("report", "findings", "left effusion")
        assert report[other.start : other.end] == other.text

    def test_its_box_is_named_too(self) -> None:
        box = AnswerBox("i", "effusion", ON_THE_LEFT)
        found = flags("Right effusion.", "Left effusion.", boxes=(box,))
        assert found[0].message == (
            "Answer: right pleural effusion; report: left; its box lies on the left."
        )
        assert found[0].evidence[-1].box == ON_THE_LEFT

    def test_the_impression_is_read_as_well(self) -> None:
        case = Case(id="c", question="", report=Report(None, "Left effusion."))
        (flag,) = find_flags_for_answers(
            case, [Answer(case="c", model="m", text="Right effusion.")], detectors=[Laterality()]
        )
        assert flag.evidence[-1].field == "impression"

    @pytest.mark.parametrize(
        ("answer", "report"),
        [
            ("Right lower lobe pneumonia.", "Left lower lobe consolidation."),
            ("Possible right effusion.", "Possible left effusion."),
            ("No left effusion. Right effusion.", "Left effusion. No right effusion."),
            ("Right rib fracture.", "Fractures of left ribs. Right clavicle fracture."),
            ("Right fracture.", "Left clavicle fracture."),
            ("RIGHT CHEST TUBE.", "Left chest tube in place."),
            ("Mediastinal shift to the right.", "Mediastinal shift to the left."),
        ],
    )
    def test_errors(self, answer: str, report: str) -> None:
        assert kinds(answer, report) == ["report"]

    @pytest.mark.parametrize(
        ("answer", "report"),
        [
            ("Right effusion.", "No pneumothorax."),
            ("Right effusion.", "No left effusion."),
            ("Right effusion.", "Effusion."),
            ("No right effusion.", "Left effusion."),
            ("Right effusion.", "Left effusion has resolved. Right effusion."),
            ("Right opacity.", "Left consolidation. Right basal atelectasis."),
            ("Right IJ line with tip in the left atrium.", "Right internal jugular line."),
            ("Right ventricular enlargement.", "Left ventricular enlargement."),
            ("Clips in the right upper quadrant.", "Left axillary clips."),
            ("", "Left effusion."),
        ],
    )
    def test_no_errors(self, answer: str, report: str) -> None:
        assert kinds(answer, report) == []

    @pytest.mark.parametrize(
        ("answer", "report"),
        [
            ("Right effusion.", "Bilateral effusions."),
            ("Bilateral effusions.", "Right effusion."),
            ("Right effusion. Left effusion.", "Right effusion."),
        ],
    )
    def test_one_side_of_both_is_told_apart(self, answer: str, report: str) -> None:
        assert kinds(answer, report) == []
        (flag,) = hints(answer, report)
        assert (flag.kind, flag.is_hint) == ("hint", True)
        assert "bilateral finding" in flag.message

    def test_a_side_that_is_told_of_another_finding_leaves_the_other_open(self) -> None:
        assert hints("Left lower lobe collapse and effusions.", "Bilateral effusions.") == []
        assert len(hints("Left effusion and collapse.", "Bilateral effusions.")) == 1


class TestWithinTheAnswer:
    @pytest.mark.parametrize(
        "answer",
        [
            "Findings: right effusion. Impression: left effusion.",
            "There is consolidation of the right upper lobe. This left consolidation is dense.",
            "A nodule is seen in the left lung. No effusion. CT because of the right nodule.",
        ],
    )
    def test_contradictions(self, answer: str) -> None:
        assert kinds(answer) == ["self"]

    @pytest.mark.parametrize(
        "answer",
        [
            "Findings: right effusion. Impression: right effusion.",
            "Findings: right and left effusions. Impression: left effusion.",
            "There is a right effusion. There is a left effusion.",
            "The right effusion is small. The left effusion is larger.",
            "Right effusion. Correction: left effusion.",
            "Findings: right effusion. Impression: no left effusion.",
        ],
    )
    def test_none(self, answer: str) -> None:
        assert kinds(answer) == []

    def test_both_sides_in_the_report_are_no_contradiction(self) -> None:
        answer = "Findings: right effusion. Impression: left effusion."
        assert "self" in kinds(answer, "Left effusion.")
        assert kinds(answer, "Bilateral effusions.") == []


class TestWhoseWords:
    def test_a_repeated_question_is_no_finding(self) -> None:
        question = "Describe the large left pleural effusion in this study."
        report = "Right effusion."
        answer = "describe the large left pleural effusion in this study. Right effusion."
        assert kinds(answer, report, question=question) == []
        assert kinds(answer, report) == []
        assert len(hints(answer, report)) == 1

    def test_a_list_of_the_options_is_no_finding_but_the_chosen_one_is(self) -> None:
        options = ("Right effusion", "Left effusion")
        listed = "A. Right effusion\nB. Left effusion\nI choose the second."
        assert kinds(listed, "Right effusion.", options=options) == []
        assert kinds("B. Left effusion", "Right effusion.", options=options) == ["report"]

    def test_a_side_of_the_picture_is_turned_by_how_the_image_is_stored(self) -> None:
        answer, report = "Effusion on the left side of the image.", "Right effusion."
        assert kinds(answer, report) == []
        assert kinds(answer, "Left effusion.") == ["report"]
        flipped = StudyImage("i", "i.png", "PA", width=10, height=10, laterality_flip=True)
        assert kinds(answer, report, images=(flipped,)) == ["report"]
        lateral = StudyImage("i", "i.png", "LATERAL", width=10, height=10)
        assert kinds(answer, "Left effusion.", images=(lateral,)) == []


class TestBoxesAndTexts:
    def test_a_box_on_the_other_side_than_the_sentence(self) -> None:
        wrong = AnswerBox("i", "effusion", ON_THE_LEFT)
        right = AnswerBox("i", "effusion", ON_THE_RIGHT)
        assert kinds("Right effusion.", boxes=(wrong,)) == ["boxes"]
        assert kinds("Right effusion.", boxes=(right,)) == []
        assert kinds("Right effusion.", boxes=(wrong, right)) == []
        assert kinds("Bilateral effusions.", boxes=(wrong,)) == []
        assert kinds("Right nodule.", boxes=(wrong,)) == []

    def test_a_sentence_without_a_box_against_the_reference_box(self) -> None:
        reference = (ReferenceBox("i", "Pleural effusion", ON_THE_LEFT),)
        assert kinds("Right effusion.", reference_boxes=reference) == ["reference_boxes"]
        assert kinds("Left effusion.", reference_boxes=reference) == []
        assert kinds("Right nodule.", reference_boxes=reference) == []

    def test_a_lateral_view_gives_none_whatever_its_orientation_says(self) -> None:
        wrong = (AnswerBox("i", "right effusion", ON_THE_LEFT),)
        lateral = StudyImage("i", "i.png", "LATERAL", None, width=1000, height=1000,
                             patient_orientation=("L", "F"))  # fmt: skip
        assert kinds("Effusion.", boxes=wrong, images=(lateral,)) == []


def test_the_survey_asks_for_a_look_at_every_answer_that_has_a_flag(make_set: Any) -> None:
    texts = [
        ("Right effusion.", "Left effusion."),
        ("RLL pneumonia.", "LLL pneumonia."),
        ("Findings: right effusion. Impression: left effusion.", ""),
        ("Middle lobe collapse.", "Lingular collapse."),
        ("Effusion.", "Left effusion."),
        ("Bibasilar opacities.", "Left basal opacity."),
        ("Right_effusion", "left effusion"),
    ]
    review_set = make_set(
        cases=[
            {"id": f"c{k}", "report": {"findings": report, "impression": None}}
            for k, (_, report) in enumerate(texts)
        ],
        answers=[
            {"case": f"c{k}", "model": "g", "text": text} for k, (text, _) in enumerate(texts)
        ],
    )
    said = find_flags(review_set, detectors=[LATERALITY])
    assert sorted(said.select("case", "kind", "hint").rows()) == [
        ("c0", "report", False),
        ("c1", "report", False),
        ("c2", "self", False),
        ("c3", "report", False),
        ("c6", "report", False),
    ]
    rows = [row for row in flag_rows(review_set) if row["failure"] == "laterality_error"]
    assert [row["kind"] for row in rows] == [
        "report", "report", "self", "report", "report"
    ]  # fmt: skip
    assert {item["where"] for item in rows[0]["evidence"]} == {"answer", "report"}


_PARTS = "#1 cardiomegaly; #2 left upper lobe opacity; #3 right effusion"


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        # no label, or one that names nothing: it is about what the text has
        ("Hazy opacity at the right base, likely atelectasis.", ""),
        ("Consolidation in the right lower lobe (box).", "Fig. 2"),
        ("Right nodule.", "box 1"),
        ("1. Left mass.\n2. Right effusion.", "2"),
        (_PARTS, "#3"),
        # another name for what the text has
        ("Acute fractures of the right 6th and 7th ribs.", "fx"),
        ("Fracture on the right.", "rib fracture"),
        ("Fibrotic strands, right apex.", "fibrosis/apex"),
        ("Opacity at the right base.", "atelectasis"),
        # a change that comes from something with a side
        ("Status post right pneumonectomy with complete opacification.", "white-out"),
        ("Hyperlucency from right mastectomy.", "hyperlucency"),
    ],
)
def test_a_box_is_held_against_what_it_can_be_about(answer: str, label: str) -> None:
    assert kinds(answer, boxes=(AnswerBox("i", label, ON_THE_LEFT),)) == ["boxes"]
    assert kinds(answer, boxes=(AnswerBox("i", label, ON_THE_RIGHT),)) == []


@each_row(
    ("answer", "label"),
    [
        # it may be about something else
        ("Right effusion. Cardiomegaly.", ""),
        ("Right effusion, left nodule.", ""),
        ("No right effusion.", ""),
        ("Right effusion. Cardiomegaly.", "heart"),
        ("Right effusion.", "cardiomegaly"),
        ("Right effusion. Emphysema.", "emphysema"),
        (_PARTS, "#2"),
        (_PARTS, "#1"),
        ("Clavicle fracture on the right.", "rib fracture"),
        # the side is the viewer's, or the heart's
        ("As the viewer sees it, the density is on the right.", "density"),
        ("To the observer, the nodule is on the right.", "nodule"),
        ("Kerley lines consistent with right heart failure.", "Kerley lines"),
    ],
)
def test_a_box_that_may_be_about_something_else_is_no_error(answer: str, label: str) -> None:
    assert kinds(answer, boxes=(AnswerBox("i", label, ON_THE_LEFT),)) == []


_NUMBER = st.one_of(st.floats(), st.integers(-2000, 2000).map(float))


@given(
    text=st.one_of(st.text(max_size=80), st.just("Right effusion."), st.just("Left nodule.\x00")),
    label=st.sampled_from(["right effusion", "effusion", "", "\x00", "nodule (L)"]),
    box=st.lists(_NUMBER, max_size=5).map(tuple),
    view=st.sampled_from(["PA", "LATERAL", "nonsense", ""]),
    size=st.sampled_from([None, 0, -5, 1000]),
)
def test_no_input_is_an_exception(
    text: str, label: str, box: tuple[float, ...], view: str, size: int | None
) -> None:
    image = StudyImage("i", "i.png", view, width=size, height=size)
    found = flags(
        text,
        "Left effusion. Right nodule.",
        boxes=(AnswerBox("i", label, box),),
        images=(image,),
        reference_boxes=(ReferenceBox("i", "effusion", box),),
    )
    assert all(flag.message and flag.evidence for flag in found)


def test_the_survey_leaves_no_flag_of_the_corpus_out(make_set: Any) -> None:
    pairs = laterality_pairs()
    review_set = make_set(
        cases=[
            {"id": f"c{k}", "report": {"findings": pair.case.report.findings, "impression": None}}
            for k, pair in enumerate(pairs)
        ],
        answers=[
            {"case": f"c{k}", "model": "g", "text": pair.answer.text}
            for k, pair in enumerate(pairs)
        ],
    )
    surveyed = find_flags(review_set, detectors=[Laterality()]).select("case", "kind").rows()
    looked = []
    for case_id in review_set.cases["id"]:
        case = review_set.case(case_id)
        assert case is not None
        for answer in review_set.answers_of(case_id):
            looked += [
                (flag.case, flag.kind)
                for flag in find_flags_for_answers(case, [answer], detectors=[Laterality()])
            ]
    assert sorted(surveyed) == sorted(looked)

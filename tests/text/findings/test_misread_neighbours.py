"""A finding keeps its own side and its own "no": what stands beside it belongs to something else.

Each class of error has texts for both directions.
"""

from __future__ import annotations

import pytest
from support.rows import each_row

from rexview.detect import find_flags_for_answers
from rexview.detect.box_failures import BoxUnrelated
from rexview.detect.report_hints import InventedFinding, MissedFinding
from rexview.schema import Answer, AnswerBox, Case, Report
from rexview.text.findings import find_mentions

FOUND = [  # text, finding, side, status (None: the text does not speak of it)
    # a fracture of a lead or wire is none of a bone
    ("No loop, kink or fracture of the lead.", "fracture", None, None),
    ("The pacemaker shows no lead fracture.", "fracture", None, None),
    ("The sternal wires are intact, no broken wires.", "fracture", None, None),
    ("No fracture is seen.", "fracture", None, "negated"),
    ("No rib fracture, no kink of the tube.", "rib_fracture", None, "negated"),
    # fractures of different bones are different findings
    ("No sternal fracture. Left clavicle broken.", "clavicle_fracture", "left", "positive"),
    ("No sternal fracture. Left clavicle broken.", "fracture", None, None),
    ("No fracture of the vertebral bodies.", "vertebral_fracture", None, "negated"),
    ("Neither rib is broken twice.", "rib_fracture", None, None),
    ("Neither rib is broken.", "rib_fracture", None, "negated"),
    # a bare "none" at the end, and one for the other side
    ("Fluid in the right pleural space, none at present.", "pleural_effusion", "right", "negated"),
    ("- left effusion: none seen", "pleural_effusion", "left", "negated"),
    ("Effusion on the right, none on the left.", "pleural_effusion", "right", "positive"),
    ("Effusion, pneumothorax: none.", "pleural_effusion", None, "negated"),
    ("Effusion, pneumothorax: present.", "pleural_effusion", None, "positive"),
    # a "no" of another clause
    (
        "The angle is hidden by opacity, and the left hemidiaphragm is not seen.",
        "opacity",
        "left",
        "positive",
    ),
    ("The right angle is replaced by opacity.", "opacity", "right", "positive"),
    ("Opacity and effusion are not seen.", "opacity", None, "negated"),
    (
        "Cracks without displacement may be hidden, and a pneumothorax or effusion is possible.",
        "pneumothorax",
        None,
        "uncertain",
    ),
    ("No effusion, and a pneumothorax is not seen.", "pneumothorax", None, "negated"),
    ("Looked for in both apices (no pneumothorax).", "pneumothorax", "bilateral", "negated"),
    # a query mark before what it doubts, and one that ends a question
    ("Hilar nodes on the right enlarged, ? lymphoma.", "hilar_enlargement", "right", "positive"),
    ("Is the right hilum enlarged? Lungs clear.", "hilar_enlargement", "right", "hypothetical"),
    # seen or not on a side, and on an earlier film
    ("Pneumothorax not seen on the right.", "pneumothorax", "right", "negated"),
    ("Left nodule, not seen on the prior study.", "nodule", "left", "positive"),
    ("Left nodule, not present in 2018.", "nodule", "left", "positive"),
    ("Left nodule, not present.", "nodule", "left", "negated"),
    # gone, and gone past a place
    ("R PTX gone.", "pneumothorax", "right", "negated"),
    ("The ETT has gone past the carina.", "endotracheal_tube", None, "positive"),
    # only its going on is supposed
    ("If the left effusion keeps growing, tap it.", "pleural_effusion", "left", "positive"),
    ("If a left effusion develops, tap it.", "pleural_effusion", "left", "hypothetical"),
    # a degree is denied, not the finding
    ("The right effusion is not significantly changed.", "pleural_effusion", "right", "positive"),
    ("No significant interval change in the effusion.", "pleural_effusion", None, "positive"),
    ("The right effusion is not seen.", "pleural_effusion", "right", "negated"),
    # an operation is not undone by what it removed
    ("After left thoracotomy, the fifth rib is resected.", "pneumonectomy", "left", "positive"),
    ("No thoracotomy.", "pneumonectomy", None, "negated"),
    # the sign for a fracture, and for a number or heading
    ("Healed # left clavicle.", "clavicle_fracture", "left", "positive"),
    ("Rib #4 is normal.", "rib_fracture", None, None),
    ("## Left clavicle\nNormal.", "clavicle_fracture", None, None),
    # moved is not removed
    ("The endotracheal tube has been withdrawn by 8 cm.", "endotracheal_tube", None, "positive"),
    ("The chest tube has been withdrawn.", "chest_tube", None, "negated"),
    # normal variants and general statements
    ("The right dome is higher, as is usual.", "hemidiaphragm_elevation", "right", "negated"),
    ("The right dome is higher.", "hemidiaphragm_elevation", "right", "positive"),
    ("Films are of limited sensitivity for pneumothorax.", "pneumothorax", None, "hypothetical"),
    ("After surgery effusions are common.", "pleural_effusion", None, "hypothetical"),
    ("This raises the possibility of small effusions.", "pleural_effusion", None, "uncertain"),
    # words that only look like a finding
    ("Hila: normal in size, position and density.", "opacity", None, None),
    ("Homogeneous density in the right base.", "opacity", "right", "positive"),
    ("The radio-opaque stripe of the tube.", "opacity", None, None),
    ("Ultrasound-guided diagnostic aspiration.", "lung_disease", None, None),
    ("Right basal aspiration.", "lung_disease", "right", "positive"),
    ("Monitoring leads.", "pacing_lead", None, None),
    ("Pacemaker leads.", "pacing_lead", None, "positive"),
    # the side of another finding or part
    ("Progression of oedema and of the right effusion.", "edema", None, "positive"),
    ("Opacity in the right base and in the left apex.", "opacity", "right", "positive"),
    (
        "It hid both the costophrenic angle and the dome: a meniscus.",
        "pleural_effusion",
        None,
        "positive",
    ),
    ("Blunting of both costophrenic angles.", "pleural_effusion", "bilateral", "positive"),
    ("The opacity is faint. Trachea midline.", "opacity", None, "positive"),
    ("There is an effusion. Left side.", "pleural_effusion", "left", "positive"),
    (
        "- Atelectasis above the fluid.\n- **Right costophrenic angle:** clear.",
        "atelectasis",
        None,
        "positive",
    ),
    (
        "Nodules are round.\n\nMore follows.\n\nAnd more.\n\n**III.a Right lung.** It is clear.",
        "nodule",
        None,
        "positive",
    ),
    # where a device is put in
    ("The central line enters on the right, tip in the SVC.", "central_line", "right", "positive"),
    ("The central line ends on the right.", "central_line", None, "positive"),
]  # fmt: skip


@each_row(("text", "finding", "side", "status"), FOUND)
def test_side_and_status_are_its_own(
    text: str, finding: str, side: str | None, status: str | None
) -> None:
    found = [(one.side, one.status) for one in find_mentions(text) if one.finding == finding]
    assert found[:1] == ([] if status is None else [(side, status)])


def case(report: str) -> Case:
    return Case("c", "What is abnormal?", question_type="open", report=Report(report, None))


def answer(text: str, *labels: str) -> Answer:
    boxes = tuple(AnswerBox("i", label, (1.0, 1.0, 5.0, 5.0)) for label in labels)
    return Answer("c", "g", text=text, finish_reason="stop", boxes=boxes)


@pytest.mark.parametrize(
    ("text", "label", "says"),
    [
        ("No loop, kink or fracture of the lead.", "Rib fracture", "does not mention"),
        ("No rib fracture.", "Rib fracture", "says is not there"),
        ("No fracture.", "Rib fracture", "says is not there"),
        ("No rib fracture.", "Clavicle fracture", "does not mention"),
        ("No left pneumothorax.", "Pneumothorax", "says is not there"),
        ("No nodule.", "Opacity", "does not mention"),
    ],
)
def test_a_box_says_what_the_text_says_of_it(text: str, label: str, says: str) -> None:
    (flag,) = find_flags_for_answers(case(""), [answer(text, label)], detectors=[BoxUnrelated()])
    assert says in flag.message


@pytest.mark.parametrize(
    ("report", "text", "hinted"),
    [
        (
            "No pleural fluid.",
            "Fluid in the right pleural space, none at present.",
            False,
        ),
        ("No pleural fluid.", "Fluid in the right pleural space.", True),
        ("No pneumothorax.", "A late pneumothorax or haemothorax is possible.", False),
        ("No rib fracture.", "Fracture of the left clavicle.", False),
        ("No clavicle fracture.", "Left clavicle fracture.", True),
        ("No left effusion.", "Right effusion.", False),
    ],
)
def test_only_what_the_report_denies_is_said_to_be_denied(
    report: str, text: str, hinted: bool
) -> None:
    found = find_flags_for_answers(case(report), [answer(text)], detectors=[InventedFinding()])
    assert any("report says" in flag.message for flag in found) is hinted


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("The bony thorax is intact with no acute fracture.", "the answer denies it"),
        ("No clavicle fracture.", "the answer does not mention it"),
        ("Two fractures on the left.", None),
        ("The left sixth rib is broken.", None),
    ],
)
def test_a_missed_fracture_is_of_that_bone(text: str, says: str | None) -> None:
    flags = find_flags_for_answers(
        case("Displaced fractures of two left ribs."), [answer(text)], detectors=[MissedFinding()]
    )
    assert [says in flag.message for flag in flags if says] == ([True] if says else [])
    assert bool(flags) is (says is not None)


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("Prominent pulmonary vasculature with normal heart shadow.", "cardiomegaly"),
        ("The cardiac silhouette is normal with prominent pulmonary arteries.", "cardiomegaly"),
        ("Prominent aortic knob with a normal cardiac silhouette.", "cardiomegaly"),
        ("Widened intercostal spaces with normal mediastinal contours.", "mediastinal_widening"),
    ],
)
def test_a_part_that_is_normal_is_not_what_is_enlarged(text, finding):
    assert finding not in {one.finding for one in find_mentions(text)}


def test_a_heart_that_was_normal_may_be_enlarged_now():
    mentions = find_mentions("The heart, previously normal, is now enlarged.")
    assert [(one.finding, one.status) for one in mentions] == [("cardiomegaly", "positive")]

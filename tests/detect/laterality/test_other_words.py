"""Sides of findings that the answer calls by other words than the report: both ways for each."""

from __future__ import annotations

import pytest
from support.rows import each_row

from rexview.detect import find_flags_for_answers
from rexview.detect.laterality.detector import Laterality, SideIncomplete
from rexview.schema import Answer, Case, Flag, Report

OTHER = {"right": "left", "left": "right", "R": "L", "L": "R"}

# what a report says, and the same in other words; "{}" and "{.}" are a side and its letter
DEVICES = [
    ("{} PICC, tip in the SVC.", "Peripherally inserted central catheter from the {} arm."),
    ("{.} arm PICC.", "The {} upper extremity PICC ends in the SVC."),
    ("{.} IJ, tip SVC.", "{} internal jugular central line."),
    ("{} IJ line.", "Central venous catheter via the {} internal jugular vein."),
    ("{.} HD cath, tip RA.", "Tunneled dialysis catheter in the {} chest."),
    ("{} permcath.", "{} jugular haemodialysis catheter."),
    ("{} subclavian port.", "{} chest wall mediport."),
    ("Infusaport on the {}.", "Port-A-Cath reservoir, {} chest."),
    ("{} chest tube.", "Pigtail catheter at the {} base."),
    ("{} thoracostomy tube in place.", "Intercostal drain on the {}."),
    ("Pacemaker box {} side, leads RA RV.", "Pacemaker generator in the {} chest, two leads."),
    ("{} pectoral ICD.", "Dual-lead defibrillator on the {}."),
    ("{} AICD.", "{} chest wall pulse generator."),
    ("Vagus nerve stimulator generator, {} chest.", "VNS battery over the {} chest."),
    ("VP shunt along the {} neck.", "{} shunt tubing crosses the neck and chest."),
    ("Swan-Ganz catheter via the {} IJ.", "{} IJ pulmonary artery catheter."),
    ("{} central venous catheter.", "{} PICC."),
    ("{} shoulder arthroplasty.", "{} humeral head prosthesis."),
    ("Plate and screws of the {} clavicle.", "{} clavicular ORIF."),
]
OPERATED = [
    ("{} mastectomy.", "The {} breast has been removed."),
    ("Absent {} breast shadow.", "Post {} mastectomy."),
    ("Status post {} upper lobectomy.", "The {} upper lobe has been resected."),
    ("{} pneumonectomy.", "{} post-pneumonectomy space."),
    ("Prior {} thoracotomy.", "Postoperative changes of the {} hemithorax."),
    ("Clips in the {} axilla.", "{} axillary surgical clips."),
    ("Suture line at the {} apex.", "Staples in the {} apex."),
]
FINDINGS = [
    ("{} basilar airspace disease.", "Consolidation at the {} base."),
    ("{} lower lobe pneumonia.", "Infective change in the {} lower lobe."),
    ("{} base atelectasis.", "Volume loss at the {} base."),
    ("Blunted {} costophrenic angle.", "Small {} effusion."),
    ("{} haemothorax.", "Pleural fluid on the {}."),
    ("Fluid in the pleural space on the {}.", "{} pl eff."),
    ("{} apical ptx.", "Pneumothorax at the {} apex."),
    ("{} apical pleural thickening.", "{} apical cap."),
    ("{} apical scar.", "Fibrotic bands at the {} apex."),
    ("Calcified {} hilar nodes.", "Old granulomatous disease, {} hilum."),
    ("{} hilum full.", "Prominence of the {} hilum."),
    ("Healed # {.} clavicle.", "Old {} clavicular fracture."),
    ("{.} 5th-8th rib fx.", "Fractures of the {} fifth to eighth ribs."),
    ("Deformity of the {} lateral 7th rib.", "Old {} rib fracture."),
    ("{} hemidiaphragm up.", "Eventration of the {} hemidiaphragm."),
    ("Metallic fragments {} hemithorax.", "Bullet fragments over the {} chest."),
    ("Dobhoff tip in {} mainstem bronchus.", "Feeding tube in the {} main bronchus."),
    ("Bochdalek hernia, {}.", "{} congenital diaphragmatic hernia."),
    ("{} lateral base opacity.", "Opacity of the {} posterolateral base."),
]
SAME = [*DEVICES, *OPERATED, *FINDINGS]


def found(report: str, text: str, question: str = "What is there?") -> list[Flag]:
    return find_flags_for_answers(
        Case("c", question, report=Report(report)),
        [Answer("c", "m", text=text)],
        detectors=[Laterality(), SideIncomplete()],
    )


def kinds(report: str, text: str, question: str = "What is there?") -> set[str]:
    return {f"{flag.failure} {flag.kind}" for flag in found(report, text, question)}


def on(side: str, text: str) -> str:
    text = text.replace("{.}", side[0].upper()).replace("{}", side)
    return text[0].upper() + text[1:]


@each_row("side", ["right", "left"])
@each_row(("report", "answer"), SAME)
def test_the_other_side_is_an_error_in_whatever_words(report, answer, side):
    assert kinds(on(side, report), on(OTHER[side], answer)) == {"laterality_error report"}
    assert kinds(on(side, answer), on(OTHER[side], report)) == {"laterality_error report"}


@each_row("side", ["right", "left"])
@each_row(("report", "answer"), SAME)
def test_the_same_side_is_none_in_whatever_words(report, answer, side):
    assert kinds(on(side, report), on(side, answer)) == set()
    assert kinds(on(side, answer), on(side, report)) == set()


@each_row(
    ("report", "answer"),
    [
        # what is missed on one side has another name there
        ("Bibasilar airspace disease.", "Left lower lobe opacity. Right base atelectasis."),
        ("Right mass. Questionable left nodule.", "Right mass. Left lung nodular opacity."),
        # the other side is of something else
        (
            "Left pacemaker, tips in RA and RV.",
            "Pacemaker with right atrial and ventricular leads.",
        ),
        ("Left port.", "Port with its tip at the right cavoatrial junction."),
        ("Left PICC.", "PICC, which turns up into the right internal jugular vein."),
        ("Left pneumothorax after failed right subclavian attempt.", "Left pneumothorax."),
        (
            "Scar at the right base.",
            "1. Scar, unchanged. 2. Left-sided device has its tip in the SVC.",
        ),
        ("Right base scar.", "Right base scar, calcified L hilar nodes."),
        ("Post op film right lower lobectomy.", "Right lower lobectomy."),
        (
            "Clips at the left hilum.",
            "Hilar clips on the left side and the right lung has herniated.",
        ),
        ("Right effusion.", "Oedema, left more than right, right effusion."),
        ("Left cavity.", "Seen on both projections, favouring an abscess. It is in the left lung."),
        ("Effusion on the left.", "Left effusion; in cirrhosis this is more often on the right."),
        ("Left nodule, not present in 2018.", "New left nodule."),
        ("Left PTX.", "Pneumothorax: not seen on the right; small on the left."),
        (
            "Left nodal calcification.",
            "Old fracture right rib - calcified left hilar nodes - clear.",
        ),
        (
            "Right lower lobe opacity.",
            "Let me see. The opacity on the left... no, I mean the right.",
        ),
    ],
)
def test_what_is_no_error_for_all_its_words(report, answer):
    assert "laterality_error report" not in kinds(report, answer)
    assert "side_incomplete hint" not in kinds(report, answer)


@pytest.mark.parametrize(
    ("question", "report", "wrong", "right"),
    [
        ("Which side is the pneumothorax on?", "Left pneumothorax.", "The right.", "Left."),
        ("Which side is the effusion? A) Left B) Right", "Left effusion.", "B", "A"),
        ("Which side?\nA. Left effusion\nB. Right effusion", "Left effusion.", "Answer: B", "A."),
        ("Where is the nodule?", "Nodule, left base.", "Right lower zone", "In the left base."),
        ("Which lung has the mass?", "Right mass.", "Left lung.", "The right lung."),
    ],
)
def test_a_reply_that_is_a_side_only_is_of_what_was_asked(question, report, wrong, right):
    assert kinds(report, wrong, question) == {"laterality_error report"}
    assert kinds(report, right, question) == set()


def test_no_side_is_read_where_the_question_leaves_open_of_what():
    report, question = "Left effusion, right mass.", "Where are effusion and mass?"
    assert kinds(report, "On the right.", question) == set()
    assert kinds(report, "B", "Which is it? A) one B) the other") == set()


THOUGHTS = (
    "I look at the left base first, where I might see an opacity. Let me compare: the right base "
    "is darker.\n\n"
)


def test_of_thoughts_what_they_came_to_counts():
    final = "Impression: opacity at the right base."
    assert kinds("Right base opacity.", THOUGHTS + final) == set()
    assert kinds("Left base opacity.", THOUGHTS + final) == {"laterality_error report"}


@pytest.mark.parametrize("bilateral", ["Bilateral effusions.", "Right effusion. Left effusion."])
def test_a_hint_names_both_sides_of_the_text_that_has_them(bilateral):
    (flag,) = found(bilateral, "Right effusion.")
    assert "report: both sides" in flag.message
    (flag,) = found("Right effusion.", bilateral)
    assert flag.message.startswith("Answer: bilateral pleural effusion; report: right")

"""What an answer claims, and what it only denies, weighs or advises in words that are not read."""

from __future__ import annotations

import pytest

from rexview.detect import find_flags_for_answers
from rexview.detect.report_hints import InventedFinding, MissedFinding
from rexview.schema import Answer, Case, Report

CLEAR = "The lungs are clear. No pneumothorax. No pleural effusion. The heart is normal in size."


def messages(report: str, text: str, detector, question: str = "What is abnormal?") -> list[str]:
    case = Case("c", question, question_type="open", report=Report(report, None))
    return [
        flag.message
        for flag in find_flags_for_answers(
            case, [Answer("c", "g", text=text)], detectors=[detector]
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        "**Not seen:** pneumothorax, pleural fluid.",
        "No clear consolidation, but the left base is hard to assess.",
        "The lungs look clear, with no signs of infection or fluid.",
        "Do not wait for CT; decompress and insert a chest drain.",
        "The line is gone, and with it went the pneumothorax.",
        "Such a film could hide a small left pneumothorax.",
        "| Finding | Prior | Now |\n|---|---|---|\n| Left pneumothorax | small | gone |",
        "| Effusion | neither | absent | - |",
        '[{"finding": "pneumothorax", "side": null, "severity": "none"}]',
        "| Diagnosis | For | Against |\n|---|---|---|\n| Heart failure | age | size of the heart |",
        "Infection, malignancy and heart failure are the leading causes of dyspnoea.",
    ],
)
def test_what_is_denied_or_weighed_is_not_invented(text):
    assert messages(CLEAR, text, InventedFinding()) == []


def test_a_low_likelihood_is_no_claim():
    question = "Rate the likelihood (0-100) of each finding."
    text = "- Pneumothorax: 2\n- Consolidation: 15 (nothing focal)"
    assert messages(CLEAR, text, InventedFinding(), question) == []
    text = "- Pneumothorax: 92\n- Consolidation: 15 (nothing focal)"
    assert len(messages(CLEAR, text, InventedFinding(), question)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "There is a small left pneumothorax.",
        "Left apical pneumothorax with absent lung markings beyond it.",
        "No consolidation; small left pneumothorax.",
        "I do not see consolidation, but there is a left pneumothorax.",
        "Final answer: no, there is a left pneumothorax.",
        "The left pneumothorax cannot be missed.",
        '[{"finding": "pneumothorax", "side": "left", "severity": "small"}]',
        "| Finding | Prior | Now |\n|---|---|---|\n| Left pneumothorax | small | larger |",
    ],
)
def test_a_plain_claim_stays_one(text):
    (message,) = messages(CLEAR, text, InventedFinding())
    assert "pneumothorax" in message


@pytest.mark.parametrize(
    ("report", "name"),
    [
        ("Gastric band noted.", "gastric band"),
        ("Plate fixation of the left clavicle.", "left plate or screw in bone"),
        ("Left atrial appendage clip.", "closure device of the heart"),
        ("Endobronchial valves in the left upper lobe.", "left bronchial valve or coil"),
    ],
)
def test_what_was_implanted_is_called_by_its_name(report, name):
    (message,) = messages(report, "The lungs are clear.", MissedFinding())
    assert f"the report has {name}, the answer" in message


@pytest.mark.parametrize(
    "text",
    [
        "No pneumothorax, and right lower lobe pneumonia.",
        "Right lower lobe pneumonia: the vessels are not seen owing to consolidation.",
    ],
)
def test_what_follows_a_denial_is_not_denied_with_it(text):
    report = "Right lower lobe pneumonia. No pneumothorax."
    assert messages(report, text, MissedFinding()) == []


def test_markings_that_are_missing_say_that_air_is_there():
    text = "Large **right** pneumothorax: no lung markings peripherally."
    assert messages("Large right pneumothorax.", text, MissedFinding()) == []
    text = "Pneumothorax: no."
    assert len(messages("Large right pneumothorax.", text, MissedFinding())) == 1

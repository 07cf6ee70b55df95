"""Tubes and lines that the report has out of place, and answers that have them in place."""

from __future__ import annotations

import pytest

from rexview.detect import find_flags_for_answers
from rexview.detect.report_hints import MissedFinding
from rexview.schema import Answer, Case, Report

COILED = "The feeding tube is coiled in the upper oesophagus and should be withdrawn."


def missed(report: str, text: str, question: str = "What is abnormal?") -> list[str]:
    case = Case("c", question, question_type="open", report=Report(report, None))
    flags = find_flags_for_answers(case, [Answer("c", "g", text=text)], detectors=[MissedFinding()])
    for flag in flags:
        for item in flag.evidence:
            source = text if item.where == "answer" else report
            assert source[item.start : item.end] == item.text
    return [flag.message for flag in flags if "out of place" in flag.message]


@pytest.mark.parametrize(
    ("report", "text", "how"),
    [
        (COILED, "A feeding tube ends in the stomach.", "does not say so"),
        (COILED, "The feeding tube is in satisfactory position.", "calls its place correct"),
        (COILED, "Lines and tubes in standard position, among them a feeding tube.", "calls its"),
        (
            "ETT 9 cm above the carina. It should be advanced 4 cm.",
            "ETT in good position.",
            "calls",
        ),
        ("Malpositioned left PICC, tip in the right IJ.", "Left PICC with tip in the SVC.", "does"),
        ("NG tube in the right main bronchus.", "NG tube with its tip in the stomach.", "does not"),
        ("Right mainstem intubation, withdraw by 3 cm.", "ETT 4 cm above the carina.", "does not"),
    ],
)
def test_a_tube_that_lies_wrong_is_missed(report, text, how):
    (message,) = missed(report, text)
    assert how in message


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (COILED, "The feeding tube loops in the gullet: do not feed."),
        (COILED, "The feeding tube needs repositioning."),
        (COILED, "Clear lungs."),  # the tube itself is missed
        (COILED, "The endotracheal tube is in good position."),
        ("ETT in good position, no repositioning needed.", "ETT in good position."),
        ("Previously malpositioned NG tube is now in the stomach.", "NG tube in the stomach."),
        ("NG tube in the right main bronchus.", "NG tube in the right lower lobe bronchus."),
        ("Right mainstem intubation.", "The ETT is too deep."),
        ("Patient repositioned. NG tube in the stomach.", "NG tube in the stomach."),
    ],
)
def test_what_says_so_in_any_words_or_was_not_out_of_place(report, text):
    assert not missed(report, text)


def test_a_tube_that_only_the_question_names():
    report = "ETT 9 cm above the carina. It should be advanced 4 cm."
    question = "Is the ETT in a good position?"
    (message,) = missed(report, "Yes, about 4 cm above the carina, which is acceptable.", question)
    assert "endotracheal tube out of place" in message

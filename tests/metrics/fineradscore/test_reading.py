"""What a judge answers is taken as it was asked for, or not at all."""

import json

import pytest
from support.rows import each_row

from rexview.metrics.fineradscore import Correction, read_corrections
from rexview.metrics.report_lines import report_lines

LINES = report_lines("Small left effusion. Heart is normal. Nodule of 4 mm.")
GOOD = {
    "line": 1,
    "action": "substitute",
    "text": "Small right effusion.",
    "kind": "location",
    "severity": 3,
    "comment": "The side is wrong.",
}


def read(*corrections):
    return read_corrections(json.dumps({"corrections": list(corrections)}), LINES)


def test_corrections_are_read_as_they_are():
    inserted = {**GOOD, "action": "insert", "line": 0, "text": " New. ", "comment": ""}
    deleted = {**GOOD, "action": "delete", "line": 3, "text": "Nodule of 4 mm.", "severity": 2}
    assert read(GOOD, inserted, deleted) == (
        Correction(1, "substitute", "Small right effusion.", "location", 3, "The side is wrong."),
        Correction(0, "insert", "New.", "location", 3, None),
        Correction(3, "delete", None, "location", 2, "The side is wrong."),
    )
    assert read() == ()
    assert read_corrections('```json\n{"corrections": []}\n```', LINES) == ()
    assert len(read(*[inserted] * 3)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON object"),
        ("There are no errors.", "no JSON object"),
        ('Here it is: {"corrections": []}', "no JSON object"),
        ('{"corrections": [', "no JSON object"),
        ("[]", "no JSON object"),
        ("{}", "no list of corrections"),
        ('{"corrections": {"1": {}}}', "no list of corrections"),
        ('{"corrections": ["delete line 1"]}', "Correction 1: it is no object"),
        ('{"corrections": [[1]]}', "Correction 1: it is no object"),
    ],
)
def test_what_is_no_list_of_corrections_is_told(text, words):
    assert words in read_corrections(text, LINES)


@each_row(
    ("changed", "words"),
    [
        ({"line": 4}, "there is no line 4"),
        ({"line": 0}, "there is no line 0"),
        ({"line": "1"}, "there is no line '1'"),
        ({"line": True}, "there is no line True"),
        ({"line": 1.0}, "there is no line 1.0"),
        ({"line": [1]}, "there is no line"),
        ({"action": "replace"}, "the action 'replace' is none of"),
        ({"action": "keep"}, "the action 'keep' is none of"),
        ({"action": None}, "the action None"),
        ({"action": ["delete"]}, "the action"),
        ({"kind": "wrong side"}, "the kind 'wrong side' is none of"),
        ({"kind": {}}, "the kind"),
        ({"severity": 5}, "the severity 5"),
        ({"severity": -1}, "the severity -1"),
        ({"severity": "3"}, "the severity '3'"),
        ({"severity": 2.5}, "the severity 2.5"),
        ({"severity": None}, "the severity None"),
        ({"text": ""}, "the new line is missing"),
        ({"text": None, "action": "insert"}, "the new line is missing"),
        ({"text": ["a"]}, "the text is no text"),
        ({"text": "a" * 10_001}, "the text is no text"),
        ({"text": "Small  left effusion."}, "line 1 stays as it is"),
        ({"comment": 7}, "the comment is no text"),
        ({"why": "x"}, "'why' is no part of a correction"),
    ],
)
def test_one_wrong_correction_makes_all_of_them_unread(changed, words):
    said = read(GOOD | {"line": 2, "text": "Heart is large."}, {**GOOD, **changed})
    assert said.startswith("Correction 2: ")
    assert words in said


@pytest.mark.parametrize("name", GOOD)
def test_a_part_that_is_missing_is_not_made_up(name):
    given = {key: value for key, value in GOOD.items() if key != name}
    said = read(given)
    if name == "comment":
        assert said[0].comment is None
    else:
        assert said.startswith("Correction 1: ")


def test_a_line_cannot_be_corrected_twice():
    assert read(GOOD, {**GOOD, "text": "Right effusion."}) == "Line 1 is corrected twice."
    assert read(GOOD, {**GOOD, "action": "delete"}) == "Line 1 is corrected twice."
    assert "at most 500" in read(*[{**GOOD, "action": "insert"}] * 501)

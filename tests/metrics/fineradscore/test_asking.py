"""What a judge is asked, and what it is not told."""

import json

import pytest
from support.reports.compared_reports import FINDINGS, write_reports

from rexview.metrics.fineradscore import (
    CorrectedReport,
    build_line_edit_request,
    corrections_reader,
    edit_rows,
    judging_prompt,
    read_corrections,
    report_subject,
)
from rexview.metrics.reference_pairs import pair_with_references
from rexview.models.backend import Parameters
from rexview.reviewset import load_review_set
from rexview.vocab import EDIT_KINDS

PARAMETERS = Parameters("judge", "chat")


@pytest.fixture
def folder(tmp_path):
    return write_reports(tmp_path / "set")


def subjects(folder, scope="findings"):
    found = pair_with_references(load_review_set(folder), scope, ("a", "b"))
    return {(one.case.id, one.answer.model): report_subject(one) for one in found}


def test_the_lines_keep_their_numbers_in_the_answer(folder):
    numbers = {
        scope: [(line.number, line.text) for line in subjects(folder, scope)["r2", "a"].lines]
        for scope in ("findings", "impression", "findings+impression")
    }
    first, second, third = numbers["findings+impression"]
    assert (first, second) == (
        (1, "Small left pleural effusion."),
        (2, "Heart is normal."),
    )
    assert numbers["findings"] == [first, second]
    assert numbers["impression"] == [third] == [(3, "Left effusion.")]


def test_the_request_has_the_two_texts_and_nothing_of_patient_or_model(folder):
    request = build_line_edit_request(subjects(folder)["r1", "b"], judging_prompt(), PARAMETERS)
    sent = json.dumps([request.system, *request.parts])
    assert FINDINGS in sent
    assert "[1] Small left pleural effusion.\\n[2] Heart is normal.\\n" in sent
    assert not request.images
    for hidden in ("r1", "patient-of-r1", "64", "Dyspnoea", "Model B", "Reports"):
        assert hidden not in sent
    for kind in EDIT_KINDS:
        assert kind in request.parts[0]


def test_curly_brackets_of_reports_are_text(folder):
    lines = (folder / "answers.jsonl").read_text()
    (folder / "answers.jsonl").write_text(lines.replace("Heart is normal", "{reference} {kinds}"))
    request = build_line_edit_request(subjects(folder)["r1", "b"], judging_prompt(), PARAMETERS)
    assert "[2] {reference} {kinds}." in request.parts[0]


def test_the_schema_takes_what_is_read(folder):
    request = build_line_edit_request(subjects(folder)["r1", "b"], judging_prompt(), PARAMETERS)
    one = request.schema["properties"]["corrections"]["items"]
    assert set(one["required"]) == set(one["properties"])
    assert one["properties"]["severity"]["enum"] == [0, 1, 2, 3, 4]


def test_other_texts_make_another_subject(folder):
    before = subjects(folder)
    assert subjects(folder)["r1", "b"].id == before["r1", "b"].id
    answers, cases = folder / "answers.jsonl", folder / "cases.jsonl"
    answers.write_text(answers.read_text().replace("Small left", "Large left"))
    after = subjects(folder)
    assert after["r1", "b"].id != before["r1", "b"].id
    assert after["r1", "a"].id == before["r1", "a"].id
    cases.write_text(cases.read_text().replace("Heart size", "The size"))
    assert subjects(folder)["r1", "a"].id != after["r1", "a"].id
    assert subjects(folder, "findings+impression")["r1", "a"].id != subjects(folder)["r1", "a"].id


def test_every_line_has_a_row_and_severities_add_up(folder):
    subject = subjects(folder)["r2", "a"]
    said = json.dumps(
        {
            "corrections": [
                {"line": 0, "action": "insert", "text": "First.", "kind": "missing_finding"}
                | {"severity": 1, "comment": ""},
                {"line": 2, "action": "insert", "text": "Last.", "kind": "missing_finding"}
                | {"severity": 4, "comment": "Left out."},
                {"line": 1, "action": "delete", "text": "", "kind": "false_finding"}
                | {"severity": 2, "comment": ""},
            ]
        }
    )
    report = CorrectedReport(subject, read_corrections(said, subject.lines), "2026-01-01T00:00:00Z")
    assert report.score == 7
    rows = edit_rows(load_review_set(folder), [report], corrections_reader("judge"))
    assert [(row["line"], row["action"], row["severity"]) for row in rows] == [
        (0, "insert", 1),
        (1, "delete", 2),
        (2, "keep", 0),
        (2, "insert", 4),
    ]
    assert {row["reader"] for row in rows} == {"fineradscore:judge"}
    assert [row.get("original") for row in rows] == [
        *(None, "Small left pleural effusion.", "Heart is normal.", None)
    ]
    right = CorrectedReport(subjects(folder)["r1", "a"], (), "2026-01-01T00:00:00Z")
    assert right.score == 0
    assert [
        row["action"]
        for row in edit_rows(load_review_set(folder), [right], corrections_reader("judge"))
    ] == [
        "keep",
        "keep",
    ]

"""What is gathered of the reports of a case, from real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.reports.report_set import write_reports

from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.case.report_comparison import ReportCase, build_report_case
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.harm import load_harm
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet


@pytest.fixture(name="reports", scope="module")
def reports_fixture(tmp_path_factory: pytest.TempPathFactory) -> ReviewSet:
    return load_review_set(write_reports(tmp_path_factory.mktemp("set") / "reports"))


def gathered(review_set: ReviewSet, case: str, **more: Any) -> ReportCase | None:
    page = build_case_page(review_set, case, build_memory_engine(review_set))
    assert page is not None
    return build_report_case(review_set, page, load_harm(), **more)


def test_a_case_has_its_edits_metrics_and_corrected_reference(reports: ReviewSet) -> None:
    found = gathered(reports, "r1")
    assert found is not None
    assert [edit.severity for edit in found.edits["m"]] == [None, 3, 2, 4, 2]
    assert [(one.reader, one.action) for one in found.edits["n"]] == [("ra", "keep")]
    given = [
        (one.metric, one.value) for one in found.metrics["m"] if one.implementation != "rexview"
    ]
    assert given == [("bleu_2", 0.21), ("radcliq_v1", 1.72)]
    (corrected,) = found.corrected
    assert corrected.findings is not None
    assert corrected.findings.startswith("The heart is enlarged.")


def test_agreement_says_what_is_missed_invented_and_swapped(reports: ReviewSet) -> None:
    found = gathered(reports, "r1")
    assert found is not None
    agreement = found.agreement["m"].parts
    assert [pair.reference.name for pair in agreement.swapped] == ["right pleural effusion"]
    assert [one.stated.name for one in agreement.missed] == ["left consolidation"]
    assert [one.stated.findings[0] for one in agreement.invented] == ["rib_fracture"]
    other = found.agreement["n"].parts
    assert (other.score, len(other.agreed)) == (1.0, 2)


def test_corrections_stand_with_their_line(reports: ReviewSet) -> None:
    found = gathered(reports, "r1")
    assert found is not None
    at = {line: [edit.action for edit in edits] for line, edits in found.edits_at("m").items()}
    assert at == {
        1: ["keep"],
        2: ["substitute", "substitute"],
        3: ["insert"],
        5: ["delete"],
    }
    unknown = gathered(reports, "r2")
    assert unknown is not None
    assert [edit.line for edit in unknown.edits_at("m")[None]] == [99]


def test_only_the_corrections_of_the_chosen_are_there(reports: ReviewSet) -> None:
    found = gathered(reports, "r1", editors=("judge:x",))
    assert found is not None
    assert [edit.reader for edit in found.edits["m"]] == ["judge:x"]
    assert found.edits["n"] == ()


def test_a_correction_of_a_file_that_counts_other_lines_finds_its_words(tmp_path: Path) -> None:
    edits = [
        {"case": "r1", "model": "n", "reader": "ra", "line": line, "original": words}
        | {"edited": "Y.", "action": "substitute", "severity": 1}
        for line, words in ((7, "heart size is  NORMAL."), (0, None), (2, "Not in the text"))
    ]
    edits[1]["action"] = "insert"
    found = gathered(load_review_set(write_reports(tmp_path / "set", edits=edits)), "r1")
    assert found is not None
    at = {line: [edit.line for edit in given] for line, given in found.edits_at("n").items()}
    assert at == {1: [7, 0], 2: [2]}


def test_corrections_of_an_earlier_report_stand_apart(tmp_path: Path) -> None:
    edits = [
        {"case": "r1", "model": "n", "reader": "ra", "line": 1, "action": "delete"}
        | {"severity": 4, "answer_digest": digest}
        for digest in (None, "0" * 64)
    ]
    found = gathered(load_review_set(write_reports(tmp_path / "set", edits=edits)), "r1")
    assert found is not None
    assert len(found.edits["n"]) == len(found.stale_edits["n"]) == 1


def test_other_cases_have_none_of_it(reports: ReviewSet) -> None:
    assert gathered(reports, "o1") is None


def test_a_case_without_reference_has_its_lines(reports: ReviewSet) -> None:
    found = gathered(reports, "r3")
    assert found is not None
    (row,) = found.rows
    assert row.reference is None
    assert found.agreement == {}

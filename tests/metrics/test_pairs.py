"""Which generated reports are compared with which references."""

import pytest
from support.reports.compared_reports import FINDINGS, IMPRESSION, write_reports

from rexview.metrics.reference_pairs import (
    find_reader_corrections,
    models_with_reports,
    pair_with_references,
)
from rexview.reviewset import load_review_set


@pytest.fixture
def review_set(tmp_path):
    references = (
        "case,reader,findings,impression,created\n"
        'r1,ra,"Old findings.",,2026-01-01T10:00:00Z\n'
        'r1,rb,"Newer findings.","Newer impression.",2026-02-01T10:00:00Z\n'
    )
    return load_review_set(write_reports(tmp_path / "set", references=references))


def named(found):
    return [(pair.case.id, pair.answer.model) for pair in found]


def test_people_imported_as_models_are_no_models_that_write_reports(review_set):
    assert models_with_reports(review_set) == ("a", "b")


def test_reports_are_compared_where_both_sides_have_the_sections(review_set):
    findings = pair_with_references(review_set, "findings", ("a", "b"))
    assert named(findings) == [("r1", "a"), ("r2", "a"), ("r3", "a"), ("r1", "b")]
    assert findings.missing == {"no findings in the answer": 2}
    both = pair_with_references(review_set, "findings+impression", ("a", "b"))
    assert named(both) == [("r1", "a"), ("r2", "a"), ("r1", "b")]
    assert both.missing == {
        "no findings or no impression in the reference": 2,
        "no findings or no impression in the answer": 1,
    }
    pair = next(iter(both))
    assert pair.reference == pair.candidate == f"Findings: {FINDINGS} Impression: {IMPRESSION}"
    assert named(pair_with_references(review_set, "impression", ("b",))) == [
        ("r1", "b"),
        ("r2", "b"),
    ]


def test_the_newest_corrected_report_takes_the_place_of_the_given_one(review_set):
    corrected = find_reader_corrections(review_set)
    found = pair_with_references(review_set, "findings", ("a", "b"), corrected)
    assert named(found) == [("r1", "a"), ("r1", "b")]
    assert {pair.reference for pair in found} == {"Newer findings."}
    assert found.missing == {"no corrected report": 4}
    assert review_set.case("r1").report.findings == FINDINGS

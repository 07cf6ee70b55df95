"""Words are marked as missed, invented or swapped where a flag or hint says so, only there."""

import pytest
from support.rows import each_row

from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.case.report_comparison import build_report_case
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.harm import load_harm
from rexview.reviewset import load_review_set


@pytest.fixture(scope="module")
def demo():
    review_set = load_review_set("assets/demo")
    return review_set, build_memory_engine(review_set)


def marks(review_set, engine, case):
    reports = build_report_case(review_set, build_case_page(review_set, case, engine), load_harm())
    return {
        model: [(one.what, one.words.text) for one in found]
        for model, found in reports.marks.items()
    }


@each_row(
    ("case", "expected"),
    [
        # what other words say is not invented, and a differential is not missed
        ("c37", {"medical-4b": [("missed", "airspace consolidation"), ("missed", "pneumonia")]}),
        ("r10", {}),
        ("r05", {}),
        # the nodule that the answer does not count
        ("r11", {"generalist": [("missed", "20 mm")]}),
        ("r07", {"generalist": [("invented", "dual-chamber")]}),
        (
            "r12",
            {
                "medical-4b": [
                    ("invented", "hilar lymphadenopathy"),
                    ("invented", "hilar lymphadenopathy"),
                    ("invented", "fullness"),
                ]
            },
        ),
    ],
)
def test_reports_of_the_demo(demo, case, expected):
    assert marks(*demo, case) == expected


def test_marks_and_hints_have_one_source(demo):
    """Each mark is about a flag that stands on the answer; its words are of the flag's finding."""
    review_set, engine = demo
    reports = review_set.cases.filter(review_set.cases["question_type"] == "report")["id"]
    n = 0
    for case in reports:
        page = build_case_page(review_set, case, engine)
        told = build_report_case(review_set, page, load_harm())
        standing = {(one.model, one.message) for one in page.flags if one.verdict != "rejected"}
        for model, found in told.marks.items():
            for mark in found:
                n += 1
                assert (model, mark.about) in standing
                section = mark.words.section if mark.where == "report" else None
                answer = next(one for one in page.answers if one.model == model)
                text = getattr(page.case.report, section) if section else answer.text
                assert text[mark.words.start : mark.words.end] == mark.words.text
    assert n > 15


@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_what_readers_rejected_is_not_marked(make_set, verdict):
    report = {"findings": "There is a left pneumothorax.", "impression": None}
    said = {"case": "c", "model": "g", "reader": "r", "failure": "omission", "verdict": verdict}
    one = make_set(
        cases=[{"id": "c", "question_type": "report", "report": report}],
        answers=[{"case": "c", "model": "g", "text": "Clear lungs. The heart is normal."}],
        flags=[said],
    )
    found = marks(one, build_memory_engine(one), "c")
    assert found == ({"g": [("missed", "pneumothorax")]} if verdict == "confirmed" else {})

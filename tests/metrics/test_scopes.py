"""Which sections are compared, as headings tell; ``None`` is none."""

import json

import pytest

from rexview.harm import load_harm
from rexview.importers import import_source
from rexview.metrics.answer_metrics import (
    LONGEST,
    compute_agreement,
    compute_answer_values,
    compute_bleu_2,
)
from rexview.metrics.reference_pairs import join_parts, select_answer_parts, select_report_parts
from rexview.reviewset import load_review_set
from rexview.schema import Answer, Case, Context, Report


def sections(parts):
    return None if parts is None else [(part.section, part.text.strip()) for part in parts]


@pytest.mark.parametrize(
    ("text", "findings", "both"),
    [
        ("Clear lungs.", [("findings", "Clear lungs.")], None),
        (
            "Findings: Clear. Impression: Normal.",
            [("findings", "Clear.")],
            [("findings", "Clear."), ("impression", "Normal.")],
        ),
        (
            "Two views.\nIMPRESSION: Normal.",
            [("findings", "Two views.")],
            [("findings", "Two views."), ("impression", "Normal.")],
        ),
        (
            "**Impression:** Normal.\n**Findings:** Clear.",
            [("findings", "Clear.")],
            [("findings", "Clear."), ("impression", "Normal.")],
        ),
        ("Findings: Clear. Impression: None", [("findings", "Clear.")], None),
        ("Findings: None Impression: Normal.", None, None),
        ("Findings: nan Impression: None.", None, None),
        ("None", None, None),
        ("Impression: Normal.", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_sections_of_an_answer(text, findings, both):
    assert sections(select_answer_parts(text, "findings")) == findings
    assert sections(select_answer_parts(text, "findings+impression")) == both


def test_spans_count_from_the_beginning_of_the_text():
    text = "Technique: AP.\nFindings: Clear.\nImpression: Right effusion."
    for part in select_answer_parts(text, "findings+impression"):
        assert text[part.start : part.start + len(part.text)] == part.text


@pytest.mark.parametrize(
    ("report", "scopes"),
    [
        (Report("Clear.", "Normal."), {"findings", "findings+impression", "impression"}),
        (Report("Clear.", "None"), {"findings"}),
        (Report("None.", "Normal."), {"impression"}),
        (Report(), set()),
    ],
)
def test_sections_of_a_report(report, scopes):
    known = ("findings", "findings+impression", "impression")
    assert {scope for scope in known if select_report_parts(report, scope)} == scopes
    assert select_report_parts(report, "another") is None


def test_both_are_compared_under_their_headings():
    both = select_report_parts(Report(" Clear.\n", "Normal."), "findings+impression")
    assert join_parts(both) == "Findings: Clear. Impression: Normal."
    assert join_parts(both[:1]) == "Clear."


def of(report, text, **case):
    return Case(id="c", question="?", report=report, **case), Answer("c", "m", text)


def test_values_of_an_answer():
    case, answer = of(Report("Right effusion.", "None"), "Findings: Right effusion. Impression: X.")
    values = {
        (one.metric, one.scope): value
        for one, value in compute_answer_values(case, answer, load_harm()).items()
    }
    assert values == {("bleu_2", "findings"): 1.0, ("finding_agreement", "findings"): 1.0}


def test_the_request_and_sides_of_the_picture_are_the_cases():
    report, text = Report("Degenerative changes."), "Clear."
    young, old = (
        compute_agreement(*of(report, text, context=Context(age=age)), load_harm()).score
        for age in ("30", "80")
    )
    assert (young, old) == (0.5, 1)
    seen = compute_agreement(
        *of(Report("Left effusion."), "As displayed, a right effusion."), load_harm()
    )
    assert seen.score == 1


def test_a_text_beyond_bounds_has_no_value():
    case, answer = of(Report("Clear."), "Clear. " * LONGEST)
    assert compute_agreement(case, answer, load_harm()) is None
    assert compute_bleu_2(case, answer) is None


def test_the_word_none_is_a_missing_section_in_every_import(tmp_path):
    study = {"section_findings": "None", "section_impression": "Normal."}
    other = {"section_findings": "Clear.", "section_impression": "None"}
    third = {"report": "Findings: None Impression: None", "key_image_path": "a.png"}
    (tmp_path / "data.json").write_text(json.dumps({"s1": study, "s2": other, "s3": third}))
    (tmp_path / "table.csv").write_text(
        "study_id,findings,impression,model,prediction\n"
        "s1,None,Normal.,m,Findings: None Impression: Normal.\n"
        "s2,Clear.,None,m,Findings: Clear.\n"
        "s3,None,None,m,Findings: Clear.\n"
    )
    for number, (format, name) in enumerate((("rexrank", "data.json"), ("auto", "table.csv"))):
        import_source(format, [tmp_path / name], tmp_path / f"out{number}")
        review_set = load_review_set(tmp_path / f"out{number}")
        reports = [review_set.case(case).report for case in review_set.cases["id"]]
        assert reports == [Report(None, "Normal."), Report("Clear.", None), Report()]

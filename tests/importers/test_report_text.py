import pytest
from support.rows import each_row

from rexview.reviewset.report_text import (
    is_absent,
    read_age,
    read_context,
    read_sex,
    split_report,
    split_sections,
)
from rexview.schema import Context, Report


@each_row(
    ("text", "findings", "impression"),
    [
        ("Findings: Clear lungs. Impression: Normal.", "Clear lungs.", "Normal."),
        ("FINDINGS: CLEAR LUNGS.\nIMPRESSION: NORMAL.", "CLEAR LUNGS.", "NORMAL."),
        ("Findings:Clear lungs.Impression:Normal.", "Clear lungs.", "Normal."),
        ("findings: clear\nimpression: normal", "clear", "normal"),
        ("Findings: None. Impression: 1. NO CHANGE.", None, "1. NO CHANGE."),
        ("Findings: Clear. Impression: nan", "Clear.", None),
        ("IMPRESSION:\n1. Effusion.\n2. Tube.", None, "1. Effusion.\n2. Tube."),
        ("Clear lungs, no effusion.", "Clear lungs, no effusion.", None),
        ("Two views. Impression: Normal.", None, "Normal."),
        ("CONCLUSION: Normal.", None, "Normal."),
        ("Findings/Impression: Normal chest.", "Normal chest.", None),
        ("Findings: A.\nImpression: B.\nImpression: C.", "A.", "B.\nC."),
        (
            "EXAMINATION: CHEST\nINDICATION: Cough.\nFINDINGS: Clear.\nIMPRESSION: Normal.",
            "Clear.",
            "Normal.",
        ),
        ("**Findings:**\nClear.\n\n**Impression**: Normal.", "Clear.", "Normal."),
        ("## Findings\n- Clear.\n## Impression\nNormal.", "- Clear.", "Normal."),
        ("FINDINGS\nClear.\nIMPRESSION\nNormal.", "Clear.", "Normal."),
        (
            "The findings\nimpression of a mass is new.",
            "The findings\nimpression of a mass is new.",
            None,
        ),
        ("Findings: None Impression: nan", None, None),
        ("  ", None, None),
        ("nan", None, None),
        (None, None, None),
    ],
)
def test_split_report(text, findings, impression):
    assert split_report(text) == Report(findings, impression)


def test_words_in_running_text_are_not_headings():
    text = "Findings: The findings: a nodule, with a history of cough. Impression: Nodule."
    assert split_sections(text)["findings"] == "The findings: a nodule, with a history of cough."


def test_a_report_that_only_has_other_headings_is_findings():
    text = "TECHNIQUE: AP. The lungs are clear."
    assert split_report(text).findings == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Indication: Cough. Comparison: None.",
            Context(indication="Cough.", comparison="None."),
        ),
        (
            "Age:50-60.Gender:M.Indication: PICC.Comparison: Film of ___.",
            Context("50-60", "M", "PICC.", "Film of ___."),
        ),
        (
            "Age:77.0.Gender:F.Indication:nanComparison: None.",
            Context("77", "F", None, "None."),
        ),
        ("<context>Indication: Fall.</context>", Context(indication="Fall.")),
        (" Comparison: None", Context(comparison="None")),
        ("INDICATION: FALL. COMPARISON: 2 VIEWS", Context(None, None, "FALL.", "2 VIEWS")),
        ("Fever and cough", Context(indication="Fever and cough")),
        ("Age:95.Gender:F.", Context("90+", "F")),
        (None, Context()),
        ("nan", Context()),
    ],
)
def test_read_context(text, expected):
    assert read_context(text) == expected


@each_row(
    ("text", "age"),
    [
        ("067Y", "67"),
        ("67", "67"),
        ("77.0", "77"),
        ("58 years", "58"),
        ("006M", "6 months"),
        ("012D", "12 days"),
        ("50-60", "50-60"),
        ("89", "89"),
        ("90", "90+"),
        ("103Y", "90+"),
        ("85-95", "90+"),
        ("80-90", "80-90"),
        ("411", None),
        ("adult", "adult"),
        ("", None),
        (None, None),
        ("nan", None),
    ],
)
def test_read_age(text, age):
    assert read_age(text) == age


@pytest.mark.parametrize(
    ("text", "sex"),
    [("F", "F"), ("male", "M"), ("Woman", "F"), ("O", "O"), ("unknown", "unknown"), ("", None)],
)
def test_read_sex(text, sex):
    assert read_sex(text) == sex


def test_absent_is_quick_on_long_blank_text():
    assert not is_absent(" " * 200_000 + "x")
    assert is_absent(" " * 200_000)

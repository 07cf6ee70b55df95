"""Questions held against their report by rules."""

import pytest

from rexview.curation.choice.checks import ChoiceQuestion
from rexview.curation.choice.checks.content import content_checks
from rexview.schema import Report

OPTIONS = ("Pneumothorax", "Pleural effusion", "Rib fracture", "Hiatal hernia")
LEFT = "Small left pleural effusion. No pneumothorax. No consolidation."


def said(question, options=OPTIONS, correct=1, report=LEFT, **more):
    """Return what each check says: passed, failed or not told."""
    given = Report(findings=report or None)
    asked = ChoiceQuestion("c", "m", question, tuple(options), correct, report=given, **more)
    return {one.check: one.passed for one in content_checks(asked)}


def test_a_question_that_the_report_supports_passes_but_for_what_only_people_can_tell():
    assert said("Which finding is present?") == {
        "several_valid": True,
        "needs_comparison": True,
        "invented": True,
        "contradicts_report": True,
        "clinically_doubtful": None,
    }


@pytest.mark.parametrize(
    ("question", "options", "correct", "report"),
    [
        ("Which finding is present?", OPTIONS, 0, LEFT),
        (
            "On which side is the pleural effusion?",
            ("Left", "Right", "Both sides", "None"),
            1,
            LEFT,
        ),
        ("Which finding is absent?", OPTIONS, 1, LEFT),
        ("Is there a pneumothorax?", ("Yes", "No", "Only on the left", "Unclear"), 0, LEFT),
        ("Is there a pleural effusion?", ("Yes", "No", "Only on the right", "Unclear"), 1, LEFT),
        (
            "Where is the consolidation?",
            ("Left upper lobe", "Left lower lobe", "Right upper lobe", "Right lower lobe"),
            0,
            "Consolidation in the left lower lobe.",
        ),
        (
            "How large is the nodule?",
            ("8 mm", "18 mm", "28 mm", "3 mm"),
            1,
            "A nodule of 0.8 cm in the right upper lobe.",
        ),
        (
            "How large is the pleural effusion?",
            ("Large", "Small", "Moderate", "Not measurable"),
            0,
            LEFT,
        ),
    ],
)
def test_what_the_report_says_otherwise_is_a_wrong_answer(question, options, correct, report):
    assert said(question, options, correct, report)["contradicts_report"] is False


@pytest.mark.parametrize(
    ("question", "options", "correct", "report"),
    [
        ("Which finding is present?", OPTIONS, 2, LEFT),
        (
            "On which side is the pneumothorax?",
            ("Left", "Right", "Both", "None"),
            0,
            "Clear lungs.",
        ),
        ("How large is the nodule?", ("8 mm", "9 mm", "1 mm", "2 mm"), 0, "A nodule on the right."),
    ],
)
def test_what_the_report_does_not_say_is_invented(question, options, correct, report):
    assert said(question, options, correct, report)["invented"] is False


def test_a_conclusion_need_not_stand_in_the_report():
    options = ("Pneumonia", "Edema", "Contusion", "Infarct")
    report = "Consolidation in the right lower lobe."
    asked = "What is the most likely cause?"
    assert said(asked, options, 1, report)["invented"] is not False


@pytest.mark.parametrize(
    ("question", "options", "report"),
    [
        ("Which finding is present?", OPTIONS, "Left pleural effusion. Right rib fracture."),
        (
            "On which side is the pleural effusion?",
            ("Right", "Left", "Above", "Behind"),
            "Bilateral pleural effusions.",
        ),
    ],
)
def test_two_options_that_the_report_says(question, options, report):
    assert said(question, options, 1, report)["several_valid"] is False


@pytest.mark.parametrize(
    "question", ["Which finding is present at the left base?", "What is the main finding?"]
)
def test_whether_another_option_fits_the_question_too_cannot_be_told(question):
    assert said(question, report="Left pleural effusion. Rib fracture.")["several_valid"] is None


def test_part_of_a_side_is_not_what_rules_read():
    """What lies at both bases is on the right, and not at the right apex for that."""
    options = ("At the right apex", "At both bases", "At the left apex", "In the right middle zone")
    found = said("Where are the streaky opacities?", options, 1, "Streaky bibasilar opacities.")
    assert found["several_valid"] is not False


def test_without_a_report_nothing_can_be_told():
    found = said("Which finding is present?", report="")
    assert [found[name] for name in ("several_valid", "invented", "contradicts_report")] == [
        None
    ] * 3


def test_what_the_rules_do_not_know_cannot_be_told():
    options = ("Boot-shaped", "Globular", "Narrow", "Straight")
    found = said("What is the shape of the silhouette?", options, report="Boot-shaped heart.")
    assert (found["invented"], found["contradicts_report"]) == (None, None)


def test_a_comparison_needs_an_earlier_study():
    asked = "Has the pleural effusion increased since the last film?"
    options = ("Yes", "No", "It is new", "It is gone")
    assert said(asked, options, 0)["needs_comparison"] is False
    assert said(asked, options, 0, has_prior=True)["needs_comparison"] is True
    other = said("How is the pleural effusion?", ("Larger than before", "Small", "Gone", "Old"), 0)
    assert other["needs_comparison"] is False

"""All rules over many questions: which of alike ones is kept."""

from dataclasses import replace

from rexview.curation.choice.checks import ChoiceQuestion
from rexview.curation.choice.validation import check_questions
from rexview.schema import Report

FIRST = ChoiceQuestion(
    "c1",
    "m-1",
    "On which side is the pleural effusion?",
    ("On the left", "On the right", "On both sides", "Nowhere"),
    0,
    "The left costophrenic angle is blunted.",
    report=Report(findings="Small left pleural effusion."),
)


def alike(*questions):
    """Return for each question the one that is kept in its place, None where it is kept itself."""
    found = []
    for _, checks in check_questions(questions):
        [one] = [check for check in checks if check.check == "alike"]
        found.append(None if one.passed else one.extra["of"][1])
    return found


def named(name, **changed):
    """The question under another name, changed."""
    return replace(FIRST, case="c2", candidate=name, **changed)


def test_the_first_one_is_kept():
    turned = named("m-2", options=FIRST.options[::-1], correct=3)
    assert alike(FIRST, turned, named("m-3")) == [None, "m-1", "m-1"]


def test_one_that_passes_all_else_is_kept_before_one_that_does_not():
    bad = replace(FIRST, explanation="")
    assert alike(bad, named("m-2"), named("m-3")) == ["m-2", None, "m-2"]


def test_other_options_make_another_question():
    options = ("Small, with a meniscus", "Large, up to the apex", "Loculated", "Subpulmonic")
    assert alike(FIRST, named("m-2", options=options)) == [None, None]


def test_a_huge_text_fails_at_once_and_is_not_searched():
    for changed in ({"explanation": "<a" * 50_000}, {"statement": "Ab " * 50_000}):
        [(_, checks)] = check_questions([replace(FIRST, **changed)])
        told = {one.check: one.passed for one in checks}
        assert told.pop("too_long") is False
        assert told.pop("alike") is True
        assert set(told.values()) == {None}

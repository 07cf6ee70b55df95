"""Questions of a stranger who had not seen the rules: sound ones, and ones with one defect each."""

from functools import cache

import pytest
import yaml
from support import ROOT

from rexview.curation.choice.checks import ChoiceQuestion
from rexview.curation.choice.checks.content import content_checks
from rexview.curation.choice.checks.identifying import check_identifying_signs
from rexview.curation.choice.checks.structure import STRUCTURAL, structural_checks
from rexview.schema import Report

FILE = ROOT / "tests/curation/strangers_defects.yaml"
HALVES = ("develop", "test")


@cache
def checked(half):
    """Return defect, failed checks and those not told of each question of one half."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = []
    for one in yaml.load(FILE.read_text(encoding="utf-8"), Loader=loader):
        if one["half"] != half:
            continue
        asked = question(one)
        checks = [*structural_checks(asked), *content_checks(asked), check_identifying_signs(asked)]
        failed = {check.check for check in checks if check.passed is False}
        untold = {check.check for check in checks if check.passed is None}
        found.append((one["id"], one["defect"], failed, untold))
    return found


def question(one):
    """Make a question of what the stranger wrote."""
    letters = list(one["options"])
    source = one["source"]
    return ChoiceQuestion(
        "c1",
        one["id"],
        one["question"] or "",
        tuple(str(option or "") for option in one["options"].values()),
        letters.index(one["correct"]) if one["correct"] in letters else None,
        one["explanation"] or "",
        report=Report(source.get("findings"), source.get("impression")),
    )


@pytest.mark.parametrize("half", HALVES)
def test_every_defect_of_form_is_caught(half):
    missed = [
        (name, defect)
        for name, defect, failed, _ in checked(half)
        if defect in STRUCTURAL and defect not in failed
    ]
    assert missed == []


@pytest.mark.parametrize("half", HALVES)
def test_what_identifies_is_caught(half):
    missed = [
        name
        for name, defect, failed, _ in checked(half)
        if defect == "identifies" and defect not in failed
    ]
    assert missed == []


@pytest.mark.parametrize(("half", "most"), [("develop", 1), ("test", 4)])
def test_few_sound_questions_are_failed(half, most):
    """Of 30 in each half; the second one was not looked at before the rules were done."""
    sound = [failed for _, defect, failed, _ in checked(half) if defect is None]
    assert len(sound) == 30
    assert sum(bool(failed) for failed in sound) <= most


def test_a_comparison_that_nobody_can_make_is_caught():
    found = [
        (defect, failed)
        for half in HALVES
        for _, defect, failed, _ in checked(half)
        if defect == "needs_comparison"
    ]
    assert all(defect in failed for defect, failed in found)


def test_no_question_with_a_defect_passes_by_rules_alone():
    passed = [
        name
        for half in HALVES
        for name, defect, failed, untold in checked(half)
        if defect and not failed and not untold
    ]
    assert passed == []

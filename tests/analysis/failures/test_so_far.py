"""What is said of numbers that rest on flags which are not all known yet."""

import pytest

from rexview.analysis import CaseFilter, Scanned
from rexview.analysis.failures import (
    counted_caption,
    not_judged_caption,
    rests_on_flags,
    so_far_after,
    so_far_caption,
)


def test_numbers_of_all_answers_are_not_so_far():
    assert so_far_caption(Scanned(40, 40, 2)) == ""
    assert so_far_caption(Scanned(0, 0, 0)) == ""
    assert so_far_after("Failures", so_far=False) == "Failures"
    assert counted_caption("rule", Scanned(40, 40, 0)).startswith("Counted: answers that a rule")


def test_of_how_many_answers_flags_are_known_is_said():
    words = "So far: 1,200 of 40,000 answers checked for failures."
    assert so_far_caption(Scanned(40_000, 1_200, 0)) == words
    assert counted_caption("any", Scanned(40_000, 1_200, 0)).startswith(f"{words} Counted:")
    assert so_far_after("Failures", so_far=True) == "Failures so far"


def test_answers_that_no_rule_could_read_are_counted():
    assert not_judged_caption(0) == ""
    assert not_judged_caption(1) == "1 answer could not be judged by every rule."


@pytest.mark.parametrize(
    ("case_filter", "rests"),
    [
        (CaseFilter(), False),
        (CaseFilter(models=("m",), sort="severity", search="effusion"), False),
        (CaseFilter(search="zebra", mention="present"), False),
        (CaseFilter(search="effusion", mention="present"), True),
        (CaseFilter(failures=("omission",)), True),
        (CaseFilter(sources=("hint",)), True),
        (CaseFilter(judged=("omission",)), True),
        (CaseFilter(findings=("pneumothorax",)), True),
    ],
)
def test_what_a_filter_asks_of_flags_makes_its_cases_depend_on_them(case_filter, rests):
    assert rests_on_flags(case_filter) is rests

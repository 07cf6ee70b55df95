"""What is said of numbers that rest on flags which are not all known yet."""

import pytest

from rexview.analysis import CaseFilter, ScanProgress
from rexview.analysis.failures import (
    add_so_far,
    counted_caption,
    depends_on_flags,
    not_judged_caption,
    so_far_caption,
)


def test_numbers_of_all_answers_are_not_so_far():
    assert so_far_caption(ScanProgress(40, 40, 2)) == ""
    assert so_far_caption(ScanProgress(0, 0, 0)) == ""
    assert add_so_far("Failures", so_far=False) == "Failures"
    assert counted_caption("rule", ScanProgress(40, 40, 0)).startswith(
        "Counted: answers that a rule"
    )


def test_of_how_many_answers_flags_are_known_is_said():
    words = "So far: 1,200 of 40,000 answers checked for failures."
    assert so_far_caption(ScanProgress(40_000, 1_200, 0)) == words
    assert counted_caption("any", ScanProgress(40_000, 1_200, 0)).startswith(f"{words} Counted:")
    assert add_so_far("Failures", so_far=True) == "Failures so far"


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
    assert depends_on_flags(case_filter) is rests

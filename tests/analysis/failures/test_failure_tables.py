"""Failure rates with the filters that open them: what is counted is what Browse shows."""

import re

import pytest

from rexview.analysis import CaseFilter, answer_table, apply, describe
from rexview.analysis.failures.captions import COUNTED, SMALL, judged_words
from rexview.analysis.failures.tables import (
    BY_FINDING,
    BY_REGION,
    failure_groups,
    failure_tables,
    group_choices,
)
from rexview.reviewset import load
from rexview.vocab import FAILURES

DEMO = "assets/demo"


@pytest.fixture(scope="module")
def demo():
    review_set = load(DEMO)
    return review_set, answer_table(review_set)


def rows_of(table, opens):
    return int(apply(table, opens).row_mask.sum())


@pytest.mark.parametrize("counted", COUNTED)
@pytest.mark.parametrize(
    "base", [CaseFilter(), CaseFilter(categories=("broad_abnormality",), failures=("omission",))]
)
def test_every_count_is_what_its_filter_opens(demo, counted, base):
    review_set, table = demo
    tables = failure_tables(review_set, table, base, counted=counted, resamples=0)
    assert {row.failure for row in tables.rows} >= {"laterality_error", "token_limit"}
    for row in tables.rows:
        for count in (row.flagged, row.judged, row.hinted):
            assert rows_of(table, count.opens) == count.value, (row.failure, row.model)
        assert row.flagged.value <= row.rate.n <= row.answers


@pytest.mark.parametrize("failure", ["laterality_error", "omission", "box_misplaced"])
@pytest.mark.parametrize("counted", ["any", "reader"])
def test_groups_open_what_they_count_most_failures_first(demo, failure, counted):
    review_set, table = demo
    for by in group_choices(table):
        groups = failure_groups(
            review_set, table, CaseFilter(), failure, by, counted=counted, resamples=0
        )
        totals = [group.flagged.value for group in groups.groups]
        assert totals == sorted(totals, reverse=True)
        assert totals
        for group in groups.groups:
            assert sum(cell.flagged.value for cell in group.cells) == group.flagged.value
            assert rows_of(table, group.flagged.opens) == group.flagged.value
            for cell in group.cells:
                assert rows_of(table, cell.flagged.opens) == cell.flagged.value, (by, group.name)
                assert rows_of(table, cell.judged.opens) == cell.rate.n
                assert cell.is_small == (cell.rate.n < SMALL)


def test_a_region_holds_its_findings(demo):
    review_set, table = demo
    region, finding = (
        {
            group.value: group.flagged.value
            for group in failure_groups(
                review_set, table, CaseFilter(), "laterality_error", by, resamples=0
            ).groups
        }
        for by in (BY_REGION, BY_FINDING)
    )
    assert region["region:pleura"] == 4
    assert (finding["pneumothorax"], finding["chest_tube"], finding["pleural_effusion"]) == (
        2,
        1,
        2,
    )
    # one answer has both pneumothorax and chest tube on the wrong side: it is one of the region


def test_rule_and_reader_add_up_to_either(demo):
    review_set, table = demo
    found = {
        counted: {
            (row.failure, row.model): row.flagged.value
            for row in failure_tables(review_set, table, counted=counted, resamples=0).rows
        }
        for counted in COUNTED
    }
    for key, either in found["any"].items():
        assert found["rule"][key] + found["reader"][key] - found["both"][key] == either


def test_two_models_are_compared_on_every_failure(demo):
    review_set, table = demo
    tables = failure_tables(review_set, table, resamples=99)
    assert [test.failure for test in tables.tests] == list(tables.failures)
    limit = next(test for test in tables.tests if test.failure == "token_limit")
    assert (limit.n_pairs, limit.only_a, limit.only_b) == (38, 0, 8)
    assert limit.p == pytest.approx(2 * 0.5**8)


def test_hints_are_not_counted(make_set):
    case = {"id": "c", "report": {"findings": "There is a left pneumothorax.", "impression": None}}
    review_set = make_set(cases=[case], answers=[{"case": "c", "model": "g", "text": "Normal."}])
    tables = failure_tables(review_set, answer_table(review_set), resamples=0)
    (row,) = tables.of("omission")
    assert (row.flagged.value, row.hinted.value, row.rate.n) == (0, 1, 1)


def test_a_finding_in_a_filter_is_said_in_words(demo):
    _, table = demo
    words = {
        ("pneumothorax",): "about pneumothorax",
        ("region:pleura",): "about pleura (region)",
        ("unknown",): "about a finding that is not known",
    }
    for findings, told in words.items():
        found = CaseFilter(failures=("laterality_error",), findings=findings)
        assert describe(table, found) == f"Laterality errors, {told}"
        assert CaseFilter.from_query(found.to_query()) == found
    read, problems = CaseFilter.read({"finding": "unicorn"})
    assert read == CaseFilter()
    assert "unicorn" in problems[0]


def test_every_failure_says_what_can_be_judged():
    for failure in FAILURES:
        assert re.match(r"Can be judged: (scored )?answers ", judged_words(failure))

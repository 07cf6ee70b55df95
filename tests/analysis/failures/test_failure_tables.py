"""Failure rates with the filters that open them: what is counted is what Browse shows."""

import json
import re

import pytest

from rexview.analysis import CaseFilter, describe_filter
from rexview.analysis.charts.failures import rates_chart
from rexview.analysis.failures import (
    BY_FINDING,
    BY_REGION,
    COUNTED_SOURCES,
    SMALL_GROUP,
    build_failure_groups,
    build_failure_tables,
    judged_caption,
    list_failure_groupings,
)
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.reviewset import load_review_set
from rexview.ui.failures.failure_rates import rates_html
from rexview.vocab import FAILURES

DEMO = "assets/demo"


@pytest.fixture(scope="module")
def engine():
    return build_memory_engine(load_review_set(DEMO))


def rows_of(engine, opens):
    return int(engine.selection(opens).row_mask.sum())


@pytest.mark.parametrize("counted", COUNTED_SOURCES)
@pytest.mark.parametrize(
    "base", [CaseFilter(), CaseFilter(categories=("broad_abnormality",), failures=("omission",))]
)
def test_every_count_is_what_its_filter_opens(engine, counted, base):
    tables = build_failure_tables(engine, base, counted=counted, resamples=0)
    assert {row.failure for row in tables.rows} >= {"laterality_error", "token_limit"}
    for row in tables.rows:
        for count in (row.flagged, row.judged, row.hinted):
            assert rows_of(engine, count.opens) == count.value, (row.failure, row.model)
        assert row.flagged.value <= row.rate.n <= row.answers


@pytest.mark.parametrize("failure", ["laterality_error", "omission", "box_misplaced"])
@pytest.mark.parametrize("counted", ["any", "reader"])
def test_groups_open_what_they_count_most_failures_first(engine, failure, counted):
    for by in list_failure_groupings(engine):
        groups = build_failure_groups(
            engine, CaseFilter(), failure, by, counted=counted, resamples=0
        )
        totals = [group.count.value for group in groups.groups]
        assert totals == sorted(totals, reverse=True)
        assert totals
        for group in groups.groups:
            assert sum(cell.flagged.value for cell in group.cells) == group.count.value
            assert rows_of(engine, group.count.opens) == group.count.value
            for cell in group.cells:
                assert rows_of(engine, cell.flagged.opens) == cell.flagged.value, (by, group.name)
                assert rows_of(engine, cell.judged.opens) == cell.rate.n
                assert cell.is_small == (cell.rate.n < SMALL_GROUP)


def test_a_region_holds_its_findings(engine):
    region, finding = (
        {
            group.value: group.count.value
            for group in build_failure_groups(
                engine, CaseFilter(), "laterality_error", by, resamples=0
            ).groups
        }
        for by in (BY_REGION, BY_FINDING)
    )
    assert region["region:pleura"] == 6
    assert (finding["pneumothorax"], finding["chest_tube"], finding["pleural_effusion"]) == (
        3,
        1,
        3,
    )
    # one answer has both pneumothorax and chest tube on the wrong side: it is one of the region


def test_rule_and_reader_add_up_to_either(engine):
    found = {
        counted: {
            (row.failure, row.model): row.flagged.value
            for row in build_failure_tables(engine, counted=counted, resamples=0).rows
        }
        for counted in COUNTED_SOURCES
    }
    for key, either in found["any"].items():
        assert found["rule"][key] + found["reader"][key] - found["both"][key] == either


def test_two_models_are_compared_on_every_failure(engine):
    tables = build_failure_tables(engine, resamples=99)
    assert [test.failure for test in tables.tests] == list(tables.failures)
    limit = next(test for test in tables.tests if test.failure == "token_limit")
    assert (limit.n_pairs, limit.only_a, limit.only_b) == (62, 0, 10)
    assert limit.p == pytest.approx(2 * 0.5**10)


@pytest.mark.parametrize("counted", COUNTED_SOURCES)
@pytest.mark.parametrize(
    "base",
    [
        CaseFilter(),
        CaseFilter(categories=("broad_abnormality",), models=("generalist", "medical-4b")),
    ],
)
def test_cases_that_one_model_fails_are_those_that_open(engine, base, counted):
    tables = build_failure_tables(engine, base, counted=counted, resamples=0)
    links = 0
    for test in tables.tests:
        counts = tables.failed_only(test)
        assert [count.value for count in counts] == [test.only_a, test.only_b]
        for count in filter(lambda count: count.value, counts):  # none opens without cases
            assert len(engine.selection(count.opens)) == count.value
            links += 1
    assert links


def test_no_link_where_a_filter_of_answers_can_part_a_pair(engine):
    tables = build_failure_tables(engine, CaseFilter(statuses=("answered",)), resamples=0)
    assert {tables.failed_only(test) for test in tables.tests} == {(None, None)}


def test_hints_are_not_counted(make_set):
    case = {"id": "c", "report": {"findings": "There is a left pneumothorax.", "impression": None}}
    review_set = make_set(cases=[case], answers=[{"case": "c", "model": "g", "text": "Normal."}])
    tables = build_failure_tables(build_memory_engine(review_set), resamples=0)
    (row,) = tables.of("omission")
    assert (row.flagged.value, row.hinted.value, row.rate.n) == (0, 1, 1)
    assert row.rate.share is None  # nobody judged it: 0% would say that it is right
    assert (row.rate.interval.why or "").startswith("Not judged")


@pytest.mark.parametrize(
    ("text", "verdict", "shares"),
    [
        ("Normal.", "rejected", (0.0, None)),  # a reader looked, and ruled it out
        ("Normal.", "confirmed", (1.0, None)),
        ("No pneumothorax.", None, (1.0, None)),  # a rule found it
    ],
)
def test_a_share_is_of_what_somebody_judged(make_set, text, verdict, shares):
    case = {"id": "c", "report": {"findings": "There is a left pneumothorax.", "impression": None}}
    said = {"case": "c", "model": "g", "reader": "r", "failure": "omission", "verdict": verdict}
    review_set = make_set(
        cases=[case],
        answers=[
            {"case": "c", "model": model, "text": words}
            for model, words in (("g", text), ("m", "Normal."))
        ],
        flags=[said] if verdict else [],
    )
    engine = build_memory_engine(review_set)
    tables = build_failure_tables(engine, resamples=0)
    assert tuple(row.rate.share for row in tables.of("omission")) == shares
    (test,) = [test for test in tables.tests if test.failure == "omission"]
    assert (test.n_pairs, test.p) == (0, None)
    html = rates_html(tables, {}, "Rates")
    assert html.count(">not judged</abbr>") == 1
    groups = build_failure_groups(engine, CaseFilter(), "omission", BY_FINDING, resamples=0).groups
    assert len(groups) == (verdict != "rejected")
    for group in groups:
        assert [cell.rate.share for cell in group.cells] == list(shares)


def test_what_rules_flag_needs_no_reader(make_set):
    case = {"id": "c", "report": {"findings": "There is a left pneumothorax.", "impression": None}}
    answer = {"case": "c", "model": "g", "text": "There is a left pneumothorax."}
    tables = build_failure_tables(
        build_memory_engine(make_set(cases=[case], answers=[answer])), resamples=0
    )
    (row,) = tables.of("laterality_error")
    assert row.rate.share == 0


def test_a_finding_in_a_filter_is_said_in_words(engine):
    words = {
        ("pneumothorax",): "about pneumothorax",
        ("region:pleura",): "about pleura (region)",
        ("unknown",): "about an unknown finding",
    }
    for findings, told in words.items():
        found = CaseFilter(failures=("laterality_error",), findings=findings)
        assert describe_filter(engine.facts, found) == f"Laterality errors, {told}"
        assert CaseFilter.from_query(found.to_query()) == found
    read, problems = CaseFilter.read({"finding": "unicorn"})
    assert read == CaseFilter()
    assert "unicorn" in problems[0]


def test_every_failure_says_what_can_be_judged():
    for failure in FAILURES:
        assert re.match(r"Can be judged: (scored )?answers ", judged_caption(failure))


def test_no_share_is_numbered_above_all_of_them(engine):
    tables = build_failure_tables(engine, CaseFilter(), counted="any", resamples=0)
    assert max(row.rate.share or 0 for row in tables.rows) == 1
    (ends,) = re.findall(r'"format": "%", "values": \[.*?, (\S+)\]', json.dumps(drawn_spec(tables)))
    assert float(ends) == 1


def drawn_spec(tables):
    chart = rates_chart(tables, {})
    assert chart is not None
    return chart.spec


def test_what_can_be_judged_is_said_in_whole_sentences():
    assert all(judged_caption(failure).endswith(".") for failure in FAILURES)

"""The app's own metrics beside those that were given."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from support.reports.report_set import write_reports

from rexview.answer_digest import digests_of
from rexview.metrics.answer_metrics import IDENTITIES
from rexview.metrics.background_computation import (
    ComputedMetrics,
    add_computed_metrics,
    computed_metrics,
    has_report_cases,
)
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.ui.scan_progress.progress_strip import metrics_progress_text


@pytest.fixture(name="reports", scope="module")
def reports_fixture(tmp_path_factory: pytest.TempPathFactory) -> ReviewSet:
    return load_review_set(write_reports(tmp_path_factory.mktemp("set") / "reports"))


def test_own_values_stand_behind_the_given_ones(reports: ReviewSet) -> None:
    joined = add_computed_metrics(reports, computed_metrics(reports))
    given = reports.metrics.height
    assert joined.metrics[:given].equals(reports.metrics)
    added = joined.metrics[given:]
    assert set(added["implementation"]) == {"rexview"}
    assert set(added["case"]) == {"r1", "r2"}  # the others have no reference, or ask for no report
    assert joined.fingerprint != reports.fingerprint
    assert joined.answers is reports.answers


def test_what_is_worked_out_takes_the_place_of_what_was_given(tmp_path: Path) -> None:
    metric, implementation, version, scope = IDENTITIES[0]
    rows = [
        {"case": "r1", "model": "n", "metric": metric, "value": 0.125}
        | {"implementation": implementation, "version": version, "scope": scope}
    ]
    reports = load_review_set(write_reports(tmp_path / "set", metrics=rows))
    found = computed_metrics(reports)
    same = add_computed_metrics(reports, found).metrics.filter(
        case="r1", model="n", metric=metric, scope=scope
    )
    assert same["value"].len() == 1
    assert same["value"].item() != 0.125
    # also where there is no value any more; and what nobody has gone over stands
    without = replace(found, values=found.values.clear())
    assert add_computed_metrics(reports, without).metrics.is_empty()
    assert add_computed_metrics(reports, replace(without, gone_over=pl.DataFrame())) is reports


def test_a_value_of_an_earlier_answer_counts_nowhere(tmp_path: Path) -> None:
    row = {"case": "r1", "model": "n", "metric": "green", "value": 0.5}
    digest = digests_of(load_review_set(write_reports(tmp_path / "now"))).of("r1", "n")
    rows = [row | {"answer_digest": digest}, row | {"scope": "findings", "answer_digest": "0" * 64}]
    reports = load_review_set(write_reports(tmp_path / "set", metrics=rows))
    assert reports.metrics["scope"].to_list() == [None]
    assert reports.stale_metrics["scope"].to_list() == ["findings"]
    assert any("earlier answer" in one.message for one in reports.warnings)


def test_without_reports_nothing_changes(reports: ReviewSet) -> None:
    assert has_report_cases(reports)
    nothing = ComputedMetrics(reports.metrics.clear(), 0, 0)
    assert add_computed_metrics(reports, nothing) is reports


@pytest.mark.parametrize(
    ("done", "failed", "message", "words"),
    [
        (9, 0, "", ""),
        (3, 0, "", "BLEU-2 and finding-level agreement so far: of 3 of 9 reports."),
        (9, 1, "", "BLEU-2 and agreement could not be computed for 1 report."),
        (
            3,
            0,
            "It stopped.",
            "BLEU-2 and finding-level agreement so far: of 3 of 9 reports. It stopped.",
        ),
    ],
)
def test_what_is_missing_is_said(
    reports: ReviewSet, done: int, failed: int, message: str, words: str
) -> None:
    assert (
        metrics_progress_text(ComputedMetrics(reports.metrics, done, 9, failed, message)) == words
    )


def test_what_is_not_read_is_said(reports: ReviewSet) -> None:
    words = metrics_progress_text(ComputedMetrics(reports.metrics, 9, 9, not_read=2))
    assert words.startswith("No finding-level agreement for 2 reports: ")

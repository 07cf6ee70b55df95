"""The app's own metrics of reports while they are worked out: pages get them in few steps."""

import time
from itertools import pairwise

import pytest
from support.opened_app import opened_set
from support.reports.report_set import CASES, write_reports

from rexview.analysis import CaseFilter
from rexview.metrics.answer_metrics import IDENTITIES
from rexview.ui.web.server import review_sets
from rexview.ui.web.server.review_sets import PageView

PATIENCE_S = 120
N = 90
"""More reports than are compared at once."""


@pytest.fixture
def opened(tmp_path, monkeypatch):
    cases = [{**CASES[0], "id": f"r{number:03d}"} for number in range(N)]
    answers = [
        {"case": case["id"], "model": "m", "text": f"Findings: Right effusion {number}."}
        for number, case in enumerate(cases)
    ]
    tables = {"cases": cases, "answers": answers, "metrics": [], "edits": [], "references": []}
    folder = write_reports(tmp_path / "set", **tables)
    with opened_set(folder, tmp_path, monkeypatch) as review_set:
        yield review_set


def test_more_each_time_by_as_much_as_there_was_and_then_all(opened):
    shown = [review_sets.metrics_progress(opened)]
    until = time.monotonic() + PATIENCE_S
    while not shown[-1].finished:
        assert time.monotonic() < until
        time.sleep(0.02)
        now = review_sets.metrics_progress(opened)
        if now is not shown[-1]:
            shown.append(now)
    for before, after in pairwise(shown):
        assert after.done >= 2 * before.done or after.finished
    assert shown[-1].done == shown[-1].answers == N
    written = review_sets.with_reviews(opened)
    findings = [one for one in IDENTITIES if one.scope == "findings"]
    assert written.metrics.height == N * len(findings)  # the reports have no impression
    engine = review_sets.engine(written, PageView("mean_first", 0))
    assert set(engine.facts.metrics) == set(findings)
    order = CaseFilter(sort=f"worst:{findings[0].key}")
    (card,) = engine.cards(order, engine.page(order, 0, 1))
    assert card.answers[0].metric == written.metrics.filter(metric="bleu_2")["value"].min()

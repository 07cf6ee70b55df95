"""The table of failures in words by model explains the numbers that it has, and no others."""

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.query.filter.linked_count import LinkedCount
from rexview.analysis.written_results import (
    RESULT_ORDER,
    JudgeResultRow,
    WrittenFailureRow,
    WrittenFailureTable,
)
from rexview.judge.written.validation import GroupShare
from rexview.stats.failure_rates import wilson_interval
from rexview.ui.failures import written_counts
from rexview.ui.web.link import keys as link_keys

HERE = CaseFilter()
FOUND = JudgeResultRow("m", {said: LinkedCount(2, HERE) for said in RESULT_ORDER})
READ = GroupShare("found", 2, 2, 1, 1, 0, wilson_interval(1, 2))
UNREAD = GroupShare("found", 2, 2, 0, 0, 0, None)
EXPLAINED = {
    "Found by a language model": "found",
    "Precision: of those": "precision",
    "Wilson intervals": "intervals",
    "Marked by people: answers": "marked",
}


@pytest.mark.parametrize(
    ("found", "marked", "precision", "explained"),
    [
        (None, 3, None, ["marked"]),
        (FOUND, None, None, ["found", "intervals"]),
        (FOUND, None, UNREAD, ["found", "intervals"]),
        (FOUND, 3, READ, ["found", "precision", "intervals", "marked"]),
    ],
)
def test_only_what_stands_there_is_explained(monkeypatch, found, marked, precision, explained):
    monkeypatch.setattr(link_keys, "link_query", lambda *given, **more: {})
    row = WrittenFailureRow("m", found, LinkedCount(marked, HERE) if marked else None)
    every = [WrittenFailureTable("Left", "judge" if found else None, [row], precision)]
    caption = written_counts.by_model_html(every, {"m": "Model"}, {}).partition("rx-note")[2]
    assert [name for text, name in EXPLAINED.items() if text in caption] == explained

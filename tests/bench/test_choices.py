"""The bench of multiple choice on a few questions, and the files that it makes."""

import json
from collections import Counter

from bench import choices
from bench.made_set.rexvqa import READ, READERS, write_rexvqa
from bench.made_set.studies import CATEGORIES

PAPER = dict(zip(CATEGORIES, (0.352, 0.058, 0.376, 0.209, 0.004), strict=True))
"""Shares of the private test questions, table 1."""


def test_import_filters_and_page_are_measured_and_counted_as_pandas_does():
    rows = choices.run((60,)).rows
    goals = {row.what.partition(",")[0]: row.goal for row in rows}
    assert goals["import"] == "ours <= 60"
    assert goals["page: first table with intervals"] == "ours <= 2000"
    assert sum(row.goal == "ours <= 300" for row in rows) == len(choices.FILTERS)
    assert all(row.ours is not None and row.ours > 0 for row in rows)
    assert [row.name for row in rows if row.alternative is not None] == ["pandas"]


def test_the_files_are_rexvqas_with_the_papers_shares(tmp_path):
    files = write_rexvqa(tmp_path, questions=6_000, models=5)
    entries = json.loads(files[0].read_text(encoding="utf-8"))
    tasks = Counter(entry["task_name"] for entry in entries.values())
    for task, share in PAPER.items():
        assert abs(tasks[task] / len(entries) - share) < 0.03, task
    one = next(iter(entries.values()))
    assert {"correct_answer_explanation", "StudyInstanceUid", "ImageViewPosition"} <= one.keys()
    assert one["ImagePath"][0].startswith("../")
    assert len(entries) > len({entry["study_id"] for entry in entries.values()}) * 3
    names = [path.suffix for path in files[1:]]
    assert names == [".json", ".jsonl", ".csv", ".json", *[".json"] * READERS]
    assert len(json.loads(files[-1].read_text(encoding="utf-8"))) == READ

"""The printed tables of ReXVQA as the page reads them: every figure, and nothing else."""

from __future__ import annotations

import csv

from support import ROOT

from rexview.analysis.multiple_choice import find_category_group
from rexview.analysis.published import rexvqa

PUBLISHED = ROOT / "assets" / "published"


def rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / f"rexvqa_{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_tasks_and_readers_are_the_files_figure_by_figure() -> None:
    names = {row["model"]: row for row in rows("by_task")}
    table = rexvqa.published_accuracy_by_task()
    assert [name for name, *_ in table.rows] == list(names)
    for name, *figures in table.rows:
        assert sorted(figures) == sorted(
            value for key, value in names[name].items() if key != "model"
        )
        for key, figure in zip(table.keys[1:], figures, strict=True):
            assert figure == names[name][key or "failed_extractions"]
    study = [
        (row["rater"], row["kind"], row["accuracy_pct"], row["n_cases"])
        for row in rows("reader_study")
    ]
    assert list(rexvqa.published_reader_study().rows) == study
    assert ("Reader 3", "radiology resident", "77.27", "200") in study


def test_categories_hold_each_cell_of_the_file_under_its_group() -> None:
    table = rexvqa.published_accuracy_by_category()
    cells = {
        (group, name, model): figure
        for group, (name, *figures) in zip(table.groups, table.rows, strict=True)
        for model, figure in zip(table.heads[1:], figures, strict=True)
    }
    given = {
        (row["group"], row["category"], row["model"]): row["accuracy_pct"]
        for row in rows("by_category")
    }
    assert cells == given
    assert cells["Cardiovascular", "Heart", "MedGemma"] == "97.03"
    for group, (name, *_) in zip(table.groups, table.rows, strict=True):
        assert (
            group == "All" or find_category_group(name) == group
        )  # the taxonomy is that of the table


def test_the_distribution_adds_up_to_its_totals() -> None:
    *tasks, total = rexvqa.published_task_counts().rows
    for column in range(1, 5):
        assert sum(int(row[column].replace(",", "")) for row in tasks) == int(
            total[column].replace(",", "")
        )


def test_the_reader_study_is_of_198_questions() -> None:
    for row in rows("reader_study"):
        share = float(row["accuracy_pct"])
        assert round(100 * round(share * 1.98) / 198, 2) == share
        assert round(100 * round(share * 2) / 200, 2) != share

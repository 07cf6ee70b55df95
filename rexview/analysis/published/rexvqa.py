"""Published tables of the ReXVQA paper, for comparison. None is a result of rexview.

They are read from ``assets/published``; its README names the tables and the oddities of the source.
Figures are texts, as printed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from rexview.vocab import CATEGORIES, CATEGORY_NAMES
from rexview.words import tr

_FOLDER: Final = Path(__file__).resolve().parents[3] / "assets" / "published"
_PAPER: Final = "ReXVQA (arXiv 2506.04353)"
TASKS: Final = tuple(CATEGORIES["choice"])
"""The five tasks; their columns in the files have these names."""
EXPERT_QUESTION_COUNT: Final = 120
"""Number of questions that the paper's experts had read for the published defects."""
OVERALL: Final = "overall"


@dataclass(frozen=True)
class PublishedTable:
    """One published table.

    Attributes
    ----------
    title, source : str
        Content of the table; paper and number of the table.
    heads : tuple of str
        Names of the columns, that of the rows first.
    rows : tuple of (str, ...)
        Figures as printed, as many as heads.
    groups : tuple of str
        The group of each row; empty if rows have none.
    keys : tuple of str
        The subject of each column, as our id: a task, ``overall``, or empty.
    notes : tuple of str
        Oddities of the table.
    """

    title: str
    source: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    groups: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@cache
def published_accuracy_by_task() -> PublishedTable:
    """Return the accuracy of each model by task, and its share of failed extractions."""
    columns = (OVERALL, *TASKS, "failed_extractions")
    return PublishedTable(
        tr("Accuracy by task (%)"),
        tr("{paper}, table 2: 41,007 private test questions").format(paper=_PAPER),
        (
            tr("Model"),
            tr("Overall"),
            *map(CATEGORY_NAMES.__getitem__, TASKS),
            tr("Failed extractions"),
        ),
        tuple((row["model"], *(row[name] for name in columns)) for row in _rows("by_task")),
        keys=("", OVERALL, *TASKS, ""),
    )


@cache
def published_accuracy_by_category() -> PublishedTable:
    """Return the accuracy by radiological category, a column for each model."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in _rows("by_category"):
        cells.setdefault((row["group"], row["category"]), {})[row["model"]] = row["accuracy_pct"]
    models = tuple(dict.fromkeys(model for one in cells.values() for model in one))
    return PublishedTable(
        tr("Accuracy by category (%)"),
        tr("{paper}, table 3").format(paper=_PAPER),
        (tr("Category"), *models),
        tuple(
            (category, *(one.get(model, "") for model in models))
            for (_, category), one in cells.items()
        ),
        groups=tuple(group for group, _ in cells),
        notes=(
            tr(
                "The averages of table 3 are not the overall accuracies of table 2, but "
                "for MedGemma's (Gemini 74.00 and 63.31)."
            ),
        ),
    )


@cache
def published_reader_study() -> PublishedTable:
    """Return the accuracy of models and residents in the reader study."""
    return PublishedTable(
        tr("Models and residents (%)"),
        tr("{paper}, section 6.1: 200 cases").format(paper=_PAPER),
        (tr("Rater"), tr("Kind"), tr("Accuracy"), tr("Cases")),
        tuple(
            (row["rater"], row["kind"], row["accuracy_pct"], row["n_cases"])
            for row in _rows("reader_study")
        ),
        keys=("", "", OVERALL, ""),
        notes=(
            tr("All nine shares are counts of 198; none of them is one of the 200 cases named."),
        ),
    )


@cache
def published_task_counts() -> PublishedTable:
    """Return the number of questions by task in each part of the data set."""
    splits = ("train", "valid", "test", "private_test")
    names = {**CATEGORY_NAMES, "total": tr("Total")}
    return PublishedTable(
        tr("Questions by task"),
        tr("{paper}, table 1").format(paper=_PAPER),
        (tr("Task"), tr("Train"), tr("Validation"), tr("Test"), tr("Private test")),
        tuple(
            (names[row["task"]], *(f"{int(row[split]):,}" for split in splits))
            for row in _rows("task_distribution")
        ),
        notes=(tr("The project's own page names other totals (40,826 test questions)."),),
    )


@cache
def published_expert_defects() -> Mapping[str, str]:
    """Return the share of the first questions with each defect, by experts' reading, by its id."""
    return {row["defect"]: f"{row['percent']} %" for row in _rows("expert_defects")}


def _rows(name: str) -> Iterable[dict[str, str]]:
    with (_FOLDER / f"rexvqa_{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)

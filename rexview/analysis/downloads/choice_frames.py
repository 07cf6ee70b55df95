"""The tables of the Multiple choice page as data frames to take away, every number with its n."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from rexview.analysis.multiple_choice.tables import (
    ChoiceCell,
    ChoiceGroups,
    ChoiceTables,
    KappaCell,
    PairTest,
)
from rexview.stats.multiple_choice.chosen import Rater
from rexview.vocab import CATEGORY_NAMES

CHOICE_SHARES: Final = ("Accuracy", "CI low", "CI high", "Without failed", "Difference", "Same")
"""The columns that hold shares, 0 to 1."""


def accuracy_frame(tables: ChoiceTables) -> pd.DataFrame:
    """Return every rater over all questions, then by task."""
    every = [("All", tables.total), *((row.name, row.cells) for row in tables.tasks)]
    return pd.DataFrame(
        {"Task": name} | row for name, cells in every for row in _rows(cells, tables.raters)
    )


def choice_group_frame(groups: ChoiceGroups, raters: Mapping[int, Rater]) -> pd.DataFrame:
    """Return every rater by a property of the questions."""
    return pd.DataFrame(
        ({"Group": row.group} if row.group else {}) | {groups.by.name: row.name} | cell
        for row in groups.rows
        for cell in _rows(row.cells, raters)
    )


def read_frame(cells: Sequence[ChoiceCell], raters: Sequence[Rater]) -> pd.DataFrame:
    """Return every rater on the questions that readers answered."""
    return pd.DataFrame(_rows(cells, dict(enumerate(raters))))


def _rows(cells: Iterable[ChoiceCell], raters: Mapping[int, Rater]) -> Iterable[dict[str, Any]]:
    for cell in cells:
        found = cell.accuracy
        yield {
            "Rater": raters[cell.place].name,
            "Kind": raters[cell.place].kind,
            "n": found.rate.n,
            "Right": found.rate.flagged,
            "Wrong": found.wrong,
            "Failed": found.failed,
            "Accuracy": found.rate.share,
            "CI low": found.rate.interval.low,
            "CI high": found.rate.interval.high,
            "Without failed": found.without_failed.share,
            "Interval": found.rate.method,
            "Patients or studies": found.rate.clusters,
        }


def pair_frame(tests: Sequence[PairTest], raters: Sequence[Rater]) -> pd.DataFrame:
    """Return the comparisons of raters, pair by pair."""
    return pd.DataFrame(
        {
            "A": raters[one.test.rater_a].name,
            "B": raters[one.test.rater_b].name,
            "n": one.test.n_pairs,
            "Difference": one.test.difference,
            "CI low": one.test.interval.low,
            "CI high": one.test.interval.high,
            "Only A right": one.test.only_a,
            "Only B right": one.test.only_b,
            "Both right": one.test.both,
            "Answered by one only": one.test.left_out,
            "p": one.test.p,
            "p adjusted": one.test.p_adj,
        }
        for one in tests
    )


def kappa_frame(
    by_task: Mapping[str | None, Sequence[KappaCell]], raters: Sequence[Rater]
) -> pd.DataFrame:
    """Return the agreement of every two raters, over all questions and by task."""
    return pd.DataFrame(
        {
            "Task": CATEGORY_NAMES.get(task, task) if task else "All",
            "Rater 1": raters[cell.kappa.rater_a].name,
            "Rater 2": raters[cell.kappa.rater_b].name,
            "n": cell.kappa.n,
            "Kappa": cell.kappa.kappa,
            "Same": cell.kappa.agreement,
            "Undefined because": cell.kappa.why or "",
        }
        for task, cells in by_task.items()
        for cell in cells
    )

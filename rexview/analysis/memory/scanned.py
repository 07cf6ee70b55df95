"""What detectors have looked at among the answers that a filter may leave, and what not yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from rexview.analysis.engine import Scanned
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.memory.selection import select, without_flags
from rexview.analysis.memory.table import AnswerTable
from rexview.detect.core.batch import NOT_JUDGED, NOT_YET

_MOST_TO_PREFER: Final = 50_000
"""So many cases are named at a time as the next to be looked at."""


def scanned(table: AnswerTable, case_filter: CaseFilter) -> Scanned:
    """Count the answers that were looked at: see :class:`rexview.analysis.engine.Engine`."""
    state = table.survey.scan.state
    asked = without_flags(case_filter)
    if asked.active:
        state = state[select(table, asked).answer_mask]
    counts = np.bincount(state, minlength=NOT_JUDGED + 1)
    return Scanned(len(state), len(state) - int(counts[NOT_YET]), int(counts[NOT_JUDGED]))


def not_judged(
    table: AnswerTable, case_filter: CaseFilter, most: int
) -> tuple[tuple[str, str], ...]:
    """Return case and model of the first answers that a detector failed on."""
    numbers, columns = _with_state(table, case_filter, NOT_JUDGED)[:most], table.columns
    cases = columns.review_set.cases["id"].gather(columns.newest.case[numbers])
    models = (columns.model.values[place] for place in columns.newest.model[numbers])
    return tuple(zip(cases, models, strict=True))


def not_looked_at(table: AnswerTable, case_filter: CaseFilter, first: Sequence[str]) -> list[int]:
    """Return rows of cases to be looked at next: see :class:`rexview.analysis.engine.Engine`."""
    named = [row for case in first if (row := table.review_set.case_row(case)) is not None]
    if not case_filter.active:  # the others come in their order anyway
        return named
    rows = table.columns.newest.case[_with_state(table, case_filter, NOT_YET)]
    rows = rows[np.flatnonzero(np.diff(rows, prepend=-1))]  # they never fall
    others: list[int] = rows[:_MOST_TO_PREFER].tolist()
    return [*named, *others]


def _with_state(table: AnswerTable, case_filter: CaseFilter, state: int) -> npt.NDArray[np.int64]:
    """Return the numbers of the answers in some state, among those that a filter may leave."""
    found = table.survey.scan.state == state
    asked = without_flags(case_filter)
    if asked.active and found.any():
        found &= select(table, asked).answer_mask
    return np.flatnonzero(found)

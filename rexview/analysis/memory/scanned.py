"""What detectors have looked at among the answers that a filter may leave, and what not yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from rexview.analysis.engine import Scanned
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.memory.coded_column import Mask
from rexview.analysis.memory.selection import Selection
from rexview.analysis.memory.table import AnswerTable
from rexview.detect.core.looking import LOOKED_AT, NOT_JUDGED, NOT_YET

_MOST_TO_PREFER: Final = 50_000
"""So many cases are named at a time as the next to be looked at."""


def scanned(left: Selection) -> Scanned:
    """Count the answers of a selection that depends on no flag."""
    state = _state(left)
    looked, failed = state != NOT_YET, state == NOT_JUDGED
    return Scanned(len(state), int(np.count_nonzero(looked)), int(np.count_nonzero(failed)))


def not_judged(left: Selection, most: int) -> tuple[tuple[str, str], ...]:
    """Return case and model of the first answers that a detector failed on."""
    table = left.table
    numbers = np.flatnonzero(_chosen(left))[_state(left) == NOT_JUDGED][:most]
    rows = table.row_of_answer[numbers]
    models = table.row_codes["model"]
    cases = table.cases["case"].gather(table.case_row[rows])
    return tuple(zip(cases, (models.values[code] for code in models.codes[rows]), strict=True))


def not_looked_at(left: Selection, case_filter: CaseFilter, first: Sequence[str]) -> list[int]:
    """Return the rows of cases to be looked at next: see :class:`rexview.analysis.Engine`."""
    table = left.table
    named = [table.row_of_case[case] for case in first if case in table.row_of_case]
    if not case_filter.active:  # the others come in their order anyway
        return named
    answers = np.flatnonzero(_chosen(left))[_state(left) == NOT_YET]
    rows = np.unique(table.case_row[table.row_of_answer[answers]])
    others: list[int] = rows[:_MOST_TO_PREFER].tolist()
    return [*named, *others]


def states_of_case(table: AnswerTable, case_row: int) -> list[int]:
    """Return the states of the answers to a case, in the order of the models."""
    review_set = table.scores.review_set
    numbers = review_set.newest.of_case(case_row)
    if table.survey is None:
        return [LOOKED_AT] * len(numbers)
    states: list[int] = table.survey.scan.state[numbers.start : numbers.stop].tolist()
    return states


def _chosen(left: Selection) -> Mask:
    """Say of each answer, by number, whether it is left."""
    return left.row_mask[left.table.row_of_answer]


def _state(left: Selection) -> npt.NDArray[np.uint8]:
    """Return the states of the answers that are left."""
    survey, chosen = left.table.survey, _chosen(left)
    if survey is None:
        return np.full(int(np.count_nonzero(chosen)), LOOKED_AT, dtype=np.uint8)
    return survey.scan.state[chosen]

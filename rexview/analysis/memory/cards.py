"""The cards of a page of cases, from the answer table and the records of the set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from rexview.analysis.case.cards import LOOKED_AT, AnswerSummary, CardBox, CaseCard, harm_text
from rexview.analysis.filter.report_conditions import MetricOrder
from rexview.analysis.memory.coded_column import Codes
from rexview.analysis.memory.score_index import NUMBERS
from rexview.analysis.memory.selection import Selection
from rexview.analysis.memory.table import AnswerTable
from rexview.detect import FAILURE_BITS
from rexview.detect.self_contradiction import is_usable
from rexview.frames import let_go_of_much
from rexview.schema import (
    Answer,
    AnswerBox,
    Case,
    ReferenceBox,
    ReviewSet,
    answer_from_row,
    case_from_row,
)

_UNSHOWN: Final = dict.fromkeys(("text", "explanation", "extra"))
"""What of an answer no card shows."""


def case_cards(
    selection: Selection, cases: Sequence[str], order: MetricOrder | None = None
) -> Iterator[CaseCard]:
    """Yield the cards of some cases of the set, in the order given.

    With the ``order`` that the cases stand in each answer has its value of the metric.

    Raises
    ------
    KeyError
        The set has no such case.
    """
    table, review_set = selection.table, selection.table.review_set
    columns = table.columns
    places = [_row(review_set, case_id) for case_id in cases]
    rows = np.array([row for place in places for row in columns.rows_of(place)], dtype=np.int64)
    # all at once: a record costs little more than none
    records = iter(table.records(rows).rows(named=True))
    mask = selection.row_mask
    values = _values(table, order, rows)
    for case_id, place in zip(cases, places, strict=True):
        case = case_from_row(review_set.cases.row(place, named=True))
        numbers = columns.newest.of_case(place)
        answers = [
            answer_from_row({**review_set.answers.row(row, named=True), **_UNSHOWN})
            for row in columns.newest.row[numbers.start : numbers.stop].tolist()
        ]
        shown = [(next(records), bool(mask[row])) for row in columns.rows_of(place)]
        states = table.survey.scan.state[numbers.start : numbers.stop].tolist()
        more = [
            {
                "metric": values.get(row["row"]),
                "marked": table.marked_titles.get((case_id, answer.model), ()),
                **_chosen_option(case, answer),
            }
            for (row, _), answer in zip(shown, answers, strict=False)
        ]
        left = [row for row, is_chosen in shown if is_chosen]
        worst = max(left, key=lambda row: float(row["severity"]), default=None)
        harm, meaning, level = _harm(worst, table) if worst else ("", "", None)
        yield CaseCard(
            case,
            case.key_image,
            tuple(_boxes(case, answers)),
            tuple(
                replace(_summary(row, table, LOOKED_AT[state], chosen=is_chosen), **added)
                for (row, is_chosen), state, added in zip(shown, states, more, strict=False)
            ),
            table.comments.get(case_id),
            harm,
            meaning,
            worst["model"] if worst else "",
            level,
        )
    let_go_of_much()  # cases from anywhere in a large set


def _values(table: AnswerTable, order: MetricOrder | None, rows: Codes) -> dict[int, float]:
    """Return the values of the metric that cases stand in the order of, by row."""
    if order is None:
        return {}
    numbers, values = table.values_of(order.metric)
    shown = np.isin(numbers, rows)
    return dict(zip(numbers[shown].tolist(), values[shown].tolist(), strict=True))


def _row(review_set: ReviewSet, case_id: str) -> int:
    row = review_set.case_row(case_id)
    if row is None:
        raise KeyError(case_id)
    return row


def _boxes(case: Case, answers: Sequence[Answer]) -> Iterator[CardBox]:
    """Yield the boxes on the key image; in a case with one image they need not name it."""
    image = case.key_image
    drawn: list[tuple[AnswerBox | ReferenceBox, str | None]]
    drawn = [(box, None) for box in case.reference_boxes]
    drawn += [(box, answer.model) for answer in answers for box in answer.boxes]
    for box, model in drawn:
        if image and (box.image == image.id or (len(case.images) == 1 and not box.image)):
            yield CardBox(box.label, box.box, model)


def _summary(
    row: Mapping[str, Any], table: AnswerTable, looked_at: str, *, chosen: bool
) -> AnswerSummary:
    sources = {(True, True): "both", (False, True): "reader", (True, False): "detector"}
    failures, hints = [], []
    for failure, bit in FAILURE_BITS.items():
        said = bool(row["detected"] & bit), bool(row["reader_flagged"] & bit)
        if said in sources:
            failures.append((failure, sources[said]))
        elif row["hinted"] & bit:
            hints.append((failure, "hint"))
    finals = {name: row[name] for name in NUMBERS}
    every = (*failures, *hints)
    harm, *_ = _harm(row, table)
    return AnswerSummary(row["model"], row["status"], finals, every, chosen, harm, looked_at)


def _chosen_option(case: Case, answer: Answer) -> dict[str, Any]:
    """Return the option that an answer chose, and what that came to."""
    if case.question_type != "choice":
        return {}
    choice = answer.choice if is_usable(case, answer) else None
    if case.correct is None:
        return {"choice": choice}
    outcome = "failed" if choice is None else "right" if choice == case.correct else "wrong"
    return {"choice": choice, "outcome": outcome}


def _harm(row: Mapping[str, Any], table: AnswerTable) -> tuple[str, str, int | None]:
    """Return why a row has its place in words, what its level of harm means, and the level."""
    level = row["harm"] if row["harm_failure"] else None
    if row["harm_hinted"] and not row["harm"]:
        level = table.harm.of(row["hinted_failure"], row["hinted_finding"])
    meaning = "" if level is None else table.harm.meaning_of(level)
    return harm_text(row, table.harm), meaning, level

"""The cards of a page of cases, from the answer table and the records of the set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from rexview.analysis.case.cards import AnswerSummary, CardBox, CaseCard
from rexview.analysis.memory.selection import Selection
from rexview.analysis.memory.severity import harm_text
from rexview.analysis.memory.table import NUMBERS, AnswerTable
from rexview.detect import FAILURE_BITS
from rexview.schema import (
    Answer,
    AnswerBox,
    Case,
    ReferenceBox,
    answer_from_row,
    case_from_row,
)


def case_cards(selection: Selection, cases: Sequence[str]) -> Iterator[CaseCard]:
    """Yield the cards of some cases of the set, in the order given.

    Raises
    ------
    KeyError
        The set has no such case.
    """
    table, review_set = selection.table, selection.table.scores.review_set
    given: dict[str, list[Answer]] = {}
    wanted = review_set.answers.filter(pl.col("case").is_in(list(cases)) & pl.col("_newest"))
    for row in wanted.select(pl.exclude("text", "explanation", "extra")).iter_rows(named=True):
        answer = answer_from_row({**row, "text": None, "extra": None})
        given.setdefault(answer.case, []).append(answer)
    for case_id in cases:
        place = table.row_of_case[case_id]
        case = case_from_row(review_set.cases.row(place, named=True))
        start = int(table.starts[place])
        end = len(table.rows) if place + 1 == len(table.cases) else int(table.starts[place + 1])
        chosen = selection.row_mask[start:end].tolist()
        rows = list(zip(table.rows[start:end].iter_rows(named=True), chosen, strict=True))
        left = [row for row, is_chosen in rows if is_chosen]
        worst = max(left, key=lambda row: float(row["severity"]), default=None)
        harm, meaning = _harm(worst, table) if worst else ("", "")
        yield CaseCard(
            case,
            case.key_image,
            tuple(_boxes(case, given.get(case_id, ()))),
            tuple(
                _summary(row, table, chosen=is_chosen)
                for row, is_chosen in rows
                if row["model"] is not None
            ),
            table.comments.get(case_id),
            harm,
            meaning,
        )


def _boxes(case: Case, answers: Sequence[Answer]) -> Iterator[CardBox]:
    """Yield the boxes on the key image; in a case with one image they need not name it."""
    image = case.key_image
    drawn: list[tuple[AnswerBox | ReferenceBox, str | None]]
    drawn = [(box, None) for box in case.reference_boxes]
    drawn += [(box, answer.model) for answer in answers for box in answer.boxes]
    for box, model in drawn:
        if image and (box.image == image.id or (len(case.images) == 1 and not box.image)):
            yield CardBox(box.label, box.box, model)


def _summary(row: Mapping[str, Any], table: AnswerTable, *, chosen: bool) -> AnswerSummary:
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
    return AnswerSummary(row["model"], row["status"], finals, every, chosen, _harm(row, table)[0])


def _harm(row: Mapping[str, Any], table: AnswerTable) -> tuple[str, str]:
    """Return what puts a row where it stands, and what that level of harm means."""
    levels = table.harm.levels if row["harm_failure"] else {}
    return harm_text(row, table.harm), levels.get(row["harm"], "")

"""What a card or table row of Browse shows of a case: picture, boxes, answers with their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.case.harm_reason import harm_words
from rexview.analysis.memory.selection import Selection
from rexview.analysis.memory.table import FAILURE_BITS
from rexview.harm import HarmTable
from rexview.schema import Case, ReviewSet, StudyImage, answer_from_row, case_from_row
from rexview.vocab import DIMENSIONS


@dataclass(frozen=True)
class CardBox:
    """A box on the picture of a card; ``model`` is None for a reference box."""

    label: str
    box: tuple[float, ...]
    model: str | None


@dataclass(frozen=True)
class CardAnswer:
    """One answer on a card.

    ``finals`` holds Content, the dimensions and the gap (None where missing). ``failures`` are
    pairs of failure id and who says so (a word of :data:`rexview.analysis.SOURCES`), hints last.
    ``chosen`` says that the answer meets the filter, not only its case. ``harm`` says in words how
    much harm its worst failure can do.
    """

    model: str
    status: str
    finals: Mapping[str, float | None]
    failures: tuple[tuple[str, str], ...]
    chosen: bool
    harm: str = ""


@dataclass(frozen=True)
class CaseCard:
    """One case of a page of the gallery.

    ``boxes`` are those on ``image``. ``harm`` says in words what puts the case where it stands
    among the most severe: the worst failure of the answers that meet the filter; ``harm_meaning``
    says what that level of harm means.
    """

    case: Case
    image: StudyImage | None
    boxes: tuple[CardBox, ...]
    answers: tuple[CardAnswer, ...]
    comments: CommentCount | None = None
    harm: str = ""
    harm_meaning: str = ""


def case_cards(
    review_set: ReviewSet, selection: Selection, case_ids: Sequence[str]
) -> list[CaseCard]:
    """Gather the cards of some cases of a selection, in the order given."""
    cases = {
        row["id"]: case_from_row(row)
        for row in review_set.cases.filter(pl.col("id").is_in(list(case_ids))).iter_rows(named=True)
    }
    given: dict[str, list[dict[str, Any]]] = {}
    wanted = review_set.answers.filter(pl.col("case").is_in(list(case_ids)) & pl.col("_newest"))
    for row in wanted.select(pl.exclude("text", "explanation", "extra")).iter_rows(named=True):
        given.setdefault(row["case"], []).append({**row, "text": None, "extra": None})
    answers = _answers(selection, case_ids)
    cards = []
    for case_id in case_ids:
        case = cases[case_id]
        image = case.key_image
        boxes = _boxes(case, image, given.get(case_id, ()))
        said = selection.table.comments.get(case_id)
        cards.append(
            CaseCard(case, image, boxes, answers[case_id], said, *_harm(selection, case_id))
        )
    return cards


def _boxes(
    case: Case, image: StudyImage | None, answers: Sequence[dict[str, Any]]
) -> tuple[CardBox, ...]:
    if image is None:
        return ()
    only = len(case.images) == 1
    boxes = [
        CardBox(box.label, box.box, None)
        for box in case.reference_boxes
        if box.image == image.id or (only and not box.image)
    ]
    for row in answers:
        answer = answer_from_row(row)
        boxes += [
            CardBox(box.label, box.box, answer.model)
            for box in answer.boxes
            if box.image == image.id or (only and not box.image)
        ]
    return tuple(boxes)


def _rows_of(selection: Selection, case_id: str) -> slice:
    """Return which rows of the answer table are those of a case."""
    table = selection.table
    place = table.row_of_case[case_id]
    last = place + 1 == len(table.cases)
    end = len(table.rows) if last else int(table.starts[place + 1])
    return slice(int(table.starts[place]), end)


def _harm(selection: Selection, case_id: str) -> tuple[str, str]:
    """Return what puts a case where it stands, and what that level of harm means."""
    table, own = selection.table, _rows_of(selection, case_id)
    chosen = table.rows[own].filter(pl.Series(selection.row_mask[own]))
    if chosen.is_empty():
        return "", ""
    worst = chosen.row(int(chosen["severity"].arg_max() or 0), named=True)
    meaning = table.harm.levels.get(worst["harm"], "") if worst["harm_failure"] else ""
    return harm_words(worst, table.harm), meaning


def _answers(selection: Selection, case_ids: Sequence[str]) -> dict[str, tuple[CardAnswer, ...]]:
    """Return the answers of each case in the order of the models, those of the filter marked."""
    table = selection.table
    found: dict[str, tuple[CardAnswer, ...]] = {}
    for case_id in case_ids:
        own = _rows_of(selection, case_id)
        start, end = own.start, own.stop
        rows = table.rows[start:end].iter_rows(named=True)
        found[case_id] = tuple(
            _answer(row, table.harm, chosen=bool(selection.row_mask[start + number]))
            for number, row in enumerate(rows)
            if row["model"] is not None
        )
    return found


def _answer(row: Mapping[str, Any], table: HarmTable, *, chosen: bool) -> CardAnswer:
    failures, hints = [], []
    for failure, bit in FAILURE_BITS.items():
        detected, marked = bool(row["detected"] & bit), bool(row["marked"] & bit)
        if detected or marked:
            source = "both" if detected and marked else "reader" if marked else "detector"
            failures.append((failure, source))
        elif row["hinted"] & bit:
            hints.append((failure, "hint"))
    finals = {name: row[name] for name in ("content", *DIMENSIONS, "gap", "spread")}
    harm = harm_words(row, table)
    return CardAnswer(row["model"], row["status"], finals, (*failures, *hints), chosen, harm)

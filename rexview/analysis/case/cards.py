"""What a card or table row of Browse shows of a case: picture, boxes, answers with their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.engine import AnswerSummary, Engine
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.schema import (
    Answer,
    AnswerBox,
    Case,
    ReferenceBox,
    ReviewSet,
    StudyImage,
    answer_from_row,
    case_from_row,
)


@dataclass(frozen=True)
class CardBox:
    """A box on the picture of a card; ``model`` is None for a reference box."""

    label: str
    box: tuple[float, ...]
    model: str | None


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
    answers: tuple[AnswerSummary, ...]
    comments: CommentCount | None = None
    harm: str = ""
    harm_meaning: str = ""


def case_cards(
    review_set: ReviewSet, engine: Engine, case_filter: CaseFilter, case_ids: Sequence[str]
) -> list[CaseCard]:
    """Gather the cards of some cases that a filter leaves, in the order given."""
    cases = {
        row["id"]: case_from_row(row)
        for row in review_set.cases.filter(pl.col("id").is_in(list(case_ids))).iter_rows(named=True)
    }
    given: dict[str, list[Answer]] = {}
    wanted = review_set.answers.filter(pl.col("case").is_in(list(case_ids)) & pl.col("_newest"))
    for row in wanted.select(pl.exclude("text", "explanation", "extra")).iter_rows(named=True):
        answer = answer_from_row({**row, "text": None, "extra": None})
        given.setdefault(answer.case, []).append(answer)
    cards = []
    for case_id in case_ids:
        case, found = cases[case_id], engine.case(case_filter, case_id)
        boxes = tuple(_boxes(case, given.get(case_id, ())))
        image, harm, meaning = case.key_image, found.harm, found.harm_meaning
        cards.append(CaseCard(case, image, boxes, found.answers, found.comments, harm, meaning))
    return cards


def _boxes(case: Case, answers: Sequence[Answer]) -> Iterator[CardBox]:
    """Yield the boxes on the key image; in a case with one image they need not name it."""
    image = case.key_image
    drawn: list[tuple[AnswerBox | ReferenceBox, str | None]]
    drawn = [(box, None) for box in case.reference_boxes]
    drawn += [(box, answer.model) for answer in answers for box in answer.boxes]
    for box, model in drawn:
        if image and (box.image == image.id or (len(case.images) == 1 and not box.image)):
            yield CardBox(box.label, box.box, model)
